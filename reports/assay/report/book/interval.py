# SPDX-License-Identifier: Apache-2.0
"""What an interval covers: one process, or all that measured a case. Pure.

An interval within one process says how well its median is known there. Another process, with other addresses and
another placement, may find another median; how far these differ is only known where a run has repetitions.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.files import Baseline, Estimate, Measurement, Metric

from . import text

WITHIN_ONE = "within one process"
PROCESSES = "values_of_processes"  # in `extra` of a merged metric or speed-up: the value that each process found


def merged(repetitions: list[Measurement]) -> Measurement:
    """Of several fresh processes: the median of their values, and an interval that covers all of theirs."""
    good = [m for m in repetitions if m.ok]
    if len(good) < 2:
        return good[0] if good else repetitions[-1]
    base = good[len(good) // 2]
    metrics = {}
    for name, metric in base.metrics.items():
        metrics[name] = _over(metric, [m.metrics[name] for m in good if name in m.metrics])
    return replace(base, metrics=metrics, baselines=[_baseline(b, good) for b in base.baselines])


def _over(base: Metric | Estimate, found: Sequence[Metric | Estimate]) -> Metric | Estimate:
    ends = [end for f in found for end in (f.ci95 or (f.value, f.value))]
    values = [f.value for f in found]
    extra = {**base.extra, PROCESSES: values}
    return replace(base, value=statistics.median(values), ci95=(min(ends), max(ends)), extra=extra)


def _baseline(baseline: Baseline, good: list[Measurement]) -> Baseline:
    alike = [b for m in good for b in m.baselines if b.name == baseline.name]
    return replace(baseline, speedup=_over(baseline.speedup, [b.speedup for b in alike]))


def values_of(figure: Metric | Estimate) -> tuple[float, ...]:
    """What each process found; () of a figure of one."""
    return tuple(figure.extra.get(PROCESSES, ()))


def spread(values: Sequence[float]) -> str:
    """ "(8 processes: 4.01 to 4.05)", or "" for one."""
    if len(values) < 2:
        return ""
    return f"({len(values)} processes: {text.number(min(values))} to {text.number(max(values))})"


@dataclass(frozen=True)
class Processes:
    """How many processes measured the cases of a run, and how far their primary figures differ."""

    most: int
    widths: list[tuple[float, str]]  # (range of the medians over their median, case), the widest last


def processes(measurements: list[Measurement]) -> Processes:
    """Of merged measurements."""
    found = [(m, values) for m in measurements if m.headline and len(values := values_of(m.headline)) > 1]
    widths = sorted(((max(v) - min(v)) / abs(statistics.median(v)), m.name) for m, v in found if statistics.median(v))
    return Processes(max([1 if measurements else 0, *(len(v) for _, v in found)]), widths)


def known(of_run: Processes) -> str:
    """ "8; their medians differ by 0.3 %, at most by 4 % (memory/...)"; that nothing is known, for one process."""
    if not of_run.widths:
        return f"{of_run.most}; how far processes differ is not known"
    middle = statistics.median(width for width, _ in of_run.widths)
    widest, case = of_run.widths[-1]
    return f"up to {of_run.most}; their figures differ by {text.percent(middle)}, at most by {text.percent(widest)} ({case})"


def legend(of_runs: list[Processes]) -> str:
    """What ± means on pages of these runs."""
    one, several = (any(bool(p.widths) is kind for p in of_runs) for kind in (False, True))
    if several and not one:
        return "± covers the 95% confidence intervals of all processes that measured the case."
    within = f"± is the 95% confidence interval of the median, {WITHIN_ONE}"
    if several:
        return f"{within}, or covers those of all processes where several measured the case."
    return f"{within}; how far processes differ is not known, for each case was measured in one."


def short(of_runs: list[Processes]) -> str:
    """The same in a caption."""
    return "of all processes" if of_runs and all(p.widths for p in of_runs) else WITHIN_ONE
