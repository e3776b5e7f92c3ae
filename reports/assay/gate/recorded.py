# SPDX-License-Identifier: Apache-2.0
"""Between a run and its line of a history: all that the gate asks of a base is kept, so that it decides as of two runs.

What was taken beside another process, or while heat or a fault slowed the GPU down, is no figure of the code, so it is
left out and named. What the power limit held back stays with that reason, and the gate judges it as it judges a run.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.files import Measurement, Metric, Run, RunFileError
from assay.files.history import Entry, Figure
from assay.files.refused import of_metrics
from assay.gate.chosen import is_by_clock, metrics_to_compare, per_clock, unfit
from assay.gate.pairs import POWER_CAP
from assay.gate.result import LOST, Rules
from assay.gate.sides import cases, check_agreement, check_metric

# Of each value, what a verdict may rest on.
CONDITIONS = ("sm_clock_mhz", "memory_clock_mhz", "iterations", "l2", "throttle")
CODE = ("sha256", "code_sha256", "target", "kernel", "launch")


def entry_of(run: Run, commit: str | None = None, time: str | None = None) -> Entry:
    """The line of a run. Raises RunFileError for one without a case, or that contradicts itself."""
    figures: dict[str, Figure] = {}
    lost: dict[str, dict[str, str]] = {}
    for name, repetitions in sorted(cases(run, None).items()):
        made = _figure(run, repetitions)
        if isinstance(made, Figure):
            figures[name] = made
        elif made:
            lost[name] = made
    if not figures:
        why = next((f" ({name}: {m['reason']})" for name, m in lost.items()), "")
        raise RunFileError(f"{run.path}: no case was measured in it that can be a baseline{why}; measure again")
    built = run.environment.get("assay") or {}
    started = (run.extra.get("run") or {}).get("started")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    label = commit or f"{built.get('commit') or 'unknown'}{'-dirty' * bool(built.get('dirty'))}"
    return Entry(time or started or now, label, _kept(run.environment), figures, lost=lost)


def _figure(run: Run, repetitions: list[Measurement]) -> Figure | dict[str, str] | None:
    """A case; why it has no figure; or None where it never could have one."""
    measured = [m for m in repetitions if m.ok]
    if not measured:
        gone = next((m for m in repetitions if m.status in LOST), None)
        return gone and _gone(gone, gone.status, gone.reason or "")
    check_agreement(measured, [], run, None)
    first = measured[0]
    domain = next((said for m in measured if (said := m.conditions.get("clock_domain"))), "")
    key = metrics_to_compare(first, domain, Rules())[0]
    have = [m for m in measured if key in m.metrics]
    check_metric(first.name, key, (m.metrics[key] for m in have), run)
    metric = first.metrics[key]
    unmoved = is_by_clock(metric.unit, domain, have) or per_clock(key, metric)
    reasons = [_refused(run, m, key, unmoved) for m in have]
    fit = [m for m, why in zip(have, reasons) if not why]
    if len(have) - len(fit) > Rules().unfit_share * len(have):
        return _gone(first, "not_run", next(filter(None, reasons)))
    known = [[m.conditions.get(name) or None for m in fit] for name in CONDITIONS]
    numbers = [m.repetition or 0 for m in fit]
    return Figure(
        key,
        metric.unit,
        metric.better or "lower",
        [m.metrics[key].value for m in fit],
        domain,
        first.kind,
        [m.metrics[key].ci95 for m in fit] if any(m.metrics[key].ci95 for m in fit) else [],
        first.params,
        bool(metric.extra.get("signed")),
        first.primary if first.primary not in (None, key) else "",
        {name: values for name, values in zip(CONDITIONS, known) if any(values)},
        _code(measured),
        numbers if numbers != list(range(len(numbers))) else [],
    )


def _gone(m: Measurement, status: str, reason: str) -> dict[str, str]:
    domain = m.conditions.get("clock_domain")
    return {"kind": m.kind, "status": status, "reason": reason, **({"clock_domain": domain} if domain else {})}


def _refused(run: Run, m: Measurement, key: str, unmoved: bool) -> str:
    """Why this figure is none of the code."""
    said = [why for why in unfit(m, unmoved) if POWER_CAP not in why]
    said += [f"{found.short}: {found.why}" for found in of_metrics(m, run) if found.figure == key]
    return ", ".join(said)


def _code(measured: list[Measurement]) -> dict[str, Any]:
    """What ran, if it was the same in every process and its launches are known: else nothing is taken for identical."""
    found = [{k: m.sass[k] for k in CODE if k in m.sass} if m.sass else {} for m in measured]
    alike = all(code == found[0] for code in found) and all(m.params == measured[0].params for m in measured)
    return found[0] if alike and found[0].get("launch") else {}


def _kept(environment: dict[str, Any]) -> dict[str, Any]:
    """What tells whether two entries may be compared."""
    gpu, host = environment.get("gpu"), environment.get("host") or {}
    wanted = ("name", "architecture", "sm_count", "id", "power_limit_w", "ecc", "mig")
    return {
        "gpu": gpu and {k: gpu[k] for k in wanted if k in gpu},
        "driver": environment.get("driver"),
        "cuda": environment.get("cuda"),
        "host": {k: host[k] for k in ("cpu", "usable_cores") if k in host},
        "assay": environment.get("assay"),
    }


def run_of(entry: Entry, path: Path) -> Run:
    """The entry as a run, a repetition for each value, for the gate to compare with."""
    measurements = []
    for name, figure in entry.cases.items():
        numbers = figure.repetitions or range(len(figure.values))
        intervals = figure.ci95 or [None] * len(figure.values)
        extra = {"signed": True} if figure.signed else {}
        for index, (number, value, ci95) in enumerate(zip(numbers, figure.values, intervals)):
            metric = Metric(figure.unit, value, tuple(ci95) if ci95 else None, figure.better, extra=extra)
            m = Measurement(name, figure.kind, primary=figure.primary or figure.metric, metrics={figure.metric: metric})
            m.params, m.repetition, m.sass = figure.params, number, figure.sass or None
            known = {key: values[index] for key, values in figure.conditions.items() if values[index] is not None}
            m.conditions = {**({"clock_domain": figure.clock_domain} if figure.clock_domain else {}), **known}
            measurements.append(m)
    for name, m in entry.lost.items():
        domain = {"clock_domain": m["clock_domain"]} if "clock_domain" in m else {}
        measurements.append(
            Measurement(name, m["kind"], status=m["status"], reason=m["reason"], repetition=0, conditions=domain)
        )
    return Run(entry.environment, measurements, path)
