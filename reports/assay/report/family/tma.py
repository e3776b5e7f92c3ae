# SPDX-License-Identifier: Apache-2.0
"""Question 14: TMA. How many bytes must be in flight, how large a box must be, and what latency there is to hide."""

from __future__ import annotations

import re
from dataclasses import replace

from assay.files import Measurement, Series

from ..answer.findings import Part, lines
from ..block.declaration import Family
from ..block.kinds import Block, Cell, Evidence, Table
from ..block.published import table as published_table
from ..block.tables import around, metric_table, named, of_column, sweep_table, who
from ..book import labels, text
from ..book.model import Book, Column
from ..book.published import figures as published_figures
from ..draw import curves
from ..draw.curves import Axis
from ..draw.svg import Figure

MOVERS = {
    "bulk": "cp.async.bulk",
    "tensor_1d": "TMA, 1-D",
    "tensor_2d": "TMA, 2-D",
    "tensor_3d": "TMA, 3-D",
    "tensor_4d": "TMA, 4-D",
    "tensor_5d": "TMA, 5-D",
    "cp_async": "cp.async",
    "cp_async_16": "cp.async 16 B",
    "cp_async_8": "cp.async 8 B",
    "cp_async_4": "cp.async 4 B",
    "ld_16": "plain loads, 16 B",
    "ld_32": "plain loads, 32 B",
}
LEVELS = {"dram": "memory", "l2": "L2"}
# As probes/tma/pipeline.cpp has it. What memory gives is not read twice within so short a time.
MERGED = re.compile("ld_|cp_async_")  # forms
MERGED_SAID = (
    "Plain loads and cp.async of CTAs that read the same lines at about the same time are merged on their way to L2: what they "
    "get may be more than L2 gives."
)
IN_FLIGHT = Axis("bytes in flight per SM", 2, bytes=True)
COPY = Axis("bytes of one copy", 2, bytes=True)
GB_PER_S = Axis("GB/s")


def evidence(book: Book) -> list[Block]:
    found = Evidence(14, "assay run '^tma/'")
    for level, words in LEVELS.items():
        label = f"to reach 95 % of the bandwidth of {words}"
        found.findings += lines(book, label, lambda c, at=level: depth(book, c, at))
    found.findings += lines(book, "against plain loads", lambda c: against_loads(book, c))
    found.findings += lines(book, "latency", lambda c: latencies(book, c))
    found.findings += lines(book, "tensor map", lambda c: descriptor(book, c))
    found.findings += lines(book, "multicast from L2", lambda c: multicast(book, c))
    found.findings += lines(book, "stores and reductions", lambda c: stores(book, c))
    for column in book.columns[:4]:
        for level in LEVELS:
            found.draw(in_flight(book, column, level))
        found.draw(boxes(book, column, "dram", tuple(MOVERS), "dimensions"))
        found.draw(boxes(book, column, "dram", None, "swizzle, type and order"))
        found.draw(latency_by_size(book, column))
        found.draw(multicast_figure(book, column))
        found.draw(maps_figure(book, column))
        add_tables(book, column, found)
    return [found]


def label(form: str) -> str:
    return MOVERS.get(form, labels.words(form))


def copy_words(name: str, m: Measurement) -> str:
    """ "tensor_2d/latency/bytes_128/dram" -> "TMA, 2-D, 128 B, memory": the form, the size of a copy, what else."""
    form, _, rest = name.partition("/")
    copied = m.params.get("copy_bytes", m.params.get("bytes"))
    said = [MOVERS.get(form, MOVERS.get(form.removesuffix("_16b"), labels.words(form)))]
    said += [text.size(copied)] if copied else []
    for part in rest.split("/"):
        if part not in ("latency", "bandwidth", "") and not re.fullmatch(r"(bytes_|b)\d+", part):
            said.append(LEVELS.get(part, labels.words(part)))
    return ", ".join(said)


def depth(book: Book, column: Column, level: str) -> list[Part]:
    """ "keep 31 KiB in flight per SM by TMA, 2-D, in boxes of at least 1 KiB", and what other ways need."""
    found = []
    m = book.measurement(column, f"tma/pipeline/{level}")
    knees, best = named(m, "bytes_in_flight_95_"), named(m, "best_gb_per_s_")
    for form in ("tensor_2d", "bulk", "cp_async_16", "ld_16"):
        if form in knees:
            merged = ", in part merged on the way" if level == "l2" and MERGED.match(form) else ""
            of = f" (of {text.number(round(best[form].value))} GB/s{merged})" if form in best else ""
            need = around(knees[form], text.size)
            said = f"by {label(form)} {need}" if found else f"keep {need} in flight per SM by {label(form)}"
            found.append((said + of, column.anchor(m.name)))
    box = book.measurement(column, f"tma/box/{level}")
    sizes = named(box, "box_bytes_95_")
    if form := next((f for f in ("tensor_2d", "bulk") if f in sizes), None):
        found.insert(1, (f"in boxes of at least {around(sizes[form], text.size)}", column.anchor(box.name)))
    return found


def against_loads(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "tma/pipeline/dram")
    ratio = m.value("tma_of_plain_loads") if m else None
    if ratio is None:
        return []
    best = named(m, "best_gb_per_s_")
    fastest = max(
        (best[f].value for f in MOVERS if f in best and label(f).startswith(("TMA", "cp.async.bulk"))), default=None
    )
    said = f"TMA reaches {text.percent(ratio)} of them"
    return [(said + (f", {text.number(round(fastest))} GB/s" if fastest else ""), column.anchor(m.name))]


def latencies(book: Book, column: Column) -> list[Part]:
    """Of copies of one box, from L2 and from memory; and of the smallest bulk copy."""
    found = []
    for name, words in {
        "tma/bulk_16b/latency": "16 B by cp.async.bulk: {} cycles from L2",
        "tma/bulk_16b/latency/dram": "the same from memory: {} cycles",
        "tma/tensor_2d/latency/bytes_128": "128 B by TMA: {} cycles from L2",
        "tma/tensor_2d/latency/bytes_128/dram": "the same from memory: {} cycles",
        "tma/tensor_2d/latency": "a box of 8 KiB: {} cycles from L2",
        "tma/tensor_2d/latency/dram": "the same from memory: {} cycles",
        "tma/cp_async/latency/b16/l2": "cp.async of 16 B: {} cycles from L2",
        "tma/cp_async/latency/b16/dram": "the same from memory: {} cycles",
    }.items():
        m = book.measurement(column, name)
        if m and (value := m.value("latency_cycles")) is not None:
            found.append((words.format(f"{value:.0f}"), column.anchor(m.name)))
    return found


def descriptor(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "tma/descriptor")
    words = {
        "fetch_cycles_from_l2": "fetching one costs {} cycles from L2",
        "fetch_cycles_from_dram": "fetching one from memory costs {} cycles",
        "prefetch_saves_cycles": "prefetching saves {} cycles",
        "maps_held_level_1": "the nearest cache holds {} maps",
        "maps_held_level_2": "the next cache holds {} maps",
    }
    return [
        (said.format(f"{value:.0f}"), column.anchor(m.name))
        for key, said in words.items()
        if m and (value := m.value(key)) is not None
    ]


def multicast(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "tma/multicast/l2")
    received, sent = named(m, "received_gb_per_s_of_"), named(m, "sent_gb_per_s_of_")
    return [
        (
            f"to {text.counted(int(size), 'CTA')} {text.number(round(metric.value))} GB/s arrive"
            + (f" of {text.number(round(sent[size].value))} that L2 sends" if size in sent else ""),
            column.anchor(m.name),
        )
        for size, metric in received.items()
    ]


def stores(book: Book, column: Column) -> list[Part]:
    """The best of stores and of reductions to memory and to L2, and the size of a copy that stores want."""
    found = []
    for level, words in LEVELS.items():
        m = book.measurement(column, f"tma/store/{level}")
        best, sizes = named(m, "best_gb_per_s_"), named(m, "copy_bytes_95_")
        for form, said in {"bulk": "cp.async.bulk stores", "add_f32": "adds f32"}.items():
            if form in best:
                size = f", 95 % of it from copies of {around(sizes[form], text.size)} on" if form in sizes else ""
                rate = text.number(round(best[form].value))
                found.append((f"{said} at {rate} GB/s to {words}{size}", column.anchor(m.name)))
    return found


# --- figures ---------------------------------------------------------------------------------------------------------


def in_flight(book: Book, column: Column, level: str) -> Figure | None:
    """Bandwidth over bytes in flight, a line for each way to move them, its knee ringed."""
    m = book.measurement(column, f"tma/pipeline/{level}")
    if m is None:
        return None
    knees, best = named(m, "bytes_in_flight_95_"), named(m, "best_gb_per_s_")
    drawn = []
    series = m.series_named("bandwidth_gb_per_s")
    for form, line in zip(_places(series), curves.lines_of(series)):
        marks = [(knees[form].value, 0.95 * best[form].value)] if form in knees and form in best else []
        drawn.append(replace(line, label=label(form), marks=marks))
    limit = m.metrics["bandwidth_gb_per_s"].limit if "bandwidth_gb_per_s" in m.metrics else None
    return curves.draw(
        f"tma-depth-{level}{column.index}",
        f"Bandwidth of {LEVELS[level]} over bytes in flight{who(book, column)}",
        drawn,
        IN_FLIGHT,
        GB_PER_S,
        note=f"Rings: 95 % of the best that each way reaches.{f' {MERGED_SAID}' if level == 'l2' else ''}",
        limit=(limit, "limit") if limit else None,
    )


def _places(series: Series | None) -> list[str]:
    """The words of the first axis whose lines have a value, as `curves.lines_of` keeps them."""
    if series is None or len(series.axes) != 2:
        return []
    return [str(p) for p, values in zip(series.axes[0].points, series.grid) if any(v == v for v in values)]


def boxes(book: Book, column: Column, level: str, forms: tuple[str, ...] | None, what: str) -> Figure | None:
    """Bandwidth over the size of a copy, of the given forms or of all others and the plain one."""
    m = book.measurement(column, f"tma/box/{level}")
    if m is None:
        return None
    series = m.series_named("bandwidth_gb_per_s")
    wanted = [
        replace(line, label=label(form))
        for form, line in zip(_places(series), curves.lines_of(series))
        if (form in forms if forms else form not in MOVERS or form == "tensor_2d")
    ]
    return curves.draw(
        f"tma-box-{text.slug(what)}-{level}{column.index}",
        f"Bandwidth of {LEVELS[level]} over the size of a box, by {what}{who(book, column)}",
        wanted,
        COPY,
        GB_PER_S,
        height=3.6,
    )


def latency_by_size(book: Book, column: Column) -> Figure | None:
    drawn = []
    for level, words in LEVELS.items():
        m = book.measurement(column, f"tma/latency/{level}")
        series = m.series_named("latency_cycles") if m else None
        by_form = dict(zip(_places(series), curves.lines_of(series)))
        for form in ("bulk", "tensor_2d", "tensor_5d", "swizzle_128"):
            if form in by_form:
                drawn.append(replace(by_form[form], label=f"{label(form)}, {words}"))
    return curves.draw(
        f"tma-latency{column.index}",
        f"Latency of one copy over its size{who(book, column)}",
        drawn,
        COPY,
        Axis("cycles"),
        height=3.8,
        note="From issue until a thread that waits for the mbarrier goes on.",
    )


def multicast_figure(book: Book, column: Column) -> Figure | None:
    m = book.measurement(column, "tma/multicast/l2")
    return m and curves.draw(
        f"tma-multicast{column.index}",
        f"What SMs receive by multicast from L2{who(book, column)}",
        [
            replace(line, label=f"to {line.label} CTA{'' if line.label == '1' else 's'}")
            for line in curves.lines_of(m.series_named("received_gb_per_s"))
        ],
        Axis("bytes of a tile", 2, bytes=True),
        GB_PER_S,
    )


def maps_figure(book: Book, column: Column) -> Figure | None:
    m = book.measurement(column, "tma/descriptor")
    drawn = curves.lines_of(m.series_named("latency_cycles")) if m else []
    for line in drawn:
        held = [metric.value for metric in named(m, "maps_held_").values()]
        line.marks = [point for point in line.points if point[0] in held]
    return curves.draw(
        f"tma-maps{column.index}",
        f"Latency over the number of tensor maps in turn{who(book, column)}",
        drawn,
        Axis("tensor maps", 2),
        Axis("cycles"),
        note="Rings: the most maps that a cache of them holds.",
    )


# --- tables ----------------------------------------------------------------------------------------------------------


def add_tables(book: Book, column: Column, found: Evidence) -> None:
    of = who(book, column)
    if column.index == 0:
        found.tabulate(published(book))
    for level, words in LEVELS.items():
        m = book.measurement(column, f"tma/pipeline/{level}")
        by_way = _knees(f"By TMA, by cp.async, by loads, from {words}{of}", column, m, "bytes_in_flight_95_")
        if by_way and level == "l2":
            by_way.notes.append(MERGED_SAID)
        found.tabulate(by_way)
        m = book.measurement(column, f"tma/box/{level}")
        found.tabulate(_knees(f"How large a box must be, from {words}{of}", column, m, "box_bytes_95_"))
    m = book.measurement(column, "tma/ctas_per_sm/dram")
    found.tabulate(_knees(f"One CTA of an SM or several{of}", column, m, "bytes_in_flight_95_", "CTAs per SM"))
    found.tabulate(latency_table(book, column))
    found.tabulate(bandwidth_table(book, column))
    for level, words in LEVELS.items():
        m = book.measurement(column, f"tma/store/{level}")
        caption = f"Stores and reductions to {words}, GB/s by the size of a copy{of}"
        found.tabulate(sweep_table(caption, column, m, "bandwidth_gb_per_s", "Operation", sizes=True))
        m = book.measurement(column, f"tma/multicast/{level}")
        caption = f"Multicast from {words}: GB/s that arrive, by the size of a tile{of}"
        found.tabulate(sweep_table(caption, column, m, "received_gb_per_s", "CTAs of a cluster", sizes=True))


def published(book: Book) -> Table | None:
    rows = [row for row in book.rows if row.family == "tma" and published_figures(book, row)]
    labelled = [(labels.figure_words(row.name, row.metric), row) for row in rows]
    return published_table(book, "TMA, beside what others published of this architecture", labelled)


def _knees(caption: str, column: Column, m: Measurement | None, prefix: str, heading: str = "Way") -> Table | None:
    """Bytes that 95 % of the best take, and the best, of each form."""
    knees, best = named(m, prefix), named(m, "best_gb_per_s_")
    rows = [
        [
            Cell(label(form), column.anchor(m.name)),
            Cell(around(knee, text.size)),
            Cell(f"{text.number(round(best[form].value))}" if form in best else ""),
        ]
        for form, knee in knees.items()
    ]
    words = "Bytes in flight per SM for 95 %" if "flight" in prefix else "Bytes of a box for 95 %"
    return Table(caption, [heading, words, "Best, GB/s"], rows) if rows else None


def latency_table(book: Book, column: Column) -> Table | None:
    rows = [(copy_words(name, m), m) for name, m in of_column(book, column, "tma/") if "latency_cycles" in m.metrics]
    caption = f"Latency of single copies{who(book, column)}"
    return metric_table(
        caption,
        column,
        rows,
        {"latency_cycles": "cycles", "latency_ns": "ns"},
        "Copy",
        lambda v: text.number(round(v, 1)),
    )


def bandwidth_table(book: Book, column: Column) -> Table | None:
    rows = [
        (copy_words(name, m), m)
        for name, m in of_column(book, column, "tma/")
        if "bandwidth_gb_per_s" in m.metrics
        and ("/bandwidth" in name or name.split("/")[0] in ("gather4", "scatter4", "im2col"))
    ]
    metrics = {"bandwidth_gb_per_s": "GB/s", "bytes_per_clock_per_sm": "B/clk/SM"}
    caption = f"Bytes that arrive by the form of the copy{who(book, column)}"
    table = metric_table(caption, column, rows, metrics, "Copy")
    if table and any(name.startswith("im2col") for name, _ in rows):
        table.notes.append("With several taps im2col reads each pixel as often, all but the first time from L2.")
    return table


FAMILY = Family(
    "tma",
    "Tensor Memory Accelerator",
    "Bulk asynchronous copies: latency, and bandwidth against box and bytes in flight.",
    blocks=(evidence,),
)
