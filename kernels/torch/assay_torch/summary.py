# SPDX-License-Identifier: Apache-2.0
"""What a comparison over many shapes comes to: geometric means, and where it is worst."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.files import Measurement

BEST = "best of all"  # whichever baseline was the fastest at a shape


@dataclass(frozen=True)
class Ratio:
    """How many times as fast as a baseline ours is at one case, with its 95% interval."""

    case: str
    value: float
    low: float
    high: float


def ratios(measurements: Iterable[Measurement]) -> dict[str, list[Ratio]]:
    """Of each baseline, and of the fastest one of each case."""
    found: dict[str, list[Ratio]] = {BEST: []}
    for m in measurements:
        here = []
        for baseline in m.baselines:
            low, high = baseline.speedup.ci95
            here.append(Ratio(m.name, baseline.speedup.value, low, high))
            found.setdefault(baseline.name, []).append(here[-1])
        if here:
            found[BEST].append(min(here, key=lambda ratio: ratio.value))
    return found


def geometric_mean(values: Sequence[float]) -> float:
    """Raises ValueError for no values."""
    if not values:
        raise ValueError("the mean of no ratios is not defined")
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def summarize(measurements: Iterable[Measurement]) -> list[dict]:
    """One entry for each baseline and state: mean, its lower bound by the lower bounds, and the worst case."""
    groups: dict[str, list[Measurement]] = {}
    for m in measurements:
        groups.setdefault(str(m.params.get("state", "burst")), []).append(m)
    entries = []
    for state, group in groups.items():
        for name, found in ratios(group).items():
            if not found:
                continue
            worst = min(found, key=lambda ratio: ratio.value)
            entries.append({
                "baseline": name,
                "state": state,
                "cases": len(found),
                "geometric_mean": geometric_mean([ratio.value for ratio in found]),
                "geometric_mean_of_lower_bounds": geometric_mean([ratio.low for ratio in found]),
                "below_0.95": [ratio.case for ratio in found if ratio.value < 0.95],
                "worst": {"case": worst.case, "ratio": worst.value, "ci95": [worst.low, worst.high]},
            })
    return entries
