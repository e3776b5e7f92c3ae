# SPDX-License-Identifier: Apache-2.0
"""Several run files of one GPU as one run. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from assay.files import Measurement, Run

from .identity import gpu_id


def in_order(measurements: list[Measurement]) -> list[Measurement]:
    """By name, numbers by their value: a run measures in random order, a reader looks things up."""

    def key(m: Measurement) -> tuple[list[tuple[int, int, str]], int]:
        words = [w for w in re.split(r"(\d+)|/", m.name) if w]
        return [(0, int(w), "") if w.isdigit() else (1, 0, w) for w in words], m.repetition or 0

    return sorted(measurements, key=key)


def _same_gpu(a: Run, b: Run) -> bool:
    """Whether both are of one GPU and driver. A name says of which kind it is, not which: without ids, no."""
    return (
        gpu_id(a) is not None and gpu_id(a) == gpu_id(b) and a.environment.get("driver") == b.environment.get("driver")
    )


Measured = dict[str, list[Measurement]]  # repetitions of each case


def _complements(a: Measured, b: Measured) -> bool:
    """Whether no case is measured in both, but for kernels that other baselines took turns with."""

    def names(measured: Measured, case: str) -> set[str]:
        return {baseline.name for m in measured[case] for baseline in m.baselines}

    both = [(names(a, case), names(b, case)) for case in a.keys() & b.keys()]
    return all(ours and theirs and ours.isdisjoint(theirs) for ours, theirs in both)


def joined(runs: list[Run]) -> list[Run]:
    """Runs of one GPU that measured different cases, such as a suite and the collectives, become one column, which
    names the commits of all; runs that measured the same cases stay apart, to be compared."""
    groups: list[tuple[list[Run], Measured, list[Measurement]]] = []
    for run in runs:
        measured: Measured = {}
        for m in run.measurements:
            if m.ok:
                measured.setdefault(m.name, []).append(m)
        rest = [m for m in run.measurements if not m.ok]
        for of_group, have, others in groups:
            if measured and have and _same_gpu(of_group[0], run) and _complements(have, measured):
                of_group.append(run)
                for name, repetitions in measured.items():
                    if name in have:
                        lead, *more = have[name]
                        further = [b for m in repetitions[:1] for b in m.baselines]
                        have[name] = [replace(lead, baselines=lead.baselines + further), *more]
                    else:
                        have[name] = repetitions
                others += rest
                break
        else:
            groups.append(([run], measured, rest))
    result = []
    for of_group, have, others in groups:
        rest = [m for m in others if m.status == "not_run" or m.name not in have]  # measured in another run
        measurements = in_order([*(m for ms in have.values() for m in ms), *rest])
        result.append(replace(of_group[0], measurements=measurements, environment=_environment(of_group)))
    return result


def _environment(runs: list[Run]) -> dict:
    """The first run's, with the commits of all."""
    environment = runs[0].environment
    commits = [(run.environment.get("assay") or {}).get("commit") for run in runs]
    distinct = list(dict.fromkeys(commit[:12] for commit in commits if commit))
    if len(distinct) < 2:
        return environment
    return {**environment, "assay": {**(environment.get("assay") or {}), "commit": ", ".join(distinct)}}
