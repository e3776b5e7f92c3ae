# SPDX-License-Identifier: Apache-2.0
"""Result files of schema `assay.run/1`: load, check, save.

`load` accepts a run file, a journal, or a folder that holds one of them. Everything that can be wrong with a file is a
`RunFileError` of one line: which file, which field, what is wrong and how to mend it.

The format itself is described in `schema/assay.run-1.schema.json`, beside this module.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

SCHEMA = "assay.run/1"
STATUSES = ("ok", "failed", "skipped", "not_run")
SCHEMA_PATH = Path(__file__).parent / "schema" / "assay.run-1.schema.json"

Interval = tuple[float, float]


class RunFileError(Exception):
    """One line: file, field, what is wrong, how to mend it."""


@dataclass
class Metric:
    """One number with its 95% interval (None only for published figures that state none)."""

    unit: str
    value: float
    ci95: Interval | None = None
    better: str | None = None
    limit: float | None = None
    limit_source: str | None = None
    spread: dict[str, float] | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Estimate:
    """A value and its 95% interval, without a unit of its own."""

    value: float
    ci95: Interval | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Baseline:
    """What the measured kernel was paired with. `speedup` is baseline time over our time."""

    name: str
    speedup: Estimate
    time_us: Estimate | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Measurement:
    """One case. `extra` keeps the properties this version does not know, so that saving loses nothing."""

    name: str
    kind: str
    probe: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    primary: str | None = None
    metrics: dict[str, Metric] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)
    conditions: dict[str, Any] = field(default_factory=dict)
    sass: dict[str, Any] | None = None
    baselines: list[Baseline] = field(default_factory=list)
    source: dict[str, Any] | None = None
    flags: list[str] = field(default_factory=list)
    status: str = "ok"
    reason: str | None = None
    repetition: int | None = None
    duration_s: float | None = None
    command: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def headline(self) -> Metric | None:
        """The primary metric; of a published measurement that names none, the first."""
        if self.primary is not None:
            return self.metrics.get(self.primary)
        return next(iter(self.metrics.values()), None)


@dataclass
class Run:
    """A whole run. `path` is where it was read from."""

    environment: dict[str, Any]
    measurements: list[Measurement] = field(default_factory=list)
    path: Path | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def gpu(self) -> dict[str, Any] | None:
        return self.environment.get("gpu")

    def find(self, pattern: str) -> list[Measurement]:
        """Measurements whose name matches the regular expression anywhere."""
        expression = re.compile(pattern)
        return [m for m in self.measurements if expression.search(m.name)]


# --- JSON <-> dataclasses -------------------------------------------------------------------------------------------


def _from_document(cls: type, document: dict[str, Any], **convert: Any) -> Any:
    known = cls.__dataclass_fields__.keys() - {"extra", "path"}
    values = {}
    for key in known & document.keys():
        value = document[key]
        values[key] = convert[key](value) if key in convert and value is not None else value
    return cls(**values, extra={k: v for k, v in document.items() if k not in known})


def _interval(pair: list[float]) -> Interval:
    return (pair[0], pair[1])


def _estimate(document: dict[str, Any]) -> Estimate:
    return _from_document(Estimate, document, ci95=_interval)


def _metrics(document: dict[str, Any]) -> dict[str, Metric]:
    return {name: _from_document(Metric, metric, ci95=_interval) for name, metric in document.items()}


def _baselines(documents: list[dict[str, Any]]) -> list[Baseline]:
    return [_from_document(Baseline, d, speedup=_estimate, time_us=_estimate) for d in documents]


def _measurement(document: dict[str, Any]) -> Measurement:
    return _from_document(Measurement, document, metrics=_metrics, baselines=_baselines)


def _to_document(thing: Any) -> Any:
    """Plain JSON values; fields that hold their default are left out, as the schema allows."""
    if isinstance(thing, dict):
        return {key: _to_document(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_to_document(value) for value in thing]
    if not hasattr(thing, "__dataclass_fields__"):
        return thing
    document = {}
    for name in thing.__dataclass_fields__:
        value = getattr(thing, name)
        if name not in ("extra", "path") and value is not None and value != {} and value != []:
            document[name] = _to_document(value)
    return {**document, **thing.extra}


def to_document(run: Run) -> dict[str, Any]:
    """The JSON document of a run."""
    return {
        "schema": SCHEMA,
        "environment": run.environment,
        **_to_document(run.extra),
        "measurements": [_to_document(m) for m in run.measurements],
    }


# --- checking -------------------------------------------------------------------------------------------------------


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
def _schema_validator() -> Any:
    """The validator of the schema file, or None where the package jsonschema is not installed."""
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return None
    return Draft202012Validator(json.loads(SCHEMA_PATH.read_text()))


def _first_samples(measurement: Any) -> Any:
    """The measurement with one sample of each kind: long arrays are checked by `_problems`, much faster."""
    if not isinstance(measurement, dict) or not isinstance(measurement.get("samples"), dict):
        return measurement
    samples = {k: v[:1] if isinstance(v, list) else v for k, v in measurement["samples"].items()}
    return {**measurement, "samples": samples}


def _schema_problems(document: dict[str, Any]) -> Iterator[str]:
    light = {**document, "measurements": [_first_samples(m) for m in document["measurements"]]}
    for error in _schema_validator().iter_errors(light):
        path = ""
        for key in error.absolute_path:
            path = _step(path, key)
        name = ""
        if len(error.absolute_path) > 1 and error.absolute_path[0] == "measurements":
            item = light["measurements"][error.absolute_path[1]]
            name = f" ({item['name']})" if isinstance(item, dict) and "name" in item else ""
        if error.validator == "not":
            what = f"{error.instance!r:.60} may identify a machine or person; leave it out"
        else:
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
    problems = list(_problems(document))
    if not problems and _schema_validator() is not None:
        problems = list(_schema_problems(document))
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise RunFileError(f"{where}: {problems[0]}{more}")


# --- files ----------------------------------------------------------------------------------------------------------


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RunFileError(f"{path}: no such file; give a run.json or the folder that holds it") from None
    except UnicodeDecodeError:
        raise RunFileError(f"{path}: not text; give a run.json that `assay run` wrote") from None
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror}; check its permissions") from None


def _parse(text: str, path: Path, line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno + line - 1}, column {error.colno}"
        raise RunFileError(f"{path}: {at}: not valid JSON: {error.msg}; the file is damaged or was cut short") from None
    except RecursionError:
        raise RunFileError(f"{path}: nested too deeply to be an assay run file") from None


def _read_journal(path: Path) -> dict[str, Any]:
    """The document that a journal amounts to: of each (name, repetition) the last entry counts.

    A run that is killed while it writes leaves a last line without its newline; that measurement was never finished,
    so the line is left out.
    """
    lines = _read_text(path).split("\n")[:-1]
    entries = [_parse(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]
    if not entries or not isinstance(entries[0], dict) or "environment" not in entries[0]:
        raise RunFileError(f'{path}: line 1: not an assay journal: its first line holds "schema" and "environment"')
    latest: dict[Any, Any] = {}
    for number, entry in enumerate(entries[1:], 2):
        measurement = entry.get("measurement") if isinstance(entry, dict) else None
        if not isinstance(measurement, dict):
            raise RunFileError(f'{path}: entry {number}: "measurement" is missing; the journal is damaged')
        latest[json.dumps([measurement.get("name"), measurement.get("repetition") or 0])] = measurement
    return {**entries[0], "measurements": list(latest.values())}


def locate(path: str | Path) -> Path:
    """The file that `load` reads for this path: itself, or in a folder run.json, else journal.jsonl."""
    path = Path(path)
    if not path.is_dir():
        return path
    for name in ("run.json", "journal.jsonl"):
        if (path / name).is_file():
            return path / name
    raise RunFileError(f"{path}: holds neither run.json nor journal.jsonl; give a folder that `assay run --out` wrote")


def load(path: str | Path) -> Run:
    """Reads and checks a run file, a journal (*.jsonl) or a folder with either. Raises RunFileError."""
    path = locate(path)
    document = _read_journal(path) if path.suffix == ".jsonl" else _parse(_read_text(path), path)
    validate(document, path)
    extra = {k: v for k, v in document.items() if k not in ("schema", "environment", "measurements")}
    return Run(document["environment"], [_measurement(m) for m in document["measurements"]], path, extra)


def save(run: Run, path: str | Path) -> None:
    """Checks and writes the run; the file appears whole or not at all. Raises RunFileError."""
    path = Path(path)
    document = to_document(run)
    validate(document, path)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
        ) as file:
            temporary = file.name
            os.fchmod(file.fileno(), 0o644)
            json.dump(document, file, indent=1, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise RunFileError(f"{path}: cannot be written: {error.strerror}; check the folder and free space") from None
