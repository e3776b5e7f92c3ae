# SPDX-License-Identifier: Apache-2.0
"""What the arithmetic of an MMA keeps, where its registers hold what, and what it costs to move them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..run_file import Measurement, Series
from . import cells, text
from .model import Book, Column
from .svg import MUTED, PAPER, SERIES, Figure, axes, finish, spread

ACCUMULATE = "numerics/accumulate/"
FRAGMENT = "numerics/fragment/"
GROWTH = "numerics/error_growth/"
MULTIPLY_ADD = "numerics/multiply_add/"
PERMUTATION = "numerics/fp8_permutation/"
FAMILIES = {"mma_sync": "mma.sync", "wgmma": "wgmma", "tcgen05": "tcgen05"}

# Facts in words that a card may have, in the order of a reader's interest.
FACTS = {
    "results": "result",
    "c": "C",
    "alignment": "alignment",
    "addends": "addends",
    "subnormal_inputs": "subnormal inputs",
    "subnormal_c": "subnormal C",
    "subnormal_results": "subnormal results",
    "overflow": "overflow",
    "overflow_within_a_sum": "overflow within a sum",
    "infinity_times_zero": "infinity times zero",
    "nan": "NaN",
    "zero": "zero",
    "multiply_add": "multiply-add",
    "order": "order",
    "first_disagreement": "first disagreement",
}


@dataclass
class Card:
    """How one MMA adds: a headline, the sentence found, and further facts."""

    name: str  # "wgmma e4m3"
    accumulate: str
    headline: str
    finding: str
    agreement: float | None  # share of random dot products that the model predicts bit for bit
    bits: float | None  # of the fraction of each addend
    facts: list[tuple[str, str]]
    anchor: str


def _title(path: str) -> tuple[str, str]:
    """ "wgmma/e4m3/acc_f16" -> ("wgmma e4m3", "f16")."""
    family, _, rest = path.partition("/")
    kind, *more = rest.split("/")
    accumulate = next((p[4:] for p in more if p.startswith("acc_")), "")
    shape = next((p for p in more if re.fullmatch(r"m\d+n\d+k\d+", p)), "")
    return " ".join(part for part in (FAMILIES.get(family, family), kind, shape) if part), accumulate


def cards(book: Book, column: Column) -> list[Card]:
    """One per type and family whose sums were examined; FP8, which keeps least, first, f16 sums last."""
    found = []
    for c, m in book.measurements:
        if c is column and m.name.startswith(ACCUMULATE):
            name, accumulate = _title(m.name.removeprefix(ACCUMULATE))
            facts = [(label, str(m.params[key])) for key, label in FACTS.items() if m.params.get(key) not in (None, "")]
            found.append(
                Card(
                    name,
                    accumulate or str(m.params.get("accumulate", "")),
                    headline(m),
                    str(m.params.get("finding", "")),
                    m.value("model_agreement"),
                    m.value("accumulator_fraction_bits"),
                    facts,
                    c.anchor(m.name),
                )
            )
    return sorted(found, key=lambda card: (card.accumulate == "f16", not re.search("e[45]m", card.name)))


def headline(m: Measurement) -> str:
    """ "keeps 13 fraction bits, truncated; 32 products at once"; where no bits were found, the finding itself."""
    bits = m.value("accumulator_fraction_bits")
    if bits is None:
        return str(m.params.get("finding", ""))
    said = f"keeps {bits:g} fraction bits"
    if how := m.params.get("addends") or m.params.get("results"):
        said += f", {how}"
    if (at_once := m.value("products_per_sum")) is not None and at_once > 1:
        sums = m.value("sums") or 1
        said += f"; {at_once:g} products at once" + (f", {sums:g} times" if sums > 1 else "")
    return said


def multiply_adds(book: Book, column: Column) -> list[tuple[str, str, str]]:
    """(instruction of the CUDA cores, what was found, anchor): whether its multiply-add is fused."""
    return [
        (text.words(m.name.removeprefix(MULTIPLY_ADD)), str(m.params["finding"]), c.anchor(m.name))
        for c, m in book.measurements
        if c is column and m.name.startswith(MULTIPLY_ADD) and "finding" in m.params
    ]


# --- error growth ----------------------------------------------------------------------------------------------------

VARIANTS = {"in_mma": "in the MMA", "promoted": "promoted", "float32": "f32 in order"}


def error_growth(book: Book, column: Column, data: str = "positive") -> Figure | None:
    """Relative error against K, each type's sums in the MMA (solid) and promoted every few steps (dashed)."""
    curves: list[tuple[str, str, list[tuple[float, float]]]] = []
    for c, m in book.measurements:
        if c is not column or not m.name.startswith(GROWTH):
            continue
        name, accumulate = _title(m.name.removeprefix(GROWTH))
        for variant in VARIANTS:
            series = m.series_named(f"relative_error_{data}_{variant}")
            points = [(float(k), v) for k, v in series.curve if v > 0] if series else []
            if len(points) > 1:
                curves.append((name + (f", {accumulate} sums" if accumulate else ""), variant, points))
    curves = [curve for curve in curves if curve[1] != "float32"] + [c for c in curves if c[1] == "float32"][:1]
    names = list(dict.fromkeys(name for name, variant, _ in curves if variant != "float32"))
    names.sort(key=lambda name: (not name.startswith("wgmma"), not re.search("e[45]m", name)))  # FP8 keeps least
    # Types that behave alike would hide each other: of those the first is drawn.
    shown = names[:1] if len(names) == 1 else _distinct(names, curves)
    if not shown:
        return None
    with axes(3.6) as (canvas, ax):
        ax.set(xscale="log", yscale="log")
        ends = []
        for name, variant, points in curves:
            if variant == "float32":
                color, style = MUTED, (0, (1, 2))
            elif name in shown:
                color, style = SERIES[shown.index(name) % len(SERIES)], "-" if variant == "in_mma" else (0, (4, 3))
            else:
                continue
            ax.plot(
                *zip(*points),
                color=color,
                ls=style,
                marker="o" if variant == "in_mma" else None,
                ms=3,
                mec=PAPER,
                mew=0.4,
            )
            if variant == "in_mma" or variant == "float32":
                ends.append((points[-1], color, "f32, CPU" if variant == "float32" else name))
        place = spread([float(np.log10(p[1])) for p, *_ in ends], 0.28)
        for (point, color, label), y in zip(ends, place):
            ax.annotate(
                label,
                (point[0], 10**y),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=color,
                fontsize=8.5,
            )
        ax.set(xlabel="K", ylabel="relative error")
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:.0e}".replace("e-0", "e-"))
        said = "; ".join(
            f"{n} {VARIANTS[v]} {p[-1][1]:.1e} at K = {p[-1][0]:g}"
            for n, v, p in curves
            if n in shown or v == "float32"
        )
        return finish(
            canvas,
            f"error-growth{column.index}",
            f"Error of long dot products, {column.label}",
            f"Relative error on {data} data: {said}.",
            "Solid: added up by the MMA. Dashed: partial sums promoted to f32 every four steps. Dotted: f32, one after "
            f"another. Data: {data}.",
        )


def _distinct(names: list[str], curves: list[tuple[str, str, list[tuple[float, float]]]], most: int = 6) -> list[str]:
    """Names whose last errors differ by more than a tenth from those of a name before."""
    last = {(name, variant): points[-1][1] for name, variant, points in curves}
    kept: list[str] = []
    for name in names:
        mine = [last.get((name, v)) for v in ("in_mma", "promoted")]
        alike = any(
            all(
                a == b or (a and b and abs(a / b - 1) < 0.1)
                for a, b in zip(mine, [last.get((k, v)) for v in ("in_mma", "promoted")])
            )
            for k in kept
        )
        if not alike:
            kept.append(name)
    return kept[:most]


# --- fragments -------------------------------------------------------------------------------------------------------


@dataclass
class Fragment:
    """Which thread and register holds each element of an operand."""

    title: str  # "A, 16 × 16"
    sources: list[tuple[str, str]]  # (instruction, anchor) of those that share the map
    matches: bool | None  # whether it is the map of the PTX ISA
    figure: Figure


def fragments(book: Book, column: Column) -> list[Fragment]:
    """The maps of one run as pictures, of instructions with one map one picture."""
    found: dict[tuple, Fragment] = {}
    for c, m in book.measurements:
        series = m.series_named("map")
        if c is not column or not m.name.startswith(FRAGMENT) or not series or "columns" not in m.params:
            continue
        path = m.name.removeprefix(FRAGMENT)
        name, accumulate = _title(path)
        source = (name + (f", {accumulate} sums" if accumulate else ""), c.anchor(m.name))
        operand = str(m.params.get("operand", path.rsplit("/", 1)[-1])).upper()
        held = places(m, series)
        matches = m.value("matches_ptx_isa")
        same = (operand, matches, path.split("/")[0], frozenset((at, tuple(who)) for at, who in held.items()))
        if same in found:
            found[same].sources.append(source)
        elif held:
            size = f"{max(r for r, _ in held) + 1} × {max(c for _, c in held) + 1}"
            title = f"{operand} of {FAMILIES.get(path.split('/')[0], '')}, {size}"
            figure = _picture(f"fragment{column.index}-{text.slug(path)}", title, held, len(series.axes) == 3)
            found[same] = Fragment(title, [source], None if matches is None else bool(matches), figure)
    return list(found.values())


def places(m: Measurement, series: Series) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """(row, column) -> the (thread, register, element of it) that hold it."""
    width = int(m.params.get("columns", 0))
    held: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    grid = series.grid if len(series.axes) == 3 else series.grid[..., None]
    for register, thread, element in zip(*np.nonzero(~np.isnan(grid))):
        at = int(grid[register, thread, element])
        held.setdefault(divmod(at, width), []).append((int(thread), int(register), int(element)))
    return held


SHOWN = (16, 16)  # rows and columns of a map; beyond them it repeats


def _picture(key: str, title: str, held: dict[tuple[int, int], list[tuple[int, int, int]]], packed: bool) -> Figure:
    tall, wide = max(r for r, _ in held) + 1, max(c for _, c in held) + 1

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        holders = held.get((y, x))
        if not holders:
            return None
        thread, register, element = holders[0]
        words = f"row {y}, column {x}: thread {thread}, register {register}" + (
            f", element {element}" if packed else ""
        )
        words += f", and {len(holders) - 1} more" if len(holders) > 1 else ""
        # Quads in turn have one of six colours, lanes of a quad four strengths.
        return f"T{thread}:r{register}", f"s{thread // 4 % 6 + 1}", 0.15 + 0.14 * (thread % 4), words

    shown = (min(SHOWN[0], tall), min(SHOWN[1], wide))
    cut = f" Rows 0 to {shown[0] - 1} of {tall}." if tall > shown[0] else ""
    cut += f" Columns 0 to {shown[1] - 1} of {wide}." if wide > shown[1] else ""
    return cells.grid(
        key,
        title,
        f"Which thread and register holds each of {tall} by {wide} elements.{cut}",
        [str(r) for r in range(shown[0])],
        [str(c) for c in range(shown[1])],
        cell,
        cut.strip(),
        size=(34, 15),
        left=20,
        slanted=False,
    )


# --- permutation -----------------------------------------------------------------------------------------------------


@dataclass
class Permutation:
    """One way to turn accumulators into the next operand, and what it costs per tile."""

    way: str
    cycles: list[tuple[str, float | None]]  # (what, cycles)
    anchor: str


def permutations(book: Book, column: Column) -> list[Permutation]:
    keys = ("added_cycles_per_tile", "cycles_per_tile", "conversion_cycles_per_tile")
    return [
        Permutation(text.words(m.name.removeprefix(PERMUTATION)), [(k, m.value(k)) for k in keys], c.anchor(m.name))
        for c, m in book.measurements
        if c is column and m.name.startswith(PERMUTATION) and "added_cycles_per_tile" in m.metrics
    ]
