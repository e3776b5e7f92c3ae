# SPDX-License-Identifier: Apache-2.0
"""Tensor cores: one line per type of operand, the sweep over N, what shapes reach the peak, power by data."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field

import numpy as np

from ..run_file import Measurement
from . import cells, text
from .model import SUSTAINED, Book, Column, Number, Row
from .svg import GRID, INK, MUTED, PAPER, SERIES, Figure, axes, finish

MMA = re.compile(r"tensor_core/(mma_sync|wgmma|tcgen05)/([^/]+)/([^/]+)(?:/(.+))?")
FAMILIES = {"wgmma": "wgmma", "tcgen05": "tcgen05", "mma_sync": "mma.sync"}
SPECIAL_DATA = {"zeros", "ones", "constant", "uniform_bits", "random_bits"}

# Where A comes from and whether half of it is left out: the columns of the table.
SOURCES = {"dense": "dense", "rs": "A in registers", "sparse": "sparse", "sparse_rs": "sparse, A in registers"}
POWER = "tensor_core/power/"
REACHES = 0.99  # of the best rate


@dataclass(frozen=True)
class Mma:
    """What the name of a case says."""

    family: str
    kind: str
    shape: str
    accumulate: str  # "" where the type has but one accumulator of interest
    source: str  # a key of SOURCES


@dataclass
class Best:
    """The fastest case of one source."""

    row: Row
    number: Number
    shape: str


@dataclass
class Line:
    """One (family, type, accumulator) of one column."""

    column: Column
    family: str
    kind: str
    accumulate: str  # as parse has it
    sums: str = ""  # the accumulator's type
    best: dict[str, Best] = field(default_factory=dict)  # by source
    emulated: bool = False
    tflops: Number | None = None
    sustained: Number | None = None
    energy: Number | None = None  # pJ per FLOP, under lasting load

    @property
    def usual(self) -> Best:
        """The dense case, or the first there is."""
        return self.best.get("dense") or next(iter(self.best.values()))


def parse(name: str) -> Mma | None:
    """The parts of the name of a dense or sparse MMA on ordinary data; None for other names."""
    match = MMA.fullmatch(name)
    if not match:
        return None
    family, kind, shape, rest = match.groups()
    parts = set((rest or "").split("/"))
    if parts & SPECIAL_DATA:
        return None
    sparse = any(part.startswith("sparse") for part in parts)
    registers = any(part.endswith("rs") for part in parts) and family == "wgmma"
    source = "sparse_rs" if sparse and registers else "sparse" if sparse else "rs" if registers else "dense"
    return Mma(family, kind, shape, next((p[4:] for p in parts if p.startswith("acc_")), ""), source)


def preferred(row: Row, other: Row | None, column: int) -> bool:
    """Whether a row's rate in this column is above the other's; of equals, within a thousandth, the one that was also
    measured under lasting load is preferred."""
    number, held = row.numbers[column], row.sustained[column]
    best = other.numbers[column] if other else None
    if number is None or best is None:
        return number is not None
    least = 0.999 if held and other and not other.sustained[column] else 1.001
    return number.value > least * best.value


def lines(book: Book) -> list[Line]:
    """The table: per column, family, type and accumulator the fastest case of each source, the fastest types first."""
    found: dict[tuple[int, str, str, str], Line] = {}
    for row in book.find(r"tensor_core/.*", "flop_per_clock_per_sm"):
        mma = parse(row.name)
        if mma is None:
            continue
        for column, number in zip(book.columns, row.numbers):
            if number is None:
                continue
            key = (column.index, mma.family, mma.kind, mma.accumulate)
            line = found.setdefault(key, Line(column, mma.family, mma.kind, mma.accumulate))
            m = book.measurement(column, row.name)
            line.sums = str(m.params.get("accumulate", line.accumulate)) if m else line.accumulate
            best = line.best.get(mma.source)
            if preferred(row, best.row if best else None, column.index):
                line.best[mma.source] = Best(row, number, mma.shape)
    for line in found.values():
        line.emulated = "emulated" in line.usual.number.flags
        _per_second(book, line)
    order = list(FAMILIES)

    def rank(line: Line) -> tuple:
        rate = line.usual.number.value / (1 if "dense" in line.best else 2)
        return order.index(line.family), line.emulated, line.kind == "b1", -round(rate, -2), line.kind, line.accumulate

    return sorted(found.values(), key=rank)


def _per_second(book: Book, line: Line) -> None:
    """Adds throughput and energy: of the dense case if there is one."""
    best = line.usual
    i = line.column.index
    if row := book.row(best.row.name, "tflops"):
        line.tflops = row.numbers[i]
        line.sustained = row.sustained[i]
    for name in (best.row.name, best.row.name + SUSTAINED):
        row = book.row(name, "energy_pj_per_flop")
        if row and (found := row.sustained[i] or row.numbers[i]):
            line.energy = found


# --- the sweep over N ------------------------------------------------------------------------------------------------


@dataclass
class Sweep:
    """Cycles from one wgmma to the next, by N."""

    kind: str
    source: str
    points: list[tuple[int, float]]
    published: list[tuple[int, float]]
    title: str = ""  # of the publication


SWEPT = {"ss": "SS", "rs": "RS", "sparse_ss": "sparse SS", "sparse_rs": "sparse RS"}


def sweeps(book: Book, column: Column) -> list[Sweep]:
    """Of the 16-bit type that has most values of N, each source; [] with fewer than three values."""
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in book.find(r"tensor_core/wgmma/(f16|bf16)/m64n\d+/(sparse_)?[rs]s", "latency_cycles"):
        _, _, kind, shape, source = row.name.split("/")
        if number := row.numbers[column.index]:
            found.setdefault((kind, source), []).append((int(shape[4:]), number.value))
    kind = max((k for k, _ in found), key=lambda k: (len(found.get((k, "ss"), [])), k == "f16"), default="")
    result = []
    for source in SWEPT:
        points = sorted(found.get((kind, source), []))
        if len(points) < 3:
            continue
        theirs = [
            (int(p.name.split("/")[3][4:]), p.value, p.title)
            for p in book.published_for(rf"tensor_core/wgmma/f16/m64n\d+/{source}", "latency_cycles")
        ]
        title = theirs[0][2] if theirs else ""
        result.append(Sweep(kind, source, points, sorted((n, v) for n, v, t in theirs if t == title), title))
    return result


def n_sweep(book: Book, column: Column) -> Figure | None:
    curves = sweeps(book, column)
    if not curves:
        return None
    with axes(3.3) as (canvas, ax):
        ax.set_xscale("log", base=2)
        ax.set_yscale("log", base=2)
        sizes = sorted({n for c in curves for n, _ in c.points})
        ax.plot(sizes, [n / 2 for n in sizes], color=MUTED, lw=0.9, ls=(0, (1, 2)))
        drawn = {}
        for curve in curves:
            color = SERIES[list(SWEPT).index(curve.source)]
            label = SWEPT[curve.source]
            ax.plot(*zip(*curve.points), marker="o", ms=4, color=color, mec=PAPER, mew=0.6, label=label)
            if curve.published:
                drawn[curve.title] = None
                ax.plot(*zip(*curve.published), "D", ms=6.5, mfc="none", mec=color, mew=0.9)
        ax.set(xlabel="N of m64nN", ylabel="cycles per wgmma", xlim=(sizes[0] / 1.15, sizes[-1] * 1.15))
        ax.legend(loc="upper left", fontsize=8.5, labelcolor=INK)
        ax.set_xticks([n for n in (8, 16, 32, 64, 128, 256) if sizes[0] <= n <= sizes[-1]])
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda v, _: f"{v:g}")
        said = "; ".join(
            f"{SWEPT[c.source]} " + ", ".join(f"{text.number(round(v, 1))} at N = {n}" for n, v in c.points)
            for c in curves
        )
        theirs = f" Hollow: {'; '.join(drawn)}, f16." if drawn else ""
        return finish(
            canvas,
            f"n-sweep{column.index}",
            f"wgmma {curves[0].kind} against N, {column.label}",
            f"Cycles from one wgmma to the next on the same accumulators: {said}.",
            "SS: A and B in shared memory; RS: A in registers. Dotted: N / 2, what the tensor cores need." + theirs,
        )


def reaching_peak(book: Book, column: Column) -> list[tuple[str, str, str]]:
    """(instruction, what it takes to reach its peak, anchor): the smallest shape that a sweep found."""
    found = []
    for c, m in book.measurements:
        p = m.params
        if c is not column:
            continue
        if m.name.startswith("tensor_core/wgmma_in_flight/") and "smallest_n" in p:
            waits = "none in flight" if p.get("smallest_pending") == 0 else "one group in flight"
            groups, chains = p.get("smallest_warpgroups"), p.get("smallest_chains")
            said = f"N = {p['smallest_n']}, {_count(groups, 'warpgroup')}, {_count(chains, 'accumulator')}, {waits}"
            found.append(
                (m.name.removeprefix("tensor_core/").replace("wgmma_in_flight", "wgmma"), said, c.anchor(m.name))
            )
        elif m.name.startswith("tensor_core/mma_sync/") and {"warps", "chains"} <= p.keys() and parse(m.name):
            said = f"{_count(p['warps'], 'warp')}, {_count(p['chains'], 'accumulator')} each"
            found.append((m.name.removeprefix("tensor_core/"), said, c.anchor(m.name)))
    return found


def in_flight(book: Book, column: Column, case: str = "bf16/ss") -> Figure | None:
    """The share of the best rate by N, accumulators and waiting (down) and warpgroups (across)."""
    m = book.measurement(column, f"tensor_core/wgmma_in_flight/{case}")
    series = m.series_named("flop_per_clock_per_sm") if m else None
    if series is None or [a.name for a in series.axes] != ["n", "chains", "pending", "warpgroups"]:
        return None
    grid, (sizes, chains, pending, groups) = series.grid, (a.points for a in series.axes)
    if np.isnan(grid).all():
        return None
    best = np.nanmax(grid)
    places = list(itertools.product(range(len(sizes)), range(len(chains)), range(len(pending))))
    rows = [
        f"N = {sizes[n]}, {_count(chains[c], 'accumulator')}, {'waits for all' if pending[p] == 0 else 'one in flight'}"
        for n, c, p in places
    ]

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        rate = grid[(*places[y], x)]
        if math.isnan(rate):
            return None
        share = rate / best
        words = f"{rows[y]}, {_count(groups[x], 'warpgroup')}: {text.number(rate)} {series.unit}"
        # Most places are near the peak: the colour begins at half of it.
        return text.percent(share), "s1" if share >= REACHES else "s2", max(0.05, 2 * share - 1), words

    return cells.grid(
        f"in-flight{column.index}",
        f"What wgmma {case.replace('/', ' ').upper()} needs for its peak, {column.label}",
        f"Best {text.number(best)} {series.unit}; the smallest configurations that reach it are listed in the table.",
        rows,
        [_count(g, "warpgroup") for g in groups],
        cell,
        "Share of the best rate. First colour: 99 % of it or more. Empty: more registers than there are.",
        size=(74, 16),
        left=210,
        slanted=False,
        breaks=[y for y in range(1, len(places)) if places[y][0] != places[y - 1][0]],
    )


def _count(n: object, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


# --- power by data ---------------------------------------------------------------------------------------------------


@dataclass
class Drawn:
    """One kind of data on one type: throughput under lasting load, and at which power and clock."""

    kind: str
    data: str
    tflops: float
    watts: float | None
    clock: float | None
    anchor: str


def power(book: Book, column: Column) -> list[Drawn]:
    """The cases of tensor_core/power in one run, types together, the fastest data first."""
    found = []
    for c, m in book.measurements:
        if c is column and m.name.startswith(POWER) and "tflops" in m.metrics:
            kind, _, data = m.name.removeprefix(POWER).partition("/")
            found.append(_drawn(m, kind, data, c.anchor(m.name)))
    order = list(dict.fromkeys(d.kind for d in found))
    return sorted(found, key=lambda d: (order.index(d.kind), -d.tflops))


def _drawn(m: Measurement, kind: str, data: str, anchor: str) -> Drawn:
    watts = m.value("power_w") or m.conditions.get("power_w")
    return Drawn(kind, data, m.metrics["tflops"].value, watts, m.conditions.get("sm_clock_mhz"), anchor)


def power_by_data(book: Book, column: Column) -> Figure | None:
    cases = power(book, column)
    if len(cases) < 2:
        return None
    with axes(0.5 + 0.27 * len(cases)) as (canvas, ax):
        kinds = list(dict.fromkeys(c.kind for c in cases))
        best = {k: max(c.tflops for c in cases if c.kind == k) for k in kinds}
        longest = max(best.values())
        for y, case in enumerate(cases):
            color = SERIES[kinds.index(case.kind) % len(SERIES)]
            ax.barh(y, best[case.kind], height=0.7, color=GRID, alpha=0.5, lw=0)
            ax.barh(y, case.tflops, height=0.7, color=color)
            beside = [f"{case.tflops:.0f}"]
            beside += [f"{case.watts:.0f} W"] if case.watts else []
            beside += [f"{case.clock:.0f} MHz"] if case.clock else []
            ax.annotate(
                " · ".join(beside),
                (best[case.kind], y),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
            )
        ax.set(
            yticks=range(len(cases)),
            yticklabels=[f"{c.kind} {text.words(c.data)}" for c in cases],
            ylim=(len(cases) - 0.4, -0.6),
            xlim=(0, longest * 1.6),
            xticks=[],
        )
        ax.grid(False)
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", labelcolor=INK)
        said = "; ".join(f"{c.kind} {text.words(c.data)} {c.tflops:.0f} TFLOP/s" for c in cases)
        return finish(
            canvas,
            f"power{column.index}",
            f"Throughput by data, {column.label}",
            f"Under lasting load: {said}.",
            "TFLOP/s of the same wgmma loop under lasting load, with the power drawn and the clock that was left.",
        )
