# SPDX-License-Identifier: Apache-2.0
"""Result files of schema `assay.run/1`: load, check, save.

`load` accepts a run file, a journal, or a folder that holds one of them. Everything that can be wrong with a file is a
`RunFileError` of one line: which file, which field, what is wrong and how to mend it.

The format itself is described in `schema/assay.run-1.schema.json`, beside this module.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .run_check import SCHEMA, RunFileError, validate

Interval = tuple[float, float]


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
class Axis:
    """One axis of a series: what its places are called, numbers or words."""

    name: str
    points: list[float | str]
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Series:
    """Values along axes: a curve, a sweep, a map. Row-major, the last axis fastest; None where there is nothing."""

    name: str
    unit: str
    axes: list[Axis]
    values: list[float | None]
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.points) for axis in self.axes)

    @property
    def grid(self) -> np.ndarray:
        """The values in the shape of the axes, NaN where there is nothing."""
        return np.array(self.values, dtype=float).reshape(self.shape)

    @property
    def curve(self) -> list[tuple[float | str, float]]:
        """(place, value) along the one axis, places without a value left out; a series of more axes has no curve."""
        if len(self.axes) != 1:
            return []
        return [(point, value) for point, value in zip(self.axes[0].points, self.values) if value is not None]


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
    series: list[Series] = field(default_factory=list)
    conditions: dict[str, Any] = field(default_factory=dict)
    sass: dict[str, Any] | None = None
    baselines: list[Baseline] = field(default_factory=list)
    counters: dict[str, float | None] = field(default_factory=dict)
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

    def value(self, metric: str) -> float | None:
        """The value of a metric, None without it."""
        return self.metrics[metric].value if metric in self.metrics else None

    def series_named(self, name: str) -> Series | None:
        return next((s for s in self.series if s.name == name), None)


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


def _series(documents: list[dict[str, Any]]) -> list[Series]:
    return [
        _from_document(Series, d, axes=lambda axes: [_from_document(Axis, axis) for axis in axes]) for d in documents
    ]


def _measurement(document: dict[str, Any]) -> Measurement:
    return _from_document(Measurement, document, metrics=_metrics, baselines=_baselines, series=_series)


def _to_document(thing: Any) -> Any:
    """Plain JSON values; fields that hold their default are left out, as the schema allows."""
    if isinstance(thing, dict):
        return {key: _to_document(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_to_document(value) for value in thing]
    if not hasattr(thing, "__dataclass_fields__"):
        return thing
    document = {}
    for name, declared in thing.__dataclass_fields__.items():
        value = getattr(thing, name)
        required = declared.default is MISSING and declared.default_factory is MISSING
        if name not in ("extra", "path") and (required or value not in (None, {}, [])):
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


# --- files -----------------------------------------------------------------------------------------------------------


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
