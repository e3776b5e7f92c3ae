# SPDX-License-Identifier: Apache-2.0
"""Question 21: many small workers on one GPU. Where throughput saturates, how many run at once, what a neighbour costs."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from assay.files import Measurement

from ...answer.findings import Part, lines
from ...block.kinds import EMPTY, Block, Cell, Evidence, Table
from ...block.tables import metric_table, of_column, who
from ...book import labels, text
from ...book.model import Book, Column
from ...draw import curves
from ...draw.curves import Axis
from ...draw.svg import Figure

PREFIX = "launch/workers/"
SHARING = {
    "alone": "alone",
    "shared": "beside the neighbour",
    "priority": "with priority",
    "partitioned": "in green contexts",
}


def fewest(at: float) -> int:
    """Workers that are enough, of the point between two measured numbers of them where the rate is reached."""
    return math.ceil(at)


def evidence(book: Book) -> list[Block]:
    found = Evidence(21, "assay run '^launch/(workers|green_context|neighbour)'")
    for work in works(book):
        found.findings += lines(book, f"kernels of {lasting(work)}", lambda c, w=work: saturation(book, c, w))
    found.findings += lines(book, "a busy neighbour", lambda c: neighbour(book, c))
    for column in book.columns[:4]:
        for work in works(book):
            found.draw(throughput(book, column, work))
        found.draw(latency(book, column))
        found.tabulate(table(book, column))
        found.tabulate(neighbours(book, column))
        found.tabulate(green(book, column))
    return [found]


def works(book: Book) -> list[str]:
    """What a worker's kernel lasts, as the names of the cases have it, the shortest first."""
    found = {
        m.name.rsplit("/", 1)[1]: m.params.get("work_ns", 0) for _, m in book.measurements if m.name.startswith(PREFIX)
    }
    return sorted(found, key=found.__getitem__)


def lasting(work: str) -> str:
    """ "5us" -> "5 µs", and the case whose kernels do nothing in words."""
    time = re.fullmatch(r"(\d+)us", work)
    return f"{time[1]}{text.THIN}µs" if time else "next to nothing" if work == "short" else work


def _of_work(book: Book, column: Column, work: str) -> list[tuple[str, Measurement]]:
    return [
        (labels.words(name.split("/")[0]) + (f", {m.params['sharing']}" if m.params.get("sharing") else ""), m)
        for name, m in of_column(book, column, PREFIX)
        if name.endswith(f"/{work}")
    ]


def saturation(book: Book, column: Column, work: str) -> list[Part]:
    found = []
    for label, m in _of_work(book, column, work):
        rate, at = m.value("kernels_per_s"), m.value("workers_at_95_percent")
        if rate is not None and at is not None:
            alone = m.value("kernels_per_s_alone")
            more = f" ({rate / alone:.1f} × one worker)" if alone and rate > 1.05 * alone else ""
            knee = f"95 % of it with {text.counted(fewest(at), 'worker')}" if at > 1 else "with one, more gain nothing"
            bound = m.params.get("bound_by")
            said = f"{label} {_per_second(rate)}{more}, {knee}" + (f", bound by {bound}" if bound else "")
            found.append((said, column.anchor(m.name)))
    return found


def _per_second(rate: float) -> str:
    return f"{rate / 1e6:.3g} million/s" if rate >= 1e6 else f"{rate / 1e3:.3g} thousand/s"


def neighbour(book: Book, column: Column) -> list[Part]:
    """The slowest of a hundred small requests by how the GPU is shared with a neighbour that fills the rest."""
    found = []
    for name, m in of_column(book, column, "launch/neighbour/"):
        said = [
            f"{f'{value:.3g}' if value < 1000 else text.number(round(value))} µs {words}"
            for key, words in SHARING.items()
            if (value := m.value(f"latency_us_{key}_p99")) is not None
        ]
        if said:
            found.append(
                (f"{labels.words(name)}: 99 % of small requests end within {', '.join(said)}", column.anchor(m.name))
            )
    return found


def throughput(book: Book, column: Column, work: str) -> Figure | None:
    drawn = []
    for label, m in _of_work(book, column, work):
        knee, most = m.value("workers_at_95_percent"), m.value("kernels_per_s")
        for line in curves.lines_of(m.series_named("kernels_per_s"), label):
            marks = [(knee, 0.95 * most / 1e3)] if knee and most and knee > 1 else []
            drawn.append(replace(line.with_values(lambda _, rate: rate / 1e3), marks=marks))
    return curves.draw(
        f"workers-{text.slug(work)}{column.index}",
        f"Kernels of {lasting(work)} from many workers{who(book, column)}",
        drawn,
        Axis("workers", 2),
        Axis("thousand kernels per second", 10),
        note="Of work that is queued: no worker waits for a kernel before it launches the next. Rings: 95 % of the best.",
    )


def latency(book: Book, column: Column) -> Figure | None:
    drawn = []
    for work in works(book):
        for label, m in _of_work(book, column, work):
            if label.startswith(("threads", "streams")):
                drawn += curves.lines_of(m.series_named("latency_us"), f"{label}, {lasting(work)}")
    return curves.draw(
        f"workers-latency{column.index}",
        f"Latency of one kernel among many workers{who(book, column)}",
        drawn,
        Axis("workers", 2),
        Axis("µs", 10),
        height=3.6,
    )


def table(book: Book, column: Column) -> Table | None:
    rows = [(f"{label}, {lasting(work)}", m) for work in works(book) for label, m in _of_work(book, column, work)]
    metrics = {
        "kernels_per_s": "best, kernels/s",
        "kernels_per_s_alone": "one worker",
        "workers_at_95_percent": "workers for 95 %",
        "workers_at_peak": "at the best",
        "concurrent_kernels": "kernels at once",
        "latency_us_alone": "latency alone, µs",
        "latency_us_at_95_percent": "latency at 95 %, µs",
    }
    caption = f"Many small workers{who(book, column)}"
    found = metric_table(
        caption, column, rows, metrics, "Workers", lambda v: text.number(round(v)) if v >= 1000 else f"{v:.3g}"
    )
    if found and any("bound_by" in m.params for _, m in rows):
        found.head.append("bound by")
        for row, (_, m) in zip(found.rows, rows):
            row.append(Cell(str(m.params.get("bound_by", ""))))
    return found


def neighbours(book: Book, column: Column) -> Table | None:
    """Percentiles of latency by neighbour and by how the GPU is shared."""
    rows, head = [], []
    for name, m in of_column(book, column, "launch/neighbour/"):
        series = m.series_named("latency_us")
        if series is None or len(series.axes) != 2:
            continue
        head = [f"{p:g} %" if p != 100 else "slowest" for p in series.axes[1].points]
        for way, values in zip(series.axes[0].points, series.grid):
            kept = m.value(f"neighbour_{way}")
            cells = [Cell(text.number(round(v, 1)) if v == v else "") for v in values]
            label = f"{labels.words(name)}, {SHARING.get(str(way), way)}"
            rows.append(
                [Cell(label, column.anchor(m.name)), *cells, Cell(text.percent(kept)) if kept is not None else EMPTY]
            )
    caption = f"Latency of small requests beside a neighbour that fills the GPU, µs{who(book, column)}"
    return Table(caption, ["Neighbour's work", *head, "left to the neighbour"], rows) if rows else None


def green(book: Book, column: Column) -> Table | None:
    rows = [(f"{name} parts", m) for name, m in of_column(book, column, "launch/green_context/")]
    metrics = {
        "sms_per_part": "SMs of a part",
        "sms_seen_per_part": "SMs its kernels used",
        "kernels_per_s": "kernels/s",
        "kernels_per_s_unpartitioned": "without parts",
        "create_us": "to create, µs a part",
        "cpu_us": "launch, CPU µs",
        "gpu_gap_us": "between kernels, µs",
    }
    caption = f"Green contexts: parts of the GPU's SMs{who(book, column)}"
    return metric_table(
        caption, column, rows, metrics, "GPU in", lambda v: text.number(round(v)) if v >= 1000 else f"{v:.3g}"
    )
