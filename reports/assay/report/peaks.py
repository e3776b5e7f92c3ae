# SPDX-License-Identifier: Apache-2.0
"""The figures of what the machine could do at most: rooflines, MMA against exp2, where the peak went.

Solid is measured, dashed is published. Lines are labelled where they end.
"""

from __future__ import annotations

import math
from typing import Any

from . import derive, text
from .model import Book, Column
from .svg import GRID, INK, MUTED, PAPER, SERIES, Figure, axes, finish, spread

KIND_COLORS = {"nvf4": 4, "mxf4": 4, "e4m3": 0, "s8": 0, "bf16": 1, "f16": 1, "tf32": 2, "f64": 5, "f32": 3}
KIND_LABELS = {"e4m3": "fp8", "s8": "int8", "f32": "FFMA"}
MARKERS = "osD^vP*X"  # by operation, in the order they first occur


def color_of(kind: str) -> str:
    return SERIES[KIND_COLORS.get(kind, 5)]


def _log_labels(ax: Any, places: list[float], x: float, colors: list[str], gap: float, words: list[str]) -> None:
    """Direct labels at the right ends of lines on a log axis, moved apart where they would touch; `gap` in decades."""
    for y, color, word in zip(spread([math.log10(v) for v in places], gap), colors, words):
        ax.annotate(word, (x, 10**y), xytext=(4, 0), textcoords="offset points", va="center", color=color, fontsize=9)


def _kinds(roof: derive.Roof) -> str:
    return ", ".join(KIND_LABELS.get(kind, kind) for kind in [roof.kind, *roof.also])


def roofline(book: Book, column: Column) -> Figure | None:
    data = derive.roofline(book, column)
    if data is None:
        return None
    roofs = data.roofs
    left, right = 0.5, max([8192, *(1.5 * p.intensity for p in data.points)])
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
        markers = dict(zip(dict.fromkeys(p.label for p in data.points), MARKERS))
        for point in data.points:
            ax.plot(
                point.intensity,
                point.tflops,
                markers.get(point.label, "."),
                ms=5,
                color=color_of(point.kind),
                mec=PAPER,
                mew=0.7,
                ls="none",
            )
        keys = [
            ax.plot([], [], m, ms=5, color=MUTED, ls="none", label=text.words(name))[0] for name, m in markers.items()
        ]
        if keys:
            ax.legend(handles=keys, loc="lower right", fontsize=8.5, labelcolor=MUTED, handletextpad=0.2)
        _log_labels(
            ax,
            [r.tflops for r in roofs],
            right,
            [color_of(r.kind) for r in roofs],
            0.2,
            [f"{_kinds(r)} {text.number(r.tflops)}" for r in roofs],
        )
        ax.annotate(
            f"{text.number(data.bandwidth * 1e-3)} TB/s",
            (8, 8 * slope),
            xytext=(-8, 5),
            textcoords="offset points",
            color=INK,
            fontsize=9,
            ha="right",
            va="bottom",
        )
        ax.set(xlabel="FLOP per byte of DRAM traffic", ylabel="TFLOP/s")
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}")
        said = ", ".join(f"{_kinds(r)} {text.number(r.tflops)} TFLOP/s" for r in roofs)
        return finish(
            canvas,
            f"roofline{column.index}",
            f"Roofline, {column.label}",
            f"Measured memory bandwidth {text.number(data.bandwidth)} GB/s ({data.bandwidth_name}); measured roofs: "
            f"{said}. {len(data.points)} kernels at their arithmetic intensity.",
            "Solid: measured. Dashed: datasheet. Dots: kernels, each tensor counted once as traffic.",
        )


def imbalance(book: Book) -> Figure | None:
    lines = derive.imbalances(book)
    if not lines:
        return None
    dims = (16, 1024)
    low = min(0.5, *(2.5 * dims[0] / line.flop_per_exp2 for line in lines))
    high = max(6 * dims[1] / line.flop_per_exp2 for line in lines)
    with axes(3.3) as (canvas, ax):
        ax.set(yscale="log", xlim=dims, ylim=(low, high))
        ax.set_xscale("log", base=2)
        ax.axhspan(low, 1, color=GRID, alpha=0.35, lw=0)
        ax.axhline(1, color=INK, lw=1)
        ax.annotate(
            "here exp2 takes longer than both products",
            (dims[1], low),
            xytext=(-4, 4),
            textcoords="offset points",
            va="bottom",
            ha="right",
            fontsize=8.5,
            color=MUTED,
        )
        for line in lines:
            color = MUTED if line.published else color_of(line.kind)
            ax.plot(
                dims,
                [4 * d / line.flop_per_exp2 for d in dims],
                color=color,
                lw=0.9 if line.published else 1.6,
                ls=(0, (4, 3)) if line.published else "-",
            )
            if not line.published and dims[0] < line.head_dimension < dims[1]:
                ax.plot(line.head_dimension, 1, "o", ms=6, color=color, mec=PAPER, mew=1)
                ax.annotate(
                    f"{line.head_dimension:.1f}",
                    (line.head_dimension, 1),
                    xytext=(5, -5),
                    textcoords="offset points",
                    fontsize=9,
                    color=color,
                    va="top",
                    bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1, "alpha": 0.85},
                )
        drawn = [line for line in lines if not line.published]
        _log_labels(
            ax,
            [4 * dims[1] / line.flop_per_exp2 for line in drawn],
            dims[1],
            [color_of(line.kind) for line in drawn],
            0.14,
            [line.label for line in drawn],
        )
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:g}×")
        ax.set(xlabel="head dimension d", ylabel="MMA time / exp2 time")
        said = "; ".join(f"{line.label}: d = {line.head_dimension:.1f}" for line in lines)
        published = next((line for line in lines if line.published), None)
        note = f" Dashed: {published.label} (FlashAttention-3 paper)." if published else ""
        return finish(
            canvas,
            "imbalance",
            "Matrix math against exp2 in attention",
            f"Head dimension at which two matrix products of 4d FLOP take as long as one exp2: {said}.",
            "Per element of the score matrix: 4d FLOP of MMA against one exp2, both as measured on one SM." + note,
        )


def waterfall(book: Book, column: Column) -> Figure | None:
    steps = derive.waterfall(book, column)
    if not steps:
        return None
    with axes(0.5 + 0.34 * len(steps)) as (canvas, ax):
        whole, longest = steps[0].tflops, max(s.tflops for s in steps)
        for y, step in enumerate(steps):
            if step.published:
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
            yticks=range(len(steps)),
            yticklabels=[s.label for s in steps],
            xlim=(0, longest * 1.45),
            ylim=(len(steps) - 0.4, -0.6),
        )
        ax.grid(False)
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", labelcolor=INK)
        said = ", ".join(f"{s.label} {text.number(s.tflops)}" for s in steps)
        return finish(
            canvas,
            f"peak{column.index}",
            f"Where the bf16 peak went, {column.label}",
            f"TFLOP/s: {said}.",
            "TFLOP/s, and the share of the first bar. Dashed: published.",
        )
