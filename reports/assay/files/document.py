# SPDX-License-Identifier: Apache-2.0
"""Between JSON documents and the objects of `run_file`."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

from .run_check import SCHEMA
from .run_file import Axis, Baseline, Estimate, Interval, Measurement, Metric, Run, Series

# What an object knows of where it is from, and no file says.
NOT_STORED = {"extra", "path", "loops"}


def _from_document(cls: type, document: dict[str, Any], **convert: Any) -> Any:
    known = cls.__dataclass_fields__.keys() - NOT_STORED
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
    def axes(of: list[dict[str, Any]]) -> list[Axis]:
        return [_from_document(Axis, axis) for axis in of]

    def ci95(of: list[list[float] | None]) -> list[Interval | None]:
        return [pair and _interval(pair) for pair in of]

    return [_from_document(Series, d, axes=axes, ci95=ci95) for d in documents]


def measurement_of(document: dict[str, Any]) -> Measurement:
    return _from_document(Measurement, document, metrics=_metrics, baselines=_baselines, series=_series)


def _to_document(thing: Any) -> Any:
    """Plain JSON values; fields that hold their default are left out, as the schema allows."""
    if isinstance(thing, dict):
        return {key: _to_document(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        # Samples and values by the thousand hold nothing to convert.
        return list(thing) if thing and isinstance(thing[0], (int, float)) else [_to_document(value) for value in thing]
    if not hasattr(thing, "__dataclass_fields__"):
        return thing
    document = {}
    for name, declared in thing.__dataclass_fields__.items():
        value = getattr(thing, name)
        required = declared.default is MISSING and declared.default_factory is MISSING
        if name not in NOT_STORED and (required or value not in (None, {}, [])):
            document[name] = _to_document(value)
    return {**document, **thing.extra}


def run_of(document: dict[str, Any]) -> Run:
    """The run of a checked document."""
    known = ("schema", "environment", "metrics", "measurements")
    return Run(
        document["environment"],
        [measurement_of(m) for m in document["measurements"]],
        metrics=document.get("metrics", {}),
        extra={key: value for key, value in document.items() if key not in known},
    )


def document_of(run: Run) -> dict[str, Any]:
    """The JSON document of a run."""
    return {
        "schema": SCHEMA,
        "environment": run.environment,
        **({"metrics": run.metrics} if run.metrics else {}),
        **_to_document(run.extra),
        "measurements": [_to_document(m) for m in run.measurements],
    }
