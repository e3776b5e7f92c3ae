# SPDX-License-Identifier: Apache-2.0
"""From trials to error rates, each with the interval that so many trials allow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.gate.result import ALPHA, Comparison, Verdict
from assay.gate.self_test.trial import Trial
from assay.statistics import Interval, clopper_pearson

CHANCE = 0.80  # with which a detectable slowdown is found


@dataclass(frozen=True)
class Share:
    """How many of the trials of one sort came out in one way."""

    count: int
    trials: int

    @property
    def interval(self) -> Interval:
        return clopper_pearson(self.count, self.trials)

    def words(self) -> str:
        low, high = self.interval[1:]
        return f"{self.count} of {self.trials} ({low:.1%} to {high:.1%})"


@dataclass(frozen=True)
class Level:
    """One group at one level."""

    group: str
    level: int
    found: Share  # called slower
    faster: int  # called faster: of a planted slowdown an error of the sign
    unfit: int
    median: float | None  # of the measured slowdowns, as a fraction


def is_judged(trial: Trial) -> bool:
    """An unfit trial is none: it has no verdict that could be right or wrong."""
    return trial.verdict not in (Verdict.UNFIT, Verdict.MISSING, Verdict.UNKNOWN)


def by_level(trials: Iterable[Trial]) -> list[Level]:
    """Groups in the order they appear, levels from low to high; a group "all" at the end."""
    trials = list(trials)
    groups = list(dict.fromkeys(t.group for t in trials))
    found = []
    for group in [*groups, *(["all"] if len(groups) > 1 else [])]:
        for level in sorted({t.level for t in trials}):
            here = [t for t in trials if t.level == level and group in ("all", t.group)]
            judged = [t for t in here if is_judged(t)]
            if not judged:
                continue
            ratios = sorted(t.comparison.ratio.value for t in judged if t.comparison.ratio)
            slower, faster = (sum(t.verdict is v for t in judged) for v in (Verdict.SLOWER, Verdict.FASTER))
            median = ratios[len(ratios) // 2] - 1 if ratios else None
            found.append(Level(group, level, Share(slower, len(judged)), faster, len(here) - len(judged), median))
    return found


def power(c: Comparison, slowdown: float, cases: int = 1) -> float | None:
    """The chance that a case with this noise is called slower, if it is slower by this fraction.

    The t statistic of n pairs about the threshold follows the noncentral t with (slowdown - threshold) / error; Holm
    asks the first of `cases` for alpha / cases. Confirmation asks for as much again, of one case; both must agree.
    """
    from scipy import stats  # half a second to load, which no other command needs

    # Where cycles are heard beside time, each has half; the surer of the two finds it. Time must not say the opposite,
    # which it seldom does, and which is not counted here.
    heard = [r for r in (c.log_ratio, c.cycles_log_ratio) if r is not None]
    chances = []
    for ratio in heard:
        if ratio.standard_error <= 0 or not math.isfinite(ratio.degrees_of_freedom):
            continue
        degrees = ratio.degrees_of_freedom
        away = (math.log1p(slowdown) - math.log1p(c.threshold)) / ratio.standard_error
        levels = [alpha / len(heard) for alpha in (ALPHA / cases, ALPHA)]
        chances.append(math.prod(float(stats.nct.sf(stats.t.isf(alpha, degrees), degrees, away)) for alpha in levels))
    return max(chances, default=None)


def detectable(c: Comparison, cases: int = 1) -> float | None:
    """The smallest slowdown that is found with the chance `CHANCE`, by bisection."""
    if power(c, 0.0, cases) is None:
        return None
    low, high = 0.0, 1.0
    if not (power(c, high, cases) or 0) >= CHANCE:
        return None
    for _ in range(40):
        middle = (low + high) / 2
        if (power(c, middle, cases) or 0) >= CHANCE:
            high = middle
        else:
            low = middle
    return high


def false_alarms(trials: Sequence[Trial]) -> Share | None:
    """Of the trials with nothing planted, those called slower."""
    judged = [t for t in trials if t.level == 0 and is_judged(t)]
    return Share(sum(t.verdict is Verdict.SLOWER for t in judged), len(judged)) if judged else None
