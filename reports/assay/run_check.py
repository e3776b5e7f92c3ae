# SPDX-License-Identifier: Apache-2.0
"""Whether a parsed document is an `assay.run/1`: the essentials by hand, the rest by `schema/assay.run-1.schema.json`.

Every problem is one line that names the field and what is wrong with it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

SCHEMA = "assay.run/1"
STATUSES = ("ok", "failed", "skipped", "not_run")
SCHEMA_PATH = Path(__file__).parent / "schema" / "assay.run-1.schema.json"


class RunFileError(Exception):
    """One line: file, field, what is wrong, how to mend it."""


def _step(path: str, key: str | int) -> str:
    return f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}" if path else str(key)


def _not_finite(value: Any, path: str = "") -> str | None:
    """The JSON path of the first NaN or infinity, or None."""
    if isinstance(value, float):
        return None if math.isfinite(value) else path
    items: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, dict):
        items = iter(value.items())
    elif isinstance(value, list):
        items = enumerate(value)
    return next((found for key, item in items if (found := _not_finite(item, _step(path, key)))), None)


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    return json.loads(SCHEMA_PATH.read_text())


@lru_cache(maxsize=1)
def _schema_validator() -> Any:
    """The validator of the schema file, or None where the package jsonschema is not installed.

    Without the rule about names of machines and persons, which is about every value in the file: `_identifying` applies
    it, much faster.
    """
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return None
    return Draft202012Validator({key: rule for key, rule in _schema().items() if key != "$ref"})


@lru_cache(maxsize=1)
def _anonymous() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What no property may be called, and what no string may hold, as the schema has it."""
    rule = _schema()["$defs"]["anonymous"]
    return re.compile(rule["propertyNames"]["not"]["pattern"]), re.compile(rule["not"]["pattern"])


def _identifying(value: Any, path: str = "") -> Iterator[str]:
    """The problems of properties and strings that may say which machine or person a file is from."""
    bad_key, bad_text = _anonymous()
    if isinstance(value, dict):
        for key, item in value.items():
            if bad_key.search(key):
                yield f"{path or 'the document'}: {key!r:.60} may identify a machine or person; leave it out"
            if not isinstance(item, (int, float)):
                yield from _identifying(item, _step(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if not isinstance(item, (int, float)):
                yield from _identifying(item, _step(path, index))
    elif isinstance(value, str) and bad_text.search(value):
        yield f"{path}: {value!r:.60} may identify a machine or person; leave it out"


def _shortened(measurement: Any) -> Any:
    """The measurement with one of each kind of sample, of a series' values and of its points: long arrays are checked
    by `_measurement_problems`, which has found nothing wrong with them, much faster."""
    if not isinstance(measurement, dict):
        return measurement
    short = dict(measurement)
    if "samples" in short:
        short["samples"] = {k: v[:1] for k, v in short["samples"].items()}
    if "series" in short:
        short["series"] = [
            {**s, "values": s["values"][:1], "axes": [{**a, "points": a["points"][:1]} for a in s["axes"]]}
            for s in short["series"]
        ]
    return short


def _schema_problems(document: dict[str, Any]) -> Iterator[str]:
    light = {**document, "measurements": [_shortened(m) for m in document["measurements"]]}
    for error in _schema_validator().iter_errors(light):
        path = ""
        for key in error.absolute_path:
            path = _step(path, key)
        name = ""
        if len(error.absolute_path) > 1 and error.absolute_path[0] == "measurements":
            item = light["measurements"][error.absolute_path[1]]
            name = f" ({item['name']})" if isinstance(item, dict) and "name" in item else ""
        # Messages quote the offending value; a long one is cut in its middle to stay one line.
        what = error.message if len(error.message) < 160 else f"{error.message[:60]} ... {error.message[-90:]}"
        yield f"{path or 'the document'}{name}: {what}"


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _problems(document: dict[str, Any]) -> Iterator[str]:
    """The essentials by hand: what readers rely on, and what JSON Schema cannot say."""
    gpu = document["environment"].get("gpu")
    if gpu is not None and not (isinstance(gpu, dict) and isinstance(gpu.get("name"), str)):
        yield "environment.gpu: must be null or an object with a name"
    for index, measurement in enumerate(document["measurements"]):
        at = f"measurements[{index}]"
        if not isinstance(measurement, dict) or not isinstance(measurement.get("name"), str):
            yield f"{at}.name: every measurement is an object with a name"
            continue
        for problem in _measurement_problems(measurement):
            yield f"{at}.{problem} ({measurement['name']})"


def _measurement_problems(measurement: dict[str, Any]) -> Iterator[str]:
    samples = measurement.get("samples", {})
    if not isinstance(samples, dict):
        yield "samples: must be an object of arrays"
    else:
        for key, values in samples.items():
            if not isinstance(values, list) or not all(map(_number, values)):
                yield f"samples.{key}: must be an array of numbers"
    yield from _series_problems(measurement.get("series", []))
    counters = measurement.get("counters", {})
    if not isinstance(counters, dict):
        yield "counters: must be an object of numbers"
    else:
        yield from (f"counters.{k}: must be a number" for k, v in counters.items() if not (v is None or _number(v)))
    status = measurement.get("status", "ok")
    if status not in STATUSES:
        yield f"status: {status!r:.40} is none of {', '.join(STATUSES)}"
        return
    if status != "ok":
        if not measurement.get("reason"):
            yield "reason: missing; a measurement that is not ok says why"
        return
    metrics = measurement.get("metrics")
    if not isinstance(metrics, dict) or not metrics:
        yield "metrics: missing; an ok measurement has at least one"
        return
    ours = measurement.get("source") is None
    if ours and measurement.get("primary") not in metrics:
        yield f"primary: {measurement.get('primary')!r} is none of the metrics; name one of {', '.join(metrics)}"
    for key, metric in metrics.items():
        if not isinstance(metric, dict) or not _number(metric.get("value")) or not isinstance(metric.get("unit"), str):
            yield f"metrics.{key}: needs a unit and a numeric value"
            continue
        interval = metric.get("ci95")
        if interval is None and not ours:
            continue
        if not isinstance(interval, list) or len(interval) != 2 or not all(map(_number, interval)):
            yield f"metrics.{key}.ci95: no measurement without an interval; give [low, high]"
        elif interval[0] > interval[1]:
            yield f"metrics.{key}.ci95: low {interval[0]} is above high {interval[1]}"
        if ours and metric.get("better") not in ("higher", "lower"):
            yield f'metrics.{key}.better: must be "higher" or "lower"'


def _series_problems(series: Any) -> Iterator[str]:
    """What is wrong with the curves and maps of one measurement."""
    if not isinstance(series, list):
        yield "series: must be an array"
        return
    names = set()
    for index, one in enumerate(series):
        at = f"series[{index}]"
        if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not isinstance(one.get("unit"), str):
            yield f"{at}: needs a name and a unit"
            continue
        at = f"{at} {one['name']!r:.40}"
        if one["name"] in names:
            yield f"{at}: another series has this name; give each its own"
        names.add(one["name"])
        axes, values = one.get("axes"), one.get("values")
        if not isinstance(axes, list) or not all(map(_is_axis, axes)):
            yield f"{at}: axes: each needs a name and an array of points, numbers or words"
        elif not isinstance(values, list) or not all(v is None or _number(v) for v in values):
            yield f"{at}: values: must be an array of numbers, null where there is nothing"
        elif len(values) != (places := math.prod(len(axis["points"]) for axis in axes)):
            shape = " x ".join(str(len(axis["points"])) for axis in axes)
            yield f"{at}: values: {len(values)} for {places} places ({shape}); give as many as its axes span"


def _is_axis(axis: Any) -> bool:
    if not isinstance(axis, dict) or not isinstance(axis.get("name"), str) or not isinstance(axis.get("points"), list):
        return False
    return all(isinstance(point, str) or _number(point) for point in axis["points"])


def validate(document: Any, where: str | Path = "<run>") -> None:
    """Raises RunFileError, naming the first problem, unless `document` (parsed JSON) is a valid assay.run/1."""
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise RunFileError(f'{where}: not an assay run file: no "schema" field; give a run.json that `assay run` wrote')
    version = re.fullmatch(r"assay\.run/(\d+)", document["schema"])
    if not version:
        raise RunFileError(f"{where}: schema: {document['schema']!r:.60} is not an assay run; expected {SCHEMA!r}")
    if int(version[1]) != 1:
        raise RunFileError(
            f"{where}: schema: {document['schema']} is not readable here, only {SCHEMA} is; upgrade assay"
        )
    if not isinstance(document.get("environment"), dict):
        raise RunFileError(f"{where}: environment: missing or not an object; run the measurement again")
    if not isinstance(document.get("measurements"), list):
        raise RunFileError(f"{where}: measurements: missing or not an array; run the measurement again")
    if bad := _not_finite(document):
        raise RunFileError(
            f'{where}: {bad}: NaN and infinity are no results; write status "failed" and a reason instead'
        )
    problems = [*_identifying(document), *_problems(document)]
    if not problems and _schema_validator() is not None:
        problems = list(_schema_problems(document))
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise RunFileError(f"{where}: {problems[0]}{more}")
