# SPDX-License-Identifier: Apache-2.0
"""A case along the runs of a history: the interval of each, the levels between changes, the baseline."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.change_points import Change, changes
from assay.files.history import Entry
from assay.plain_text import printable
from assay.statistics import Interval, median_interval

from .svg import Figure

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 150, 62, 8, 8, 20
LONGEST_COMMIT = 12  # characters under the axis


@dataclass(frozen=True)
class Line:
    """One case: which runs have it, and what they found."""

    name: str
    unit: str
    better: str
    entries: list[Entry]
    intervals: list[Interval]
    changes: list[Change]

    def is_worse(self, change: Change) -> bool:
        return (change.ratio > 1) == (self.better == "lower")

    @property
    def sentences(self) -> list[str]:
        """Its changes in words, the oldest first."""
        return [
            f"{self.name}: {(c.ratio - 1) * 100:+.1f}%, {'worse' if self.is_worse(c) else 'better'}, "
            f"from {self.entries[c.index].commit} on"
            for c in self.changes
        ]


def _interval(values: Sequence[float]) -> Interval:
    """Of few processes, for whose median no interval exists, from the lowest to the highest."""
    found = median_interval(values)
    return found if np.isfinite(found.low) else Interval(found.value, min(values), max(values))


def lines(entries: Sequence[Entry]) -> list[Line]:
    """Those that changed first, the newest change at the top."""
    names = dict.fromkeys(name for entry in entries for name in entry.cases)
    found = []
    for name in names:
        have = [e for e in entries if name in e.cases and min(e.cases[name].values) > 0]
        if not have:
            continue
        figure = have[-1].cases[name]
        have = [e for e in have if (e.cases[name].metric, e.cases[name].unit) == (figure.metric, figure.unit)]
        intervals = [_interval(e.cases[name].values) for e in have]
        found.append(Line(name, figure.unit, figure.better, have, intervals, changes([i.value for i in intervals])))
    return sorted(found, key=lambda line: (-max((c.index for c in line.changes), default=-1), line.name))


def _escaped(said: str) -> str:
    return html.escape(printable(said))


def picture(key: str, line: Line, accepted: Entry | None) -> Figure:
    """A dot for each run, with its interval; `accepted` bears a ring."""
    low, high = min(i.low for i in line.intervals), max(i.high for i in line.intervals)
    margin = (high - low) * 0.1 or abs(high) * 0.01
    top, bottom = high + margin, low - margin
    count = len(line.intervals)

    def x(index: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (index + 0.5) / count

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (top - value) / (top - bottom)

    parts = [f'<text x="{LEFT - 6}" y="{y(v) + 3:.1f}" text-anchor="end">{v:.5g}</text>' for v in {low, high}]
    bounds = [0, *(c.index for c in line.changes), count]
    for a, b in zip(bounds, bounds[1:]):
        level = y(float(np.median([i.value for i in line.intervals[a:b]])))
        parts.append(f'<path class="level" d="M{x(a - 0.4):.1f} {level:.1f}H{x(b - 0.6):.1f}"/>')
    for c in line.changes:
        kind = "worse" if line.is_worse(c) else "better"
        parts.append(f'<path class="{kind}" d="M{x(c.index - 0.5):.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
    for k, (entry, i) in enumerate(zip(line.entries, line.intervals)):
        said = _escaped(f"{entry.commit}, {entry.time}: {i.value:.6g} [{i.low:.6g}, {i.high:.6g}] {line.unit}")
        ring = f'<circle class="base" cx="{x(k):.1f}" cy="{y(i.value):.1f}" r="5"/>' if entry is accepted else ""
        parts.append(
            f'<g class="run"><title>{said}</title><path d="M{x(k):.1f} {y(i.high):.1f}V{y(i.low):.1f}"/>'
            f'<circle cx="{x(k):.1f}" cy="{y(i.value):.1f}" r="2.5"/></g>{ring}'
        )
    for k in sorted({0, count - 1}):
        anchor, at = ("start", LEFT) if k == 0 else ("end", WIDTH - RIGHT)
        commit = _escaped(line.entries[k].commit[:LONGEST_COMMIT])
        parts.append(f'<text x="{at}" y="{HEIGHT - 6}" text-anchor="{anchor}">{commit}</text>')
    title = f"{line.name}, {line.unit}, {line.better} is better"
    note = "; ".join(said.removeprefix(f"{line.name}: ") for said in line.sentences)
    description = f"{count} runs; {note or 'no change for good'}."
    svg = (
        f'<svg class="history" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{key}-title {key}-desc">'
        f'<title id="{key}-title">{_escaped(title)}</title><desc id="{key}-desc">{_escaped(description)}</desc>'
        f"{''.join(parts)}</svg>"
    )
    return Figure(key, title, description, svg, note and f"{note}.")
