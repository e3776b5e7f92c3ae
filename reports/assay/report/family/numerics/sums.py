# SPDX-License-Identifier: Apache-2.0
"""What the arithmetic of an MMA keeps: accumulator, rounding, growth of errors."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.files import Measurement

from ...answer.findings import Answer, Part, lines, picked
from ...answer.question import Question
from ...block.kinds import EMPTY, Block, Cell, Facts, Span, Table, figures
from ...book import labels, text
from ...book.model import Book, Column, Row
from ...draw import placing
from ...draw.svg import MUTED, PAPER, Data, Figure, axes, color_of, finish, name_dot
from . import fp8

ACCUMULATE = "numerics/accumulate/"
GROWTH = "numerics/error_growth/"
MULTIPLY_ADD = "numerics/multiply_add/"
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


def title_of(path: str) -> tuple[str, str]:
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
            name, accumulate = title_of(m.name.removeprefix(ACCUMULATE))
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
    return said + _emulation(m)


def _emulation(m: Measurement) -> str:
    """ "; by HMMA.16816.F32 on unpacked operands, C added last": the sums of an MMA that the hardware lacks are those of
    the instruction that takes its place."""
    loop = (m.sass or {}).get("loop") or {}
    used = [op for op in loop if op.startswith("HMMA")]
    if not used or not ((m.sass or {}).get("emulated") or "emulated" in m.flags):
        return ""
    last = "; C " + str(m.params["c"]) if "c" in m.params else ""
    return f"; not by FP8 hardware but by {', '.join(used)} on operands unpacked to f16{last}"


def multiply_adds(book: Book, column: Column) -> list[tuple[str, str, str]]:
    """(instruction of the CUDA cores, what was found, anchor): whether its multiply-add is fused."""
    return [
        (labels.words(m.name.removeprefix(MULTIPLY_ADD)), str(m.params["finding"]), c.anchor(m.name))
        for c, m in book.measurements
        if c is column and m.name.startswith(MULTIPLY_ADD) and "finding" in m.params
    ]


Curve = list[tuple[float, float]]  # (K, relative error)
STYLES: dict[str, dict[str, Any]] = {
    "in_mma": {"marker": "o", "ms": 3, "mec": PAPER, "mew": 0.4},
    "promoted": {"ls": (0, (4, 3))},
    "float32": {"ls": (0, (1, 2))},
}
VARIANTS = {"in_mma": "in the MMA", "promoted": "promoted", "float32": "f32 in order"}


def error_growth(book: Book, column: Column, data: str = "positive") -> Figure | None:
    """Relative error against K, each type's sums in the MMA (solid) and promoted every few steps (dashed), a panel each."""
    curves: list[tuple[str, str, Curve]] = []
    for c, m in book.measurements:
        if c is not column or not m.name.startswith(GROWTH):
            continue
        name, accumulate = title_of(m.name.removeprefix(GROWTH))
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
    of_type = {name: {variant: points for n, variant, points in curves if n == name} for name in shown}
    alone = next((points for _, variant, points in curves if variant == "float32"), None)
    across = min(2, len(shown))
    down = math.ceil(len(shown) / across)
    with axes(0.5 + 1.5 * down, panels=(down, across)) as (canvas, panels):
        every = list(np.ravel(panels))
        for ax in every[len(shown) :]:
            ax.remove()
        drawn = [_panel(ax, name, of_type[name], alone) for ax, name in zip(every, shown)]
        values = [v for lines in drawn for points, _ in lines.values() for _, v in points]
        for at, ax in enumerate(every[: len(shown)]):
            ax.set_ylim(min(values) / 2, max(values) * 2)
            if at % across == 0:
                ax.set(ylabel="relative error")
            if at + across >= len(shown):
                ax.set(xlabel="K")
                ax.tick_params(labelbottom=True)
        canvas.get_layout_engine().execute(canvas)
        room = placing.room_of(every[0], [points for points, _ in drawn[0].values()], [])
        for variant, (points, color) in drawn[0].items():
            name_dot(every[0], room, *points[len(points) // 2], NAMES[variant], color, 8.5)
        said = "; ".join(
            f"{n} {VARIANTS[v]} {p[-1][1]:.1e} at K = {text.number(p[-1][0])}"
            for n, v, p in curves
            if n in shown or v == "float32"
        )
        return finish(
            canvas,
            f"error-growth{column.index}",
            f"Error of long dot products, {column.label}",
            f"{_worst(of_type)} Relative error on {data} data: {said}.",
            f"Of K products, by type. Solid: added up by the MMA. Dashed: partial sums promoted to f32 every four steps. "
            f"Dotted, the same everywhere: f32 on the CPU, one after another. Data: {data}.",
            Data(
                ["mma", "sums", "K", "relative error"],
                [
                    [name, VARIANTS.get(variant, variant), k, error]
                    for name, variant, points in curves
                    for k, error in points
                ],
            ),
        )


NAMES = {"in_mma": "in the MMA", "promoted": "promoted", "float32": "f32, CPU"}


def _panel(ax: Any, name: str, of_type: dict[str, Curve], alone: Curve | None) -> dict[str, tuple[Curve, str]]:
    """One type beside sums on the CPU; the lines with their colours, by variant."""
    color = color_of(name.split(",")[0].rpartition(" ")[2])
    lines = {variant: (points, color) for variant, points in of_type.items()}
    if alone:
        lines["float32"] = (alone, MUTED)
    for variant, (points, ink) in lines.items():
        ax.plot(*zip(*points), color=ink, **STYLES[variant])
    ax.set_title(name, fontsize=8.5)
    ax.set(xscale="log", yscale="log")
    ax.set_xscale("log", base=2)
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda v, _: text.number(v))
    ax.yaxis.set_major_formatter(lambda v, _: f"{v:.0e}".replace("e-0", "e-"))
    return lines


def _worst(of_type: dict[str, dict[str, Curve]]) -> str:
    """Which type's long sums err most, and what promotion leaves of it, in a sentence."""
    ends = {name: {variant: points[-1] for variant, points in found.items()} for name, found in of_type.items()}
    name = max(ends, key=lambda name: ends[name].get("in_mma", (0, 0))[1])
    if "in_mma" not in ends[name]:
        return ""
    k, error = ends[name]["in_mma"]
    left = ends[name].get("promoted")
    promoted = f", promoted by {left[1]:.1e}" if left else ""
    return f"{name} errs most, by {error:.1e} at K = {text.number(k)}{promoted}."


def _distinct(names: list[str], curves: list[tuple[str, str, Curve]], most: int = 6) -> list[str]:
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


def rounding(book: Book, question: Question) -> Answer:
    """What each type's sums keep, how an FP8 mma.sync adds, and what promoting them gains."""
    by_name: dict[tuple[str, str], dict[int, tuple[str, str]]] = {}
    for column in book.columns:
        for card in cards(book, column):
            said = card.headline or card.finding
            by_name.setdefault((card.name, card.accumulate), {})[column.index] = (said, card.anchor)
    order = list(by_name)
    answer = Answer(question, more=max(0, len(order) - 8))
    for key in order[:8]:
        label = f"{key[0]}, {key[1]} sums" if key[1] else key[0]
        answer.findings += lines(
            book, label, lambda c, found=by_name[key]: [found[c.index]] if c.index in found else []
        )
    answer.findings += fp8.findings(book)
    for row in book.find(r"numerics/error_growth/wgmma/(e4m3|bf16)", "promotion_gain"):

        def gain(column: Column, row: Row = row) -> list[Part]:
            n = row.numbers[column.index]
            return [(f"{text.number(n.value)} × less error in long sums", n.anchor)] if n else []

        answer.findings += lines(
            book, f"promoting sums of {labels.case_words(row.name).removeprefix('error growth ')}", gain
        )
    fused = dict.fromkeys(name for c in book.columns for name, _, _ in multiply_adds(book, c))
    for name in [name for name in fused if name.endswith("f32")][:3]:

        def found(column: Column, name: str = name) -> list[Part]:
            return [(said, at) for other, said, at in multiply_adds(book, column) if other == name]

        answer.findings += lines(book, name, found)
    return answer if answer.findings else picked(book, question)


def blocks(book: Book) -> list[Block]:
    several = len(book.columns) > 1
    named = [(c, f", {c.tag} {c.label}" if several else "") for c in book.columns]
    adds = [_cards_table(cards(book, c), of) for c, of in named]
    fused = [
        Table(
            f"Multiply-add of the CUDA cores{of}",
            ["Instruction", "Found"],
            [[Cell(name, anchor), Cell(said)] for name, said, anchor in multiply_adds(book, c)],
        )
        for c, of in named
    ]
    return [figures(*(error_growth(book, c) for c in book.columns[:4])), *adds, *fused]


def _cards_table(found: list[Card], of: str) -> Table:
    """A row for each way of adding, with all instructions that add so."""
    alike: dict[str, list[Card]] = {}
    for card in found:
        key = repr((card.accumulate, card.bits, card.finding or card.headline, card.agreement, card.facts))
        alike.setdefault(key, []).append(card)
    exact = bool(found) and all(card.agreement == 1 for card in found)
    rows = [[cell for cell in _row(cards, exact) if cell] for cards in alike.values()]
    caption = (
        f"How each MMA adds{of}: found from its results, then used to predict thousands of random ones bit for bit"
        f"{', all of them rightly' if exact else ''}"
    )
    return Table(caption, ["Instruction", "Sums", "Fraction bits", "How", *([] if exact else ["Predicted"]), "More"], rows)


def _row(cards: list[Card], exact: bool) -> list[Cell | None]:
    card, *others = cards
    return [
        Cell(card.name, card.anchor, more=tuple(Span(f"and {other.name}", other.anchor) for other in others)),
        Cell(card.accumulate),
        Cell(text.number(card.bits) if card.bits is not None else ""),
        Cell(card.finding or card.headline),
        None if exact else _agreement(card),
        Cell("", fold=Facts([(label, [Span(said)]) for label, said in card.facts])) if card.facts else EMPTY,
    ]


def _agreement(card: Card) -> Cell:
    if card.agreement is None:
        return EMPTY
    return Cell(text.percent(card.agreement), kind="value bad" if card.agreement < 1 else "value")
