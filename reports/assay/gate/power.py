# SPDX-License-Identifier: Apache-2.0
"""Why a kernel takes another time than before: its cycles, its power, or neither.

Time is cycles over clock, so log time = log cycles - log clock, pair by pair. A GPU at its power limit lowers the
clock until the power fits: code that needs more energy per cycle gets fewer cycles per second. Which side of a pair
ran first is drawn at random, so a clock that is lower on one side in pair after pair is that side's doing as long as
the limit was what lowered it. A clock that is lower without the limit, or with less power drawn, has another cause.

Under the limit the clock moves by percents from process to process, and hides in time what cycles tell to a few
thousandths. So where nothing says that the two sides had different clocks, cycles are a second witness: a case is also
slower if its cycles surely are, and time does not say the opposite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.files import Measurement
from assay.gate.pairs import POWER_CAP
from assay.gate.result import Comparison, Verdict
from assay.statistics import Interval, LogRatio, paired_log_ratio

HALF = 0.5  # of a change: what explains more than this is its cause


def _ratio(before: Sequence[float], after: Sequence[float]) -> Interval:
    return paired_log_ratio(before, after).interval()


def _known(side: Sequence[Measurement], condition: str) -> list[float] | None:
    values = [m.conditions.get(condition) for m in side]
    return values if all(isinstance(v, (int, float)) and v > 0 for v in values) else None


def add_physics(c: Comparison, before: Sequence[Measurement], after: Sequence[Measurement]) -> None:
    """Cycles, energy, power and clock of the pairs, candidate over base, where they were measured."""
    if len(before) < 2:
        return
    values = [[m.metrics[c.metric].value for m in side] for side in (before, after)]
    costs = values if c.better == "lower" else [[1 / v for v in side] for side in values]
    clocks, watts = ([_known(side, key) for side in (before, after)] for key in ("sm_clock_mhz", "power_w"))
    if all(clocks):
        c.clock = _ratio(*clocks)
        c.cycles = _ratio(*(np.multiply(t, f) for t, f in zip(costs, clocks)))
    if all(watts):
        c.watts = _ratio(*watts)
        c.joules = _ratio(*(np.multiply(t, w) for t, w in zip(costs, watts)))
    c.limited = _at_limit(after if c.ratio.value > 1 else before)
    if all(clocks) and c.clock_domain == "power":
        _hear_cycles(c, paired_log_ratio(*(np.multiply(t, f) for t, f in zip(costs, clocks))))


def _hear_cycles(c: Comparison, cycles: LogRatio) -> None:
    """P-values by time or by cycles. Two witnesses have two chances to be wrong, so each counts half (Bonferroni)."""
    if not c.clock.low <= 1 <= c.clock.high or c.p_slower is None:
        return
    slower, faster = cycles.p_above(1 + c.threshold), cycles.p_below(1 / (1 + c.threshold))
    c.p_slower = min(1.0, 2 * (min(c.p_slower, slower) if c.ratio.value > 1 else c.p_slower))
    c.p_faster = min(1.0, 2 * (min(c.p_faster, faster) if c.ratio.value < 1 else c.p_faster))
    c.cycles_log_ratio = cycles


def explain(c: Comparison) -> None:
    """The cause of a verdict on time. A change whose cause is outside of the code is no verdict on the code."""
    if c.verdict not in (Verdict.SLOWER, Verdict.FASTER) or c.cycles is None:
        return
    slower = c.verdict is Verdict.SLOWER
    word, power = ("slower", "more") if slower else ("faster", "less")
    share = math.log(c.cycles.value) / math.log(c.ratio.value)
    numbers = [f"{_percent(c.cycles)} cycles", f"{_percent(c.clock)} clock"]
    numbers += [f"{_percent(c.joules)} energy"] if c.joules else []
    said = ", ".join(numbers)
    # The side that takes longer is at the limit, and draws no less power than the other.
    draws = c.watts is None or (c.watts.high >= 1 if slower else c.watts.low <= 1)
    # A clock that is not known to differ explains nothing.
    if share > HALF or c.clock.low <= 1 <= c.clock.high:
        c.cause = f"{word} per clock: {said}"
    elif c.limited and draws:
        cycles = _direction(c.cycles)
        joined = "and" if cycles == ("more" if slower else "fewer") else "but"
        c.cause = f"{cycles} cycles {joined} {power} power, hence {word}: {said}"
    else:
        c.cause = f"{word} clock, cause outside: {said}"
        c.verdict = Verdict.UNFIT


def _direction(cycles: Interval) -> str:
    if cycles.low <= 1 <= cycles.high or abs(cycles.value - 1) < 0.002:
        return "same"
    return "more" if cycles.value > 1 else "fewer"


def _percent(i: Interval) -> str:
    return f"{(i.value - 1) * 100:+.1f}%"


def _at_limit(side: Sequence[Measurement]) -> bool:
    """Whether most of its processes were held back by the power limit."""
    held = sum(POWER_CAP in (m.conditions.get("throttle") or []) for m in side)
    return 2 * held > len(side)
