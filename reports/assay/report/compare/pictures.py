# SPDX-License-Identifier: Apache-2.0
"""Pictures of a comparison: how many figures of each family have which ratio, and how far many runs are apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from .. import family
from ..book import text
from ..draw import cells
from ..draw.svg import INK, MUTED, PAPER, SERIES, Data, Figure, axes, finish, put_ticks
from .figures import ALIKE, KINDS
from .figures import Figure as Compared
from .findings import Finding
from .subjects import Subject
from .words import name as name_of

# Ratios of one run to another in which a figure may lie: the upper end of each, and what stands over it.
BINS = (
    (0.5, "<0.5"),
    (0.8, "<0.8"),
    (0.95, "<0.95"),
    (math.exp(-ALIKE), "<1"),
    (math.exp(ALIKE), "≈1"),
    (1.05, ">1"),
    (1.25, ">1.05"),
    (2.0, ">1.25"),
    (math.inf, ">2"),
)
MIDDLE = 4
# Of the picture of many runs: up to which logarithm its scale is even, the ratios marked on it, and its room.
LINEAR, TICKS, ENDS = 0.02, (1.02, 1.2, 2, 20), 20
LONGEST = 90  # characters of a finding above its dots, which need more than the width of a phone
BROAD, LETTERS = 7.5, 11  # inches and points: on a phone, 358 pixels, these letters are 7 high


def _bin(ratio: float) -> int:
    return next(i for i, (end, _) in enumerate(BINS) if ratio <= end)


def _ratio(figure: Compared, base: Subject, other: Subject) -> float | None:
    """How many times as good the other is: a rate over a rate, or a time under a time."""
    by = {v.subject.index: v.number.value for v in figure.values}
    if base.index not in by or other.index not in by:
        return None
    times = (other, base) if figure.is_time else (base, other)
    return by[times[1].index] / by[times[0].index]


def heat_map(figures: Sequence[Compared], base: Subject, other: Subject, kind: str) -> Figure | None:
    """How many figures of each family have which ratio: blue where the other is better off, orange where the base is."""
    counts: dict[str, list[int]] = {}
    for figure in figures:
        if figure.kind == kind and (ratio := _ratio(figure, base, other)):
            counts.setdefault(figure.family, [0] * len(BINS))[_bin(ratio)] += 1
    if not counts:
        return None
    rows = [key for key in [*family.declared(), *counts] if key in counts]
    rows = list(dict.fromkeys(rows))

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        of_family = counts[rows[y]]
        if not of_family[x]:
            return None
        color = "own" if x == MIDDLE else "s1" if x > MIDDLE else "s2"
        title_of = family.family_of(rows[y]).title
        words = f"{title_of}, {kind}, ratio {BINS[x][1]}: {text.counted(of_family[x], 'figure')} of {sum(of_family)}"
        strength = 0.25 + 0.75 * math.sqrt(of_family[x] / sum(of_family))
        return str(of_family[x]), color, 1.0 if x == MIDDLE else strength, words

    total = [sum(of_family[x] for of_family in counts.values()) for x in range(len(BINS))]
    better, worse = sum(total[MIDDLE + 1 :]), sum(total[:MIDDLE])
    said = (
        f"{other.short} over {base.short}: {text.number(total[MIDDLE])} are alike, "
        f"{other.short} is better off in {text.number(better)} and {base.short} in {text.number(worse)}."
    )
    most, what = max(
        (total[MIDDLE], f"{base.short} and {other.short} are alike"),
        (better, f"{other.short} is better off"),
        (worse, f"{base.short} is better off"),
    )
    heading = f"{kind[:1].upper()}{kind[1:]} {what} in {text.number(most)} of {text.number(sum(total))} figures"
    key = f"ratios-{base.index}-{other.index}-{kind.replace(' ', '-')}"
    names = [family.family_of(row).title for row in rows]
    columns = [name for _, name in BINS]
    return cells.grid(key, heading, said, names, columns, cell, said, size=(30, 18), left=142, slanted=False)


def heat_maps(subjects: Sequence[Subject], figures: Sequence[Compared]) -> list[Figure]:
    """Each subject over the first, for each kind of figures that can be better or worse."""
    base, *others = subjects
    made = (heat_map(figures, base, other, kind) for other in others for kind in KINDS[:-1])
    return [figure for figure in made if figure]


def distributions(subjects: Sequence[Subject], found: Sequence[Finding]) -> Figure | None:
    """A dot for each run on the line of each finding: its value over the median of all, near 1 on a scale that tells
    small differences apart. Runs of GPUs of one name have one colour."""
    if not found:
        return None
    kinds = list(dict.fromkeys(str(subject.gpu.get("name")) for subject in subjects))
    color_of = {s.index: SERIES[kinds.index(str(s.gpu.get("name"))) % len(SERIES)] for s in subjects}
    widest = ALIKE
    with axes(0.8 + 0.42 * len(found), BROAD) as (canvas, ax):
        for y, finding in enumerate(found):
            values = [v.number.value for v in finding.lead.values]
            middle = statistics.median(values)
            apart = [math.log(value / middle) for value in values]
            widest = max(widest, *map(abs, apart))
            ax.plot([min(apart), max(apart)], [y, y], color=MUTED, lw=0.8)
            for v, x in zip(finding.lead.values, apart):
                ax.plot(x, y, "o", ms=5, color=color_of[v.subject.index], mec=PAPER, mew=0.4, ls="none")
            for v in finding.lead.ends:
                right = v is finding.lead.ends[1]
                ax.annotate(
                    v.subject.short,
                    (math.log(v.number.value / middle), y),
                    xytext=(6 if right else -6, 0),
                    textcoords="offset points",
                    ha="left" if right else "right",
                    va="center",
                    fontsize=LETTERS,
                    color=color_of[v.subject.index],
                )
        names = [name_of(finding) for finding in found]
        short = [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in names]
        put_ticks(ax.yaxis, [])
        ax.set(ylim=(len(found) - 0.5, -0.9))
        ax.set_xscale("symlog", linthresh=LINEAR, linscale=1.2)
        ax.set_xlim(-ENDS * widest, ENDS * widest)  # room for the names at both ends
        for y, name in enumerate(short):
            shade = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
            ax.annotate(name, (-ENDS * widest, y - 0.42), va="center", fontsize=LETTERS, color=INK, bbox=shade)
        ticks = [t for t in TICKS if math.log(t) <= 1.2 * widest]
        marks = [*(-math.log(t) for t in reversed(ticks)), 0, *map(math.log, ticks)]
        put_ticks(ax.xaxis, marks, [*(f"1/{t:g}" for t in reversed(ticks)), "1", *(f"{t:g}" for t in ticks)])
        ax.tick_params(labelsize=LETTERS)
        ax.set_xlabel("value over the median of all runs", fontsize=LETTERS)
        said = f"{len(found)} findings over {len(subjects)} runs. {names[0]} differs most."
        rows = [
            [name, v.subject.short, v.number.value, v.number.low, v.number.high]
            for name, finding in zip(names, found)
            for v in finding.lead.values
        ]
        return finish(
            canvas,
            "distributions",
            "How far the runs are apart",
            said,
            "A dot is a run, its colour the kind of GPU; the ends are named.",
            Data(["finding", "run", "value", "low", "high"], rows),
        )
