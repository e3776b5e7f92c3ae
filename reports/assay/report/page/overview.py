# SPDX-License-Identifier: Apache-2.0
"""The shape of the machine: rooflines from measured roofs, and where the peak went.

Solid is measured, dashed published, dotted calculated from the limit per clock. Lines are labelled where they end. What
is sustained and what is a burst have figures of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..block.tables import who
from ..book import labels, roofs, text
from ..book.model import BURST, STATES, Book, Column
from ..draw import placing
from ..draw.svg import INK, MUTED, PAPER, SERIES, Data, Figure, axes, color_of, finish, log_labels, name_dot
from . import guard

KIND_LABELS = {"e4m3": "fp8", "s8": "int8", "f32": "FFMA"}
NAMED = 8  # dots
DASHED, DOTTED = ({"lw": 0.9, "ls": (0, on_off)} for on_off in ((4, 3), (1, 2)))


def _kinds(roof: roofs.Roof) -> str:
    return ", ".join(KIND_LABELS.get(kind, kind) for kind in [roof.kind, *roof.also])


def _key(name: str, column: Column, state: str) -> str:
    return f"{name}{column.index}" if state == BURST else f"{name}-{state}{column.index}"


def roofline(book: Book, column: Column, state: str) -> Figure | None:
    data = roofs.roofline(book, column, state)
    if data is None:
        return None
    found, slope = data.roofs, data.bandwidth * 1e-3  # TFLOP/s per FLOP/byte
    left, right = 0.5, max([8192, *(1.5 * p.intensity for p in data.points)])
    with axes(3.7) as (canvas, ax):
        ax.set(xscale="log", yscale="log", xlim=(left, right))
        top = max(r.at_highest_clock or r.datasheet or r.tflops for r in found)
        bottom = min([left * slope * 0.8, *(p.tflops * 0.7 for p in data.points)])
        ax.set_ylim(bottom, top * 1.9)
        lines = [[(left, left * slope), (found[0].tflops / slope, found[0].tflops)]]
        ax.plot(*zip(*lines[0]), color=INK)
        for roof in found:
            color = color_of(roof.kind)
            for height, start, style in (
                (roof.tflops, roof.tflops / slope, {}),
                (roof.datasheet, (roof.datasheet or 0) / ((data.datasheet_bandwidth or data.bandwidth) * 1e-3), DASHED),
                (roof.at_highest_clock, (roof.at_highest_clock or 0) / slope, DOTTED),
            ):
                if height:
                    lines.append([(start, height), (right, height)])
                    ax.plot(*zip(*lines[-1]), color=color, **style)
        if data.datasheet_bandwidth:
            end, wide = max(r.datasheet or 0 for r in found) or top, data.datasheet_bandwidth * 1e-3
            lines.append([(left, left * wide), (end / wide, end)])
            ax.plot(*zip(*lines[-1]), color=MUTED, **DASHED)
        for point in data.points:
            color = color_of(point.kind)
            ax.plot(point.intensity, point.tflops, "o", ms=5, color=color, mec=PAPER, mew=0.7, ls="none")
        log_labels(
            ax,
            [r.tflops for r in found],
            right,
            [color_of(r.kind) for r in found],
            0.2,
            [f"{_kinds(r)} {text.number(r.tflops)}" for r in found],
        )
        ax.set(xlabel="FLOP per byte of DRAM traffic", ylabel="TFLOP/s, of integers TOP/s")
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        ax.yaxis.set_major_formatter(lambda v, _: f"{v:,.0f}".replace(",", text.THIN) if v >= 1 else f"{v:g}")
        canvas.get_layout_engine().execute(canvas)
        room = placing.room_of(ax, lines, [(p.intensity, p.tflops) for p in data.points])
        memory = [(3, 3 * slope, f"{text.number(slope)} TB/s", INK)]
        dots = [(p.intensity, p.tflops, words, color_of(p.kind)) for words, p in _named(data.points)]
        for x, y, words, color in memory + dots:
            name_dot(ax, room, x, y, words, color)
        said = ", ".join(f"{_kinds(r)} {text.number(r.tflops)}" for r in found)
        return finish(
            canvas,
            _key("roofline", column, state),
            f"Roofline, {state}{who(book, column)}",
            f"{_reached(data)}Reads of memory {text.number(data.bandwidth)} GB/s ({data.bandwidth_name}); measured roofs "
            f"in TFLOP/s, of integers TOP/s: {said}. {len(data.points)} kernels at their arithmetic intensity.",
            f"{_reached(data)}Solid: measured, {state}. {_peaks(column, found)}",
            Data(
                ["what", "type", "FLOP per byte", "TFLOP/s, of integers TOP/s", "datasheet", "at the highest clock"],
                [
                    *(["roof", _kinds(r), None, r.tflops, r.datasheet, r.at_highest_clock] for r in found),
                    *([f"{p.label} {p.shape}", p.kind, p.intensity, p.tflops, None, None] for p in data.points),
                ],
            ),
        )


def _reached(data: roofs.Roofline) -> str:
    """The kernel that comes nearest to its roof, in a sentence."""
    heights = {kind: roof.tflops for roof in data.roofs for kind in (roof.kind, *roof.also)}
    near = [
        (p.tflops / min(heights[p.kind], 1e-3 * data.bandwidth * p.intensity), p)
        for p in data.points
        if p.kind in heights
    ]
    if not near:
        return ""
    share, point = max(near, key=lambda entry: entry[0])
    return f"{_what(point)[:1].upper()}{_what(point)[1:]} {point.shape} reaches {text.percent(share)} of its roof. "


def _what(point: roofs.Point) -> str:
    operation = "GEMM" if point.label == "gemm" else labels.words(point.label)
    return f"{operation} {KIND_LABELS.get(point.kind, point.kind)}"


def _named(points: list[roofs.Point]) -> list[tuple[str, roofs.Point]]:
    """(words, dot): of each kind of kernel the fastest and the slowest; of many kinds the fastest alone, at most NAMED."""
    groups: dict[tuple[str, str], list[roofs.Point]] = {}
    for point in sorted(points, key=lambda p: -p.tflops):
        groups.setdefault((point.label, point.kind), []).append(point)
    found = []
    for of_group in groups.values():
        found.append((f"{_what(of_group[0])} {of_group[0].shape}", of_group[0]))
        if len(of_group) > 1 and 2 * len(groups) <= NAMED:
            found.append((f"{_what(of_group[-1])} {of_group[-1].shape}", of_group[-1]))
    return found[:NAMED]


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
            f"Where the bf16 peak went, {state}{who(book, column)}",
            f"{_lost(steps)} In TFLOP/s: {said}.",
            f"{_lost(steps)} Beside each bar: TFLOP/s, and the share of the first. Filled: measured. Dashed: the "
            "datasheet, or the limit per clock times a clock.",
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
        makers = [lambda draw=draw, s=s: draw(book, column, s) for s in states for draw in (roofline, waterfall)]
        found = (guard.made("The shape of the machine", make, lambda said: None) for make in makers)
        return [f for f in found if f]

    drawn = [found for column in book.columns if (found := made(column))]
    return [figure for found in drawn[:MOST] for figure in found]
