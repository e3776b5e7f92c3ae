# SPDX-License-Identifier: Apache-2.0
"""Whether a parsed document is an `assay.run/1`: what `schema/assay.run-1.schema.json` says, and what it cannot say.

Every problem is one line that names the field and what is wrong with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import json_text, schema_check
from .errors import RunFileError
from .json_text import step

SCHEMA = "assay.run/1"
SCHEMA_FILE = "assay.run-1.schema.json"
SCHEMA_PATH = schema_check.FOLDER / SCHEMA_FILE


def _schema_problems(document: dict[str, Any]) -> Iterator[str]:
    for path, steps, error in schema_check.problems(document, SCHEMA_FILE):
        yield f"{path}{_named(document, steps)}: {_said(error)}"


def _named(document: dict[str, Any], path: list[str | int]) -> str:
    """ " (memory/hbm/copy)" where the path leads into a measurement that has a name."""
    item = document["measurements"][path[1]] if len(path) > 1 and path[0] == "measurements" else None
    return f" ({item['name']:.80})" if isinstance(item, dict) and isinstance(item.get("name"), str) else ""


def _said(error: Any) -> str:
    steps = [str(step) for step in error.schema_path]
    if "anonymous" in steps:
        return "a property or text here may identify a machine or person; leave it out"
    if '"ci95" is a required' in error.message or (error.instance_path[-1:] == ["ci95"] and "series" not in steps):
        return "no measurement without an interval; give ci95 as [low, high]"
    return schema_check.said(error)


# Of what a headline can be no less than, by its unit.
RATE = re.compile(r".*/(s|clk|clk/SM)")
DURATION = re.compile(r"s|ms|us|ns|cycles?")


def impossible(unit: str, value: float) -> str | None:
    """What is wrong with a value of this unit, whatever was measured; None if it is possible."""
    if RATE.fullmatch(unit) and value <= 0:
        return f"{value:g} {unit} is no rate; measure again"
    if DURATION.fullmatch(unit) and value < 0:
        return f"{value:g} {unit} is no time; measure again"
    return None


# Times of something that was done. Others may be 0, as what one thing costs beside another.
FAST = {"GB/s", "B/clk/SM", "TFLOP/s", "FLOP/clk/SM", "Gop/s", "op/clk/SM"}
OF_SOMETHING = re.compile(r".*latency.*|time_us")


def no_time(name: str, unit: str, value: float) -> str | None:
    """What is wrong with the time of something that took none; None of other quantities."""
    if value == 0 and OF_SOMETHING.fullmatch(name) and DURATION.fullmatch(unit):
        return f"0 {unit} is no time; measure again"
    return None


def _direction_problem(name: str, metric: dict[str, Any]) -> str | None:
    """Of a rate or a time that is said to be better the wrong way round: a slowdown would pass for a gain."""
    better, unit = metric.get("better"), metric["unit"]
    right = (
        "higher" if unit in FAST else "lower" if OF_SOMETHING.fullmatch(name) and DURATION.fullmatch(unit) else better
    )
    return None if better in (right, None) else f"{better!r} of {name} in {unit}; only {right} can be better"


def _interval_problem(estimate: dict[str, Any]) -> str | None:
    if "ci95" not in estimate:
        return None
    low, high = estimate["ci95"]
    if low > high:
        return f"low {low} is above high {high}; give ci95 as [low, high]"
    if not low <= estimate["value"] <= high:
        return f"[{low}, {high}] does not hold the value {estimate['value']}; measure again"
    return None


def _measurement_problems(m: dict[str, Any], at: str) -> Iterator[str]:
    name, metrics = m["name"], m.get("metrics", {})
    if m.get("status", "ok") == "ok" and m.get("source") is None:
        if m["primary"] not in metrics:
            yield f"{at}.primary ({name}): {m['primary']!r:.60} is none of the metrics: {', '.join(metrics):.200}"
        elif not (primary := metrics[m["primary"]]).get("signed") and (
            said := impossible(primary["unit"], primary["value"])
        ):
            yield f"{step(f'{at}.metrics', m['primary'])}.value ({name}): {said}"
    for key, metric in metrics.items():
        measured = m.get("source") is None and not metric.get("signed")
        if measured and (said := no_time(key, metric["unit"], metric["value"])):
            yield f"{step(f'{at}.metrics', key)}.value ({name}): {said}"
        if said := _direction_problem(key, metric):
            yield f"{step(f'{at}.metrics', key)}.better ({name}): {said}"
        if said := _interval_problem(metric):
            yield f"{step(f'{at}.metrics', key)}.ci95 ({name}): {said}"
    for number, baseline in enumerate(m.get("baselines", ())):
        for key in ("speedup", "time_us"):
            estimate = baseline.get(key)
            where = f"{at}.baselines[{number}].{key}"
            if estimate is not None and estimate["value"] <= 0:
                yield f"{where}.value ({name}): {estimate['value']:g} is not above 0; measure again"
            elif estimate is not None and (said := _interval_problem(estimate)):
                yield f"{where}.ci95 ({name}): {said}"


def _series_problems(m: dict[str, Any], at: str) -> Iterator[str]:
    names = set()
    for number, series in enumerate(m.get("series", ())):
        where = f"{at}.series[{number}]"
        which = f" {series['name']!r:.40} ({m['name']})"
        if series["name"] in names:
            yield f"{where}{which}: another series has this name; give each its own"
        names.add(series["name"])
        measured = m.get("source") is None and not series.get("signed")
        for place, value in enumerate(series["values"]):
            if measured and value is not None and (said := no_time(series["name"], series["unit"], value)):
                yield f"{where}.values[{place}]{which}: {said}"
        shape = [len(axis["points"]) for axis in series["axes"]]
        if len(series["values"]) != math.prod(shape):
            spanned = f"{math.prod(shape)} places ({' x '.join(map(str, shape))})"
            yield f"{where}{which}: {len(series['values'])} values for {spanned}; give as many as its axes span"
        elif problem := _points_problem(series["values"], series.get("ci95")):
            place, said = problem
            yield f"{where}.ci95{place}{which}: {said}"


def _points_problem(
    values: list[float | None], intervals: list[list[float] | None] | None
) -> tuple[str, str] | None:
    """Which of the intervals is wrong, as a step of its path, and in what."""
    if intervals is None:
        return None
    if len(intervals) != len(values):
        return "", f"{len(intervals)} intervals for {len(values)} values; give one or null for each"
    for place, (value, interval) in enumerate(zip(values, intervals)):
        if interval is not None and value is None:
            return f"[{place}]", "an interval of no value; give null"
        if interval is not None and (said := _interval_problem({"value": value, "ci95": interval})):
            return f"[{place}]", said
    return None


def _further_problems(document: dict[str, Any]) -> Iterator[str]:
    """What JSON Schema cannot say, of a document that it has found valid."""
    first: dict[tuple, int] = {}  # where a case was seen: two of a process would look as if two processes agreed
    for index, m in enumerate(document["measurements"]):
        at = f"measurements[{index}]"
        if "source" not in m:
            number = m.get("repetition") or 0
            before = first.setdefault((m["name"], number, m.get("params", {}).get("target")), index)
            if before != index:
                yield (
                    f"{at}.repetition: {m['name']} occurs twice with repetition {number}, also at measurements[{before}]; "
                    "number the repetitions"
                )
        yield from _measurement_problems(m, at)
        yield from _series_problems(m, at)


def validate(document: Any, where: str | Path = "<run>") -> None:
    """Raises RunFileError, naming the first problem, unless `document` (parsed JSON) is a valid assay.run/1."""
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise RunFileError(f'{where}: not an assay run file: no "schema" field; give a run.json that `assay run` wrote')
    version = re.fullmatch(r"assay\.run/([0-9]{1,9})", document["schema"])
    if not version:
        raise RunFileError(f"{where}: schema: {document['schema']!r:.60} is not an assay run; expected {SCHEMA!r}")
    if int(version[1]) != 1:
        raise RunFileError(
            f"{where}: schema: {document['schema']} is not readable here, only {SCHEMA} is; upgrade assay"
        )
    for key, kind in (("environment", dict), ("measurements", list)):
        if not isinstance(document.get(key), kind):
            raise RunFileError(f"{where}: {key}: missing or of the wrong type; run the measurement again")
    json_text.check(document, where)
    problems = list(_schema_problems(document)) or list(_further_problems(document))
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise RunFileError(f"{where}: {problems[0]}{more}")
