# SPDX-License-Identifier: Apache-2.0
"""Special functions: exp2 by polynomial, how matrix math and exp2 overlap, and where they balance."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from . import cells, derive, text
from .model import Book, Column, Number
from .svg import INK, MUTED, PAPER, SERIES, Figure, axes, finish, spread

FUNCTION = re.compile(r"special_function/(?!ffma|overlap|exp2_|imbalance|interference)(\w+)/(\w+)")
IN_C = "CUDA C"  # the format of what a function of the language compiles to
MIX = "special_function/exp2_polynomial_mix/"
ACCURACY = "special_function/exp2_accuracy/"
OVERLAP = re.compile(r"special_function/overlap/(mma_sync|wgmma)_(\w+?)/(\w+)/(\w+)")


@dataclass
class Function:
    """One function in one format: results per clock and SM, and latency."""

    name: str
    form: str
    rate: list[Number | None]
    latency: list[Number | None]


def functions(book: Book) -> list[Function]:
    """Functions that were measured: instructions by name, f32 first, then those of CUDA C."""
    found = []
    for row in book.find(r"special_function/.*", "ops_per_clock_per_sm"):
        if match := FUNCTION.fullmatch(row.name):
            bare = book.row(row.name, "mufu_latency_cycles") or book.row(row.name, "latency_cycles")
            none: list[Number | None] = [None] * len(book.columns)
            name, form = (match[2], IN_C) if match[1] == "cuda_c" else match.groups()
            found.append(Function(name, form, row.numbers, bare.numbers if bare else none))
    return sorted(found, key=lambda f: (f.form == IN_C, f.name.strip("_"), f.form != "f32", f.form))


# --- exp2 by polynomial ----------------------------------------------------------------------------------------------


@dataclass
class Mix:
    """Results per clock against the share of elements whose 2^x is a polynomial."""

    degree: int
    points: list[tuple[float, float]]  # (share, results per clock and SM), with softmax's scaling
    best: tuple[float, float]
    max_ulp: float | None = None
    bf16_misrounded: float | None = None
    speedup: Number | None = None
    polynomial: float | None = None  # results per clock without MUFU
    anchor: str = ""


def mixes(book: Book, column: Column) -> list[Mix]:
    """By degree; [] where no mix was measured."""
    found = []
    for c, m in book.measurements:
        series = m.series_named("results_per_clock_per_sm")
        if c is not column or not m.name.startswith(MIX) or series is None or len(series.axes) != 2:
            continue
        points = [(float(n) / 16, float(v)) for n, v in zip(series.axes[1].points, series.grid[0]) if not math.isnan(v)]
        degree = int(m.params.get("degree", 0))
        exact = book.measurement(column, f"{ACCURACY}degree{degree}")
        speedup = book.row(m.name, "speedup_over_mufu")
        found.append(
            Mix(
                degree,
                points,
                max(points, key=lambda p: p[1]),
                exact.value("max_ulp") if exact else None,
                exact.value("bf16_misrounded_share") if exact else None,
                speedup.numbers[column.index] if speedup else None,
                m.value("polynomial_results_per_clock_per_sm"),
                c.anchor(m.name),
            )
        )
    return sorted(found, key=lambda mix: mix.degree)


def exp2_mix(book: Book, column: Column) -> Figure | None:
    curves = mixes(book, column)
    if not curves:
        return None
    with axes(3.0) as (canvas, ax):
        ends = []
        for i, mix in enumerate(curves):
            color = SERIES[i % len(SERIES)]
            ax.plot(*zip(*mix.points), marker="o", ms=3.5, color=color, mec=PAPER, mew=0.5)
            ax.plot(*mix.best, "o", ms=8, mfc="none", mec=color)
            ends.append((mix.points[-1], color, f"degree {mix.degree}"))
        top = max(mix.best[1] for mix in curves)
        for (point, color, label), y in zip(ends, spread([p[1] for p, *_ in ends], 0.07 * top)):
            ax.annotate(
                label, (point[0], y), xytext=(6, 0), textcoords="offset points", va="center", color=color, fontsize=9
            )
        ax.axhline(curves[0].points[0][1], color=MUTED, lw=0.9, ls=(0, (4, 3)))
        ax.set(xlabel="share of elements by polynomial", ylabel="results per clock and SM", ylim=(0, top * 1.08))
        ax.xaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f} %")
        said = "; ".join(
            f"degree {m.degree}: best {text.number(round(m.best[1], 1))} at {100 * m.best[0]:.0f} %" for m in curves
        )
        return finish(
            canvas,
            f"exp2-mix{column.index}",
            f"exp2 by polynomial beside MUFU, {column.label}",
            f"Results per clock and SM: {said}.",
            "With softmax's multiply-add. Dashed: MUFU alone. Rings: the best mix.",
        )


# --- overlap ---------------------------------------------------------------------------------------------------------


@dataclass
class Overlap:
    """One schedule: efficiency against how much exp2 there is for the MMA."""

    family: str
    kind: str
    schedule: str
    per_element: str  # what is done to each element: "ex2", "ffma_ex2", "ffma_ex2_fadd"
    points: list[tuple[float, float]]  # (exp2 time / MMA time, longer time / time of both)
    efficiency: Number | None = None
    overlap: Number | None = None


def overlaps(book: Book, column: Column) -> list[Overlap]:
    found = []
    for c, m in book.measurements:
        match = OVERLAP.fullmatch(m.name)
        if c is not column or not match:
            continue
        ratio, efficiency = m.series_named("exp_to_mma_time"), m.series_named("overlap_efficiency")
        points = []
        if ratio and efficiency:
            points = sorted(
                (r, e) for r, e in zip(ratio.values, efficiency.values) if r is not None and e is not None and r > 0
            )
        numbers = [book.row(m.name, key) for key in ("overlap_efficiency", "overlap")]
        found.append(Overlap(*match.groups(), points, *(row.numbers[c.index] if row else None for row in numbers)))
    return found


def overlap_efficiency(book: Book, column: Column) -> Figure | None:
    """Efficiency against ratio, a line per schedule: of the family, type and work with most schedules."""
    every = [o for o in overlaps(book, column) if len(o.points) > 1]
    if not every:
        return None
    groups: dict[tuple[str, str, str], list[Overlap]] = {}
    for one in every:
        groups.setdefault((one.family, one.kind, one.per_element), []).append(one)
    usual = ("wgmma", "bf16", "ffma_ex2_fadd")
    (family, kind, work), curves = max(
        groups.items(), key=lambda item: (len(item[1]), *(a == b for a, b in zip(item[0], usual)))
    )
    with axes(3.2) as (canvas, ax):
        ax.set_xscale("log", base=2)
        ends = []
        for i, one in enumerate(curves):
            color = SERIES[i % len(SERIES)]
            ax.plot(*zip(*one.points), marker="o", ms=3.5, color=color, mec=PAPER, mew=0.5)
            ends.append((one.points[-1], color, text.words(one.schedule)))
        right = max(p[0] for p, *_ in ends)
        for (_, color, label), y in zip(ends, spread([p[1] for p, *_ in ends], 0.055)):
            ax.annotate(
                label, (right, y), xytext=(6, 0), textcoords="offset points", va="center", color=color, fontsize=9
            )
        ax.axhline(1, color=INK, lw=1)
        ax.axvline(1, color=MUTED, lw=0.8, ls=(0, (1, 2)))
        ratios = [r for one in curves for r, _ in one.points]
        serial = [2**e for e in _steps(math.log2(min(ratios)), math.log2(max(ratios)))]
        ax.plot(serial, [max(1, r) / (1 + r) for r in serial], color=MUTED, lw=0.9, ls=(0, (4, 3)))
        ax.set(xlabel="exp2 time / MMA time", ylabel="efficiency", ylim=(0.45, 1.05))
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        said = "; ".join(f"{text.words(o.schedule)} at least {min(e for _, e in o.points):.2f}" for o in curves)
        return finish(
            canvas,
            f"overlap{column.index}",
            f"Overlap of {work.upper().replace('_', ' + ')} with {family.replace('_', '.')} {kind}, {column.label}",
            f"Efficiency, the longer of the two over the time of both: {said}.",
            "The longer of the two alone, over both together: 1 where the shorter one is free. Dashed: one after the other.",
        )


def _steps(low: float, high: float, count: int = 48) -> list[float]:
    return [low + (high - low) * i / (count - 1) for i in range(count)]


# --- imbalance map ---------------------------------------------------------------------------------------------------

IMBALANCE = "special_function/imbalance/"
DIMENSIONS = (32, 64, 96, 128, 192, 256, 512)
TILE = 128  # keys


@dataclass
class Balance:
    """How long exp2 takes beside attention's two products, by head dimension, for one type of MMA."""

    label: str
    head_dimension: float  # below which exp2 takes longer
    ratios: dict[int, float]  # head dimension -> time of exp2 / time of MMA
    anchor: str = ""
    mixed: bool = False  # with polynomials beside MUFU, of the case before


def balances(book: Book) -> list[Balance]:
    """As measured with MMAs of the tile's width, with MUFU alone and with the best polynomial mix; where that was not
    measured, from the rates of each (`derive.imbalances`); then what is published."""
    found = []
    for column, m in book.measurements:
        if not m.name.startswith(IMBALANCE) or "emulated" in m.flags:
            continue
        name = m.name.removeprefix(IMBALANCE)
        family = "mma_sync" if name.startswith("mma_sync_") else name.partition("_")[0]
        tag = f"{column.tag} " if column.tag else ""
        label = f"{tag}{family.replace('_', '.')} {name.removeprefix(family + '_')}"
        for suffix, how in (("", ""), ("_mixed", " with polynomials")):
            series, balance = m.series_named(f"exp_to_mma_time{suffix}"), m.value(f"balance_head_dim{suffix}")
            if balance is None or series is None or [a.name for a in series.axes] != ["tile_of_keys", "head_dim"]:
                continue
            keys = [int(k) for k in series.axes[0].points]
            line = series.grid[keys.index(TILE) if TILE in keys else -1]
            ratios = {int(d): float(v) for d, v in zip(series.axes[1].points, line) if not math.isnan(v)}
            found.append(Balance(label + how, balance, ratios, column.anchor(m.name), bool(suffix)))
    dimensions = sorted({d for line in found for d in line.ratios}) or DIMENSIONS
    for line in derive.imbalances(book):
        if found and not line.published:
            continue
        ratios = {d: line.flop_per_exp2 / (4 * d) for d in dimensions}
        found.append(Balance(line.label, line.head_dimension, ratios, line.anchor))
    return found


def imbalance_map(book: Book) -> Figure | None:
    """exp2 time over MMA time, per MMA type and head dimension."""
    lines = balances(book)
    if not lines:
        return None
    dimensions = sorted({d for line in lines for d in line.ratios})

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        line, d = lines[y], dimensions[x]
        if d not in line.ratios:
            return None
        ratio = line.ratios[d]
        words = f"{line.label}, head dimension {d}: exp2 takes {ratio:.2f} times as long as the MMAs"
        # Two colours meet at 1.
        strength = min(1.0, 0.1 + 0.4 * abs(math.log2(ratio))) if ratio > 0 else 1.0
        return text.number(round(ratio, 2)), "s2" if ratio > 1 else "s1", strength, words

    rows = [f"{line.label}: balance at d = {line.head_dimension:.0f}" for line in lines]
    said = "; ".join(f"{line.label} balances at d = {line.head_dimension:.1f}" for line in lines)
    return cells.grid(
        "imbalance-map",
        "Time of exp2 over time of MMA in attention",
        f"{said}.",
        rows,
        [f"d = {d}" for d in dimensions],
        cell,
        "By head dimension d. Above 1 (second colour) attention waits for exp2.",
        size=(44, 22),
        left=20 + round(4.6 * max(len(r) for r in rows)),
        slanted=False,
    )
