# SPDX-License-Identifier: Apache-2.0
"""A page of a history: each case along commits, with the interval of each run and the steps that were found."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.gate.baseline.changes import Change, changes
from assay.gate.baseline.history import Entry, baseline
from assay.statistics import Interval, median_interval

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 180, 80, 12, 12, 24
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1rem; margin: 2rem 0 0.3rem; overflow-wrap: anywhere; } svg { width: 100%; height: auto; }
text { font-size: 11px; fill: #555; } .run { stroke: #1f5fa8; fill: #1f5fa8; } .level { stroke: #888; stroke-width: 1; }
.worse { stroke: #b3261e; } .better { stroke: #1a7f37; } .base { fill: none; stroke: #1a7f37; stroke-width: 2; }
"""


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


def _picture(line: Line, accepted: Entry | None) -> str:
    low, high = min(i.low for i in line.intervals), max(i.high for i in line.intervals)
    margin = (high - low) * 0.1 or abs(high) * 0.01
    low, high = low - margin, high + margin
    count = len(line.intervals)

    def x(index: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (index + 0.5) / count

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    parts = [
        f'<text x="{LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.5g}</text>'
        for v in (low + margin, high - margin)
    ]
    bounds = [0, *(c.index for c in line.changes), count]
    for a, b in zip(bounds, bounds[1:]):
        level = y(float(np.median([i.value for i in line.intervals[a:b]])))
        parts.append(f'<path class="level" d="M{x(a - 0.4):.1f} {level:.1f}H{x(b - 0.6):.1f}"/>')
    for c in line.changes:
        kind = "worse" if line.is_worse(c) else "better"
        parts.append(f'<path class="{kind}" d="M{x(c.index - 0.5):.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
    for k, (entry, i) in enumerate(zip(line.entries, line.intervals)):
        said = html.escape(f"{entry.commit}, {entry.time}: {i.value:.6g} [{i.low:.6g}, {i.high:.6g}] {line.unit}")
        ring = f'<circle class="base" cx="{x(k):.1f}" cy="{y(i.value):.1f}" r="6"/>' if entry is accepted else ""
        parts.append(
            f'<g class="run"><title>{said}</title><path d="M{x(k):.1f} {y(i.high):.1f}V{y(i.low):.1f}"/>'
            f'<circle cx="{x(k):.1f}" cy="{y(i.value):.1f}" r="3"/></g>{ring}'
        )
    for k in sorted({0, count - 1}):
        anchor = "start" if k == 0 else "end"
        at = LEFT if k == 0 else WIDTH - RIGHT
        parts.append(
            f'<text x="{at}" y="{HEIGHT - 6}" text-anchor="{anchor}">{html.escape(line.entries[k].commit[:12])}</text>'
        )
    label = html.escape(f"{line.name} along {count} runs")
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def sentence(line: Line, change: Change) -> str:
    """One change in words."""
    word = "worse" if line.is_worse(change) else "better"
    entry = line.entries[change.index]
    return f"{line.name}: {(change.ratio - 1) * 100:+.1f}%, {word}, from {entry.commit} on"


def page(entries: Sequence[Entry], title: str) -> str:
    """The whole page; it needs nothing beside it."""
    accepted = baseline(list(entries))
    drawn = lines(entries)
    said = [sentence(line, change) for line in drawn for change in line.changes]
    items = "".join(f"<li>{html.escape(s)}</li>" for s in said)
    changed = f"<ul>{items}</ul>" if said else "<p>No case changed for good.</p>"
    base = "None was accepted yet."
    if accepted:
        base = f"The baseline is {html.escape(accepted.commit)} of {html.escape(accepted.time)}: {html.escape(accepted.reason)}."
    figures = "".join(
        f"<h2>{html.escape(line.name)}, {html.escape(line.unit)}, {line.better} is better</h2>{_picture(line, accepted)}"
        for line in drawn
    )
    legend = (
        "A dot is the median of a run's processes, a bar its 95% interval, a grey line a level, a ring the baseline."
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style><h1>{html.escape(title)}</h1>"
        f"<p>{len(entries)} runs. {base}</p>{changed}<p>{legend}</p>{figures}</html>\n"
    )
