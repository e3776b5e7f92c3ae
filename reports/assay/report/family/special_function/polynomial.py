# SPDX-License-Identifier: Apache-2.0
"""exp2 by polynomial: its error, and how it and MUFU.EX2 work beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.files import Interval

from ...answer.findings import Answer, Part, lines, picked
from ...answer.question import Question
from ...block.kinds import Block, Cell, Table
from ...block.tables import of_column
from ...book import text
from ...book.model import Book, Column, Number
from ...draw.curves import Line, band, banded, ends_by_place
from ...draw.svg import MUTED, PAPER, SERIES, Data, Figure, axes, finish, spread

MIX = "special_function/exp2_polynomial_mix/"
ACCURACY = "special_function/exp2_accuracy/"
PAIRS = "special_function/exp2_f16x2/"
MUFU = "mufu"  # what both call the case of the special-function unit
AS_EXACT = 1.5  # times the unit's largest error: a polynomial of this error or less may take its place


@dataclass
class Mix:
    """Results per clock against the share of elements whose 2^x is a polynomial."""

    degree: int
    points: list[tuple[float, float]]  # (share, results per clock and SM), with softmax's scaling
    best: tuple[float, float]
    max_ulp: float | None = None
    bf16_misrounded: float | None = None
    speedup: Number | None = None
    polynomial: float | None = None  # results per clock without MUFU
    anchor: str = ""
    ends: dict[float, Interval] = field(default_factory=dict)  # the intervals of points that have one, by share

    @property
    def line(self) -> Line:
        return Line(f"degree {self.degree}", self.points, ends=self.ends)


def mixes(book: Book, column: Column) -> list[Mix]:
    """By degree; [] where no mix was measured."""
    found = []
    for c, m in book.measurements:
        series = m.series_named("results_per_clock_per_sm")
        if c is not column or not m.name.startswith(MIX) or series is None or len(series.axes) != 2:
            continue
        points = [(float(n) / 16, float(v)) for n, v in zip(series.axes[1].points, series.grid[0]) if not math.isnan(v)]
        degree = int(m.params.get("degree", 0))
        exact = book.measurement(column, f"{ACCURACY}degree{degree}")
        speedup = book.row(m.name, "speedup_over_mufu")
        found.append(
            Mix(
                degree,
                points,
                max(points, key=lambda p: p[1]),
                exact.value("max_ulp") if exact else None,
                exact.value("bf16_misrounded_share") if exact else None,
                speedup.numbers[column.index] if speedup else None,
                m.value("polynomial_results_per_clock_per_sm"),
                c.anchor(m.name),
                ends_by_place([float(n) / 16 for n in series.axes[1].points], series.intervals[0]),
            )
        )
    return sorted(found, key=lambda mix: mix.degree)


def unit_ulp(book: Book, column: Column) -> float | None:
    """The largest error of the special-function unit in f32."""
    m = book.measurement(column, f"{ACCURACY}{MUFU}")
    return m.value("max_ulp") if m else None


def as_exact(found: Sequence[Mix], unit: float | None) -> Mix | None:
    """The fastest mix whose polynomial errs by about as much as the unit, or less."""
    near = [mix for mix in found if unit and mix.max_ulp is not None and mix.max_ulp <= AS_EXACT * unit]
    return max(near, key=lambda mix: mix.best[1], default=None)


@dataclass
class Pairs:
    """2^x of two f16 at once, by polynomial alone or by the unit."""

    degree: int  # 0: by the unit
    rate: float  # results per clock and SM
    max_ulp: float
    anchor: str


def pairs(book: Book, column: Column) -> tuple[Pairs | None, list[Pairs]]:
    """By the unit; and by polynomials that err by about as much or less, the fastest first."""
    found = []
    for name, m in of_column(book, column, PAIRS):
        rate, error = m.value("ops_per_clock_per_sm"), m.value("max_ulp")
        if rate is not None and error is not None:
            degree = 0 if name == MUFU else int(m.params.get("degree", 0))
            found.append(Pairs(degree, rate, error, column.anchor(m.name)))
    unit = next((one for one in found if not one.degree), None)
    near = [one for one in found if unit and one.degree and one.max_ulp <= AS_EXACT * unit.max_ulp]
    return unit, sorted(near, key=lambda one: -one.rate)


def exp2_mix(book: Book, column: Column) -> Figure | None:
    curves = mixes(book, column)
    if not curves:
        return None
    with axes(3.0) as (canvas, ax):
        ends = []
        for i, mix in enumerate(curves):
            color = SERIES[i % len(SERIES)]
            ax.plot(*zip(*mix.points), marker="o", ms=3.5, color=color, mec=PAPER, mew=0.5)
            band(ax, mix.line, color)
            ax.plot(*mix.best, "o", ms=8, mfc="none", mec=color)
            ends.append((mix.points[-1], color, f"degree {mix.degree}"))
        top = max(mix.best[1] for mix in curves)
        for (point, color, label), y in zip(ends, spread([p[1] for p, *_ in ends], 0.07 * top)):
            ax.annotate(
                label, (point[0], y), xytext=(6, 0), textcoords="offset points", va="center", color=color, fontsize=9
            )
        alone, best = curves[0].points[0][1], max(curves, key=lambda mix: mix.best[1])
        ax.axhline(alone, color=MUTED, lw=0.9, ls=(0, (4, 3)))
        ax.set(xlabel="share of elements by polynomial", ylabel="results per clock and SM", ylim=(0, top * 1.08))
        ax.xaxis.set_major_formatter(lambda v, _: f"{100 * v:.0f} %")
        said = "; ".join(
            f"degree {m.degree}: best {text.number(round(m.best[1], 1))} at {100 * m.best[0]:.0f} %{_error(m)}" for m in curves
        )
        unit = unit_ulp(book, column)
        exact = as_exact(curves, unit)
        claims = [f"About as exact as MUFU, which is up to {text.number(unit)} ulp off: {_claim(exact, alone)}"] if exact else []
        claims += [f"The fastest: {_claim(best, alone)}"] if best is not exact else []
        return finish(
            canvas,
            f"exp2-mix{column.index}",
            f"exp2 by polynomial beside MUFU, {column.label}",
            f"{' '.join(claims)} Results per clock and SM: {said}.",
            f"With softmax's multiply-add. Dashed: MUFU alone. Rings: the best mix.{banded(mix.line for mix in curves)}",
            Data(
                ["degree", "share by polynomial", "results/clk/SM", "low", "high"],
                [[mix.degree, share, rate, *mix.line.interval(share)] for mix in curves for share, rate in mix.points],
            ),
        )


def _error(mix: Mix) -> str:
    return f", at most {text.number(mix.max_ulp)} ulp off" if mix.max_ulp is not None else ""


def _claim(mix: Mix, alone: float) -> str:
    return (
        f"a polynomial of degree {mix.degree} for {100 * mix.best[0]:.0f} % of the elements, "
        f"{mix.best[1] / alone:.2f} times as fast as MUFU alone{_error(mix)}."
    )


def exp2(book: Book, question: Question) -> Answer:
    """The best mix of each polynomial with MUFU, with its error, after the rates of the instructions."""
    answer = picked(book, question)
    degrees = sorted({m.degree for c in book.columns for m in mixes(book, c)})
    for degree in degrees:

        def best(column: Column, degree: int = degree) -> list[Part]:
            for m in mixes(book, column):
                if m.degree == degree:
                    said = f"{text.number(round(m.best[1], 1))} results/clk/SM with {text.percent(m.best[0])} by polynomial"
                    said += f", {text.number(m.speedup.value)} × MUFU alone" if m.speedup else ""
                    said += _error(m)
                    return [(said, m.anchor)]
            return []

        answer.findings += lines(book, f"polynomial of degree {degree}", best)
    answer.findings += lines(book, "pairs of f16, by polynomial alone", lambda column: _of_pairs(book, column))
    return answer


def _of_pairs(book: Book, column: Column) -> list[Part]:
    unit, near = pairs(book, column)

    def said(one: Pairs, by: str) -> Part:
        return (f"{text.number(round(one.rate, 1))} results/clk/SM by {by}, at most {text.number(one.max_ulp)} ulp off", one.anchor)

    return [*(said(one, f"degree {one.degree}") for one in near), *([said(unit, "MUFU")] if unit and near else [])]


def blocks(book: Book) -> list[Block]:
    tables: list[Block] = []
    for column in book.columns:
        rows = [
            [
                Cell(str(m.degree), m.anchor),
                *(
                    Cell(form(v) if v is not None else "")
                    for form, v in (
                        (text.number, m.max_ulp),
                        (text.percent, m.bf16_misrounded),
                        (text.number, m.polynomial),
                    )
                ),
                Cell(text.number(m.best[1])),
                Cell(text.percent(m.best[0])),
                Cell(text.number(m.speedup.value, m.speedup.half_width) if m.speedup else ""),
            ]
            for m in mixes(book, column)
        ]
        of = f", {column.tag} {column.label}" if len(book.columns) > 1 else ""
        head = ["Degree", "Largest error, ulp", "bf16 differs", "Alone, results/clk/SM", "Best mix"]
        head += ["Share by polynomial", "Times MUFU"]
        tables.append(Table(f"exp2 by polynomial{of}: alone, and mixed with MUFU.EX2 at best", head, rows))
    return tables
