# SPDX-License-Identifier: Apache-2.0
"""Run-to-run spread: how far fresh processes of one run are from their median, case by case."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from assay.files import Measurement

from ..book import labels, text
from ..book.headline import Headline, headlines
from ..book.interval import values_of
from ..book.model import Book, Column
from .svg import GRID, INK, PAPER, SERIES, Data, Figure, axes, finish, put_ticks

WIDEST = 12  # cases beside the six numbers
LEAST = 1e-4  # less is said as less than this
LINEAR = 0.01  # of the median: the scale is linear so far and logarithmic beyond


def run_to_run(book: Book, column: Column) -> Figure | None:
    """The six numbers, then the cases that differ most; None where no case was measured in several processes."""
    six = [
        (_label(headline, i), _apart(n.processes))
        for headline in headlines(book, column)
        for i, n in enumerate(headline.numbers)
        if len(n.processes) > 1
    ]
    cases = sorted(
        ((_words(m.name), _apart(values)) for m, values in _repeated(book, column)), key=lambda of: -_width(of[1])
    )
    if len(cases) < 2:
        return None
    shown = six + cases[:WIDEST]
    middle, (widest, apart) = statistics.median(_width(of) for _, of in cases), cases[0]
    little = f"less than {text.percent(max(middle, LEAST))}" if middle < LEAST else f"at most {text.percent(middle)}"
    finding = (
        f"Half of {text.counted(len(cases), 'case')} differ by {little} between processes; {widest} differs most, by "
        f"{text.percent(_width(apart))}."
    )
    with axes(0.7 + 0.19 * len(shown)) as (canvas, ax):
        for y, (_, apart) in enumerate(shown):
            color = SERIES[0] if y < len(six) else SERIES[1]
            ax.plot([min(apart), max(apart)], [y, y], color=color, lw=1, alpha=0.5)
            ax.plot(apart, [y] * len(apart), "o", ms=4, color=color, mec=PAPER, mew=0.4)
        ax.axvline(0, color=INK, lw=0.8)
        if six and len(shown) > len(six):
            ax.axhline(len(six) - 0.5, color=GRID, lw=0.8)
        ax.set_xscale("symlog", linthresh=LINEAR, linscale=1.2)
        ends = max(abs(v) for _, apart in shown for v in apart)
        ticks = [t for t in (0.01, 0.1, 1.0) if t <= 1.5 * ends]
        ax.set(
            ylim=(len(shown) - 0.4, -0.6),
            xlim=(-1.3 * ends, 1.3 * ends),
            xlabel="from the median of the processes",
        )
        put_ticks(ax.yaxis, range(len(shown)), [words for words, _ in shown])
        put_ticks(ax.xaxis, [*(-t for t in reversed(ticks)), 0, *ticks])
        ax.xaxis.set_major_formatter(lambda v, _: "0" if v == 0 else f"{'+' if v > 0 else text.MINUS}{abs(v):.0%}")
        ax.tick_params(axis="y", labelcolor=INK)
        return finish(
            canvas,
            f"run-to-run{column.index}",
            "From run to run",
            finding,
            f"{finding} A dot is a process. Above the line: the six numbers; below it: the cases that differ most.",
            Data(
                ["case", "process", "from the median"],
                [[words, i, v] for words, apart in shown for i, v in enumerate(apart)],
            ),
        )


def _label(headline: Headline, i: int) -> str:
    """ "Latency, L2" of the second number of "Latency, memory / L2"."""
    what, _, parts = headline.label.partition(", ")
    return f"{what}, {parts.split(' / ')[i]}" if len(headline.numbers) > 1 else headline.label


def _repeated(book: Book, column: Column) -> Iterator[tuple[Measurement, tuple[float, ...]]]:
    """Cases of the GPU whose headline several processes found, with what each found."""
    for c, m in book.measurements:
        if c is column and m.headline and not m.name.startswith("host/"):
            values = values_of(m.headline)
            if len(values) > 1 and statistics.median(values):
                yield m, values


def _apart(values: Sequence[float]) -> list[float]:
    middle = statistics.median(values)
    return [v / middle - 1 for v in values]


def _width(apart: list[float]) -> float:
    return max(apart) - min(apart)


def _words(name: str) -> str:
    said = labels.case_words(name)
    return said if len(said) < 40 else f"{said[:38]}…"
