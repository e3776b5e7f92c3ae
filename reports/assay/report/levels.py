# SPDX-License-Identifier: Apache-2.0
"""Question 13: latency and bandwidth of every level, beside what others published."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..run_file import Measurement
from . import curves, memory_maps, text
from .blocks import EMPTY, Block, Cell, Table, of_column, who
from .curves import Axis, Line
from .findings import Part, lines
from .model import Book, Column, Number, Published, Row, base_architecture

FOOTPRINT = Axis("footprint", 2, bytes=True)
CYCLES = Axis("cycles")
NOTABLE = 0.05  # deviation from a published figure that wants a reason


@dataclass(frozen=True)
class Figure:
    """A figure of a level: where it is measured, and under which names others stand beside it."""

    name: str
    metric: str
    published: str = ""  # name of the published case, where it is another

    def row(self, book: Book) -> Row | None:
        return book.row(self.name, self.metric)

    def others(self, book: Book) -> list[Published]:
        """What others measured on this architecture, and datasheets of the GPUs of this report."""
        names = {(c.run.gpu or {}).get("name") for c in book.columns}
        architectures = {base_architecture(c.architecture) for c in book.columns}
        metric = "latency_cycles" if self.metric.startswith("latency_cycles") else self.metric
        found = book.published_for(re.escape(self.published or self.name), metric)
        return [p for p in found if p.gpu in names or (p.architecture in architectures and not p.datasheet)]


LATENCY, RATE, BANDWIDTH = "latency_cycles", "bytes_per_clock_per_sm", "bandwidth_gb_per_s"
LEVELS: dict[str, tuple[Figure, ...]] = {
    "constant": (Figure("memory/constant/latency", "constant_l1_latency_cycles"),),
    "constant, second level": (Figure("memory/constant/latency", "constant_l2_latency_cycles"),),
    "shared memory": (Figure("memory/shared/latency", LATENCY), Figure("memory/shared/read", RATE)),
    "L1": (Figure("memory/l1/latency", LATENCY), Figure("memory/l1/read", RATE)),
    "L1, index to address": (Figure("memory/l1/latency/index", LATENCY, "memory/l1/latency"),),
    "texture": (Figure("memory/texture/latency", LATENCY), Figure("memory/texture/read", RATE)),
    "shared memory of another SM": (
        Figure("memory/distributed_shared/load_latency", "latency_cycles_of_2", "memory/dsmem/cluster2/latency"),
        Figure("memory/distributed_shared/read", "bytes_per_clock_per_sm_of_2", "memory/dsmem/cluster2/read"),
    ),
    "the same, clusters of 4": (
        Figure("memory/distributed_shared/load_latency", "latency_cycles_of_4", "memory/dsmem/cluster4/latency"),
        Figure("memory/distributed_shared/read", "bytes_per_clock_per_sm_of_4", "memory/dsmem/cluster4/read"),
    ),
    "L2, near": (Figure("memory/l2_near/latency", LATENCY), Figure("memory/l2/read", BANDWIDTH)),
    "L2, far": (Figure("memory/l2_far/latency", LATENCY),),
    "L2, either": (Figure("memory/latency_curve/cg", "l2_near_latency_cycles", "memory/l2/latency"),),
    "memory, read": (Figure("memory/dram/latency", LATENCY), Figure("memory/hbm/read", BANDWIDTH)),
    "memory, write": (Figure("memory/hbm/write", BANDWIDTH),),
    "memory, copy": (Figure("memory/hbm/copy", BANDWIDTH),),
    "memory, triad": (Figure("memory/hbm/triad", BANDWIDTH),),
}


def block(book: Book) -> Block:
    found = Block(13, "assay run '^memory/'")
    found.findings += lines(book, "latency", lambda c: _spoken(book, c, LATENCY_LEVELS, "cycles"))
    found.findings += lines(book, "bandwidth", lambda c: _spoken(book, c, BANDWIDTH_LEVELS, ""))
    found.findings += lines(book, "how far each level reaches", lambda c: _reach(book, c))
    memory_maps.add_findings(book, found)
    for column in book.columns[:4]:
        found.draw(latency_over_footprint(book, column))
        found.draw(bandwidth_over_footprint(book, column))
        memory_maps.add_figures(book, column, found)
    found.tabulate(levels(book))
    memory_maps.add_tables(book, found)
    return found


LATENCY_LEVELS = ("shared memory", "L1", "shared memory of another SM", "L2, near", "L2, far", "memory, read")
BANDWIDTH_LEVELS = ("shared memory", "L1", "L2, near", "memory, read", "memory, write", "memory, copy")


def _spoken(book: Book, column: Column, names: tuple[str, ...], unit: str) -> list[Part]:
    """ "L1 34 cycles" for each level that has a figure of this kind."""
    found = []
    for name in names:
        figure = next((f for f in LEVELS[name] if ("cycles" in f.metric) == bool(unit)), None)
        row = figure.row(book) if figure else None
        if row and (n := row.numbers[column.index]):
            label = "L2" if name == "L2, near" and not unit else name
            said = text.number(round(n.value, 1) if unit else n.value, n.half_width if not unit else None)
            found.append((f"{label} {said} {unit or text.unit(row.unit)}", n.anchor))
    return found


def _plateaus(m: Measurement) -> list[tuple[str, float, float | None]]:
    """(level, cycles, bytes until it ends) of a latency curve, nearest first."""
    found = []
    for key, metric in m.metrics.items():
        if (level := key.removesuffix("_latency_cycles")) != key:
            found.append((text.words(level), metric.value, m.value(f"{level}_capacity_bytes")))
    return found


def _reach(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "memory/latency_curve/ca")
    if m is None:
        return []
    return [
        (f"{level} to {text.size(end)}", column.anchor(m.name)) for level, _, end in _plateaus(m) if end is not None
    ]


def latency_over_footprint(book: Book, column: Column) -> object:
    """The curves of loads through L1 and past it, with the plateaus that were found in the first by name."""
    drawn, levels_of = [], []
    for name, m in of_column(book, column, "memory/latency_curve/"):
        if name not in ("ca", "cg"):
            continue
        label = "through L1" if name == "ca" else "past L1"
        drawn += curves.lines_of(m.series_named("latency_cycles"), label)
        if name == "ca" and drawn:
            begin = drawn[-1].points[0][0]
            last = drawn[-1].points[-1][0]
            for level, cycles, end in _plateaus(m):
                stop = last if end is None else end
                if stop > begin * 2:
                    levels_of.append((begin, stop, cycles, f"{level} {cycles:.0f}"))
                begin = max(begin, stop)
    return curves.draw(
        f"latency-curve{column.index}",
        f"Latency over footprint{who(book, column)}",
        drawn,
        FOOTPRINT,
        CYCLES,
        levels=levels_of,
        note="One thread follows pointers through so many bytes, in random order. Lines: the levels that were found.",
    )


def bandwidth_over_footprint(book: Book, column: Column) -> object:
    drawn: list[Line] = []
    for name, m in of_column(book, column, "memory/bandwidth_curve/"):
        operation, _, width = name.partition("/")
        if width == "b128":
            drawn += curves.lines_of(m.series_named(BANDWIDTH), operation)
    return curves.draw(
        f"bandwidth-curve{column.index}",
        f"Bandwidth over footprint{who(book, column)}",
        drawn,
        FOOTPRINT,
        Axis("GB/s", 10),
        note="All SMs, 16 bytes per access; of the smallest footprints each SM's part fits into its L1.",
    )


# --- the table -------------------------------------------------------------------------------------------------------


def levels(book: Book) -> Table | None:
    """Every level: its latency and bandwidth, beside what others published; a reason for what differs."""
    rows = []
    for name, figures in LEVELS.items():
        for figure in figures:
            row = figure.row(book)
            if row is None or not row.first:
                continue
            others = figure.others(book)
            heading = name if not rows or name not in [r[0].said for r in rows] else ""
            for i, p in enumerate(others or [None]):
                cells = [Cell(heading if i == 0 else "")]
                cells += [_own(row, c, i) for c in book.columns]
                cells += [EMPTY, EMPTY, EMPTY] if p is None else _theirs(book, row, p)
                rows.append(cells)
    head = ["Level", *(f"{c.tag} measured".strip() for c in book.columns), "Published", "Deviation", "Why"]
    return Table("Every level beside what others published of this architecture", head, rows) if rows else None


def _own(row: Row, column: Column, line: int) -> Cell:
    n = row.numbers[column.index]
    if line or not n:
        return EMPTY
    interval = text.plus_minus(n.value, n.low, n.high)
    share = f" ({text.percent(n.share)} of the limit)" if n.share is not None else ""
    return Cell(f"{text.number(n.value, n.half_width)} {interval} {text.unit(row.unit)}{share}", n.anchor)


def _theirs(book: Book, row: Row, p: Published) -> list[Cell]:
    who_said = p.gpu.replace("NVIDIA ", "") + (", datasheet" if p.datasheet else f", {_short(p.title)}")
    told = Cell(f"{text.number(p.value)} {text.unit(p.unit)}, {who_said}", kind="published")
    for column, n in zip(book.columns, row.numbers):
        if n and p.unit == row.unit and p.comparable(column):
            away = n.value / p.value - 1
            reason = _why(book, column, row, n, p) if abs(away) > NOTABLE and not p.datasheet else ""
            return [told, Cell(text.deviation(n.value, p.value)), Cell(reason)]
    return [told, Cell("other GPU" if p.unit == row.unit else "other unit"), EMPTY]


def _short(title: str) -> str:
    """The part of a source's title that tells it apart: its authors, or its first words."""
    named = re.search(r"\(([^)]*)\)", title)
    return named[1] if named else " ".join(title.split(",")[0].split()[:3])


def _why(book: Book, column: Column, row: Row, n: Number, p: Published) -> str:
    """What is known of a deviation: the same in nanoseconds at another clock, then what the source says of itself."""
    said = []
    clock = re.search(r"(\d{3,4}) MHz", p.note)
    m = book.measurement(column, row.name)
    ours = (m.conditions.get("sm_clock_mhz") if m else None) or (column.run.gpu or {}).get("sm_clock_max_mhz")
    if clock and ours and p.unit == "cycle" and abs(float(clock[1]) / ours - 1) > 0.01:
        theirs_ns, ours_ns = 1e3 * p.value / float(clock[1]), 1e3 * n.value / ours
        said.append(
            f"{theirs_ns:.1f} ns at their {clock[1]} MHz, {ours_ns:.1f} ns at {ours:.0f} MHz here "
            f"({text.deviation(ours_ns, theirs_ns)}): beyond L1 the clock is another"
        )
    metric = m.metrics.get(row.metric) if m else None
    if metric and metric.spread and metric.spread["min"] <= p.value <= metric.spread["max"]:
        low, high = (text.number(round(metric.spread[end], 1)) for end in ("min", "max"))
        said.append(f"within what the SMs here differ by, {low} to {high}")
    for name, words in BESIDE.get(row.name, ()):
        other = book.row(name, row.metric)
        if other and (o := other.numbers[column.index]):
            said.append(f"{words} {text.number(round(o.value, 1))} ({text.deviation(o.value, p.value)})")
    note = re.sub(r"At \d+ MHz\.?", "", p.note).strip()
    return ". ".join([*said, *([f"The source: {note.rstrip('.')}"] if note else [])])


# Cases that are closer to how others measured: (name, words before its figure).
BESIDE = {
    "memory/l1/latency": (("memory/l1/latency/index", "with an index that becomes an address"),),
    "memory/l1/latency/index": (("memory/l1/latency", "with a ready address"),),
    "memory/l2/read": (
        ("memory/l2/read/8mib", "of 8 MiB"),
        ("memory/l2/read_dealt/20mib", "20 MiB dealt among the SMs"),
    ),
    "memory/l2_near/latency": (("memory/l2_near/latency_spoiled", "without copies in the other partition"),),
    "memory/l2_far/latency": (("memory/l2_far/latency_replicated", "from the copy in the near partition"),),
}
