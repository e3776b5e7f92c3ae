# SPDX-License-Identifier: Apache-2.0
"""The decision: one verdict per case of two runs.

Everything is a *cost ratio*: candidate over base for metrics where lower is better, base over candidate where higher
is. Above 1 means slower, whichever way the metric points.

The unit of analysis is the process. Samples within one process share its memory placement and clock state; pooling
them claims a precision that the next process does not reproduce. So with several repetitions (fresh processes) each
counts as one value. With a single one, its interval is widened by a floor that stands for the next process.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from assay.files import Measurement, Metric, Run
from assay.statistics import (
    Interval,
    LogRatio,
    benjamini_hochberg,
    holm,
    log_ratio_of_intervals,
    paired_log_ratio,
    sign_test,
    welch_log_ratio,
)

# One-sided level: a two-sided 95% interval leaves 2.5% on each side.
ALPHA = 0.025


class Verdict(str, Enum):
    """Worst first; the order of every listing."""

    SLOWER = "slower"
    MISSING = "missing"
    UNFIT = "unfit"
    INCONCLUSIVE = "inconclusive"
    FASTER = "faster"
    EQUIVALENT = "equivalent"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Rules:
    """What counts as slower. Fractions, not percent."""

    threshold: float = 0.02
    latency_threshold: float = 0.01
    latency_cycles: float = 1.0
    process_floor: float = 0.005
    unfit_share: float = 0.20
    correction: str = "holm"
    name: str | None = None
    metric: str | None = None


@dataclass
class Comparison:
    """One metric of one case, in both runs."""

    name: str
    kind: str
    metric: str = ""
    unit: str = ""
    better: str = "lower"
    clock_domain: str = ""
    base: float | None = None
    candidate: float | None = None
    ratio: Interval | None = None
    threshold: float = 0.0
    method: str = ""
    processes: int = 0
    p_slower: float | None = None
    p_faster: float | None = None
    gated: bool = True
    verdict: Verdict = Verdict.INCONCLUSIVE
    note: str = ""

    @property
    def smallest_detectable(self) -> float | None:
        """The slowdown (a fraction) that this measurement's interval could still have proven."""
        if self.ratio is None or not 0 < self.ratio.low < math.inf:
            return None
        return (1 + self.threshold) * self.ratio.value / self.ratio.low - 1


@dataclass
class Result:
    """All verdicts, worst first, and what they mean together."""

    comparisons: list[Comparison]
    new: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def of(self, *verdicts: Verdict) -> list[Comparison]:
        return [c for c in self.comparisons if c.gated and c.verdict in verdicts]

    @property
    def compared(self) -> list[Comparison]:
        """Gated cases that have a result on both sides."""
        return [c for c in self.comparisons if c.gated and c.verdict is not Verdict.MISSING]

    def machine_unfit(self, share: float) -> bool:
        return len(self.of(Verdict.UNFIT)) > share * len(self.compared)


class IncomparableRuns(Exception):
    """The two runs come from machines that must not be compared. One line."""


def check_machines(base: Run, candidate: Run) -> list[str]:
    """Raises IncomparableRuns for different machines; returns warnings about different software."""
    if (base.gpu is None) != (candidate.gpu is None):
        without = "base" if base.gpu is None else "candidate"
        raise IncomparableRuns(
            f"the {without} was measured without a GPU, the other with one; measure both on one machine"
        )
    part, keys = "gpu", ("name", "architecture", "sm_count", "mig", "ecc", "power_limit_w")
    if base.gpu is None:
        part, keys = "host", ("cpu", "usable_cores")
    ours, theirs = (run.environment.get(part) or {} for run in (base, candidate))
    for key in keys:
        if key in ours and key in theirs and ours[key] != theirs[key]:
            raise IncomparableRuns(
                f"environment.{part}.{key} differs: {ours[key]!r} in the base, {theirs[key]!r} in the "
                "candidate; measure both on one machine"
            )
    warnings = [
        f"{key} differs: {base.environment.get(key)} in the base, {candidate.environment.get(key)} in the candidate"
        for key in ("driver", "cuda")
        if base.environment.get(key) != candidate.environment.get(key)
    ]
    return warnings + [
        f"other processes used the GPU of the {which}"
        for which, facts in (("base", ours), ("candidate", theirs))
        if facts.get("other_processes")
    ]


def compare(base: Run, candidate: Run, rules: Rules = Rules()) -> Result:
    """Verdicts on every case of `base`. Raises IncomparableRuns, and ValueError for ambiguous run files."""
    warnings = check_machines(base, candidate)
    ours, theirs = _cases(base, rules), _cases(candidate, rules)
    same_driver = base.environment.get("driver") == candidate.environment.get("driver")
    comparisons = []
    for name, before in ours.items():
        if any(m.ok for m in before):
            comparisons += _compare_case(before, theirs.get(name, []), rules, same_driver)
    _decide(comparisons, rules)
    order = list(Verdict)
    comparisons.sort(key=lambda c: (not c.gated, order.index(c.verdict), -(c.ratio.value if c.ratio else 0), c.name))
    return Result(comparisons, [n for n, ms in theirs.items() if n not in ours and any(m.ok for m in ms)], warnings)


def _cases(run: Run, rules: Rules) -> dict[str, list[Measurement]]:
    """Our own measurements by name; each list in order of repetition."""
    cases: dict[str, dict[int, Measurement]] = {}
    for m in run.measurements:
        if m.source is not None or (rules.name and not re.search(rules.name, m.name)):
            continue
        repetitions = cases.setdefault(m.name, {})
        if (number := m.repetition or 0) in repetitions:
            raise ValueError(
                f"{run.path}: {m.name} occurs twice with repetition {number}; repetitions must be numbered"
            )
        repetitions[number] = m
    return {name: [found[k] for k in sorted(found)] for name, found in cases.items()}


def _compare_case(
    before: list[Measurement], after: list[Measurement], rules: Rules, same_driver: bool
) -> list[Comparison]:
    first = next(m for m in before if m.ok)
    domain = first.conditions.get("clock_domain", "")
    # A power-limited rate follows temperature and the individual chip; a baseline is somebody else's code.
    gated = domain != "power" and first.kind != "baseline"
    common = {"name": first.name, "kind": first.kind, "clock_domain": domain, "gated": gated}
    if not any(m.ok for m in after):
        note = f"{after[0].status}: {after[0].reason}" if after else "not in the candidate"
        return [Comparison(**common, verdict=Verdict.MISSING, note=note)]
    comparisons = []
    for metric in _metrics_to_compare(first, domain, rules):
        c = Comparison(
            **common, metric=metric, unit=first.metrics[metric].unit, better=first.metrics[metric].better or "lower"
        )
        _fill(c, [m for m in before if m.ok], [m for m in after if m.ok], rules)
        if c.verdict is not Verdict.MISSING and _identical(before, after, domain, same_driver):
            c.verdict, c.note = Verdict.UNCHANGED, "identical code"
        comparisons.append(c)
    return comparisons


def _per_clock(name: str, metric: Metric) -> bool:
    return "per_clock" in name or name.endswith("_cycles") or "clk" in metric.unit.lower() or "cycle" in metric.unit


def _metrics_to_compare(measurement: Measurement, domain: str, rules: Rules) -> list[str]:
    """The names of the metrics that decide, by default one: the headline, in the clock domain of the case.

    What scales with the SM clock is compared per clock, so that another clock is no regression; everything else per
    second. Where the headline is of the other sort, the first metric of the right sort stands in; where there is none,
    a time or rate is converted by the SM clock it was measured at (`_on_one_clock`).
    """
    if rules.metric:
        return [name for name in measurement.metrics if re.search(rules.metric, name)]
    names = list(measurement.metrics)
    if measurement.primary in measurement.metrics:
        names.insert(0, measurement.primary)
    suited = [n for n in names if _per_clock(n, measurement.metrics[n]) == (domain == "sm")]
    return (suited if domain and suited else names)[:1]


def _timed(c: Comparison) -> bool:
    return c.unit in ("s", "ms", "us", "ns") or c.unit.endswith("/s")


def _on_one_clock(c: Comparison, sides: list[dict[int, Measurement]]) -> list[dict[int, Metric]]:
    """The metric as it would be at the median SM clock of the base: time x clock is cycles, and constant."""
    reference = float(np.median([m.conditions["sm_clock_mhz"] for m in sides[0].values()]))

    def scaled(m: Measurement) -> Metric:
        metric, factor = m.metrics[c.metric], m.conditions["sm_clock_mhz"] / reference
        factor = factor if c.better == "lower" else 1 / factor
        ci95 = metric.ci95 and (metric.ci95[0] * factor, metric.ci95[1] * factor)
        return Metric(metric.unit, metric.value * factor, ci95)

    return [{k: scaled(m) for k, m in side.items()} for side in sides]


def _throttled(measurement: Measurement, per_clock: bool) -> list[str]:
    """Reasons that make a result unfit. Neither a per-clock figure nor a link minds which clock the power cap chose."""
    reasons = measurement.conditions.get("throttle", [])
    unmoved = per_clock or measurement.conditions.get("clock_domain") == "link"
    return [r for r in reasons if not (unmoved and r == "sw_power_cap")]


def _fill(c: Comparison, before: list[Measurement], after: list[Measurement], rules: Rules) -> None:
    """Ok measurements of both sides -> ratio, interval and p-values of the comparison, or why there are none."""
    sides = [{m.repetition or 0: m for m in side if c.metric in m.metrics} for side in (before, after)]
    if not sides[1]:
        c.verdict, c.note = Verdict.MISSING, f"the candidate has no metric {c.metric}"
        return
    c.processes = min(map(len, sides))
    c.base, c.candidate = (float(np.median([m.metrics[c.metric].value for m in side.values()])) for side in sides)
    units = {m.metrics[c.metric].unit for side in sides for m in side.values()}
    if len(units) > 1:
        c.verdict, c.note = Verdict.MISSING, "units differ: " + ", ".join(sorted(units))
        return
    by_clock = (
        not rules.metric
        and c.clock_domain == "sm"
        and _timed(c)
        and all(m.conditions.get("sm_clock_mhz") for side in sides for m in side.values())
    )
    per_clock = by_clock or _per_clock(c.metric, next(iter(sides[0].values())).metrics[c.metric])
    marked = [{k for k, m in side.items() if _throttled(m, per_clock)} for side in sides]
    if sides[0].keys() == sides[1].keys():  # repetitions taken in pairs leave in pairs
        marked = [marked[0] | marked[1]] * 2
    if any(marked):
        reasons = {why for side in sides for m in side.values() for why in _throttled(m, per_clock)}
        c.note = "throttled: " + ", ".join(sorted(reasons))
    elif by_clock:
        c.note = "at the SM clock of the base"
    if any(len(gone) > rules.unfit_share * len(side) for gone, side in zip(marked, sides)):
        c.verdict = Verdict.UNFIT
        return
    if c.clock_domain in ("dram", "l2", "link"):
        clocks = [[m.conditions.get("memory_clock_mhz") or math.nan for m in side.values()] for side in sides]
        if abs(np.median(clocks[1]) / np.median(clocks[0]) - 1) > 0.01:  # never true of an unknown clock
            c.verdict, c.note = Verdict.UNFIT, "the memory clock differs"
            return
    fit = [{k: m for k, m in side.items() if k not in gone} for side, gone in zip(sides, marked)]
    values = _on_one_clock(c, fit) if by_clock else [{k: m.metrics[c.metric] for k, m in side.items()} for side in fit]
    if min(m.value for side in values for m in side.values()) <= 0:
        c.note = "not a positive number, so there is no ratio"
        return
    _estimate(c, values[0], values[1], rules)


def _estimate(c: Comparison, before: dict[int, Metric], after: dict[int, Metric], rules: Rules) -> None:
    """The cost ratio by the strongest method the data allow."""
    shared = sorted(before.keys() & after.keys())
    ours, theirs = [m.value for m in before.values()], [m.value for m in after.values()]
    doubt = ""
    if len(shared) >= 2 and len(shared) == len(before) == len(after):
        ours, theirs = [before[k].value for k in shared], [after[k].value for k in shared]
        ratio, c.method = paired_log_ratio(ours, theirs), "process pairs"
        signs = np.sign(np.subtract(theirs, ours))
        # Fewer than 6 pairs cannot reach 5% in a sign test; then at least no pair may point the other way.
        agree = sign_test(signs) <= 0.05 if len(shared) >= 6 else np.ptp(signs) < 2
        doubt = "" if agree else "the sign test does not confirm it"
    elif min(len(ours), len(theirs)) >= 2:
        ratio, c.method = welch_log_ratio(ours, theirs), "processes"
    else:
        intervals = [_process_interval(side) for side in (before, after)]
        ratio = log_ratio_of_intervals(intervals[0], intervals[1], rules.process_floor)
        c.method = "single process"
    c.processes = min(len(ours), len(theirs))
    if c.better == "higher":
        ratio = LogRatio(-ratio.estimate, ratio.standard_error, ratio.degrees_of_freedom)
    c.base, c.candidate = float(np.median(ours)), float(np.median(theirs))
    c.ratio = ratio.interval()
    c.threshold = _threshold(c, ours, rules)
    c.p_slower, c.p_faster = ratio.p_above(1 + c.threshold), ratio.p_below(1 / (1 + c.threshold))
    if c.clock_domain in ("host", "wall") and c.method == "single process":
        # Neighbours on a CPU move such figures by tens of percent from process to process, here and there.
        doubt = "one process cannot tell on a CPU: use --repetitions"
    if doubt and min(c.p_slower, c.p_faster) < ALPHA:
        c.p_slower = c.p_faster = 1.0
        c.note = doubt


def _process_interval(side: dict[int, Metric]) -> Interval:
    """The widest of the sampling intervals, around the median process."""
    value = float(np.median([m.value for m in side.values()]))
    if any(m.ci95 is None for m in side.values()):
        return Interval(value, 0.0, math.inf)
    return Interval(
        value, min(value, *(m.ci95[0] for m in side.values())), max(value, *(m.ci95[1] for m in side.values()))
    )


def _threshold(c: Comparison, ours: list[float], rules: Rules) -> float:
    """The smallest slowdown that counts: by sort of metric, and never below twice the noise between processes."""
    threshold = rules.threshold
    if "latency" in c.metric:
        threshold = rules.latency_threshold
        if _per_clock(c.metric, Metric(c.unit, 0)):
            threshold = max(threshold, rules.latency_cycles / ours[0])
    noise = float(np.std(np.log(ours), ddof=1)) if len(ours) >= 3 else 0.0
    return max(threshold, 2 * noise)


def _identical(before: Iterable[Measurement], after: Iterable[Measurement], domain: str, same_driver: bool) -> bool:
    """Whether both sides ran the same machine code in the same configuration.

    For host, wall and link cases what is timed is mostly not the kernel, so its identity settles nothing. A new driver
    may place or launch the same code differently.
    """
    if domain in ("host", "wall", "link") or not same_driver:
        return False
    seen = []
    for m in [*before, *after]:
        if m.ok:
            if m.sass is None:
                return False
            code = (m.sass["sha256"], m.sass.get("target"), m.sass.get("launch"))
            seen.append((code, m.params, m.conditions.get("l2")))
    return all(one == seen[0] for one in seen)


def _decide(comparisons: list[Comparison], rules: Rules) -> None:
    """Verdicts for all that have an interval and none yet; the p-values are corrected for the number of cases."""
    correct = {"holm": holm, "bh": benjamini_hochberg, "none": list}[rules.correction]
    open_cases = [c for c in comparisons if c.ratio is not None and c.verdict is Verdict.INCONCLUSIVE]
    for gated in (True, False):
        family = [c for c in open_cases if c.gated is gated]
        slower, faster = (correct([getattr(c, p) for c in family]) for p in ("p_slower", "p_faster"))
        for c, p_slower, p_faster in zip(family, slower, faster):
            limit = 1 + c.threshold
            if p_slower < ALPHA:
                c.verdict = Verdict.SLOWER
            elif p_faster < ALPHA:
                c.verdict = Verdict.FASTER
            elif 1 / limit <= c.ratio.low and c.ratio.high <= limit:
                c.verdict = Verdict.EQUIVALENT
            elif min(c.p_slower, c.p_faster) < ALPHA:
                c.note = c.note or f"not significant among {len(family)} cases"
            c.p_slower, c.p_faster = p_slower, p_faster
