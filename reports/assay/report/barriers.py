# SPDX-License-Identifier: Apache-2.0
"""Question 20: cycles of every barrier and fence by who takes part, and what setmaxnreg costs."""

from __future__ import annotations

import re

from ..run_file import Measurement
from . import curves, text
from .blocks import Block, Table, metric_table, of_column, who
from .curves import Axis, Line
from .findings import Part, lines
from .model import Book, Column
from .svg import Figure

PREFIX = "sync/"
KINDS = {
    "syncwarp": "__syncwarp",
    "syncthreads": "__syncthreads",
    "named_barrier/sync": "named barrier",
    "named_barrier/hand_over": "named barrier, handed over",
    "mbarrier/arrive_wait": "mbarrier, arrive and wait",
    "mbarrier": "mbarrier, by piece",
    "mbarrier_remote": "mbarrier of another CTA",
    "cluster": "cluster",
    "grid": "grid",
    "fence": "fence",
    "setmaxnreg": "setmaxnreg, down and up",
}
OVER_THREADS = ("syncthreads", "named_barrier/sync", "named_barrier/hand_over", "mbarrier/arrive_wait")


def block(book: Book) -> Block:
    found = Block(20, "assay run '^sync/'")
    for kind, words in KINDS.items():
        found.findings += lines(book, words, lambda c, k=kind: ends(book, c, k))
    for column in book.columns[:4]:
        found.draw(over_threads(book, column))
        for kind, name, axis in SWEEPS:
            found.draw(sweep(book, column, kind, name, axis))
        for kind in KINDS:
            found.tabulate(table(book, column, kind))
    return found


def kind_of(name: str) -> str:
    """The longest of KINDS that the name begins with."""
    fitting = [kind for kind in KINDS if name == kind or name.startswith(f"{kind}/")]
    return max(fitting, key=len, default="")


def _cases(book: Book, column: Column, kind: str) -> list[tuple[str, Measurement]]:
    return [
        (name.removeprefix(kind).strip("/") or kind, m)
        for name, m in of_column(book, column, PREFIX)
        if kind_of(name) == kind and "latency_cycles" in m.metrics
    ]


def ends(book: Book, column: Column, kind: str) -> list[Part]:
    """Cycles of the cases of a kind: all of a few, of many with a number the first and the last."""
    found = _cases(book, column, kind)
    numbered = [(int(name), m) for name, m in found if name.isdigit()]
    if len(numbered) > 3:
        numbered.sort(key=lambda item: item[0])
        found = [(str(n), m) for n, m in (numbered[0], numbered[-1])]
    word = "threads" if kind in OVER_THREADS else "warpgroups" if kind == "setmaxnreg" else ""
    return [
        (
            f"{f'{name} {word}' if name.isdigit() and word else name.replace('/', ' ').replace('_', ' ')} "
            f"{text.number(round(m.metrics['latency_cycles'].value, 1))} cycles",
            column.anchor(m.name),
        )
        for name, m in found[:8]
    ]


# --- figures ---------------------------------------------------------------------------------------------------------


def over_threads(book: Book, column: Column) -> Figure | None:
    """Cycles over the threads of a CTA that take part, a line for each kind of barrier."""
    drawn = []
    for kind in OVER_THREADS:
        points = sorted(
            (float(m.params.get("threads", 0)), m.metrics["latency_cycles"].value)
            for _, m in _cases(book, column, kind)
        )
        drawn.append(Line(KINDS[kind], [p for p in points if p[0] > 0]))
    return curves.draw(
        f"barriers{column.index}",
        f"Barriers of a CTA over the threads that meet{who(book, column)}",
        drawn,
        Axis("threads", 2),
        Axis("cycles"),
        note="From one barrier to the next, nothing else between them.",
    )


SWEEPS = (
    ("cluster", "latency_cycles_by_threads", Axis("threads of a CTA", 2)),
    ("grid", "latency_cycles_by_ctas", Axis("CTAs", 2)),
    ("syncwarp", "latency_cycles_by_warps", Axis("warps", 2)),
    ("named_barrier/sync", "latency_cycles_by_groups", Axis("groups, each with a barrier of its own", 2)),
)


def sweep(book: Book, column: Column, kind: str, name: str, axis: Axis) -> Figure | None:
    """A series that the cases of a kind share: a line for each of them."""
    drawn = []
    for case, m in _cases(book, column, kind):
        drawn += curves.lines_of(m.series_named(name), re.sub("[/_]", " ", case))
    return curves.draw(
        f"sync-{text.slug(kind)}{column.index}",
        f"{KINDS[kind]}, over {axis.label}{who(book, column)}",
        drawn,
        axis,
        Axis("cycles"),
    )


def table(book: Book, column: Column, kind: str) -> Table | None:
    """All cases of a kind with what they have beside their latency."""
    rows = [(re.sub("[/_]", " ", name), m) for name, m in _cases(book, column, kind)]
    metrics = {"latency_cycles": "cycles", "latency_ns": "ns"}
    for _, m in rows:
        for key in m.metrics:
            if key.startswith("latency_cycles_") and len(metrics) < 8:
                metrics[key] = text.words(key.removeprefix("latency_cycles_"))
    return metric_table(
        f"{KINDS[kind]}{who(book, column)}", column, rows, metrics, "Case", lambda v: text.number(round(v, 1))
    )
