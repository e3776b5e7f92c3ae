# SPDX-License-Identifier: Apache-2.0
"""The shape of the machine: rooflines from measured roofs, and where the peak went.

Solid is measured, dashed published, dotted calculated from the limit per clock. Lines are labelled where they end. What
is sustained and what is a burst have figures of their own.
"""

from __future__ import annotations

from ..book import labels, roofs, text
from ..book.model import BURST, STATES, Book, Column
from ..draw.svg import INK, MUTED, PAPER, SERIES, Figure, axes, color_of, finish, log_labels
from . import guard

KIND_LABELS = {"e4m3": "fp8", "s8": "int8", "f32": "FFMA"}
MARKERS = "osD^vP*X"  # by operation, in the order they first occur


def _kinds(roof: roofs.Roof) -> str:
    return ", ".join(KIND_LABELS.get(kind, kind) for kind in [roof.kind, *roof.also])


def _key(name: str, column: Column, state: str) -> str:
    return f"{name}{column.index}" if state == BURST else f"{name}-{state}{column.index}"


def roofline(book: Book, column: Column, state: str) -> Figure | None:
    data = roofs.roofline(book, column, state)
    if data is None:
        return None
    found = data.roofs
    left, right = 0.5, max([8192, *(1.5 * p.intensity for p in data.points)])
    with axes(3.7) as (canvas, ax):
        ax.set(xscale="log", yscale="log", xlim=(left, right))
        top = max(r.at_highest_clock or r.datasheet or r.tflops for r in found)
        bottom = min([left * data.bandwidth * 1e-3 * 0.8, *(p.tflops * 0.7 for p in data.points)])
        ax.set_ylim(bottom, top * 1.9)
        slope = data.bandwidth * 1e-3  # TFLOP/s per FLOP/byte
        ax.plot([left, found[0].tflops / slope], [left * slope, found[0].tflops], color=INK)
        for roof in found:
            color = color_of(roof.kind)
            ax.plot([roof.tflops / slope, right], [roof.tflops] * 2, color=color)
            if roof.datasheet:
                start = roof.datasheet / ((data.datasheet_bandwidth or data.bandwidth) * 1e-3)
                ax.plot([start, right], [roof.datasheet] * 2, color=color, lw=0.9, ls=(0, (4, 3)))
            if roof.at_highest_clock:
                begin = roof.at_highest_clock / slope
                ax.plot([begin, right], [roof.at_highest_clock] * 2, color=color, lw=0.9, ls=(0, (1, 2)))
        if data.datasheet_bandwidth:
            end = max(r.datasheet or 0 for r in found) or top
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
            ax.plot([], [], m, ms=5, color=MUTED, ls="none", label=labels.words(name))[0] for name, m in markers.items()
        ]
        if keys:
            ax.legend(handles=keys, loc="lower right", fontsize=8.5, labelcolor=MUTED, handletextpad=0.2)
        log_labels(
            ax,
            [r.tflops for r in found],
            right,
            [color_of(r.kind) for r in found],
            0.2,
            [f"{_kinds(r)} {text.number(r.tflops)}" for r in found],
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
        ax.set(xlabel="FLOP per byte of DRAM traffic", ylabel="TFLOP/s, of integers TOP/s")
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}")
        said = ", ".join(f"{_kinds(r)} {text.number(r.tflops)} TFLOP/s" for r in found)
        return finish(
            canvas,
            _key("roofline", column, state),
            f"Roofline, {state}, {column.label}",
            f"Reads of memory {text.number(data.bandwidth)} GB/s ({data.bandwidth_name}); measured roofs: "
            f"{said}. {len(data.points)} kernels at their arithmetic intensity.",
            f"Solid: measured, {state}: instructions, and reads of memory. {_peaks(column, found)}Dots: kernels, {state}, "
            "each tensor counted once as traffic.",
        )


def _peaks(column: Column, found: list[roofs.Roof]) -> str:
    """What dashed and dotted lines are, with the figures of bf16, else of the highest roof that has both."""
    both = [r for r in found if r.datasheet and r.at_highest_clock]
    roof = next((r for r in both if "bf16" in (r.kind, *r.also)), both[0] if both else None)
    sheet = f", {_kinds(roof)} {text.number(roof.datasheet)}" if roof else ""
    said = f"Dashed: datasheet, at its boost clock{sheet}. " if any(r.datasheet for r in found) else ""
    top = next((r for r in ([roof] if roof else found) if r.at_highest_clock), None)
    if top is None:
        return said
    clock = (column.run.gpu or {})["sm_clock_max_mhz"]
    of_all = f"{column.sm_count} SMs at the highest clock, {clock:.0f} MHz"
    return f"{said}Dotted: the limit of {of_all}, {_kinds(top)} {text.number(top.at_highest_clock)}. "


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
            _key("peak", column, state),
            f"Where the bf16 peak went, {state}, {column.label}",
            f"TFLOP/s: {said}.",
            f"TFLOP/s, and the share of the first bar. Filled: measured, {state}. Dashed: the datasheet, or the limit per "
            "clock times a clock. Of GEMMs the fastest shape is shown.",
        )


MOST = 4  # runs that are drawn


def overview(book: Book) -> list[Figure]:
    """The figures that belong to no one family, of the first runs that have some."""

    def made(column: Column) -> list[Figure]:
        makers = [lambda draw=draw, s=s: draw(book, column, s) for s in STATES for draw in (roofline, waterfall)]
        found = (guard.made("The shape of the machine", make, lambda said: None) for make in makers)
        return [f for f in found if f]

    drawn = [found for column in book.columns if (found := made(column))]
    return [figure for found in drawn[:MOST] for figure in found]
