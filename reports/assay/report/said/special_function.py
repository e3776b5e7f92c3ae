# SPDX-License-Identifier: Apache-2.0
"""Sentences on special functions: questions 7, 8 and 9."""

from __future__ import annotations

from ..answer.findings import Sentence
from ..answer.overlap import SCHEDULES
from ..book import labels
from ..book.model import Book, Column
from ..family.special_function.balance import IMBALANCE, imbalances
from ..family.special_function.overlap import overlaps
from ..family.special_function.polynomial import mixes
from .write import figure, first, percent, say, short

Found = list[Sentence | None]


def bottleneck(book: Book, column: Column) -> Found:
    """The head dimension below which exp2 takes longer, with and without polynomials."""

    def of(kind: str, metric: str = "balance_head_dim") -> tuple[str, str] | None:
        return figure(book, column, f"{IMBALANCE}wgmma_{kind}", metric)

    own = [line for line in imbalances(book) if not line.published and (not column.tag or line.label[0] == column.tag)]
    rate = next((line for line in own if "bf16" in line.label), None)
    below = first(
        say(
            "Attention waits for exp2 below head dimension {bf16} with bf16 wgmma, and below {fp8} with fp8.",
            bf16=of("bf16"),
            fp8=of("e4m3"),
        ),
        say(
            "By the rates of both, attention waits for exp2 below head dimension {bf16} with bf16.",
            bf16=(short(rate.head_dimension), rate.anchor) if rate else None,
        ),
    )
    mixed = say(
        "With polynomials for part of the exponentials these become {bf16} and {fp8}.",
        bf16=of("bf16", "balance_head_dim_mixed"),
        fp8=of("e4m3", "balance_head_dim_mixed"),
    )
    return [below, mixed]


def overlap(book: Book, column: Column) -> Found:
    """The best and the worst schedule with the arithmetic of softmax, where both take as long alone."""
    found = [
        o
        for o in overlaps(book, column)
        if (o.family, o.kind, o.per_element) == ("wgmma", "bf16", "ffma_ex2_fadd") and o.efficiency
    ]
    if not found:
        return []
    ends = [pick(found, key=lambda o: o.efficiency.value) for pick in (max, min)]
    best, worst = (SCHEDULES.get(o.schedule, labels.words(o.schedule)) for o in ends)
    shares = [(percent(o.efficiency.value), o.efficiency.anchor) for o in ends]
    reach = "bf16 wgmma and softmax's arithmetic reach {share} of perfect overlap"
    if len(found) == 1:
        return [say(f"With {best}, {reach}.", share=shares[0])]
    return [say(f"With {best}, the best schedule, {reach}; {worst} reaches {{least}}.", share=shares[0], least=shares[1])]


def polynomial(book: Book, column: Column) -> Found:
    found = [mix for mix in mixes(book, column) if mix.speedup]
    best = max(found, key=lambda mix: mix.speedup.value, default=None)
    mixed = None
    if best:
        mixed = say(
            "A polynomial of degree {degree} for {share} of the elements makes exp2 {times} times as fast as the unit alone.",
            degree=(str(best.degree), ""),
            share=(percent(best.best[0]), best.anchor),
            times=(short(best.speedup.value), best.anchor),
        )
    single = figure(book, column, "special_function/ex2/f32", "ops_per_clock_per_sm")
    pair = figure(book, column, "special_function/ex2/f16x2", "ops_per_clock_per_sm")
    doubled = single and pair and abs(float(pair[0]) / float(single[0]) - 1) > 0.1
    verb = (
        "yields {pair} results per clock and SM, against {single} of f32."
        if doubled
        else ("yields {pair} results per clock and SM, no more than f32 does.")
    )
    return [mixed, say(f"MUFU.EX2 on pairs of f16 {verb}", pair=pair, single=single)]
