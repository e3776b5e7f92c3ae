# SPDX-License-Identifier: Apache-2.0
"""Intervals and tests for timings: few assumptions, exact where an exact answer exists.

Ratios are treated as logarithms throughout, so that "A over B" and "B over A" give the same answer.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special  # scipy.stats takes half a second to load, as long as a gate


class Interval(NamedTuple):
    """An estimate and the ends of its confidence interval."""

    value: float
    low: float
    high: float


@functools.lru_cache(maxsize=256)
def _median_ranks(count: int, confidence: float) -> tuple[int, int] | None:
    """Which of `count` sorted values are the ends of the median's interval; None where it is infinite.

    They depend on nothing else, and finding them costs more than sorting does.
    """
    k = int(np.count_nonzero(special.bdtr(np.arange(count // 2), count, 0.5) <= (1 - confidence) / 2))
    return (k - 1, count - k) if k else None


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> Interval:
    """Median and its distribution-free interval from order statistics; the inverse of the sign test.

    The k-th smallest and k-th largest of n samples enclose the median with probability 1 - 2 P(B < k) where B is
    Binomial(n, 1/2); the largest k that keeps at least `confidence` is used. Where none does (n < 6 for 95%) the
    interval is infinite. Conover, Practical Nonparametric Statistics, section 3.2.
    """
    values = np.asarray(samples, dtype=float)
    if values.size == 0:
        raise ValueError("the median of no samples is not defined")
    values = np.sort(values)
    ranks = _median_ranks(values.size, confidence)
    ends = (-math.inf, math.inf) if ranks is None else (float(values[ranks[0]]), float(values[ranks[1]]))
    return Interval(float(np.median(values)), *ends)


def paired_ratio_interval(
    numerator: Sequence[float], denominator: Sequence[float], confidence: float = 0.95
) -> Interval:
    """Median of the ratios of samples that were taken in turns, with its order-statistics interval."""
    top, bottom = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    if top.shape != bottom.shape:
        raise ValueError(f"pairs need equally many samples on both sides, not {top.size} and {bottom.size}")
    return median_interval(top / bottom, confidence)


def sign_test(differences: Sequence[float]) -> float:
    """Two-sided exact p-value of "the median difference is 0". Zeros carry no sign and are left out."""
    signs = np.sign(np.asarray(differences, dtype=float))
    positive, negative = int(np.sum(signs > 0)), int(np.sum(signs < 0))
    if positive + negative == 0:
        return 1.0
    return min(1.0, 2 * float(special.bdtr(min(positive, negative), positive + negative, 0.5)))


def _exp(logarithm: float) -> float:
    """Infinite where math.exp() raises: beyond the largest double."""
    return math.exp(logarithm) if logarithm < 709 else math.inf


def _student_quantile(probability: float, degrees: float) -> float:
    """Of Student's t, or of the normal distribution if the degrees of freedom are infinite."""
    return float(special.ndtri(probability) if math.isinf(degrees) else special.stdtrit(degrees, probability))


def _student_tail(distance: float, degrees: float) -> float:
    """The chance of Student's t to be above, or of the normal distribution."""
    return float(special.ndtr(-distance) if math.isinf(degrees) else special.stdtr(degrees, -distance))


class LogRatio(NamedTuple):
    """An estimated log ratio whose error follows Student's t (normal when the degrees of freedom are infinite)."""

    estimate: float
    standard_error: float
    degrees_of_freedom: float

    def interval(self, confidence: float = 0.95) -> Interval:
        """The ratio (not its logarithm) and its two-sided interval."""
        half = self.quantile((1 + confidence) / 2) * self.standard_error
        return Interval(_exp(self.estimate), _exp(self.estimate - half), _exp(self.estimate + half))

    def p_above(self, ratio: float) -> float:
        """One-sided p-value of "the true ratio is at most `ratio`": small when it is surely above."""
        return self._tail(self.estimate - math.log(ratio))

    def p_below(self, ratio: float) -> float:
        """One-sided p-value of "the true ratio is at least `ratio`": small when it is surely below."""
        return self._tail(math.log(ratio) - self.estimate)

    def quantile(self, probability: float) -> float:
        """Of Student's t with these degrees of freedom."""
        return _student_quantile(probability, self.degrees_of_freedom)

    def _tail(self, distance: float) -> float:
        if self.standard_error == 0:
            return 0.0 if distance > 0 else 1.0
        return _student_tail(distance / self.standard_error, self.degrees_of_freedom)


def paired_log_ratio(base: Sequence[float], candidate: Sequence[float]) -> LogRatio:
    """Mean log of candidate over base for values measured in pairs (n >= 2): the paired t statistic."""
    if len(base) != len(candidate):
        raise ValueError(f"pairs need equally many values on both sides, not {len(base)} and {len(candidate)}")
    logs = np.log(candidate) - np.log(base)
    return LogRatio(float(np.mean(logs)), float(np.std(logs, ddof=1) / math.sqrt(logs.size)), logs.size - 1)


def welch_log_ratio(base: Sequence[float], candidate: Sequence[float]) -> LogRatio:
    """Mean log of candidate minus mean log of base, independent sides (each n >= 2): Welch's t statistic."""
    logs = [np.log(np.asarray(side, dtype=float)) for side in (base, candidate)]
    variances = [float(np.var(side, ddof=1)) / side.size for side in logs]
    total = sum(variances)
    # Welch-Satterthwaite.
    degrees = total**2 / sum(v**2 / (side.size - 1) for v, side in zip(variances, logs)) if total else math.inf
    return LogRatio(float(np.mean(logs[1]) - np.mean(logs[0])), math.sqrt(total), degrees)


def log_ratio_of_intervals(base: Interval, candidate: Interval, floor: float = 0.0) -> LogRatio:
    """Log of candidate over base from two independent 95% intervals of positive values.

    Of each interval the longer side counts. `floor` is a half-width, as a fraction, for what the two intervals cannot
    show (such as the difference between one process and the next); independent errors add in quadrature.
    """
    normal = float(special.ndtri(0.975))
    def half(side: Interval) -> float:
        if not 0 < side.low < math.inf or math.isinf(side.high):
            return math.inf
        # Differences of logarithms: a ratio of two doubles may be no double.
        low, value, high = map(math.log, (side.low, side.value, side.high))
        return max(high - value, value - low, 0.0)

    error = math.hypot(half(base), half(candidate), math.log1p(floor)) / normal
    return LogRatio(math.log(candidate.value) - math.log(base.value), error, math.inf)


def widened(ratio: LogRatio, error: float) -> LogRatio:
    """With a further, independent error that is known and not estimated; degrees of freedom by Welch-Satterthwaite."""
    own, other = ratio.standard_error**2, error**2
    degrees = ratio.degrees_of_freedom * ((own + other) / own) ** 2 if own else math.inf
    return LogRatio(ratio.estimate, math.sqrt(own + other), degrees)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that bound the chance of any false rejection (Holm 1979)."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * (p.size - np.arange(p.size)))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted.tolist()


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that bound the expected share of false rejections (Benjamini and Hochberg 1995)."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)[::-1]  # from the largest down
    stepped = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted.tolist()


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Share of successes and its exact binomial interval (Clopper and Pearson 1934)."""
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"{successes} successes in {trials} trials")
    tail = (1 - confidence) / 2
    low = float(special.betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(special.betaincinv(successes + 1, trials - successes, 1 - tail)) if successes < trials else 1.0
    return Interval(successes / trials, low, high)
