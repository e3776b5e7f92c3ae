# SPDX-License-Identifier: Apache-2.0
"""Which of several GPUs of one name is farthest from the others, and in what. Pure.

A figure sets one of them apart if it lies beyond its noise from all others, and these lie together: no further apart than
half of that. Figures per clock alone count, since the clock and the power of a chip move all others. Three are needed: of
two that differ, neither is the one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..book import identity, labels, text
from . import words
from .causes import not_told_apart
from .figures import ALIKE, PER_CLOCK, Figure, Value
from .subjects import Subject

FEWEST = 3
CLEARLY = 1.5  # times as many figures as the next one has: else none is farthest
TOGETHER = 0.5  # of its distance: how far the others may be apart


def alone(figure: Figure) -> tuple[Value, float] | None:
    """The value that lies apart from all others, and how far in logarithms."""
    values = sorted(figure.values, key=lambda v: v.number.value)
    logs = [math.log(v.number.value) for v in values]
    below, above = logs[1] - logs[0], logs[-1] - logs[-2]
    found, distance, others = (values[0], below, logs[-1] - logs[1])
    if above > below:
        found, distance, others = (values[-1], above, logs[-2] - logs[0])
    clear = distance > max(ALIKE, figure.noise) and others <= TOGETHER * distance
    return (found, distance) if clear else None


def sentences(subjects: Sequence[Subject], figures: Iterable[Figure]) -> list[str]:
    """One for each name that enough of them have."""
    by_name: dict[str, list[Subject]] = {}
    for subject in subjects:
        by_name.setdefault(identity.gpu_name(subject.run), []).append(subject)
    per_clock = [figure for figure in figures if figure.kind == PER_CLOCK]
    return [_said(of_name, per_clock) for of_name in by_name.values() if len(of_name) >= FEWEST]


def _said(subjects: Sequence[Subject], figures: Sequence[Figure]) -> str:
    members = {subject.index for subject in subjects}
    found: dict[int, list[tuple[float, Figure]]] = {index: [] for index in members}
    count = 0
    for figure in figures:
        of_them = replace(figure, values=[v for v in figure.values if v.subject.index in members])
        if len(of_them.values) < FEWEST or not_told_apart(of_them):
            continue
        count += 1
        if (apart := alone(of_them)) is not None:
            found[apart[0].subject.index].append((apart[1], of_them))
    first, *others = sorted(subjects, key=lambda s: -len(found[s.index]))
    most, second = (len(found[s.index]) for s in (first, others[0]))
    name, of = f"{len(subjects)} {identity.short_name(first.run)}s", f"{text.number(count)} figures per clock"
    rest = [f"{s.short} in {text.number(len(found[s.index]))}" for s in others]
    if most < CLEARLY * max(1, second):
        each = words.joined([f"{first.short} lies apart in {text.number(most)}", *rest])
        return f"None of the {name} is clearly farthest from the others: of {of}, {each}."
    distance, lead = max(found[first.index], key=lambda one: (one[1].sure, one[0]))
    what = labels.with_quantity(words.case(lead), labels.quantity(lead.metric))
    several = len({identity.commit_of(subject.run) for subject in subjects}) > 1
    return (
        f"Of the {name}, {first.short} is farthest from the others: "
        f"{words.joined([f'it lies apart in {text.number(most)} of {of}', *rest])}. "
        f"It is furthest off in “{what}”, by {words.times(distance)}.{' Their builds differ, too.' if several else ''}"
    )
