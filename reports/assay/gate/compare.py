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
from collections.abc import Iterable

import numpy as np

from assay.files import Measurement, Metric, Run
from assay.gate import pairs, power, sanity
from assay.gate.chosen import is_by_clock, metrics_to_compare, per_clock, unfit
from assay.gate.result import ALPHA, LOST, Comparison, Result, Rules, Verdict
from assay.gate.sides import (
    cases,
    check_agreement,
    check_machines,
    check_metric,
    check_possible,
    check_sources,
    is_one_gpu,
    is_shared,
)
from assay.statistics import (
    Interval,
    LogRatio,
    benjamini_hochberg,
    holm,
    log_ratio_of_intervals,
    paired_log_ratio,
    sign_test,
    welch_log_ratio,
    widened,
)


def compare(base: Run, candidate: Run, rules: Rules = Rules()) -> Result:
    """Verdicts on every case of `base`. Raises IncomparableRuns, and RunFileError for what cannot be true."""
    warnings = check_machines(base, candidate, rules.allow_other_gpu)
    check_sources(base, candidate)
    ours, theirs = cases(base, rules.name), cases(candidate, rules.name)
    warnings += sanity.differences(base, candidate, ours, theirs)
    other_gpu = not is_one_gpu(base, candidate)
    same_driver = base.environment.get("driver") == candidate.environment.get("driver")
    comparisons = []
    for name, before in ours.items():
        after = theirs.get(name, [])
        check_agreement([m for m in before if m.ok], [m for m in after if m.ok], candidate, rules.metric)
        found = _compare_case(before, after, rules, same_driver, candidate)
        for c in found:
            check_possible(before, c.metric, base)
            check_possible(after, c.metric, candidate)
            if other_gpu and c.ratio:
                widen(c, OTHER_GPU.get(c.clock_domain, max(OTHER_GPU.values())), "two GPUs")
        comparisons += found
    _decide(comparisons, rules)
    for c in comparisons:
        power.explain(c)
    known = {name for name, before in ours.items() if any(m.ok or m.status in LOST for m in before)}
    new = [name for name, after in theirs.items() if name not in known and any(m.ok for m in after)]
    result = Result(comparisons, new, warnings)
    result.sort()
    return result


def _compare_case(
    before: list[Measurement], after: list[Measurement], rules: Rules, same_driver: bool, candidate: Run
) -> list[Comparison]:
    lost = next((m for m in before if m.status in LOST), None)
    failed = next((m for m in after if m.status in LOST), None)
    first = next((m for m in before if m.ok), lost)
    if first is None:
        return []  # skipped in the base: there was never a result
    said = (m.conditions.get("clock_domain") for m in [*before, *after] if m.ok)
    domain = next((one for one in said if one), "")
    # A power-limited rate follows temperature and the individual chip, unless both sides were measured in turns on
    # one; a baseline is somebody else's code.
    gated = (domain != "power" or rules.paired) and first.kind != "baseline"
    common = {"name": first.name, "kind": first.kind, "clock_domain": domain, "gated": gated}
    if not first.ok:
        return [Comparison(**common, verdict=Verdict.UNKNOWN, note=f"{LOST[first.status]} in the base: {first.reason}")]
    if failed or not any(m.ok for m in after):
        gone = failed or (after[0] if after else None)
        which = f"repetition {gone.repetition} " if gone and len(after) > 1 else ""
        note = f"{which}{LOST.get(gone.status, gone.status)}: {gone.reason}" if gone else "not in the candidate"
        return [Comparison(**common, verdict=Verdict.MISSING, note=note)]
    if said := sanity.other_rows([m for m in before if m.ok], [m for m in after if m.ok]):
        return [Comparison(**common, verdict=Verdict.UNFIT, note=said)]
    comparisons = []
    for metric in metrics_to_compare(first, domain, rules):
        c = Comparison(
            **common, metric=metric, unit=first.metrics[metric].unit, better=first.metrics[metric].better or "lower"
        )
        if (asked := rules.policy.gated(c.name, metric)) is not None:
            c.gated = asked
        both = [m for m in [*before, *after] if m.ok and metric in m.metrics]
        check_metric(c.name, metric, (m.metrics[metric] for m in both), candidate)
        _fill(c, [m for m in before if m.ok], [m for m in after if m.ok], rules)
        if rules.identity and c.verdict is not Verdict.MISSING and _identical(before, after, domain, same_driver):
            c.verdict, c.note = Verdict.UNCHANGED, "identical code"
        elif lost:
            said = f"repetition {lost.repetition} {LOST[lost.status]} in the base"
            c.note = f"{c.note}, {said}" if c.note else said
        comparisons.append(c)
    return comparisons


def _on_one_clock(c: Comparison, sides: list[dict[int, Measurement]]) -> list[dict[int, Metric]]:
    """The metric as it would be at the median SM clock of the base: time x clock is cycles, and constant."""
    reference = float(np.median([m.conditions["sm_clock_mhz"] for m in sides[0].values()]))

    def scaled(m: Measurement) -> Metric:
        metric, factor = m.metrics[c.metric], m.conditions["sm_clock_mhz"] / reference
        factor = factor if c.better == "lower" else 1 / factor
        ci95 = metric.ci95 and (metric.ci95[0] * factor, metric.ci95[1] * factor)
        return Metric(metric.unit, metric.value * factor, ci95)

    return [{k: scaled(m) for k, m in side.items()} for side in sides]


def _fill(c: Comparison, before: list[Measurement], after: list[Measurement], rules: Rules) -> None:
    """Ok measurements of both sides -> ratio, interval and p-values of the comparison, or why there are none."""
    sides = [{m.repetition or 0: m for m in side if c.metric in m.metrics} for side in (before, after)]
    if not sides[1]:
        c.verdict, c.note = Verdict.MISSING, f"the candidate has no metric {c.metric}"
        return
    c.processes = min(map(len, sides))
    c.base, c.candidate = (float(np.median([m.metrics[c.metric].value for m in side.values()])) for side in sides)
    every = [m for side in sides for m in side.values()]
    by_clock = not rules.metric and is_by_clock(c.unit, c.clock_domain, every)
    unmoved = by_clock or per_clock(c.metric, next(iter(sides[0].values())).metrics[c.metric])
    c.unseen = max(rules.unseen, 2 * _least_threshold(c, c.base, rules))
    if rules.paired:
        _fill_pairs(c, sides, by_clock, unmoved, rules)
        return
    marked = [{k for k, m in side.items() if unfit(m, unmoved)} for side in sides]
    if sides[0].keys() == sides[1].keys():  # repetitions taken in pairs leave in pairs
        marked = [marked[0] | marked[1]] * 2
    if any(marked):
        c.note = ", ".join(sorted({why for m in every for why in unfit(m, unmoved)}))
    elif by_clock:
        c.note = "at the SM clock of the base"
    if any(len(gone) > rules.unfit_share * len(side) for gone, side in zip(marked, sides)):
        c.verdict = Verdict.UNFIT
        c.shared = any(map(is_shared, every))
        return
    if _memory_clock_differs(c, sides):
        return
    fit = [{k: m for k, m in side.items() if k not in gone} for side, gone in zip(sides, marked)]
    _fill_ratio(c, fit, by_clock, rules)


def _memory_clock_differs(c: Comparison, sides: list[dict[int, Measurement]]) -> bool:
    if c.clock_domain not in ("dram", "l2", "link"):
        return False
    clocks = [[m.conditions.get("memory_clock_mhz") or math.nan for m in side.values()] for side in sides]
    differs = abs(np.median(clocks[1]) / np.median(clocks[0]) - 1) > 0.01  # never true of an unknown clock
    if differs:
        c.verdict, c.note = Verdict.UNFIT, "the memory clock differs"
    return bool(differs)


def _fill_pairs(
    c: Comparison, sides: list[dict[int, Measurement]], by_clock: bool, unmoved: bool, rules: Rules
) -> None:
    """The same for processes that took turns: what held both of a pair back alike is no reason to drop it."""
    free = unmoved or c.clock_domain == "link"
    kept = pairs.keep(*sides, frozenset({pairs.POWER_CAP} if free else ()), is_shared)
    c.note = ", ".join([*(["at the SM clock of the base"] if by_clock else []), *kept.notes])
    c.processes, c.dropped, c.shared = len(kept.pairs), kept.dropped, kept.shared > 0
    too_often = kept.shared > rules.unfit_share * (len(kept.pairs) + kept.dropped)
    if too_often or len(kept.pairs) < rules.fewest_pairs:
        c.verdict = Verdict.UNFIT
        c.note = f"{len(kept.pairs)} pairs are left, too few: {c.note}" if c.note else "too few pairs"
        return
    fit = [{k: side[k] for k in kept.pairs} for side in sides]
    if _memory_clock_differs(c, fit):
        return
    _fill_ratio(c, fit, by_clock, rules)
    if c.ratio and not unmoved and c.clock_domain not in ("host", "link"):
        power.add_physics(c, *([side[k] for k in kept.pairs] for side in fit))


def _fill_ratio(c: Comparison, fit: list[dict[int, Measurement]], by_clock: bool, rules: Rules) -> None:
    """Ratio, interval and p-values from what may be compared."""
    values = _on_one_clock(c, fit) if by_clock else [{k: m.metrics[c.metric] for k, m in side.items()} for side in fit]
    every = {m.value for side in values for m in side.values()}
    if min(every) <= 0:
        c.note = "not a positive number, so there is no ratio"
        printed = any(m.extra.get("step") for side in values for m in side.values())  # 0.00 may be 0.004
        if len(every) == 1 and not printed:
            c.verdict, c.note = Verdict.EQUIVALENT, "the same on both sides"
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
    c.threshold = _threshold(c, ours, rules)
    judge_by(c, ratio)
    if share := _unseen_step(before, after):
        widen(c, share, "it is printed in few places" if share > c.threshold / 10 else "")
    if c.clock_domain in ("host", "wall") and c.method == "single process":
        # Neighbours on a CPU move such figures by tens of percent from process to process, here and there.
        doubt = "one process cannot tell on a CPU: use --repetitions"
    if doubt and min(c.p_slower, c.p_faster) < ALPHA:
        c.p_slower = c.p_faster = 1.0
        c.note = doubt


def judge_by(c: Comparison, ratio: LogRatio) -> None:
    """Interval and p-values of a cost ratio whose error is known."""
    c.log_ratio = ratio
    c.ratio = ratio.interval()
    c.p_slower, c.p_faster = ratio.p_above(1 + c.threshold), ratio.p_below(1 / (1 + c.threshold))


# By how much two GPUs of one name may differ: 95% of 1,900 figures of identical machine code, on two H200 and on three
# H100, differed by less. Of the host, whose machine is another as well, nothing is known.
OTHER_GPU = {"sm": 0.005, "power": 0.03, "l2": 0.035, "dram": 0.055, "link": 0.055, "wall": 0.055, "host": 0.5}


def _unseen_step(*sides: dict[int, Metric]) -> float:
    """By which share of the value a ratio may be off because numbers were printed in steps, as `12` ms is.

    Each side is off by half a step at most, always alike, so more processes do not help. Noise of half a step and more
    does: it carries the mean between the steps, to within 0.3% of one (for normal noise of s steps, what is left is at
    most exp(-2 pi^2 s^2) / pi).
    """
    found = 0.0
    for side in sides:
        values = [m.value for m in side.values()]
        step = min((m.extra.get("step", 0.0) for m in side.values()), default=0.0)
        if step and float(np.std(values)) < step / 2:
            found = max(found, step / float(np.median(values)))
    return found


def widen(c: Comparison, share: float, why: str) -> None:
    """The interval, for what no repetition tells: `share` is the half-width of that error's 95%."""
    if c.log_ratio is None or c.p_slower is None:
        return
    doubted = c.p_slower == c.p_faster == 1.0
    judge_by(c, widened(c.log_ratio, math.log1p(share) / 1.96))
    if doubted:
        c.p_slower = c.p_faster = 1.0
    said = [f"{why}: the interval is widened by {share:.1%}"] if why else []
    c.note = ", ".join([c.note, *said] if c.note else said)


def _process_interval(side: dict[int, Metric]) -> Interval:
    """The widest of the sampling intervals, around the median process."""
    value = float(np.median([m.value for m in side.values()]))
    if any(m.ci95 is None for m in side.values()):
        return Interval(value, 0.0, math.inf)
    return Interval(
        value, min(value, *(m.ci95[0] for m in side.values())), max(value, *(m.ci95[1] for m in side.values()))
    )


LARGEST_THRESHOLD = 10.0  # that one cycle makes, and as much as --threshold and a policy take


def _least_threshold(c: Comparison, base: float, rules: Rules) -> float:
    """The smallest slowdown that counts for this sort of metric."""
    asked = rules.policy.threshold(c.name, c.metric)
    if asked is not None:
        return asked
    if "latency" not in c.metric:
        return rules.threshold
    if per_clock(c.metric, Metric(c.unit, 0)) and base > 0:
        return max(rules.latency_threshold, min(rules.latency_cycles / base, LARGEST_THRESHOLD))
    return rules.latency_threshold


def _threshold(c: Comparison, ours: list[float], rules: Rules) -> float:
    """The smallest slowdown that counts, never below twice the noise between processes.

    Of processes that took turns this noise is in the interval already, without the drift that both of a pair share.
    """
    if rules.paired:
        return _least_threshold(c, float(np.median(ours)), rules)
    noise = float(np.std(np.log(ours), ddof=1)) if len(ours) >= 3 else 0.0
    return max(_least_threshold(c, ours[0], rules), 2 * noise)


def _identical(before: Iterable[Measurement], after: Iterable[Measurement], domain: str, same_driver: bool) -> bool:
    """Whether both sides ran the same kernel, machine code and launch configuration with the same parameters.

    Without a record of the launch nothing is identical: another grid, or more launches, makes the same code slower.
    For host, wall and link cases what is timed is mostly not the kernel, so its identity settles nothing. A new driver
    may place or launch the same code differently.
    """
    if domain in ("host", "wall", "link") or not same_driver:
        return False
    seen = []
    for m in [*before, *after]:
        if m.ok:
            if m.sass is None or not m.sass.get("launch"):
                return False
            # One image of machine code holds many kernels, so its hash alone does not say which of them ran, and it
            # changes with the lines of the source; where all kernels of the case have a hash, that one tells.
            exact = m.sass.get("code_sha256")
            code = (exact or m.sass["sha256"], *(m.sass.get(key) for key in ("target", "kernel", "launch")))
            seen.append((code, m.params, m.conditions.get("l2")))
    return all(one == seen[0] for one in seen)


def _decide(comparisons: list[Comparison], rules: Rules) -> None:
    """Verdicts for all that have an interval and none yet; the p-values are corrected for the number of cases."""
    correct = {"holm": holm, "bh": benjamini_hochberg, "none": list}[rules.correction]
    open_cases = [c for c in comparisons if c.ratio is not None and c.verdict is Verdict.INCONCLUSIVE]
    for gated in (True, False):
        family = [c for c in open_cases if c.gated is gated]
        for c in family if rules.correction != "none" else []:
            c.level = ALPHA / len(family)
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
