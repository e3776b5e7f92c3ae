# SPDX-License-Identifier: Apache-2.0
"""The figures of the page: each takes what `derive` found and draws it, or returns None where there is nothing.

Solid is measured, dashed or hollow is published. Lines are labelled where they end; there are few legends.
"""

from __future__ import annotations

import math
from typing import Any

from . import derive, text
from .model import Book, Column
from .svg import GRID, INK, MUTED, PAPER, SERIES, Figure, axes, finish

KIND_COLORS = {"nvf4": 4, "mxf4": 4, "e4m3": 0, "s8": 0, "bf16": 1, "f16": 1, "tf32": 2, "f64": 5, "f32": 3}
KIND_LABELS = {"e4m3": "fp8, int8", "bf16": "bf16, f16", "f32": "FFMA (f32)", "s8": "int8"}


def color_of(kind: str) -> str:
    return SERIES[KIND_COLORS.get(kind, 5)]


def spread(positions: list[float], gap: float) -> list[float]:
    """Positions moved apart as little as an even walk allows so that neighbours are `gap` away; order is kept."""
    order = sorted(range(len(positions)), key=positions.__getitem__)
    moved = list(positions)
    for before, after in zip(order, order[1:]):
        moved[after] = max(moved[after], moved[before] + gap)
    return moved


def _log_labels(ax: Any, values: list[float], places: list[float], xs: list[float], colors: list[str], gap: float,
                words: list[str]) -> None:
    """Direct labels at the ends of lines on a log axis, moved apart where they would touch."""
    moved = spread([math.log10(v) for v in places], gap)
    for x, y, color, word in zip(xs, moved, colors, words):
        ax.annotate(word, (x, 10**y), xytext=(4, 0), textcoords="offset points", va="center", color=color, fontsize=9)


def roofline(book: Book, column: Column) -> Figure | None:
    data = derive.roofline(book, column)
    if data is None:
        return None
    # One line for roofs within 2 % of each other.
    roofs: list[derive.Roof] = []
    for roof in data.roofs:
        if not (roofs and roofs[-1].tflops < 1.02 * roof.tflops):
            roofs.append(roof)
    left, right = 0.5, 8192
    with axes(3.7) as (canvas, ax):
        ax.set(xscale="log", yscale="log", xlim=(left, right))
        top = max(r.datasheet or r.tflops for r in roofs)
        bottom = min([left * data.bandwidth * 1e-3 * 0.8, *(p.tflops * 0.7 for p in data.points)])
        ax.set_ylim(bottom, top * 1.9)
        slope = data.bandwidth * 1e-3  # TFLOP/s per FLOP/byte
        ax.plot([left, roofs[0].tflops / slope], [left * slope, roofs[0].tflops], color=INK)
        for roof in roofs:
            color = color_of(roof.kind)
            ax.plot([roof.tflops / slope, right], [roof.tflops] * 2, color=color)
            if roof.datasheet:
                start = roof.datasheet / ((data.datasheet_bandwidth or data.bandwidth) * 1e-3)
                ax.plot([start, right], [roof.datasheet] * 2, color=color, lw=0.9, ls=(0, (4, 3)))
        if data.datasheet_bandwidth:
            end = max(r.datasheet or 0 for r in roofs) or top
            wide = data.datasheet_bandwidth * 1e-3
            ax.plot([left, end / wide], [left * wide, end], color=MUTED, lw=0.9, ls=(0, (4, 3)))
        for point in data.points:
            ax.plot(point.intensity, point.tflops, "o", ms=5, color=color_of(point.kind), mec=PAPER, mew=0.8)
        named: dict[str, derive.Point] = {}
        for point in data.points:
            if point.label not in named or point.tflops < named[point.label].tflops:
                named[point.label] = point
        for name, point in named.items():
            ax.annotate(text.words(name), (point.intensity, point.tflops), xytext=(0, -6), textcoords="offset points",
                        ha="center", va="top", color=MUTED, fontsize=8)
        _log_labels(ax, [], [r.tflops for r in roofs], [right] * len(roofs), [color_of(r.kind) for r in roofs],
                    0.1, [f"{KIND_LABELS.get(r.kind, r.kind)}\n{text.number(r.tflops)}" for r in roofs])
        ax.annotate(f"{text.number(data.bandwidth * 1e-3)} TB/s", (left * 1.6, left * 1.6 * slope), xytext=(-4, 5),
                    textcoords="offset points", color=INK, fontsize=9, ha="left", va="bottom")
        ax.set(xlabel="FLOP per byte of DRAM traffic", ylabel="TFLOP/s")
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}")
        said = ", ".join(f"{KIND_LABELS.get(r.kind, r.kind)} {text.number(r.tflops)} TFLOP/s" for r in roofs)
        return finish(canvas, f"roofline{column.index}", f"Roofline, {column.label}",
                      f"Measured memory bandwidth {text.number(data.bandwidth)} GB/s ({data.bandwidth_name}); measured roofs: "
                      f"{said}. {len(data.points)} kernels at their arithmetic intensity.",
                      "Solid: measured. Dashed: datasheet. Dots: kernels, each tensor counted once as traffic.")


def imbalance(book: Book) -> Figure | None:
    lines = derive.imbalances(book)
    if not lines:
        return None
    dims = (16, 512)
    with axes(3.3) as (canvas, ax):
        ax.set(xscale="log", yscale="log", xlim=dims, ylim=(0.06, 24))
        ax.set_xscale("log", base=2)
        ax.axhspan(0.06, 1, color=GRID, alpha=0.35, lw=0)
        ax.axhline(1, color=INK, lw=1)
        ax.annotate("below this line exp2 takes longer than both products", (dims[0], 1), xytext=(4, -4),
                    textcoords="offset points", va="top", fontsize=8.5, color=INK)
        for line in lines:
            color = MUTED if line.published else color_of(line.kind)
            ax.plot(dims, [4 * d / line.flop_per_exp2 for d in dims], color=color, lw=0.9 if line.published else 1.6,
                    ls=(0, (4, 3)) if line.published else "-")
            if not line.published and dims[0] < line.head_dimension < dims[1]:
                ax.plot(line.head_dimension, 1, "o", ms=6, color=color, mec=PAPER, mew=1)
                ax.annotate(f"d = {text.number(round(line.head_dimension, 1))}", (line.head_dimension, 1), xytext=(4, 7),
                            textcoords="offset points", fontsize=9, color=color, ha="right" if line.kind == "tf32" else "right")
        drawn = [line for line in lines if not line.published]
        _log_labels(ax, [], [4 * dims[1] / line.flop_per_exp2 for line in drawn], [dims[1]] * len(drawn),
                    [color_of(line.kind) for line in drawn], 0.14, [line.label for line in drawn])
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:g}×")
        ax.set(xlabel="head dimension d", ylabel="MMA time / exp2 time")
        said = "; ".join(f"{line.label}: d = {line.head_dimension:.1f}" for line in lines)
        published = next((line for line in lines if line.published), None)
        note = f" Dashed: {published.label} (FlashAttention-3 paper)." if published else ""
        return finish(canvas, "imbalance", "Matrix math against exp2 in attention",
                      f"Head dimension at which two matrix products of 4d FLOP take as long as one exp2: {said}.",
                      "Per element of the score matrix: 4d FLOP of MMA against one exp2, both as measured on one SM." + note)


def waterfall(book: Book, column: Column) -> Figure | None:
    steps = derive.waterfall(book, column)
    if not steps:
        return None
    with axes(0.5 + 0.34 * len(steps)) as (canvas, ax):
        top = steps[0].tflops
        for y, step in enumerate(steps):
            if step.published:
                ax.barh(y, step.tflops, height=0.62, facecolor="none", edgecolor=MUTED, ls=(0, (4, 3)), lw=1)
            else:
                ax.barh(y, step.tflops, height=0.62, color=SERIES[1])
            ax.annotate(f"{text.number(step.tflops)}   {text.percent(step.tflops / top)}", (step.tflops, y), xytext=(5, 0),
                        textcoords="offset points", va="center", fontsize=9)
        ax.set(yticks=range(len(steps)), yticklabels=[s.label for s in steps], xlim=(0, top * 1.22), ylim=(len(steps) - 0.4, -0.6))
        ax.grid(False)
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", labelcolor=INK)
        said = ", ".join(f"{s.label} {text.number(s.tflops)}" for s in steps)
        return finish(canvas, f"peak{column.index}", f"Where the bf16 peak went, {column.label}", f"TFLOP/s: {said}.",
                      "TFLOP/s, and the share of the first bar. Dashed: published.")


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
            ax.annotate(" / ".join(text.number(round(v, 1)) for v in values), (max([*values, *others]), y), xytext=(9, 0),
                        textcoords="offset points", va="center", fontsize=9)
        every = [v for bar in bars for v in [*bar.values, *(p.value for p in bar.published)] if v is not None]
        ax.set(yticks=range(len(bars)), yticklabels=[b.label for b in bars], ylim=(len(bars) - 0.4, -0.6), xlabel="SM cycles",
               xlim=(min(every) * 0.8, max(every) * 2))
        ax.tick_params(axis="y", labelcolor=INK)
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        _column_key(ax, book)
        said = "; ".join(f"{b.label} {' / '.join(f'{v:.1f}' for v in b.values if v is not None)}" for b in bars)
        return finish(canvas, "ladder", "Latency ladder", f"Cycles: {said}.",
                      "Dots: measured, in SM cycles. Hollow diamonds: published for other GPUs of this architecture.")


def _column_key(ax: Any, book: Book) -> None:
    """Names the columns by colour, when there are several."""
    if len(book.columns) > 1:
        handles = [ax.plot([], [], "o", ms=6, color=SERIES[c.index % len(SERIES)], label=c.label)[0] for c in book.columns]
        ax.legend(handles=handles, loc="lower right", fontsize=8.5, labelcolor=INK)


def bandwidths(book: Book) -> Figure | None:
    rows = derive.bandwidth_shares(book)[:24]
    if not rows:
        return None
    several = len(book.columns)
    with axes(0.6 + (0.2 + 0.14 * several) * len(rows)) as (canvas, ax):
        height = 0.7 / several
        for y, (row, numbers) in enumerate(rows):
            ax.barh(y, 1, height=0.74, color=GRID, alpha=0.5, lw=0)
            for i, n in enumerate(numbers):
                if n and n.share:
                    at = y + (i - (several - 1) / 2) * height
                    ax.barh(at, n.share, height=height, color=SERIES[i % len(SERIES)])
                    ax.annotate(f"{text.number(n.value, n.half_width)} {row.unit}", (max(1, n.share), at), xytext=(5, 0),
                                textcoords="offset points", va="center", fontsize=8.5)
                    ax.annotate(text.percent(n.share), (n.share, at), xytext=(-4, 0), textcoords="offset points", va="center",
                                ha="right", fontsize=8, color=PAPER)
        labels = [row.name.replace("/bandwidth", "").removeprefix("memory/").replace("/", " ").replace("_", " ") for row, _ in rows]
        ax.set(yticks=range(len(rows)), yticklabels=labels, ylim=(len(rows) - 0.4, -0.6), xlim=(0, 1.42), xticks=[])
        ax.grid(False)
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", labelcolor=INK)
        _column_key(ax, book)
        said = "; ".join(f"{label} {text.percent(n.share)}" for label, (_, numbers) in zip(labels, rows) for n in numbers
                         if n and n.share)
        return finish(canvas, "bandwidths", "Bandwidth against its limit", f"Share of the limit: {said}.",
                      "Bars: share of the limit. Beside them: the value.")


def collectives(book: Book) -> list[Figure]:
    drawn = []
    for operation, series in derive.collective_series(book).items():
        if max(len(s.points) for s in series) < 2:
            continue
        with axes(3.0) as (canvas, ax):
            ax.set_xscale("log", base=2)
            ends = []
            for i, one in enumerate(series[:6]):
                color, ls = SERIES[i % len(SERIES)], "-"
                xs, ys = [p[0] for p in one.points], [p[1] for p in one.points]
                ax.fill_between(xs, [p[2] for p in one.points], [p[3] for p in one.points], color=color, alpha=0.25, lw=0)
                ax.plot(xs, ys, ls, marker="o", ms=4, color=color, mec=PAPER, mew=0.6)
                ends.append((xs[-1], ys[-1], color, one.label))
            top = max(y for _, y, _, _ in ends)
            for (x, _, color, label), y in zip(ends, spread([y for _, y, _, _ in ends], 0.07 * top)):
                ax.annotate(label, (x, y), xytext=(6, 0), textcoords="offset points", va="center", color=color, fontsize=9)
            ax.set_ylim(0, None)
            ax.xaxis.set_major_formatter(lambda v, _: text.size(v))
            ax.set(xlabel="bytes", ylabel="bus bandwidth, GB/s")
            said = "; ".join(f"{label} {text.number(y)} GB/s at {text.size(x)}" for x, y, _, label in ends)
            drawn.append(finish(canvas, f"collective-{text.slug(operation)}", f"Bus bandwidth of {text.words(operation)}",
                                f"At the largest size: {said}.", "Bands: 95% intervals."))
    return drawn


def paired(book: Book, most: int = 48) -> Figure | None:
    found = derive.pairs(book)[:most]
    if not found:
        return None
    with axes(0.7 + 0.21 * len(found)) as (canvas, ax):
        ax.axvline(1, color=INK, lw=1)
        baselines = list(dict.fromkeys(p.baseline.name for p in found))
        ends = [e for p in found for e in (p.baseline.speedup.ci95 or (p.baseline.speedup.value,) * 2)]
        low, high = min([0.9, *ends]), max([1.1, *ends])
        for y, p in enumerate(found):
            color, s = SERIES[baselines.index(p.baseline.name) % len(SERIES)], p.baseline.speedup
            if s.ci95:
                ax.plot(s.ci95, [y, y], color=color, lw=2)
            ax.plot(s.value, y, "o", ms=5, color=color, mec=PAPER, mew=0.6)
            ax.annotate(f"{s.value:.3f}", (high, y), xytext=(8, 0), textcoords="offset points", va="center", fontsize=8.5)
        previous, labels = "", []
        for p in found:
            labels.append(p.name if p.name != previous else "")
            previous = p.name
        ax.set(yticks=range(len(found)), yticklabels=labels, ylim=(len(found) - 0.4, -0.6), xlabel="times as fast as the baseline",
               xlim=(low - 0.03 * (high - low), high + 0.03 * (high - low)))
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", labelcolor=INK, labelsize=8.5)
        handles = [ax.plot([], [], "o", ms=5, color=SERIES[i % len(SERIES)], label=b)[0] for i, b in enumerate(baselines)]
        canvas.legend(handles=handles, loc="outside upper left", ncols=4, fontsize=8.5, labelcolor=INK)
        said = "; ".join(f"{p.name} against {p.baseline.name} {p.baseline.speedup.value:.3f}" for p in found)
        more = len(derive.pairs(book)) - len(found)
        return finish(canvas, "paired", "Kernels against their baselines, in pairs", f"Speed-up: {said}.",
                      "Right of 1, ours is faster. Bars: 95% intervals of the paired ratio."
                      + (f" {more} more in the tables." if more else ""))
