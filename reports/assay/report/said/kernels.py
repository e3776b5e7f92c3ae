# SPDX-License-Identifier: Apache-2.0
"""Sentences on kernels: questions 11, 22, 24 to 28, and 42."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..answer.findings import Sentence
from ..block import over_time
from ..book import labels, text
from ..book.model import BURST, LASTING, STATES, Book, Column, Row, name_in, of_state
from ..book.products import Product, against, called, kinds_of, middle, products, rivals, shapes_of
from ..family.kernels.loops import measured
from .write import figure, first, number_in, percent, say, short

IN_CALLS = "in calls that follow each other"  # a load of which no clock or power is known
Found = list[Sentence | None]
Paired = Mapping[str, list[Product]]  # by state, the worst first


def beside_library(operations: tuple[str, ...]) -> Callable[[Book, Column], Found]:
    """The middle of the ratios to what took turns with ours, over the shapes of one kind of product, and the worst shape of
    all kinds."""

    def make(book: Book, column: Column) -> Found:
        every = {
            (operation, kind): _paired(book, column, operation, kind)
            for operation in operations
            for kind in kinds_of(book, operation)
        }
        main = _main_kind(every)
        return [_middles(*main, every[main]), _worst(column, every.values())] if main else []

    return make


def of_kind(operation: str, kind: str) -> Callable[[Book, Column], Found]:
    """The same of one kind of product by itself, and how often ours is the slower."""

    def make(book: Book, column: Column) -> Found:
        paired = _paired(book, column, operation, kind)
        if not any(paired.values()):
            return []
        return [_middles(operation, kind, paired), _worst(column, [paired]), _slower(operation, paired)]

    return make


QUESTION_OF = {"gemm": 22, "gemm_block_scaled": 22, "gemv": 23, "grouped": 24}


def _paired(book: Book, column: Column, operation: str, kind: str) -> Paired:
    return {state: against(products(book, column, state, operation, kind)) for state in STATES}


def _main_kind(every: Mapping[tuple[str, str], Paired]) -> tuple[str, str] | None:
    """(operation, type) that the first sentence is of: bf16 where it was measured, else what has most shapes."""
    found = {of: max(map(len, paired.values())) for of, paired in every.items()}
    best = max(found, key=lambda of: (found[of] > 0, of[1] == "bf16", found[of]), default=None)
    return best if best and found[best] else None


def _middles(operation: str, kind: str, every: Paired) -> Sentence | None:
    """What holds in a burst and under lasting load is said of the same shapes: a run that was cut short has others in each."""
    paired = {state: found for state, found in every.items() if found}
    shapes = {state: {p.shape for p in found} for state, found in paired.items()}
    both = set.intersection(*shapes.values())
    alike = all(of == both for of in shapes.values())
    if not both:  # nothing stands beside the other state: of that with more shapes alone
        state, both = max(shapes.items(), key=lambda entry: len(entry[1]))
        paired, alike = {state: paired[state]}, True
    paired = {state: [p for p in found if p.shape in both] for state, found in paired.items()}
    of = [p for found in paired.values() for p in found]
    behind = f"q{QUESTION_OF[operation]}-more"
    middles = {state: (f"{middle(found):.3f}", behind) for state, found in paired.items()}
    shape = f"shape{'s' if len(both) > 1 else ''}{shapes_of(of)}"
    start = f"Over {{count}} {shape}" if alike else f"Over the {{count}} {shape} measured both ways"
    start += f" our {called(operation, kind)} runs at"
    held = "under lasting load" if all(p.watched for p in paired.get(LASTING, ())) else IN_CALLS
    count, median = (str(len(both)), ""), ", in the median" if len(both) > 1 else ""
    return first(
        say(
            f"{start} {{burst}} times the speed of {rivals(of)} in a burst, and at {{held}} {held}{median}.",
            count=count,
            burst=middles.get(BURST),
            held=middles.get(LASTING),
        ),
        say(
            f"{start} {{times}} times the speed of {rivals(of)}{median}.",
            count=count,
            times=next(iter(middles.values())),
        ),
    )


def _worst(column: Column, every: Iterable[Paired]) -> Sentence | None:
    """Of all kinds and both states; each is compared in its own state alone."""
    each = [(p.best.speedup.value, i, p) for found in every for i, state in enumerate(STATES) for p in found[state]]
    if not each:
        return None
    value, i, p = min(each, key=lambda found: found[:2])
    at, library = column.anchor(p.name), p.fastest
    state = STATES[i] if p.watched or STATES[i] == BURST else IN_CALLS
    said = f"The worst is the {p.called} of {p.shape}, {state}"
    low, high = p.best.speedup.ci95 or (value, value)
    if low < 1 < high:
        digits = 3 if high - low > 0.002 else text.decimals(1, high - low)  # so that its ends differ
        ends = [(f"{end:.{digits}f}", at) for end in (low, high)]
        within = f"{said}, which is as fast as {library}, within its interval ({{low}} to {{high}})."
        return say(within, low=ends[0], high=ends[1])
    return say(f"{said}, at {{times}} times the speed of {library}.", times=(f"{value:.3f}", at))


def _slower(operation: str, paired: Paired) -> Sentence | None:
    """Of how many figures the ratio is below 1, whatever its interval."""
    each = [p.best.speedup.value for found in paired.values() for p in found]
    slower, behind = sum(value < 1 for value in each), f"q{QUESTION_OF[operation]}-more"
    count = (str(len(each)), behind)
    if not slower:
        return say("Ours is the slower one in none of {count} comparisons.", count=count)
    return say("Ours is the slower one in {slower} of {count} comparisons.", slower=(str(slower), behind), count=count)


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
        say(
            "Where bf16 wgmma and softmax's arithmetic take as long as each other, a two-stage pipeline of both reaches "
            "{share} of the speed that one alone would allow.",
            share=share,
        )
    ]


def clock(book: Book, column: Column) -> Found:
    """What the SMs count and what the driver reports while a GEMM lasts, with the power: of the first two types."""
    said: Found = []
    for load in over_time.loads(book, column, (over_time.GEMMS,))[:2]:
        counted, reported, watts = (load.settled(of) for of in (load.counted, load.reported, load.power))
        template = "{clock} MHz, where the driver reports {reported}" if reported else "{clock} MHz"
        said.append(
            say(
                f"Under a GEMM in {load.kind} that lasts, the SMs count {template}{', at {watts} W' if watts else ''}.",
                clock=(short(counted), load.anchor) if counted else None,
                reported=(short(reported), load.anchor) if reported else None,
                watts=(short(watts), load.anchor) if watts else None,
            )
        )
    return said
