# SPDX-License-Identifier: Apache-2.0
"""How far matrix math and exp2 overlap inside one SM."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from assay.files import Interval

from ...answer.findings import Answer, Part, lines, picked
from ...answer.overlap import efficiencies
from ...answer.question import Question
from ...book import labels, text
from ...book.model import Book, Column, Number, Row
from ...draw.curves import Line, band, banded, ends_by_place
from ...draw.svg import INK, MUTED, PAPER, SERIES, Data, Figure, axes, finish, spread

OVERLAP = re.compile(r"special_function/overlap/(mma_sync|wgmma)_(\w+?)/(\w+)/(\w+)")


@dataclass
class Overlap:
    """One schedule: efficiency against how much exp2 there is for the MMA."""

    family: str
    kind: str
    schedule: str
    per_element: str  # what is done to each element: "ex2", "ffma_ex2", "ffma_ex2_fadd"
    points: list[tuple[float, float]]  # (exp2 time / MMA time, longer time / time of both)
    efficiency: Number | None = None
    overlap: Number | None = None
    ends: dict[float, Interval] = field(default_factory=dict)  # the intervals of points that have one, by ratio

    @property
    def line(self) -> Line:
        return Line(self.schedule, self.points, ends=self.ends)


def overlaps(book: Book, column: Column) -> list[Overlap]:
    found = []
    for c, m in book.measurements:
        match = OVERLAP.fullmatch(m.name)
        if c is not column or not match:
            continue
        ratio, efficiency = m.series_named("exp_to_mma_time"), m.series_named("overlap_efficiency")
        points, ends = [], {}
        if ratio and efficiency:
            ratios = [math.nan if r is None else r for r in ratio.values]
            ends = ends_by_place(ratios, efficiency.intervals.reshape(-1, 2))
            points = sorted(
                (r, e) for r, e in zip(ratio.values, efficiency.values) if r is not None and e is not None and r > 0
            )
        numbers = [book.row(m.name, key) for key in ("overlap_efficiency", "overlap")]
        own = [row.numbers[c.index] if row else None for row in numbers]
        found.append(Overlap(*match.groups(), points, *own, ends))
    return found


def overlap_efficiency(book: Book, column: Column) -> Figure | None:
    """Efficiency against ratio, a line per schedule: of the family, type and work with most schedules."""
    every = [o for o in overlaps(book, column) if len(o.points) > 1]
    if not every:
        return None
    groups: dict[tuple[str, str, str], list[Overlap]] = {}
    for one in every:
        groups.setdefault((one.family, one.kind, one.per_element), []).append(one)
    usual = ("wgmma", "bf16", "ffma_ex2_fadd")
    (family, kind, work), curves = max(
        groups.items(), key=lambda item: (len(item[1]), *(a == b for a, b in zip(item[0], usual)))
    )
    with axes(3.2) as (canvas, ax):
        ax.set_xscale("log", base=2)
        ends = []
        for i, one in enumerate(curves):
            color = SERIES[i % len(SERIES)]
            ax.plot(*zip(*one.points), marker="o", ms=3.5, color=color, mec=PAPER, mew=0.5)
            band(ax, one.line, color)
            ends.append((one.points[-1], color, labels.words(one.schedule)))
        right = max(p[0] for p, *_ in ends)
        for (_, color, label), y in zip(ends, spread([p[1] for p, *_ in ends], 0.055)):
            ax.annotate(
                label, (right, y), xytext=(6, 0), textcoords="offset points", va="center", color=color, fontsize=9
            )
        ax.axhline(1, color=INK, lw=1)
        ax.axvline(1, color=MUTED, lw=0.8, ls=(0, (1, 2)))
        ratios = [r for one in curves for r, _ in one.points]
        serial = [2**e for e in _steps(math.log2(min(ratios)), math.log2(max(ratios)))]
        ax.plot(serial, [max(1, r) / (1 + r) for r in serial], color=MUTED, lw=0.9, ls=(0, (4, 3)))
        ax.set(xlabel="exp2 time / MMA time", ylabel="efficiency", ylim=(0.45, 1.05))
        ax.xaxis.set_major_formatter(lambda v, _: text.number(v))
        said = "; ".join(f"{labels.words(o.schedule)} at least {min(e for _, e in o.points):.2f}" for o in curves)
        return finish(
            canvas,
            f"overlap{column.index}",
            f"Overlap of {work.upper().replace('_', ' + ')} with {family.replace('_', '.')} {kind}, {column.label}",
            f"{_extremes(curves)}Efficiency, the longer of the two over the time of both: {said}.",
            "The longer of the two alone, over both together: 1 where the shorter one is free. Dashed: one after the "
            f"other.{banded(one.line for one in curves)}",
            Data(
                ["schedule", "exp2 time / MMA time", "efficiency", "low", "high"],
                [[labels.words(one.schedule), *p, *one.line.interval(p[0])] for one in curves for p in one.points],
            ),
        )


def _extremes(curves: list[Overlap]) -> str:
    """The schedule that keeps most where it overlaps worst, and the one that keeps least, in a sentence."""
    ends = sorted(((min(e for _, e in one.points), labels.words(one.schedule)) for one in curves), key=lambda end: end[0])
    (low, last), (high, first) = ends[0], ends[-1]
    return f"{first} overlaps best, never below {high:.2f}, and {last} worst, down to {low:.2f}. " if len(ends) > 1 else ""


def _steps(low: float, high: float, count: int = 48) -> list[float]:
    return [low + (high - low) * i / (count - 1) for i in range(count)]


def overlap(book: Book, question: Question) -> Answer:
    """The best schedule of each type and work on an element, and what an exp2 costs the tensor cores beside it."""
    best: dict[tuple[str, str], Row] = {}
    for row in book.find(OVERLAP.pattern, "overlap_efficiency"):
        kind, _, work = row.name.split("/")[2:]
        if row.first and ((kind, work) not in best or row.first.value > best[kind, work].first.value):
            best[kind, work] = row
    findings = efficiencies(book, best.values())
    if not findings:
        return picked(book, question)
    for row in book.find(r"special_function/interference/wgmma_(bf16|e4m3)_f32", "tensor_cycles_per_ex2"):

        def taken(column: Column, row: Row = row) -> list[Part]:
            n = row.numbers[column.index]
            return [(f"{text.number(abs(round(n.value, 2)))} cycles of the tensor cores", n.anchor)] if n else []

        findings += lines(book, f"one MUFU.EX2 beside {labels.words(row.name.split('/')[-1])} takes", taken)
    return Answer(question, findings)
