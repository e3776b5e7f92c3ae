# SPDX-License-Identifier: Apache-2.0
"""Kernels against their baselines, in pairs: a point with its interval for each."""

from __future__ import annotations

from dataclasses import dataclass

from assay.files import Baseline

from ...block.tables import who
from ...book import interval, labels, text
from ...book.model import LASTING, SUSTAINED, Book, Column
from ...book.products import baseline_of
from ...draw.svg import INK, PAPER, SERIES, Data, Figure, axes, finish, put_ticks

MOST_KERNELS = 24  # of one picture


@dataclass
class Pair:
    """A kernel against one baseline: how many times faster ours is."""

    name: str
    baseline: Baseline


def pairs(book: Book, column: Column, state: str) -> list[Pair]:
    """Every paired comparison of one run in one state; kernels by how they do, the worst first."""
    of_kernel: dict[str, list[Pair]] = {}
    for c, m in book.measurements:
        if c is column and m.baselines and m.name.endswith(SUSTAINED) is (state == LASTING):
            of_kernel[m.name] = [Pair(m.name.removesuffix(SUSTAINED), b) for b in m.baselines]
    in_order = sorted(of_kernel.values(), key=lambda found: min(p.baseline.speedup.value for p in found))
    return [pair for found in in_order for pair in found]


def paired(book: Book, column: Column, state: str) -> Figure | None:
    """A line of text per kernel, under it a point with its interval per baseline: those where ours does worst."""
    every = pairs(book, column, state)
    kernels = list(dict.fromkeys(p.name for p in every))[:MOST_KERNELS]
    found = [p for p in every if p.name in kernels]
    if not found:
        return None
    rows = len(found) + len(kernels)
    with axes(0.5 + 0.175 * rows) as (canvas, ax):
        baselines = list(dict.fromkeys(p.baseline.name for p in found))
        ends = [e for p in found for e in (p.baseline.speedup.ci95 or (p.baseline.speedup.value,) * 2)]
        low, high = min([0.9, *ends]), max([1.1, *ends])
        low, high = low - 0.03 * (high - low), high + 0.03 * (high - low)
        ax.axvline(1, color=INK, lw=1)
        y = 0
        for kernel in kernels:
            shade = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
            ax.annotate(labels.case_words(kernel), (low, y), va="center", fontsize=8.5, color=INK, bbox=shade)
            for p in (p for p in found if p.name == kernel):
                y += 1
                color, s = SERIES[baselines.index(p.baseline.name) % len(SERIES)], p.baseline.speedup
                if s.ci95:
                    ax.plot(s.ci95, [y, y], color=color, lw=3, alpha=0.45)
                ax.plot(s.value, y, "o", ms=4, color=color)
                ax.annotate(
                    f"{s.value:.3f} {baseline_of(p.name, p.baseline.name)}",
                    (high, y),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8.5,
                    color=color,
                )
            y += 1
        put_ticks(ax.yaxis, [])
        ax.set(ylim=(rows - 0.4, -0.7), xlim=(low, high), xlabel="times as fast as the baseline")
        worst = min(found, key=lambda p: p.baseline.speedup.value)
        of = len({p.name for p in every})
        which = f"the {len(kernels)} of {of} kernels" if len(kernels) < of else text.counted(of, "kernel")
        return finish(
            canvas,
            f"paired{'-sustained' if state == LASTING else ''}{column.index}",
            f"Against the baselines, in pairs, {state}{who(book, column)}",
            f"Worst is {labels.case_words(worst.name)}, at {worst.baseline.speedup.value:.3f} times the speed of "
            f"{baseline_of(worst.name, worst.baseline.name)}.",
            f"Right of 1, ours is faster. Shown: {which}{' where ours does worst' if len(kernels) < of else ''}. Bars: 95% "
            f"intervals of the paired ratio, {interval.short(book.processes)}.",
            Data(["kernel", "baseline", "times as fast", "low", "high"], [_paired_row(p) for p in every]),
        )


def _paired_row(pair: Pair) -> list[object]:
    speedup = pair.baseline.speedup
    return [pair.name, pair.baseline.name, speedup.value, *(speedup.ci95 or (None, None))]
