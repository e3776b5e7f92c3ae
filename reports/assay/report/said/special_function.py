# SPDX-License-Identifier: Apache-2.0
"""Sentences on special functions: questions 7, 8 and 9."""

from __future__ import annotations

from ..answer.findings import Part, Sentence
from ..answer.overlap import SCHEDULES
from ..book import labels
from ..book.model import Book, Column
from ..family.special_function.balance import IMBALANCE, imbalances
from ..family.special_function.overlap import overlaps
from ..family.special_function.polynomial import Mix, as_exact, mixes, pairs, unit_ulp
from .write import figure, first, number_of, percent, say, short

Found = list[Sentence | None]
IN_WORDS = ("none", "one", "two", "three", "four", "five", "six")  # degrees: a figure less in a sentence of three
MIXED_DEGREE = 3  # of the polynomial in special_function/imbalance, whose files do not name it: see probes/*/imbalance.cpp


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
    mixed = {"bf16": of("bf16", "balance_head_dim_mixed"), "fp8": of("e4m3", "balance_head_dim_mixed")}
    exact = next((mix for mix in mixes(book, column) if mix.degree == MIXED_DEGREE), None)
    start = f"With polynomials of degree {IN_WORDS[MIXED_DEGREE]} in part"
    return [
        below,
        first(
            say(
                f"{start}, off by up to {{ulp}} ulp, these become {{bf16}} and {{fp8}}.",
                ulp=(short(exact.max_ulp), exact.anchor) if exact and exact.max_ulp is not None else None,
                **mixed,
            ),
            say(f"{start} these become {{bf16}} and {{fp8}}.", **mixed),
        ),
    ]


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
    """What a polynomial for part of the elements gains at about the unit's accuracy, and at any; and whether one alone is
    faster than the unit."""
    found = [mix for mix in mixes(book, column) if mix.speedup]
    best = max(found, key=lambda mix: mix.speedup.value, default=None)
    exact = as_exact(found, unit_ulp(book, column))

    def times(mix: Mix | None) -> Part | None:
        return (short(mix.speedup.value), mix.anchor) if mix else None

    def error(mix: Mix | None) -> Part | None:
        return (short(mix.max_ulp), mix.anchor) if mix and mix.max_ulp is not None else None

    degree = IN_WORDS[best.degree] if best else ""
    start = "Beside the unit, and about as exact, a polynomial of degree"
    mixed = first(
        say(
            f"{start} {IN_WORDS[exact.degree]} makes exp2 {{exact}} times as fast; degree {degree} {{best}} times, off by up to "
            "{ulp} ulp.",
            exact=times(exact),
            best=times(best),
            ulp=error(best),
        )
        if exact and exact is not best
        else None,
        say(f"{start} {degree} makes exp2 {{times}} times as fast.", times=times(best)) if exact else None,
        say(
            f"Beside the unit, a polynomial of degree {degree} makes exp2 {{times}} times as fast, off by up to {{ulp}} ulp.",
            times=times(best),
            ulp=error(best),
        ),
    )
    return [mixed, _alone(book, column, found)]


def _alone(book: Book, column: Column, found: list[Mix]) -> Sentence | None:
    """By polynomial alone: in f32 the fastest of any degree, of pairs of f16 the fastest that is about as exact."""
    single = number_of(book, column, "special_function/ex2/f32", "ops_per_clock_per_sm")
    fastest = max((mix for mix in found if mix.polynomial), key=lambda mix: mix.polynomial, default=None)
    unit, near = pairs(book, column)
    in_f32 = of_pairs = None
    if fastest and single:
        beats = fastest.polynomial > single.value
        in_f32 = f"Alone in f32 {'one' if beats else 'none'} beats the unit, {{best}}/clk/SM against {{unit}}"
    if unit and near:
        beats = near[0].rate > unit.rate
        of_pairs = f"on pairs of f16 degree {IN_WORDS[near[0].degree]} {'does' if beats else 'does not'}, with {{pair}}"
        of_pairs += " and less error" if beats and near[0].max_ulp < unit.max_ulp else ""
    words = "; ".join(filter(None, (in_f32, of_pairs)))
    return say(
        f"{words[:1].upper()}{words[1:]}.",
        best=(short(fastest.polynomial), fastest.anchor) if in_f32 else None,
        unit=(short(single.value), single.anchor) if in_f32 else None,
        pair=(short(near[0].rate), near[0].anchor) if of_pairs else None,
    ) if words else None
