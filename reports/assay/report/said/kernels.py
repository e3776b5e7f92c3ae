# SPDX-License-Identifier: Apache-2.0
"""Sentences on kernels: questions 11 and 22 to 28."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from ..answer.findings import Part, Sentence
from ..book import text
from ..book.model import BURST, LASTING, STATES, Book, Column, Row, name_in, of_state
from ..book.roofs import gemm_shapes
from ..family.kernels import measured
from .write import figure, first, number_in, percent, say, short

Found = list[Sentence | None]


def gemm(book: Book, column: Column) -> Found:
    """The middle of the ratios to the fastest library over all shapes, and the worst shape."""
    middles: dict[str, Part] = {}
    worst = None
    for state in STATES:
        paired = [g for g in gemm_shapes(book, column, state, "bf16") if g.best]
        if paired:
            ratio = statistics.median(g.best.speedup.value for g in paired)
            middles[state] = (f"{ratio:.3f}", "q22-more")
            worst = worst or min(paired, key=lambda g: g.best.speedup.value)
            count = (str(len(paired)), "")
    if worst is None:
        return []
    return [
        first(
            say(
                "Over {count} shapes our bf16 GEMM runs at {burst} times the speed of the fastest library in a burst, and at "
                "{held} under lasting load, in the median.",
                count=count,
                burst=middles.get(BURST),
                held=middles.get(LASTING),
            ),
            say(
                "Over {count} shapes our bf16 GEMM runs at {times} times the speed of the fastest library, in the median.",
                count=count,
                times=next(iter(middles.values())),
            ),
        ),
        say(
            f"The worst shape is {worst.shape}, at {{times}} times the speed of {worst.best.name}.",
            times=(short(worst.best.speedup.value), column.anchor(worst.name)),
        ),
    ]


def _fastest(book: Book, column: Column, pattern: str, metric: str) -> list[tuple[float, Row, str]]:
    """(value, row, anchor) of the cases of a pattern, the fastest first."""
    found = []
    for row in book.find(pattern, metric):
        state = LASTING if of_state(row, column.index, LASTING) and not number_in(row, column) else BURST
        if n := of_state(row, column.index, state):
            found.append((n.value, row, column.anchor(name_in(row, state))))
    return sorted(found, key=lambda entry: -entry[0])


def fastest(pattern: str, metric: str, said: str) -> Callable[[Book, Column], Found]:
    """ "Our attention reaches 640 TFLOP/s at best, 0.99 times the speed of cudnn."."""

    def make(book: Book, column: Column) -> Found:
        found = _fastest(book, column, pattern, metric)
        if not found:
            return []
        value, row, at = found[0]
        m = book.measurement(column, row.name)
        best = min(m.baselines, key=lambda b: b.speedup.value, default=None) if m else None
        unit = text.unit(row.unit)
        return [
            first(
                say(
                    f"{said} reaches {{value}} {unit} at best, {{times}} times the speed of {best.name if best else ''}.",
                    value=(short(value), at),
                    times=(short(best.speedup.value), at) if best else None,
                ),
                say(f"{said} reaches {{value}} {unit} at best.", value=(short(value), at)),
            )
        ]

    return make


def of_copy(pattern: str, said: str) -> Callable[[Book, Column], Found]:
    """The best and the worst case of a pattern as a share of the bandwidth of a copy."""

    def make(book: Book, column: Column) -> Found:
        copy = number_in(book.row("memory/hbm/copy", "bandwidth_gb_per_s"), column)
        found = _fastest(book, column, pattern, "bandwidth_gb_per_s")
        if not found:
            return []
        ends = [found[0], found[-1]]
        if copy:
            best, worst = ((percent(value / copy.value), at) for value, _, at in ends)
            what = "of the bandwidth of a copy"
        else:
            best, worst = ((short(value), at) for value, _, at in ends)
            what = "GB/s"
        if len(found) == 1:
            return [say(f"{said} reaches {{best}} {what}.", best=best)]
        return [say(f"{said} reaches from {{worst}} to {{best}} {what}.", worst=worst, best=best)]

    return make


def hot_loops(book: Book, column: Column) -> Found:
    """The loops whose time is known, the first two: what bounds them, predicted and measured."""
    said: Found = []
    for loop in [loop for loop in measured(book) if book.measurement(column, loop.case)][:2]:
        what = "our GEMM" if loop.case.startswith("kernels/gemm/") else "a two-stage pipeline of MMA and exp2"
        what = what if "overlap" in loop.case or "gemm" in loop.case else "a kernel"
        bound = loop.bound_by if loop.bound_by.startswith("one ") else f"the {loop.bound_by} pipe"
        said.append(
            say(
                f"The loop of {what} is bound by {bound}: {{predicted}} cycles are predicted, and it takes {{measured}}.",
                predicted=(text.number(round(loop.predicted)), "hot-loops"),
                measured=(text.number(round(loop.measured)), column.anchor(loop.case)),
            )
        )
    if said:
        return said
    share = figure(
        book,
        column,
        "special_function/overlap/wgmma_bf16/two_stage/ffma_ex2_fadd",
        "overlap_efficiency",
        percent,
    )
    return [
        say("A two-stage pipeline of bf16 wgmma and softmax's arithmetic reaches {share} of its bound.", share=share)
    ]
