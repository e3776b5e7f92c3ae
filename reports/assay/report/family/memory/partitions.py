# SPDX-License-Identifier: Apache-2.0
"""The rest of question 13: which partition of L2 an SM is near, banks, distributed shared memory, TLB, memory under load."""

from __future__ import annotations

from dataclasses import replace
import numpy as np

from assay.files import Measurement

from ...answer.findings import Part, lines
from ...block.kinds import EMPTY, Cell, Evidence, Table
from ...block.tables import metric_table, named, of_column, sweep_table, who
from ...book import labels, text
from ...book.model import Book, Column
from ...draw import cells, curves
from ...draw.curves import Axis, Line
from ...draw.svg import Figure

SMS_A_ROW = 33  # of the picture of near partitions


def add_findings(book: Book, block: Evidence) -> None:
    block.findings += lines(book, "L2 partitions", lambda c: _partitions(book, c))
    block.findings += lines(book, "shared memory of other CTAs", lambda c: _others(book, c))
    block.findings += lines(
        book, "cycles of a load of shared memory, by how its threads stand to banks", lambda c: _banks(book, c)
    )
    block.findings += lines(book, "TLB", lambda c: _tlb(book, c))
    block.findings += lines(book, "memory under load", lambda c: _loaded(book, c))
    block.findings += lines(book, "power of memory traffic", lambda c: _power(book, c))


def add_figures(book: Book, column: Column, block: Evidence) -> None:
    for drawn in (loaded_latency, power, tlb, cluster_curves, hit_rate, l2_map):
        block.draw(drawn(book, column))


def add_tables(book: Book, block: Evidence) -> None:
    for column in book.columns[:4]:
        block.tabulate(banks(book, column))
        block.tabulate(distributed(book, column))
        block.tabulate(l2_patterns(book, column))
        block.tabulate(residency(book, column))


def _partitions(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "memory/l2_map")
    if m is None or (count := m.value("partitions")) is None:
        return []
    at = column.anchor(m.name)
    sizes = [v.value for k, v in m.metrics.items() if k.startswith("sms_of_partition_")]
    said = text.counted(int(count), "partition")
    said += f", near to {' and '.join(f'{v:g}' for v in sizes)} SMs" if sizes else ""
    found = [(said, at)]
    near, far = m.value("near_atomic_cycles"), m.value("far_atomic_cycles")
    if near and far:
        found.append((f"an atomic takes {near:.0f} cycles in the near one and {far:.0f} in the far one", at))
    if (alike := m.value("sms_mapped_alike_twice")) is not None:
        found.append((f"{text.percent(alike)} of the SMs mapped alike twice", at))
    return found


def _others(book: Book, column: Column) -> list[Part]:
    """Latency and bandwidth of distributed shared memory in the smallest and the largest cluster."""
    found = []
    for name, metric, words in (
        ("load_latency", "latency_cycles_of_", "a load takes"),
        ("read", "bytes_per_clock_per_sm_of_", "reads at"),
    ):
        m = book.measurement(column, f"memory/distributed_shared/{name}")
        sizes = {int(k): v for k, v in named(m, metric).items() if k.isdigit()}
        if len(sizes) > 1:
            few, many = min(sizes), max(sizes)
            first, last = (text.number(round(sizes[size].value, 1)) for size in (few, many))
            unit = text.unit(sizes[few].unit)
            said = f"{words} {first} {unit} in clusters of {few}, {last} in those of {many}"
            found.append((said, column.anchor(m.name)))
    return found


def _banks(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "memory/shared_access/ld_b32")
    series = m.series_named("cycles_per_access") if m else None
    values = dict(series.curve) if series else {}
    wanted = ("stride_1", "stride_2", "stride_32", "column", "column_padded", "column_swizzled")
    return [
        (f"{labels.words(k)}: {text.number(round(values[k], 1))}", column.anchor(m.name)) for k in wanted if k in values
    ]


def _tlb(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "memory/tlb")
    if m is None:
        return []
    at, found = column.anchor(m.name), []
    if (reach := m.value("tlb_reach_bytes")) is not None:
        found.append((f"reaches {text.size(reach)}", at))
    elif (tried := m.series_named("latency_cycles")) and tried.curve:
        found.append((f"reaches all of the {text.size(tried.curve[-1][0])} that were tried", at))
    if (fit := tlb_miss(m)) is not None:
        cycles, count = fit
        said = f"a miss costs {cycles:.0f} cycles, by least squares over {text.counted(count, 'range')} beyond"
        found.append((f"{said}: latency = hit + miss × (1 − reach / range)", at))
        if (mean := m.value("tlb_miss_cycles")) is not None:
            widest = m.series_named("latency_cycles").curve[-1][0]
            share = text.percent(1 - reach / widest)
            found.append(
                (
                    f"over {text.size(widest)}, where {share} of the loads miss, a load takes {mean:.1f} more in the mean",
                    at,
                )
            )
    return found


def tlb_miss(m: Measurement) -> tuple[float, int] | None:
    """(cycles of a miss, ranges beyond the reach that it follows from); None where fewer than two are beyond.

    Of random accesses over a range F the TLB of reach R holds R/F, so that a share of 1 - R/F misses. The widest range
    alone shows that share of a miss, not the whole of one. Ranges down to a quarter of the reach say what a hit takes.
    """
    reach, series = m.value("tlb_reach_bytes"), m.series_named("latency_cycles")
    points = [(f, y) for f, y in series.curve if f >= reach / 4] if series and reach else []
    beyond = sum(f > reach for f, _ in points)
    if beyond < 2:
        return None
    missing = np.array([max(0.0, 1 - reach / f) for f, _ in points])
    line = np.column_stack([np.ones_like(missing), missing])
    (_, miss), *_ = np.linalg.lstsq(line, np.array([y for _, y in points]), rcond=None)
    return float(miss), beyond


def _loaded(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, "memory/loaded_latency/read")
    if m is None:
        return []
    words = {
        "idle_latency_cycles": "idle {} cycles",
        "latency_cycles_at_80_percent": "{} cycles at 80 % of the bandwidth",
        "full_load_latency_cycles": "{} cycles under full load",
    }
    return [
        (said.format(text.number(round(value))), column.anchor(m.name))
        for key, said in words.items()
        if (value := m.value(key)) is not None
    ]


def loaded_latency(book: Book, column: Column) -> Figure | None:
    """Latency against the bandwidth that the other SMs draw meanwhile."""
    drawn = []
    for name, m in of_column(book, column, "memory/loaded_latency/"):
        latency, load = m.series_named("latency_cycles"), m.series_named("bandwidth_gb_per_s")
        if latency and load:
            pairs = [(x, y) for x, y in zip(load.values, latency.values) if x is not None and y is not None]
            drawn_at = [np.nan if x is None else x for x in load.values]
            ends = curves.ends_by_place(drawn_at, latency.intervals.reshape(-1, 2))
            drawn.append(Line("reads" if name == "read" else labels.words(name), pairs, ends=ends))
    return curves.draw(
        f"loaded-latency{column.index}",
        f"Latency of memory under load{who(book, column)}",
        drawn,
        Axis("GB/s that the others draw"),
        Axis("cycles"),
        note="One warp's pointer chase while all other SMs read, or read and write, at the given rate.",
    )


def _by_pace(book: Book, column: Column, operation: str) -> list[tuple[float, float, str]]:
    """(GB/s, W, anchor) of each pace at which memory was read or written, the slowest first."""
    found = [
        (m.value("bandwidth_gb_per_s"), m.value("power_w"), column.anchor(m.name))
        for _, m in of_column(book, column, f"memory/hbm/power/{operation}/")
    ]
    return sorted(point for point in found if None not in point)


def _power(book: Book, column: Column) -> list[Part]:
    """Watts with hardly any traffic and at the fastest pace, and the energy of a byte between the two."""
    found = []
    for operation in ("read", "write"):
        points = _by_pace(book, column, operation)
        if len(points) < 2:
            continue
        (slow, foot, _), (fast, top, at) = points[0], points[-1]
        picojoules = (top - foot) / (fast - slow) * 1e3
        said = f"{operation} at {text.number(round(fast))} GB/s {top:.0f} W: {1e3 * top / fast:.0f} pJ/B "
        said += "of the whole board, idle included, "
        said += f"{picojoules:.0f} pJ/B above the {foot:.0f} W of {text.number(round(slow))} GB/s"
        found.append((said, at))
    return found


def power(book: Book, column: Column) -> Figure | None:
    return curves.draw(
        f"memory-power{column.index}",
        f"Power over sustained bandwidth{who(book, column)}",
        [
            Line(operation, [(rate, watts) for rate, watts, _ in points])
            for operation in ("read", "write")
            if (points := _by_pace(book, column, operation))
        ],
        Axis("GB/s"),
        Axis("W"),
        note="The whole board, while all SMs read or write with pauses: the left end is the same kernel nearly idle.",
    )


def tlb(book: Book, column: Column) -> Figure | None:
    m = book.measurement(column, "memory/tlb")
    return m and curves.draw(
        f"tlb{column.index}",
        f"TLB: latency over the bytes that are touched{who(book, column)}",
        curves.lines_of(m.series_named("latency_cycles")),
        Axis("address range", 2, bytes=True),
        Axis("cycles"),
        note="A few lines over so wide a range: they stay in L2, their translations do not.",
    )


def cluster_curves(book: Book, column: Column) -> Figure | None:
    """Bandwidth of distributed shared memory by distance, a line for each size of cluster."""
    m = book.measurement(column, "memory/distributed_shared/read")
    return m and curves.draw(
        f"dsmem{column.index}",
        f"Reading the shared memory of a CTA so many ranks away{who(book, column)}",
        [
            replace(line, label=f"cluster of {line.label}", points=[p for p in line.points if p[0] > 0])
            for line in curves.lines_of(m.series_named("bytes_per_clock_per_sm"))
        ],
        Axis("distance in ranks"),
        Axis("B/clk/SM"),
        note="All CTAs of all clusters read at once; distance 0, their own, is left out.",
    )


HIT_RATE = {
    "bandwidth_gb_per_s": "measured",
    "at_most_gb_per_s": "hits and misses at once",
    "one_after_the_other_gb_per_s": "one after the other",
}


def hit_rate(book: Book, column: Column) -> Figure | None:
    """L2 read bandwidth by the share of hits, between the two ways in which hits and misses could share their time."""
    m = book.measurement(column, "memory/l2/hit_rate")
    return m and curves.draw(
        f"hit-rate{column.index}",
        f"Reading through L2 by the share that hits{who(book, column)}",
        [line for key, words in HIT_RATE.items() for line in curves.lines_of(m.series_named(key), words)],
        Axis("hits, %"),
        Axis("GB/s"),
    )


def l2_map(book: Book, column: Column) -> Figure | None:
    """SM x address: which SMs are near which lines, SMs ordered by partition and lines by home."""
    m = book.measurement(column, "memory/l2_map")
    latency, near = (m.series_named(k) if m else None for k in ("latency_cycles", "near_partition"))
    if not latency or not near or len(latency.axes) != 2:
        return None
    grid = latency.grid
    sides = np.array([-1 if v is None else v for v in near.values])
    order = np.argsort(sides, kind="stable")
    first = grid[sides == sides.max()].mean(axis=0) - grid[sides == sides.min()].mean(axis=0)
    columns = np.argsort(-first, kind="stable")
    low, high = np.nanpercentile(grid, [2, 98])
    count = len(latency.axes[1].points)
    members = {int(side): int((sides == side).sum()) for side in sorted(set(sides))}
    sizes = ", ".join(f"{n} SMs near partition {side}" for side, n in members.items())
    return cells.dense(
        f"l2-map{column.index}",
        f"Which SM is near which part of L2{who(book, column)}",
        f"Latency of an atomic from {len(order)} SMs to {count} lines, from {low:.0f} to {high:.0f} cycles: {sizes}.",
        (grid[order][:, columns] - low) / (high - low),
        [(f"s{n % 6 + 1}", size, f"{size} SMs near {side}") for n, (side, size) in enumerate(members.items())],
        f"Rows: SMs, by the partition they are near. Columns: lines of memory, by home. Pale is near, {low:.0f} cycles "
        f"for an atomic; full is far, {high:.0f}.",
        across=f"{count} lines",
    )


# --- tables ----------------------------------------------------------------------------------------------------------


def banks(book: Book, column: Column) -> Table | None:
    """Cycles of every access to shared memory by pattern."""
    found = [
        (name, m, s)
        for name, m in of_column(book, column, "memory/shared_access/")
        if (s := m.series_named("cycles_per_access"))
    ]
    if not found:
        return None
    patterns = list(dict.fromkeys(str(p) for _, _, s in found for p, _ in s.curve))
    rows = []
    for name, m, s in found:
        values = {str(p): v for p, v in s.curve}
        rows.append(
            [
                Cell(labels.words(name), column.anchor(m.name)),
                *(Cell(text.number(round(values[p], 1))) if p in values else EMPTY for p in patterns),
            ]
        )
    caption = f"Shared memory: cycles of one access by a warp{who(book, column)}"
    return Table(caption, ["Access", *(labels.words(p) for p in patterns)], rows)


def distributed(book: Book, column: Column) -> Table | None:
    """Distributed shared memory by operation and size of cluster."""
    rows, sizes = [], []
    for family in ("memory/distributed_shared/", "memory/distributed_async/"):
        for name, m in of_column(book, column, family):
            values = {k.rsplit("_of_", 1)[1]: v for k, v in m.metrics.items() if "_of_" in k}
            sizes += [s for s in values if s not in sizes and s.isdigit()]
            if values:
                unit = text.unit(next(iter(values.values())).unit)
                label = name.replace("/", " ").replace("_", " ")
                rows.append((f"{label}, {unit}", column.anchor(m.name), values))
    sizes.sort(key=int)
    made = [
        [Cell(label, at), *(Cell(text.number(round(v[s].value, 2))) if s in v else EMPTY for s in sizes)]
        for label, at, v in rows
    ]
    caption = f"Shared memory of other CTAs by the size of the cluster{who(book, column)}"
    return Table(caption, ["Operation", *(f"{s} CTAs" for s in sizes)], made) if made else None


def l2_patterns(book: Book, column: Column) -> Table | None:
    """L2 read bandwidth by footprint and by who reads what."""
    rows = of_column(book, column, "memory/l2/")
    metrics = {"bandwidth_gb_per_s": "GB/s", "bytes_per_clock_per_sm": "B/clk/SM"}
    caption = f"Reading L2, by footprint and by who reads what{who(book, column)}"
    return metric_table(caption, column, [(n.replace("/", " ") + _served(n), m) for n, m in rows], metrics)


def _served(name: str) -> str:
    """What the bandwidth of a case of `memory/l2/` is that of."""
    if name.startswith("read_chunks/") or name == "read/same_lines":
        return ", merged on the way"
    return ", served by L2" if name == "read" else ""


def residency(book: Book, column: Column) -> Table | None:
    """What hints and a set-aside window do for an array that a stream would push out of L2."""
    m = book.measurement(column, "memory/l2_residency")
    series = m.series_named("bandwidth_gb_per_s") if m else None
    if not series:
        return None
    caption = f"An array in L2 read again while a stream passes through, GB/s{who(book, column)}: what keeps it there"
    if len(series.axes) > 1:
        return sweep_table(caption, column, m, series.name, "Array, set aside")
    rows = [[Cell(labels.words(str(way)), column.anchor(m.name)), Cell(text.number(v))] for way, v in series.curve]
    return Table(caption, ["Way", "GB/s"], rows)
