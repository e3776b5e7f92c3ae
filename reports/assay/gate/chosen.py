# SPDX-License-Identifier: Apache-2.0
"""Which metric of a case decides, and which measurements of it are fit to be judged."""

from __future__ import annotations

from collections.abc import Iterable

import re2

from assay.files import Measurement, Metric
from assay.gate.pairs import POWER_CAP
from assay.gate.result import Rules
from assay.gate.sides import is_shared


def per_clock(name: str, metric: Metric) -> bool:
    return "per_clock" in name or name.endswith("_cycles") or "clk" in metric.unit.lower() or "cycle" in metric.unit


def metrics_to_compare(measurement: Measurement, domain: str, rules: Rules) -> list[str]:
    """The names of the metrics that decide, by default one: the headline, in the clock domain of the case.

    What scales with the SM clock is compared per clock, so that another clock is no regression; everything else per
    second. Where the headline is of the other sort, the first metric of the right sort stands in; where there is none,
    a time or rate is converted by the SM clock it was measured at (`is_by_clock`).
    """
    if rules.metric:
        return [name for name in measurement.metrics if re2.search(rules.metric, name)]
    names = list(measurement.metrics)
    if measurement.primary in measurement.metrics:
        names.insert(0, measurement.primary)
    suited = [n for n in names if per_clock(n, measurement.metrics[n]) == (domain == "sm")]
    return (suited if domain and suited else names)[:1]


def is_by_clock(unit: str, domain: str, measurements: Iterable[Measurement]) -> bool:
    """Whether this metric is converted by the SM clock: a time or rate that scales with it, where all know it."""
    timed = unit in ("s", "ms", "us", "ns") or unit.endswith("/s")
    return domain == "sm" and timed and all(m.conditions.get("sm_clock_mhz") for m in measurements)


def unfit(measurement: Measurement, unmoved: bool) -> list[str]:
    """Reasons that make a result unfit. Neither a figure per clock nor a link minds which clock the power cap chose."""
    reasons = measurement.conditions.get("throttle", [])
    unmoved = unmoved or measurement.conditions.get("clock_domain") == "link"
    throttled = [f"throttled: {r}" for r in reasons if not (unmoved and r == POWER_CAP)]
    return throttled + (["another process used the GPU"] if is_shared(measurement) else [])
