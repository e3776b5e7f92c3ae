# SPDX-License-Identifier: Apache-2.0
"""Question 13: latency and bandwidth of every level, beside what others published."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import pairwise

from assay.files import Measurement

from ...answer.findings import Part, lines, stated
from ...block.every_series import add_every_series
from ...block.kinds import Block, Evidence, Table
from ...block.published import in_short as published_in_short
from ...block.published import table as published_table
from ...block.tables import metric_table, of_column, who
from ...book import labels, text
from ...book.model import BURST, Book, Column, Row
from ...book.published import figures as published_figures
from ...book.roofs import best_read
from ...draw import curves
from ...draw.curves import Axis, Line
from . import partitions

FOOTPRINT = Axis("footprint", 2, bytes=True)
CYCLES = Axis("cycles")


LATENCY, RATE, BANDWIDTH, NS = "latency_cycles", "bytes_per_clock_per_sm", "bandwidth_gb_per_s", "latency_ns"


def _of_clusters(size: int) -> tuple[tuple[str, str], ...]:
    return (
        ("memory/distributed_shared/load_latency", f"{LATENCY}_of_{size}"),
        ("memory/distributed_shared/read", f"{RATE}_of_{size}"),
    )


READ = "memory, read"
LEVELS: dict[str, tuple[tuple[str, str], ...]] = {  # level -> (case, metric) of its latency and bandwidth
    "constant": (("memory/constant/latency", "constant_l1_latency_cycles"),),
    "constant, second level": (("memory/constant/latency", "constant_l15_latency_cycles"),),
    "shared memory": (("memory/shared/latency/address", LATENCY), ("memory/shared/read", RATE)),
    "shared memory, by index": (("memory/shared/latency", LATENCY),),
    "L1": (("memory/l1/latency", LATENCY), ("memory/l1/read", RATE)),
    "L1, by index": (("memory/l1/latency/index", LATENCY),),
    "texture": (("memory/texture/latency", LATENCY), ("memory/texture/read/l1", RATE)),
    "shared memory of another SM": _of_clusters(2),
    **{f"shared memory of another SM, clusters of {size}": _of_clusters(size) for size in (4, 8, 16)},
    "L2, near": (("memory/l2_near/latency", LATENCY), ("memory/l2_near/latency", NS)),
    "L2, far": (("memory/l2_far/latency", LATENCY), ("memory/l2_far/latency", NS)),
    "L2, served by it": (("memory/l2/read", BANDWIDTH), ("memory/l2/read", RATE)),
    "L2, merged on the way": (("memory/l2/read_chunks/20mib", BANDWIDTH),),
    "L2, written": (("memory/l2/write", BANDWIDTH), ("memory/l2/write", RATE)),
    READ: (("memory/dram/latency", LATENCY), ("memory/dram/latency", NS), ("memory/hbm/read", BANDWIDTH)),
    "memory, write": (("memory/hbm/write", BANDWIDTH),),
    "memory, copy": (("memory/hbm/copy", BANDWIDTH),),
    "memory, triad": (("memory/hbm/triad", BANDWIDTH),),
}


def evidence(book: Book) -> list[Block]:
    found = Evidence(13, "assay run '^memory/'")
    found.findings += lines(book, "latency", lambda c: _spoken(book, c, LATENCY_LEVELS, LATENCY))
    found.findings += lines(book, "bandwidth", lambda c: _spoken(book, c, BANDWIDTH_LEVELS, RATE, BANDWIDTH))
    found.findings += lines(book, "how far each level reaches", lambda c: _reach(book, c))
    partitions.add_findings(book, found)
    for column in book.columns[:4]:
        found.draw(latency_over_footprint(book, column))
        found.draw(bandwidth_over_footprint(book, column))
        partitions.add_figures(book, column, found)
    found.tabulate(short := in_short(book))
    if short:
        short.notes += [L2_NAMES, *([BY_INDEX] if book.row("memory/shared/latency", LATENCY) else [])]
    found.tabulate(levels(book))
    for column in book.columns[:4]:
        found.tabulate(by_load(book, column))
    partitions.add_tables(book, found)
    for column in book.columns[:4]:
        add_every_series(book, column, "memory/", found, DRAWN, TITLES)
    return [found]


# Cases whose series are drawn or tabulated in a way of their own, here or by question 16.
DRAWN = (
    *("latency_curve", "bandwidth_curve", "loaded_latency", "tlb", "distributed_shared", "l2_map", "l2/hit_rate"),
    *("shared_access", "l2_residency", "atomics", "reduction", "hbm/power"),
)


TITLES = {
    "constant/latency latency_cycles": "Constant memory: latency over footprint",
    "constant/read ops_per_clock_per_sm": "Constant memory: loads by the addresses of a warp",
    "texture/latency latency_cycles": "Texture: latency over footprint",
    "distributed_async/bulk/bandwidth bytes_per_clock_per_sm": "cp.async.bulk to the shared memory of another CTA, "
    "by distance in ranks",
    "distributed_async/bulk/bandwidth bytes_per_clock_per_sm_by_message": "cp.async.bulk to the shared memory of "
    "another CTA, by size",
    "distributed_async/bulk/latency latency_cycles": "cp.async.bulk to the shared memory of another CTA: latency by "
    "distance in ranks",
    "distributed_async/bulk/latency latency_cycles_by_message": "cp.async.bulk to the shared memory of another CTA: "
    "latency by size",
    "distributed_async/st_async/bandwidth bytes_per_clock_per_sm": "st.async to the shared memory of another CTA, by "
    "distance in ranks",
    "distributed_async/st_async/latency latency_cycles": "st.async to the shared memory of another CTA: latency by "
    "distance in ranks",
    "dram/spikes loads_percent": "How often a load of memory takes how long",
    "l2/read_loads gb_per_s_per_sm": "What L2 gives each SM over how many SMs read",
    "l2/read_loads bandwidth_gb_per_s": "Reading L2 by width and number of loads",
    "l2/read_patterns bandwidth_gb_per_s": "Reading L2 by the order in which SMs read it",
    "lines/fill latency_cycles": "Latency of a load so far behind one that missed, by prefetch size",
    "lines/l1 lines_held": "Lines that L1 holds by their stride",
    "read_write_mix bandwidth_gb_per_s": "Bandwidth of memory by how many of 16 accesses are writes",
}


L2_NAMES = (
    "Served by L2: each SM reads lines of its own. Merged on the way: several SMs read one line at about the same time, so "
    "that L2 may be asked once for what several receive."
)
BY_INDEX = (
    "By index: what is loaded is an index, of which one instruction more makes the next address. Others publish the latency "
    "of shared memory so. In all other latencies the load alone is waited for."
)
LATENCY_LEVELS = ("shared memory", "L1", "shared memory of another SM", "L2, near", "L2, far", "memory, read")
BANDWIDTH_LEVELS = (
    *("shared memory", "L1", "L2, served by it", "L2, merged on the way"),
    *("memory, read", "memory, write", "memory, copy"),
)


def _spoken(book: Book, column: Column, names: tuple[str, ...], *wanted: str) -> list[Part]:
    """ "L1 34 ±0 cycles" for each level, of its first figure of this kind."""
    found = []
    for name in names:
        figure = next((f for f in LEVELS[name] if f[1].startswith(wanted)), None)
        row = book.row(*figure) if figure else None
        if row and (n := row.numbers[column.index]):
            found.append((f"{name} {stated(n, row.unit, limit=False)}", n.anchor))
    return found


@dataclass(frozen=True)
class Plateau:
    """A level of a latency curve: from where to where its loads take its cycles.

    Between two levels is a transition, where some loads find their line in the nearer one."""

    name: str  # of its metric
    cycles: float
    begin: float  # bytes
    end: float
    ends: bool  # before the curve does

    @property
    def called(self) -> str:
        return labels.words(self.name)


ON_LEVEL = 0.05  # of its cycles: as the probe finds plateaus


def plateaus(m: Measurement) -> list[Plateau]:
    """The levels of a latency curve, nearest first. Each begins where the curve has come near to its cycles."""
    series = m.series_named("latency_cycles")
    curve = [(x, y) for x, y in series.curve if not isinstance(x, str)] if series else []
    found: list[Plateau] = []
    for key, metric in m.metrics.items():
        if (level := key.removesuffix("_latency_cycles")) != key and curve:
            capacity = m.value(f"{level}_capacity_bytes")
            after = found[-1].end if found else 0.0
            near = [x for x, y in curve if x > after and abs(y - metric.value) <= ON_LEVEL * abs(metric.value)]
            if near:
                end = curve[-1][0] if capacity is None else capacity
                found.append(Plateau(level, metric.value, near[0], end, capacity is not None))
    return found


def transitions(levels_of: list[Plateau]) -> list[str]:
    """ "215 to 362 KiB from L1 to L2 near": where a load may find its line in either."""
    return [
        f"{text.size(a.end)} to {text.size(b.begin)} from {a.called} to {b.called}"
        for a, b in pairwise(levels_of)
        if b.begin > a.end
    ]


def _reach(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "memory/latency_curve/ca")
    if m is None:
        return []
    found = plateaus(m)
    said = [f"{level.called} to {text.size(level.end)}" for level in found if level.ends]
    said += [f"transition: {between}" for between in transitions(found)]
    return [(words, column.anchor(m.name)) for words in said]


def by_load(book: Book, column: Column) -> Table | None:
    """The plateaus of each latency curve: what cache operator, width and stride of the loads change."""
    rows = [(labels.words(name), m) for name, m in of_column(book, column, "memory/latency_curve/")]
    cycles: dict[str, list[float]] = {}
    for _, m in rows:
        for level in plateaus(m):
            cycles.setdefault(level.name, []).append(level.cycles)
    found = sorted(cycles, key=lambda level: statistics.median(cycles[level]))
    metrics = {}
    for level in found:
        metrics |= {f"{level}_latency_cycles": f"{labels.words(level)}, cycles", f"{level}_capacity_bytes": "until"}

    def form(value: float) -> str:
        return text.size(value) if value >= 4096 else text.number(round(value, 1))

    caption = f"Latency by the kind of load, and until which footprint each level lasts{who(book, column)}"
    return metric_table(caption, column, rows, metrics, "Load", form)


def steadiness(curves_of: list[Measurement]) -> str:
    """Whether two passes over each footprint agreed: where they did not, caches still held what was read before."""
    rounds = [m.series_named("rounds") for m in curves_of]
    if any(series is None for series in rounds):
        return "Whether each point is of a steady state was not looked at in this run."
    open_ones = sorted({at for s in rounds for at, value in zip(s.axes[0].points, s.values) if value is None})
    if not open_ones:
        return f"At each point two passes agreed within 3{text.THIN}%."
    return f"Not in a steady state, for two passes still differed: {', '.join(map(text.size, open_ones))}."


def latency_over_footprint(book: Book, column: Column) -> object:
    """The curves of loads through L1 and past it, with the plateaus that were found in the first by name."""
    drawn: list[Line] = []
    levels_of: list[Plateau] = []
    for name, m in of_column(book, column, "memory/latency_curve/"):
        if name not in ("ca", "cg"):
            continue
        label = "through L1" if name == "ca" else "past L1"
        drawn += curves.lines_of(m.series_named("latency_cycles"), label)
        if name == "ca":
            levels_of = plateaus(m)
    between = transitions(levels_of)
    return curves.draw(
        f"latency-curve{column.index}",
        f"Latency over footprint{who(book, column)}",
        drawn,
        FOOTPRINT,
        CYCLES,
        levels=[(level.begin, level.end, level.cycles, f"{level.called} {level.cycles:.0f}") for level in levels_of],
        note="One thread follows pointers through so many bytes, in random order. Lines: the levels that were found. "
        + steadiness([m for name, m in of_column(book, column, "memory/latency_curve/") if name in ("ca", "cg")])
        + (f" Transitions, where a load may find its line in either: {'; '.join(between)}." if between else ""),
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


def _fastest_reads(book: Book, shown: list[Row]) -> list[tuple[str, list[Row]]]:
    """The way to read memory that is fastest on a GPU, where it is another than the one that has a line already."""
    best = [found[0] for column in book.columns if (found := best_read(book, column, BURST))]
    others = {row.name: row for row in best if row.name not in [known.name for known in shown]}
    return [(f"{READ}, fastest way: {labels.words(name.rpartition('/')[2])}", [row]) for name, row in others.items()]


def in_short(book: Book) -> Table | None:
    """Every level in a line."""
    rows = []
    for name, wanted in LEVELS.items():
        rows.append((name, [row for figure in wanted if (row := book.row(*figure))]))
        if name == READ:
            rows += _fastest_reads(book, [row for _, of_level in rows for row in of_level])
    return published_in_short(book, "Levels of memory", rows)


def levels(book: Book) -> Table | None:
    """Every level, then whatever else of memory others published of this architecture."""
    rows = [(name, row) for name, figures in LEVELS.items() for figure in figures if (row := book.row(*figure))]
    known = [row for _, row in rows]
    others = [row for row in book.rows if row.family == "memory" and row not in known and published_figures(book, row)]
    rows += [(labels.figure_words(row.name, row.metric), row) for row in others]
    return published_table(book, "Every level, beside what others published of this architecture", rows)
