# SPDX-License-Identifier: Apache-2.0
"""Runs of other benchmark programs, read as runs of ours: what Google Benchmark and nvbench write as JSON.

Only what a gate needs is taken: names, times, how they scatter, and what machine it was.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from assay import files
from assay.files import Measurement, Metric, Run, RunFileError, schema_check
from assay.files.json_text import load as load_json
from assay.plain_text import one_line
from assay.statistics import median_interval

HOW = "give a run of `assay run`, or the JSON that Google Benchmark or nvbench wrote"
NVBENCH_TIMES = (
    "nv/cold/time/gpu/median",
    "nv/cold/time/gpu/mean",
    "nv/cold/time/cpu/mean",
    "nv/cpu_only/time/cpu/mean",
)
NVBENCH_CLOCK = "nv/cold/sm_clock_rate/mean"  # Hz


def load(path: str | Path) -> Run:
    """A run of any of the three programs. Raises RunFileError."""
    path = Path(path)
    if path.is_dir() or path.suffix == ".jsonl":
        return files.load(path)
    document = load_json(path, HOW)
    if isinstance(document, dict) and "schema" not in document and isinstance(document.get("benchmarks"), list):
        return of_document(document, path)
    return files.load(path)


def of_document(document: dict[str, Any], path: Path) -> Run:
    """The run of a document that has `benchmarks`."""
    read, schema = (_nvbench, "nvbench") if "devices" in document else (_google_benchmark, "google-benchmark")
    for where, _, error in schema_check.problems(document, f"{schema}.schema.json"):
        raise RunFileError(f"{path}: {where}: {schema_check.said(error)}; {HOW}")
    try:
        run = read(document)
    except ValueError as error:  # what a schema cannot say
        raise RunFileError(f"{path}: benchmarks: {error}; {HOW}") from None
    if not run.measurements:
        raise RunFileError(f"{path}: benchmarks: holds no case; measure one, and see that a filter leaves some")
    run.path = path
    return run


def summarized(name: str, samples: list[float], unit: str, better: str = "lower", metric: str = "time", **fields: Any):
    """A measurement whose value is the median of its samples."""
    value, low, high = median_interval(samples)
    ci95 = None if math.isinf(low) else (low, high)
    return Measurement(
        name,
        "kernel",
        primary=metric,
        metrics={metric: Metric(unit, value, ci95, better)},
        samples={metric: list(samples)},
        **fields,
    )


def _google_benchmark(document: dict[str, Any]) -> Run:
    context = document.get("context", {})
    host = {key: context[key] for key in ("num_cpus", "mhz_per_cpu", "cpu_scaling_enabled") if key in context}
    environment = {"gpu": None, "driver": None, "cuda": None, "host": host, "assay": None}
    if "library_build_type" in context:
        environment["library_build_type"] = context["library_build_type"]
    samples: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    failed: dict[str, str] = {}
    medians: dict[str, float] = {}
    for entry in document["benchmarks"]:
        name = entry.get("run_name", entry["name"])
        units[name] = entry.get("time_unit", "ns")
        if entry.get("error_occurred"):
            failed[name] = entry.get("error_message") or "failed"
        elif entry.get("run_type", "iteration") == "iteration":
            samples.setdefault(name, []).append(float(entry["real_time"]))
        elif entry.get("aggregate_name") == "median":
            medians[name] = float(entry["real_time"])
    found = []
    for name in dict.fromkeys([*samples, *medians, *failed]):
        if name in failed:
            found.append(Measurement(name, "kernel", status="failed", reason=failed[name]))
        else:
            values = samples.get(name) or [medians[name]]
            found.append(summarized(name, values, units[name], conditions={"clock_domain": "wall"}))
    return Run(environment, found)


# Python's `float` takes "1_0" and "infinity" too, which nvbench does not write.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _number(summaries: dict[str, list[dict[str, Any]]], tag: str, case: str) -> float:
    """The value of a summary; nvbench writes 64-bit numbers as text. Raises ValueError for what is no finite number."""
    found = [v["value"] for v in summaries[tag] if v["name"] == "value"]
    where = f"{one_line(case, 100)}: {tag}"
    if len(found) != 1:
        raise ValueError(f"{where}: has {len(found) or 'no'} value{'s, where one is wanted' if found else ''}")
    number = float(found[0]) if NUMBER.fullmatch(str(found[0])) else math.nan
    if not math.isfinite(number):
        raise ValueError(f"{where}: {one_line(repr(found[0]), 60)} is no number")
    return number


def _summaries(state: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What a state says by its tags; of a tag that stands twice all that both say."""
    found: dict[str, list[dict[str, Any]]] = {}
    for summary in state.get("summaries") or []:
        if "tag" in summary:
            found.setdefault(summary["tag"], []).extend(summary.get("data") or [])
    return found


def _nvbench(document: dict[str, Any]) -> Run:
    devices = {d["id"]: d for d in document["devices"] or []}
    found: list[Measurement] = []
    used: set[int] = set()
    for benchmark in document["benchmarks"]:
        for state in benchmark.get("states") or []:
            axes = [f"{a['name']}={a['value']}" for a in state.get("axis_values") or []]
            name = "/".join([benchmark["name"], *axes])
            device = state.get("device") or 0
            if devices and device not in devices:
                known = ", ".join(map(str, sorted(devices)))
                raise ValueError(f"{one_line(name, 100)}: device: {device} is none of those in devices: {known}")
            used.add(device)
            if len(devices) > 1:
                name += f"/Device={state.get('device')}"
            if state.get("is_skipped"):
                reason = state.get("skip_reason") or "skipped by the program"
                found.append(Measurement(name, "kernel", status="skipped", reason=reason))
                continue
            summaries = _summaries(state)
            tag = next((tag for tag in NVBENCH_TIMES if tag in summaries), None)
            if tag is None:
                found.append(Measurement(name, "kernel", status="failed", reason="nvbench gave no time"))
                continue
            conditions: dict[str, Any] = {"clock_domain": "wall"}
            if NVBENCH_CLOCK in summaries:
                conditions["sm_clock_mhz"] = _number(summaries, NVBENCH_CLOCK, name) * 1e-6
            found.append(summarized(name, [_number(summaries, tag, name) * 1e6], "us", conditions=conditions))
    gpus = [devices[d] for d in sorted(used) if d in devices]
    gpu = None
    if gpus:
        version = str(gpus[0].get("sm_version", 0))
        gpu = {"name": gpus[0]["name"], "architecture": f"sm_{version[:-1]}"}
        if "number_of_sms" in gpus[0]:
            gpu["sm_count"] = gpus[0]["number_of_sms"]
    return Run({"gpu": gpu, "driver": None, "cuda": None, "host": None, "assay": None}, found)


def joined(processes: list[Run]) -> Run:
    """One run of several processes, each a repetition."""
    measurements = []
    for repetition, run in enumerate(processes):
        for m in run.measurements:
            m.repetition = repetition
            measurements.append(m)
    return Run(processes[0].environment, measurements, processes[0].path, extra=processes[0].extra)
