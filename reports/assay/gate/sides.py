# SPDX-License-Identifier: Apache-2.0
"""Whether two runs may be compared: their machines, and what both say of one case."""

from __future__ import annotations

from collections.abc import Iterable

import re2

from assay.files import Measurement, Metric, Run, RunFileError
from assay.files.refused import of_metrics
from assay.files.run_check import impossible

SHARED = "shared_gpu"  # the flag of a figure that was taken while another process used the GPU


def is_shared(measurement: Measurement) -> bool:
    return SHARED in measurement.flags or bool(measurement.conditions.get("other_processes"))


class IncomparableRuns(Exception):
    """The two runs come from machines that must not be compared. One line."""


def is_one_gpu(base: Run, candidate: Run) -> bool:
    """Whether nothing says that the two were measured on different GPUs."""
    ids = [(run.gpu or {}).get("id") for run in (base, candidate)]
    return not all(ids) or ids[0] == ids[1]


def check_machines(base: Run, candidate: Run, allow_other_gpu: bool = False) -> list[str]:
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
    warnings += [
        f"other processes used the GPU of the {which}"
        for which, facts in (("base", ours), ("candidate", theirs))
        if facts.get("other_processes")
    ]
    return warnings + (_check_one_gpu(ours, theirs, allow_other_gpu) if part == "gpu" else [])


def _check_one_gpu(ours: dict, theirs: dict, allow_other: bool) -> list[str]:
    """Two GPUs of one name differ by percents."""
    lacking = [which for which, facts in (("base", ours), ("candidate", theirs)) if not facts.get("id")]
    if lacking:
        return [f"whether both are of one GPU is not known: no environment.gpu.id in the {' and the '.join(lacking)}"]
    if ours["id"] != theirs["id"] and allow_other:
        return [
            "base and candidate are of two GPUs of one name; every interval is widened by what two such may differ by"
        ]
    if ours["id"] != theirs["id"]:
        raise IncomparableRuns(
            f"environment.gpu.id differs: {ours['id']} in the base, {theirs['id']} in the candidate: two GPUs of one "
            "name; measure both on one GPU, or allow with --allow-other-gpu, which makes every interval wider"
        )
    return []


def cases(run: Run, name: str | None) -> dict[str, list[Measurement]]:
    """Our own measurements by name, those that match; each list in order of repetition."""
    found: dict[str, dict[int, Measurement]] = {}
    for m in run.measurements:
        if m.source is not None or (name and not re2.search(name, m.name)):
            continue
        repetitions = found.setdefault(m.name, {})
        if (number := m.repetition or 0) in repetitions:
            raise RunFileError(
                f"{run.path}: measurements: {m.name} occurs twice with repetition {number}; number the repetitions"
            )
        repetitions[number] = m
    return {name: [by_number[k] for k in sorted(by_number)] for name, by_number in found.items()}


def check_sources(base: Run, candidate: Run) -> None:
    """Raises RunFileError where one run measured what the other has from a publication."""
    ours, theirs = ({m.name: m.source is not None for m in run.measurements} for run in (base, candidate))
    for name in ours.keys() & theirs.keys():
        if ours[name] != theirs[name]:
            raise RunFileError(
                f"{candidate.path}: {name}: source: {'published' if theirs[name] else 'measured'} here, and not so in "
                f"{base.path}; compare what was measured"
            )


def _facts(m: Measurement) -> Iterable[tuple[str, str | None]]:
    yield "kind", m.kind
    yield "conditions.clock_domain", m.conditions.get("clock_domain")
    yield "primary", m.primary


def check_agreement(before: list[Measurement], after: list[Measurement], candidate: Run, metric: str | None) -> None:
    """Raises RunFileError where the measurements of one case contradict each other in what they are."""
    said: dict[str, str] = {}
    for m in [*before, *after]:
        for field, value in _facts(m):
            if value is None or (field == "primary" and metric):
                continue
            if said.setdefault(field, value) != value:
                raise RunFileError(contradiction(candidate, m.name, field, said[field], value))
    # Older files may state no domain; but what one of them calls limited by power is gated by none or by all.
    domains = {m.conditions.get("clock_domain") for m in [*before, *after]}
    if {"power", None} <= domains:
        raise RunFileError(contradiction(candidate, before[0].name, "conditions.clock_domain", None, "power"))


def check_metric(name: str, key: str, metrics: Iterable[Metric], candidate: Run) -> None:
    """Raises RunFileError where the sides contradict each other in one metric, or it has an impossible value."""
    first: Metric | None = None
    for metric in metrics:
        first = first or metric
        for field in ("unit", "better"):
            ours, theirs = getattr(first, field), getattr(metric, field)
            if ours != theirs:
                raise RunFileError(contradiction(candidate, name, f"metrics.{key}.{field}", ours, theirs))
        if not metric.extra.get("signed") and (said := impossible(metric.unit, metric.value)):
            raise RunFileError(f"{candidate.path}: {name}: metrics.{key}.value: {said}, here or in the base")


def check_possible(case: list[Measurement], key: str, run: Run) -> None:
    """Raises RunFileError where this figure of the case is above its limit, or contradicts another of its own."""
    for m in case:
        for found in of_metrics(m, run) if m.ok else ():
            if found.figure == key:
                raise RunFileError(
                    f"{run.path}: {m.name}: metrics.{key}: {found.said}: {found.short}: {found.why}; measure again, "
                    "or leave the case out with --filter"
                )


def contradiction(candidate: Run, name: str, field: str, ours: object, theirs: object) -> str:
    return (
        f"{candidate.path}: {name}: {field}: {theirs!r:.60} contradicts {ours!r:.60} in the base or another "
        "repetition; measure both with programs that agree, or leave the case out with --filter"
    )
