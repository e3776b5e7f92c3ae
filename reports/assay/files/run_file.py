# SPDX-License-Identifier: Apache-2.0
"""What a result file of schema `assay.run/1` holds, as Python objects."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .loop_text import LoopTexts

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
    ci95: list[Interval | None] | None = None  # of each value, None where it was not sampled often enough
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

    @property
    def intervals(self) -> np.ndarray:
        """The ends of the values' intervals, in the shape of the axes with two behind; NaN where there is none."""
        ends = [(math.nan, math.nan) if pair is None else pair for pair in self.ci95 or [None] * len(self.values)]
        return np.array(ends, dtype=float).reshape(*self.shape, 2)


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
    loops: LoopTexts | None = field(default=None, repr=False, compare=False)  # of the file it was read from

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

    @property
    def iterations(self) -> int:
        """Calls of a kernel, or rounds of a loop, behind one sample; 1 where it is not recorded."""
        return self.conditions.get("iterations") or 1

    def series_named(self, name: str) -> Series | None:
        return next((s for s in self.series if s.name == name), None)

    @property
    def loop_text(self) -> str | None:
        """The measured loop, a line for each instruction; None where it was not recorded or its file is missing.

        Raises RunFileError where that file is damaged.
        """
        sass = self.sass or {}
        if "loop_sha256" not in sass:
            return sass.get("text")
        return self.loops.text(sass["loop_sha256"]) if self.loops else None

    @property
    def lacks_loops_file(self) -> bool:
        """Whether its loop is in a loops.txt.gz that does not lie beside its file."""
        return "loop_sha256" in (self.sass or {}) and not (self.loops and self.loops.present)


@dataclass
class Run:
    """A whole run. `path` is where it was read from."""

    environment: dict[str, Any]
    measurements: list[Measurement] = field(default_factory=list)
    path: Path | None = None
    metrics: dict[str, str] = field(default_factory=dict)  # what a metric of this name is, in words
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def gpu(self) -> dict[str, Any] | None:
        return self.environment.get("gpu")

    def find(self, pattern: str) -> list[Measurement]:
        """Measurements whose name matches the regular expression anywhere."""
        expression = re.compile(pattern)
        return [m for m in self.measurements if expression.search(m.name)]
