# SPDX-License-Identifier: Apache-2.0
"""A roofline from measured roofs, with the kernels under it by name.

Solid is measured, dashed published, dotted calculated from the limit per clock. Lines are labelled where they end. Kernels
of a suite stand so close together that a second picture names them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..block.tables import who
from ..book import identity, labels, roofs, text
from ..book.model import BURST, Book, Column
from ..draw import placing
from ..draw.svg import GRID, INK, MUTED, PAPER, Data, Figure, axes, color_of, finish, log_labels, name_dot, put_ticks, spread

KIND_LABELS = {"e4m3": "fp8", "s8": "int8", "f32": "FFMA"}
RATE = "TFLOP/s, of integers TOP/s"
UNDER_ROOF = "Kernels under their roof"
MOST_ROWS = 16  # of kernels
FEW = 3  # kernels that the roofline alone shows
NAME = 8  # units of height of such a name
AIR = 60  # units right of the axes, where roofs have their names
DASHED, DOTTED = ({"lw": 0.9, "ls": (0, on_off)} for on_off in ((4, 3), (1, 2)))
Line = list[tuple[float, float]]


def _kinds(roof: roofs.Roof) -> str:
    return ", ".join(KIND_LABELS.get(kind, kind) for kind in [roof.kind, *roof.also])


def key_of(name: str, column: Column, state: str) -> str:
    return f"{name}{column.index}" if state == BURST else f"{name}-{state}{column.index}"


def roofline(book: Book, column: Column, state: str) -> Figure | None:
    data = roofs.roofline(book, column, state)
    if data is None:
        return None
    with axes(3.7) as (canvas, ax):
        lines = _lines(ax, data)
        canvas.get_layout_engine().execute(canvas)
        room = placing.room_of(ax, lines, [(p.intensity, p.tflops) for p in data.points])
        slope = data.bandwidth * 1e-3
        name_dot(ax, room, 3, 3 * slope, f"{text.number(slope)} TB/s", INK)
        _name_dots(ax, room, data)
        said = ", ".join(f"{_kinds(r)} {text.number(r.tflops)}" for r in data.roofs)
        return finish(
            canvas,
            key_of("roofline", column, state),
            f"Roofline, {state}{who(book, column)}",
            f"{_reached(data)}Reads of memory {text.number(data.bandwidth)} GB/s ({data.bandwidth_name}); measured roofs "
            f"in TFLOP/s, of integers TOP/s: {said}. {len(data.points)} kernels at their arithmetic intensity.",
            f"{_reached(data)}Solid: measured, {state}. {_peaks(column, data.roofs)}{_dots(column, data.points)}",
            Data(
                ["what", "type", "FLOP per byte", RATE, "datasheet", "at the highest clock"],
                [
                    *(["roof", _kinds(r), None, r.tflops, r.datasheet, r.at_highest_clock] for r in data.roofs),
                    *([f"{p.label} {p.shape}", p.kind, p.intensity, p.tflops, None, None] for p in data.points),
                ],
            ),
        )


def _name_dots(ax: Any, room: placing.Room, data: roofs.Roofline) -> None:
    """Their names stand upright in a row below all dots, from left to right as the dots do, a line up to each: of more than
    have a row the fastest and the slowest of each kind."""
    chosen = sorted(_shown(data.points), key=lambda p: (p.intensity, p.tflops))
    if not chosen:
        return
    one = len({_what(p) for p in data.points}) == 1  # the note says what all are
    named = {id(p): p.shape if one else f"{_what(p)} {p.shape}" for p in chosen}
    top = _top_of_names(ax, data, min(p.tflops for p in chosen), max(placing.width(said, NAME) for said in named.values()))
    at = [float(ax.transData.transform((p.intensity, p.tflops))[0]) for p in chosen]
    back = ax.transData.inverted().transform
    slope = 1e-3 * data.bandwidth  # of the roof that rises, right of which the row stands
    left = float(ax.transData.transform((back((0, top))[1] / slope, 1))[0])
    row = _in_a_row(at, left + 2 * NAME, room.bounds[2] + AIR - NAME)
    for point, x in zip(chosen, row):
        color = color_of(point.kind)
        ax.plot(*zip((point.intensity, point.tflops), back((x, top + 2))), color=color, lw=0.5, clip_on=False)
        place = {"ha": "center", "va": "top", "rotation": 90, "fontsize": NAME, "annotation_clip": False}
        ax.annotate(named[id(point)], back((x, top)), color=color, **place)


def _top_of_names(ax: Any, data: roofs.Roofline, lowest: float, high: float) -> float:
    """Where names that are so high begin: below the dots, and where no roof crosses them."""
    heights = [h for r in data.roofs for h in (r.tflops, r.datasheet, r.at_highest_clock) if h]
    lines = [float(ax.transData.transform((1, h))[1]) for h in (lowest, *heights)]
    below = sorted((y - 2 * NAME for y in lines if y <= lines[0]), reverse=True)
    return next((top for top in below if not any(top - high < y < top + NAME for y in lines)), below[-1])


def _in_a_row(at: list[float], left: float, right: float) -> list[float]:
    """Places at least a name's height apart, as near to `at` as the room between the two allows; `at` ascends."""
    apart = 1.25 * NAME
    row = spread(at, apart)
    row = [x - max(0.0, (sum(row) - sum(at)) / len(at)) for x in row]
    row = [x - max(0.0, row[-1] - right) for x in row]
    return [x + max(0.0, left - row[0]) for x in row]


def _lines(ax: Any, data: roofs.Roofline) -> list[Line]:
    """Draws roofs and dots; returns the lines."""
    found, slope = data.roofs, data.bandwidth * 1e-3  # TFLOP/s per FLOP/byte
    left, right = 0.5, max([8192, *(1.5 * p.intensity for p in data.points)])
    ax.set(xscale="log", yscale="log", xlim=(left, right))
    top = max(r.at_highest_clock or r.datasheet or r.tflops for r in found)
    bottom = min([left * slope * 0.8, *(p.tflops * 0.7 for p in data.points)])
    ax.set_ylim(bottom, top * 1.9)
    lines: list[Line] = [[(left, left * slope), (found[0].tflops / slope, found[0].tflops)]]
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
    _plot(ax, data.points, 4)
    log_labels(
        ax,
        [r.tflops for r in found],
        right,
        [color_of(r.kind) for r in found],
        0.2,
        [f"{_kinds(r)} {text.number(r.tflops)}" for r in found],
    )
    ax.set(xlabel="FLOP per byte of DRAM traffic", ylabel=RATE)
    ax.xaxis.set_major_formatter(lambda v, _: text.number(v))
    ax.yaxis.set_major_formatter(lambda v, _: text.number(v))
    return lines


def _plot(ax: Any, points: list[roofs.Point], size: float) -> None:
    for point in points:
        color = color_of(point.kind)
        ax.plot(point.intensity, point.tflops, "o", ms=size, color=color, mec=PAPER, mew=0.7, ls="none")


def under_roof(book: Book, column: Column, state: str) -> Figure | None:
    """The kernels of the roofline by name, each on the way to its roof; None where the roofline names them."""
    data = roofs.roofline(book, column, state)
    if data is None or len(data.points) <= FEW:
        return None
    shown = _shown(data.points)
    with axes(0.1 + 0.14 * len(shown)) as (canvas, ax):
        _rows(ax, data, shown)
        kinds = list(dict.fromkeys(_what(p) for p in data.points))
        of = f"a {kinds[0]} of m×n×k" if len(kinds) == 1 else "a kernel"
        of = of if len(shown) == len(data.points) else "the fastest or the slowest kernel of a kind"
        rate = RATE if any(p.kind == "s8" for p in shown) else "TFLOP/s"
        said = "; ".join(f"{_what(p)} {p.shape} {text.number(p.tflops)}" for p in shown)
        return finish(
            canvas,
            key_of("under-roof", column, state),
            f"{UNDER_ROOF}, {state}{who(book, column)}",
            f"{_reached(data)}In TFLOP/s, of integers TOP/s: {said}.",
            f"Each row is {of}, from the left-most dot of the roofline down, with {rate} and the share of its roof, the mark. "
            f"{identity.of_commits([column.run])}",
            Data(
                ["kernel", "type", "FLOP per byte", RATE, "its roof"],
                [[f"{p.label} {p.shape}", p.kind, p.intensity, p.tflops, _roof_of(data, p)] for p in shown],
            ),
        )


def _rows(ax: Any, data: roofs.Roofline, shown: list[roofs.Point]) -> None:
    end = max(_roof_of(data, p) or p.tflops for p in shown)
    for y, point in enumerate(shown):
        color, roof = color_of(point.kind), _roof_of(data, point)
        if roof:
            ax.plot([0, roof], [y, y], color=GRID, lw=0.8)
            ax.plot([roof, roof], [y - 0.35, y + 0.35], color=color, lw=1.6)
        ax.plot(point.tflops, y, "o", ms=5, color=color, mec=PAPER, mew=0.7)
        words = f"{text.number(point.tflops)} · {text.percent(point.tflops / roof)}" if roof else text.number(point.tflops)
        right = max(point.tflops, roof or 0)
        ax.annotate(words, (right, y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8.5)
    one = len({_what(p) for p in data.points}) == 1
    names = [p.shape if one else f"{_what(p)} {p.shape}" for p in shown]
    put_ticks(ax.yaxis, range(len(shown)), names)
    ax.set(ylim=(len(shown) - 0.4, -0.6), xlim=(0, 1.35 * end))
    ax.grid(False)
    put_ticks(ax.xaxis, [])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", labelcolor=INK, labelsize=8.5)


def _roof_of(data: roofs.Roofline, point: roofs.Point) -> float | None:
    """What a kernel of its type and intensity can reach at most, as measured; None where its type was not."""
    height = next((r.tflops for r in data.roofs if point.kind in (r.kind, *r.also)), None)
    return height and min(height, 1e-3 * data.bandwidth * point.intensity)


def _shown(points: list[roofs.Point]) -> list[roofs.Point]:
    """In the order of the picture, from the left: all, or of many the fastest and the slowest of each kind."""
    chosen = points
    if len(points) > MOST_ROWS:
        groups: dict[tuple[str, str], list[roofs.Point]] = {}
        for point in sorted(points, key=lambda p: -p.tflops):
            groups.setdefault((point.label, point.kind), []).append(point)
        chosen = [p for of_group in groups.values() for p in (of_group[0], *of_group[1:][-1:])]
        if len(chosen) > MOST_ROWS:
            chosen = [of_group[0] for of_group in groups.values()][:MOST_ROWS]
    return sorted(chosen, key=lambda p: (p.intensity, p.tflops))


def _dots(column: Column, points: list[roofs.Point]) -> str:
    """What the dots are, and of which commit: kernels get faster from one to the next."""
    if not points:
        return ""
    counts = Counter(_what(p) for p in points)
    said = ", ".join(f"{text.counted(n, 'shape')} of {what}" for what, n in counts.items())
    named = "" if len(_shown(points)) == len(points) else ", the fastest and the slowest of each kind by name"
    return f"Dots: {said}{named}. {identity.of_commits([column.run])}"


def _reached(data: roofs.Roofline) -> str:
    """The kernel that comes nearest to its roof, in a sentence."""
    near = [(p.tflops / roof, p) for p in data.points if (roof := _roof_of(data, p))]
    if not near:
        return ""
    share, point = max(near, key=lambda entry: entry[0])
    return f"The {_what(point)} {point.shape} reaches {text.percent(share)} of its roof. "


def _what(point: roofs.Point) -> str:
    """ "bf16 GEMM"."""
    operation = "GEMM" if point.label == "gemm" else labels.words(point.label)
    return f"{KIND_LABELS.get(point.kind, point.kind)} {operation}"


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


