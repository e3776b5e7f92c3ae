# SPDX-License-Identifier: Apache-2.0
"""The shape of the machine: rooflines from measured roofs, and where the peak went.

What is sustained and what is a burst have figures of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..block.tables import who
from ..book import identity, roofs, text
from ..book.model import STATES, Book, Column
from ..draw.svg import INK, MUTED, SERIES, Data, Figure, axes, finish, put_ticks
from . import guard
from .roofline import key_of, roofline, under_roof


def waterfall(book: Book, column: Column, state: str) -> Figure | None:
    steps = roofs.waterfall(book, column, state)
    if not steps:
        return None
    with axes(0.5 + 0.34 * len(steps)) as (canvas, ax):
        whole, longest = steps[0].tflops, max(s.tflops for s in steps)
        for y, step in enumerate(steps):
            if step.calculated:
                ax.barh(y, step.tflops, height=0.62, facecolor="none", edgecolor=MUTED, ls=(0, (4, 3)), lw=1)
            else:
                ax.barh(y, step.tflops, height=0.62, color=SERIES[0])
            ax.annotate(
                f"{text.number(step.tflops)} · {text.percent(step.tflops / whole)}",
                (step.tflops, y),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        ax.set(
            xlim=(0, longest * 1.45),
            ylim=(len(steps) - 0.4, -0.6),
        )
        ax.grid(False)
        put_ticks(ax.yaxis, range(len(steps)), [s.label for s in steps])
        put_ticks(ax.xaxis, [])
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", labelcolor=INK)
        said = ", ".join(f"{s.label} {text.number(s.tflops)}" for s in steps)
        measured = f" {identity.of_commits([column.run])}" if roofs.best_gemm(book, column, state) else ""
        return finish(
            canvas,
            key_of("peak", column, state),
            f"Where the bf16 peak went, {state}{who(book, column)}",
            f"{_lost(steps)} In TFLOP/s: {said}.",
            f"{_lost(steps)} Beside each bar: TFLOP/s, and the share of the first. Filled: measured. Dashed: the "
            "datasheet, or the limit per clock times a clock; the loop's clock is what the SMs counted "
            "over one of the two launches whose difference is its time, so that the loop can be a little above that "
            f"limit.{measured}",
            Data(
                ["step", "TFLOP/s", "share of the first", "how"],
                [[s.label, s.tflops, s.tflops / whole, "calculated" if s.calculated else "measured"] for s in steps],
            ),
        )


def _lost(steps: list[roofs.Step]) -> str:
    """What is left of the datasheet's figure, or of the first, at the last step, in a sentence."""
    sheet = next((s for s in steps if s.label.startswith("datasheet")), steps[0])
    last = steps[-1]
    of = "the datasheet's" if sheet.label.startswith("datasheet") else "the limit's"
    return (
        f"Of {of} {text.number(round(sheet.tflops))} TFLOP/s, {last.label.split(',')[0]} keeps "
        f"{text.number(round(last.tflops))}."
    )


MOST = 4  # runs that are drawn


def overview(book: Book, states: Sequence[str] = STATES) -> list[Figure]:
    """The figures that belong to no one family, of the first runs that have some."""

    def made(column: Column) -> list[Figure]:
        makers = [lambda draw=draw, s=s: draw(book, column, s) for s in states for draw in (waterfall, roofline, under_roof)]
        found = (guard.made("The shape of the machine", make, lambda said: None) for make in makers)
        return [f for f in found if f]

    drawn = [found for column in book.columns if (found := made(column))]
    return [figure for found in drawn[:MOST] for figure in found]
