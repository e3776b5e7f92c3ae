# SPDX-License-Identifier: Apache-2.0
"""Sentences on tensor cores: questions 1, 2, 3, 5 and 33."""

from __future__ import annotations

import re

from ..answer.findings import Part, Sentence
from ..block import over_time
from ..book import text
from ..book.mma import FAMILIES, best_mma, measured_fastest
from ..book.model import LASTING, STATES, Book, Column, Number, Row
from ..book.roofs import Step, waterfall
from ..family.tensor_core.power import power
from .write import figure, first, number_of, percent, say, scientific, share, short, sustained

Found = list[Sentence | None]
NAMES = {"e4m3": "fp8"}
DATA = {
    "normal": "normally distributed numbers",
    "uniform": "uniformly distributed numbers",
    "random_bits": "random bits",
}


def rates(book: Book, column: Column) -> Found:
    """The fastest instruction in fp8 and in bf16, per clock and under lasting load, and its share of the limit."""
    best = best_mma(book, "flop_per_clock_per_sm", column.index)
    kinds = [kind for kind in ("e4m3", "bf16") if kind in best and measured_fastest(book, column, kind)]
    return [_rate(book, column, kind, *best[kind]) for kind in kinds]


def _rate(book: Book, column: Column, kind: str, row: Row, number: Number) -> Sentence | None:
    family = FAMILIES.get(row.name.split("/")[1], "MMA")
    held, burst = sustained(book, column, row.name, "tflops"), figure(book, column, row.name, "tflops")
    rate, reached = (short(number.value), number.anchor), share(number)
    head = f"In {NAMES.get(kind, kind)}, {family} does {{rate}} FLOP per clock and SM"
    return first(
        say(f"{head}, {{share}} of its limit, and sustains {{held}} TFLOP/s.", rate=rate, share=reached, held=held),
        say(
            f"{head}, {{share}} of its limit, and {{burst}} TFLOP/s in a burst.", rate=rate, share=reached, burst=burst
        ),
        say(f"{head}, and {{burst}} TFLOP/s in a burst.", rate=rate, burst=burst),
    )


def to_peak(book: Book, column: Column) -> Found:
    name = "tensor_core/wgmma/bf16/m64n256/ss"
    every = figure(book, column, name, "latency_cycles")
    alone = figure(book, column, name, "completion_cycles")
    of_sync = figure(book, column, "tensor_core/mma_sync/bf16/m16n8k16", "latency_cycles")
    one = first(
        say(
            "A bf16 wgmma of N = 256 can follow the last one after {every} cycles; alone it is complete after {alone}.",
            every=every,
            alone=alone,
        ),
        say("A bf16 wgmma of N = 256 takes {every} cycles.", every=every),
        say("A bf16 mma.sync takes {cycles} cycles.", cycles=of_sync),
    )
    m = book.measurement(column, "tensor_core/wgmma_in_flight/bf16/ss")
    sync = book.measurement(column, "tensor_core/mma_sync/bf16/m16n8k16")
    least: Part | None = None
    if m and "smallest_n" in m.params:
        least = (f"N = {m.params['smallest_n']}", column.anchor(m.name))
    warps: Part | None = None
    if sync and {"warps", "chains"} <= sync.params.keys():
        said = f"{text.counted(sync.params['warps'], 'warp')} of {text.counted(sync.params['chains'], 'accumulator')}"
        warps = (said, column.anchor(sync.name))
    peak = first(
        say(
            "The best rate of wgmma takes {least}, that of mma.sync {warps} each.",
            least=least,
            warps=warps,
        ),
        say("The best rate of wgmma takes {least}.", least=least),
        say("The best rate of mma.sync takes {warps} each.", warps=warps),
    )
    return [one, peak]


def fp32(book: Book, column: Column) -> Found:
    tf32 = number_of(book, column, "tensor_core/wgmma/tf32/m64n256/ss", "flop_per_clock_per_sm")
    ffma = number_of(book, column, "special_function/ffma/f32", "flop_per_clock_per_sm")
    times = (short(tf32.value / ffma.value), tf32.anchor) if tf32 and ffma else None
    three = figure(book, column, "tensor_core/fp32_matmul/tf32x3", "tflops")
    error = figure(book, column, "tensor_core/fp32_matmul/tf32x3", "max_error", scientific)
    emulated = number_of(book, column, "tensor_core/mma_sync/e4m3/m16n8k32", "flop_per_clock_per_sm")
    wide = number_of(book, column, "tensor_core/wgmma/e4m3/m64n256/ss", "flop_per_clock_per_sm")
    native: Sentence | None = None
    if emulated and "emulated" in emulated.flags and wide:
        native = say(
            "An fp8 mma.sync is emulated by HMMA on unpacked operands, at {share} of the rate of wgmma.",
            share=(percent(emulated.value / wide.value), emulated.anchor),
        )
    elif emulated:
        native = say("An fp8 mma.sync is native.")
    return [
        first(
            say(
                "It runs on them only as tf32, at {times} times the rate of FFMA; three in place of one do {three} "
                "TFLOP/s and err by at most {error} of the sum of magnitudes.",
                times=times,
                three=three,
                error=error,
            ),
            say("It runs on them only as tf32, at {times} times the rate of FFMA.", times=times),
        ),
        native,
    ]


def by_data(book: Book, column: Column) -> Found:
    """How far the throughput of bf16 falls on random data, and what the board draws and its clock are meanwhile: of the
    slowest data itself, or of a load that was watched over time, where no two kinds of data were measured."""
    cases = [case for case in power(book, column) if case.kind == "bf16"]
    top = (column.run.gpu or {}).get("sm_clock_max_mhz")
    of_top = (short(top), "") if top else None
    if len(cases) > 1:
        best, worst = cases[0], cases[-1]
        return [
            say(
                f"In bf16 the GPU sustains {{best}} TFLOP/s on {DATA.get(best.data, best.data)} and {{worst}} on "
                f"{DATA.get(worst.data, worst.data)}.",
                best=(short(best.tflops), best.anchor),
                worst=(short(worst.tflops), worst.anchor),
            ),
            say(
                "On the latter it draws {watts} W, and runs at {clock} of {top} MHz.",
                watts=(short(worst.watts), worst.anchor) if worst.watts else None,
                clock=(short(worst.clock), worst.anchor) if worst.clock else None,
                top=of_top,
            ),
        ]
    load = next((load for load in over_time.loads(book, column) if re.match(r"bf16.*normal", load.name)), None)
    if not load:
        return []
    settled, watts = load.settled(load.counted), load.settled(load.power)
    return [
        say(
            "On normally distributed numbers it draws {watts} W, and its clock settles at {clock} of {top} MHz.",
            watts=(short(watts), load.anchor) if watts else None,
            clock=(short(settled), load.anchor) if settled else None,
            top=of_top,
        )
    ]


def peak(book: Book, column: Column) -> Found:
    """From the datasheet to the GEMM, under lasting load where that was measured."""
    for state in reversed(STATES):
        steps = {step.label.split(",")[0]: step for step in waterfall(book, column, state)}
        loop = steps.get("best MMA loop")
        anchor = loop.anchor if loop else ""
        held = "sustains" if state == LASTING else "reaches"

        def of(label: str, at: str = "", steps: dict = steps) -> Part | None:
            return (short(steps[label].tflops), at) if label in steps else None

        said = first(
            say(
                f"Of the datasheet's {{sheet}} TFLOP/s in bf16, the best loop {held} {{loop}} and our GEMM {{gemm}}.",
                sheet=of("datasheet"),
                loop=of("best MMA loop", anchor),
                gemm=of("our GEMM"),
            ),
            say(
                f"Of the {{top}} TFLOP/s that bf16 could do at the highest clock, the best loop {held} {{loop}}.",
                top=of("limit at the highest clock"),
                loop=of("best MMA loop", anchor),
            ),
        )
        if said:
            slowed = next((step for label, step in steps.items() if label.startswith("limit at the loop")), None)
            return [said, *(_at_its_clock(loop, slowed) if slowed else [])]
    return []


def _at_its_clock(loop: Step, slowed: Step) -> Found:
    """The loop's share of its limit at the clock that the SMs counted, the median of its samples; where that is above all, why
    it can be: the clock is that of one launch, the time the difference of two."""
    counted, *ends = ((short(mhz), loop.anchor) for mhz in loop.clocks)
    reached = f"{100 * loop.tflops / slowed.tflops:.1f}"
    share = (f"{reached}{text.THIN}%", loop.anchor)
    least, most = ends if ends and float(reached) > 100 else (None, None)
    why = ", probably an error of the clock" if float(reached) > 100 else ""
    return [
        first(
            say(
                f"At the {{least}} to {{most}} MHz counted, the loop does {{share}} of its limit{why}.",
                least=least,
                most=most,
                share=share,
            ),
            say(f"At the {{clock}} MHz counted, the loop does {{share}} of its limit{why}.", clock=counted, share=share),
        )
    ]
