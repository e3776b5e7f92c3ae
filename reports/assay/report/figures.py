# SPDX-License-Identifier: Apache-2.0
"""The figures of the families: latencies, bandwidths, collectives, kernels against baselines.

Each takes what `derive` found and draws it, or returns None where there is nothing. Solid is measured, hollow is
published. Lines are labelled where they end; there are few legends.
"""

from __future__ import annotations

import math
from typing import Any

from . import derive, text
from .model import Book, Column
from .svg import GRID, INK, MUTED, PAPER, SERIES, Figure, axes, finish, spread


def latency_ladder(book: Book) -> Figure | None:
    bars = derive.latency_ladder(book)
    if not bars:
        return None
    with axes(0.6 + 0.3 * len(bars)) as (canvas, ax):
        ax.set_xscale("log")
        for y, bar in enumerate(bars):
            others = sorted({round(p.value, 1) for p in bar.published})
            ax.plot(others, [y] * len(others), "D", ms=4.5, mfc="none", mec=MUTED, mew=0.9)
            for i, value in enumerate(bar.values):
                if value is not None:
                    ax.plot(value, y, "o", ms=6.5, color=SERIES[i % len(SERIES)], mec=PAPER, mew=0.8)
            values = [v for v in bar.values if v is not None]
            ax.annotate(
                " / ".join(text.number(round(v, 1)) for v in values),
                (max([*values, *others]), y),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        every = [v for bar in bars for v in [*bar.values, *(p.value for p in bar.published)] if v is not None]
        ax.set(
            yticks=range(len(bars)),
            yticklabels=[b.label for b in bars],
            ylim=(len(bars) - 0.4, -0.6),
            xlabel="SM cycles",
            xlim=(min(every) * 0.8, max(every) * 2),
        )
        ax.tick_params(axis="y", labelcolor=INK)
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        _column_key(ax, [c for c in book.columns if any(b.values[c.index] is not None for b in bars)])
        said = "; ".join(f"{b.label} {' / '.join(f'{v:.1f}' for v in b.values if v is not None)}" for b in bars)
        return finish(
            canvas,
            "ladder",
            "Latency ladder",
            f"Cycles: {said}.",
            "Dots: measured, in SM cycles. Hollow diamonds: published for other GPUs of this architecture.",
        )


def _column_key(ax: Any, columns: list[Column]) -> None:
    """Names the columns by colour above the axes, when there are several."""
    if len(columns) > 1:
        handles = [
            ax.plot([], [], "o", ms=6, color=SERIES[c.index % len(SERIES)], label=f"{c.tag} {c.label}")[0]
            for c in columns
        ]
        ax.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(-0.02, 1),
            ncols=2,
            fontsize=8.5,
            labelcolor=INK,
            borderpad=0.2,
            handletextpad=0.2,
        )


def bandwidths(book: Book) -> Figure | None:
    rows = derive.bandwidth_shares(book)[:24]
    if not rows:
        return None
    shown = [i for i in range(len(book.columns)) if any(numbers[i] for _, numbers in rows)]
    several = len(shown)
    with axes(0.6 + (0.2 + 0.14 * several) * len(rows)) as (canvas, ax):
        height = 0.7 / several
        for y, (row, numbers) in enumerate(rows):
            ax.barh(y, 1, height=0.74, color=GRID, alpha=0.5, lw=0)
            for place, i in enumerate(shown):
                n = numbers[i]
                if n and n.share:
                    at = y + (place - (several - 1) / 2) * height
                    ax.barh(at, n.share, height=height, color=SERIES[i % len(SERIES)])
                    ax.annotate(
                        f"{text.number(n.value, n.half_width)} {row.unit}",
                        (max(1, n.share), at),
                        xytext=(5, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=8.5,
                    )
                    if n.share > 0.15:  # else the bar has no room for it
                        ax.annotate(
                            text.percent(n.share),
                            (n.share, at),
                            xytext=(-4, 0),
                            textcoords="offset points",
                            va="center",
                            ha="right",
                            fontsize=8,
                            color=PAPER,
                        )
        labels = [
            text.words(row.name.replace("/bandwidth", "").removeprefix("memory/").replace("/", "_"))
            for row, _ in rows
        ]
        ax.set(yticks=range(len(rows)), yticklabels=labels, ylim=(len(rows) - 0.4, -0.6), xlim=(0, 1.5), xticks=[])
        ax.grid(False)
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", labelcolor=INK)
        _column_key(ax, [book.columns[i] for i in shown])
        said = "; ".join(
            f"{label} {text.percent(n.share)}"
            for label, (_, numbers) in zip(labels, rows)
            for n in numbers
            if n and n.share
        )
        return finish(
            canvas,
            "bandwidths",
            "Bandwidth against its limit",
            f"Share of the limit: {said}.",
            "Bars: share of the limit. Beside them: the value.",
        )


def collectives(book: Book) -> list[Figure]:
    drawn = []
    for operation, series in derive.collective_series(book).items():
        if max(len(s.points) for s in series) < 2:
            continue
        with axes(3.0) as (canvas, ax):
            ax.set_xscale("log", base=2)
            ends = []
            for i, one in enumerate(series[:6]):
                color = SERIES[i % len(SERIES)]
                xs, ys = [p[0] for p in one.points], [p[1] for p in one.points]
                ax.fill_between(
                    xs, [p[2] for p in one.points], [p[3] for p in one.points], color=color, alpha=0.25, lw=0
                )
                ax.plot(xs, ys, marker="o", ms=4, color=color, mec=PAPER, mew=0.6)
                ends.append((xs[-1], ys[-1], color, one.label))
            top = max(y for _, y, _, _ in ends)
            for (x, _, color, label), y in zip(ends, spread([y for _, y, _, _ in ends], 0.07 * top)):
                ax.annotate(
                    label, (x, y), xytext=(6, 0), textcoords="offset points", va="center", color=color, fontsize=9
                )
            ax.set_ylim(0, None)
            sizes = [x for one in series for x, *_ in one.points]
            first, last = (math.log2(f(sizes)) for f in (min, max))
            ax.set_xticks(
                [2**e for e in range(math.ceil(first), math.floor(last) + 1, max(1, math.ceil((last - first) / 6)))]
            )
            ax.xaxis.set_major_formatter(lambda v, _: text.size(v))
            ax.set(xlabel="bytes", ylabel="bus bandwidth, GB/s")
            said = "; ".join(f"{label} {text.number(y)} GB/s at {text.size(x)}" for x, y, _, label in ends)
            drawn.append(
                finish(
                    canvas,
                    f"collective-{text.slug(operation)}",
                    f"Bus bandwidth, {operation.replace('_', '-')}",
                    f"At the largest size: {said}.",
                    "Bands: 95% intervals.",
                )
            )
    return drawn


def paired(book: Book, column: Column, most: int = 48) -> Figure | None:
    """A line of text per kernel, under it a point with its interval per baseline."""
    every = derive.pairs(book, column)
    found = every[:most]
    if not found:
        return None
    kernels = list(dict.fromkeys(p.name for p in found))
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
            ax.annotate(kernel, (low, y), va="center", fontsize=8.5, color=INK, bbox=shade)
            for p in (p for p in found if p.name == kernel):
                y += 1
                color, s = SERIES[baselines.index(p.baseline.name) % len(SERIES)], p.baseline.speedup
                if s.ci95:
                    ax.plot(s.ci95, [y, y], color=color, lw=3, alpha=0.45)
                ax.plot(s.value, y, "o", ms=4, color=color)
                ax.annotate(
                    f"{s.value:.3f} {p.baseline.name}",
                    (high, y),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8.5,
                    color=color,
                )
            y += 1
        ax.set(yticks=[], ylim=(rows - 0.4, -0.7), xlim=(low, high), xlabel="times as fast as the baseline")
        said = "; ".join(f"{p.name} against {p.baseline.name} {p.baseline.speedup.value:.3f}" for p in found)
        more = len(every) - len(found)
        return finish(
            canvas,
            f"paired{column.index}",
            f"Against the baselines, in pairs, {column.label}",
            f"Speed-up: {said}.",
            "Right of 1, ours is faster. Bars: 95% intervals of the paired ratio."
            + (f" {more} more in the tables." if more else ""),
        )
