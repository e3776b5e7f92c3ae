# SPDX-License-Identifier: Apache-2.0
"""Curves with their names at their ends: latency over footprint, bandwidth over bytes in flight, cycles over threads."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.files import Interval, Series

from ..book import labels, text
from .svg import INK, MUTED, PAPER, SERIES, Data, Figure, axes, finish, put_ticks, spread

MOST_DOTS = 120  # on one line
MOST_LINES = len(SERIES)  # of one panel
BANDS = "Bands: 95% intervals of the points' medians, within the run."
NAME_WIDTH = 24  # characters of a line's name until it goes on below: more would leave the axes no room


@dataclass
class Line:
    label: str
    points: list[tuple[float, float]]
    marks: list[tuple[float, float]] = field(default_factory=list)  # knees: drawn as hollow rings
    ends: dict[float, Interval] = field(default_factory=dict)  # the 95% intervals of points that have one, by place

    def with_values(self, of: Callable[[float, float], float]) -> Line:
        """The line with other values, made of place and value; the ends of its intervals go with them."""
        ends = {x: tuple(sorted(of(x, end) for end in pair)) for x, pair in self.ends.items()}
        return replace(self, points=[(x, of(x, y)) for x, y in self.points], ends=ends)

    def interval(self, x: float) -> tuple[float, float]:
        return self.ends.get(x, (math.nan, math.nan))


@dataclass(frozen=True)
class Axis:
    """What an axis says, whether it is logarithmic (`base` 2 or 10), and whether its places are bytes."""

    label: str
    base: int | None = None
    bytes: bool = False


def lines_of(series: Series | None, name: str = "") -> list[Line]:
    """A series over numbers is one line; over words (or numbers) and numbers one for each place of its first axis."""
    if series is None:
        return []
    if len(series.axes) == 1:
        points = [(float(x), y) for x, y in series.curve if not isinstance(x, str)]
        ends = ends_by_place(series.axes[0].points, series.intervals)
        return [Line(name or labels.quantity(series.name), points, ends=ends)] if points else []
    if len(series.axes) != 2 or any(isinstance(x, str) for x in series.axes[1].points):
        return []
    found = []
    for place, values, intervals in zip(series.axes[0].points, series.grid, series.intervals):
        points = [(float(x), float(y)) for x, y in zip(series.axes[1].points, values) if y == y]
        if points:
            label = labels.words(place) if isinstance(place, str) else f"{place:g}"
            found.append(Line(f"{name} {label}".strip(), points, ends=ends_by_place(series.axes[1].points, intervals)))
    return found


def ends_by_place(points: Sequence[float | str], intervals: Any) -> dict[float, Interval]:
    """The intervals of the points that have one."""
    known = zip(points, intervals.tolist())
    return {float(x): (low, high) for x, (low, high) in known if not isinstance(x, str) and low == low}


def _ticks(low: float, high: float, base: int) -> list[float]:
    """At most seven powers of the base between the two."""
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    return [float(base) ** e for e in range(first, last + 1, max(1, math.ceil((last - first) / 6)))]


def draw(
    key: str,
    title: str,
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    note: str = "",
    levels: Sequence[tuple[float, float, float, str]] = (),
    limit: tuple[float, str] | None = None,
    height: float = 3.2,
    from_zero: bool = True,
) -> Figure | None:
    """The lines, each labelled where it ends; None without one of two points.

    `levels` are plateaus by name: (from x, to x, y, words). `limit` is drawn dashed across. Intervals are bands.
    """
    of_data = [line for line in lines if len(line.points) > 1]
    groups = _groups(of_data)
    lines = [line for group in groups for line in group]
    if not lines:
        return None
    if y.base and min(line.points[-1][1] for line in lines) <= 0:
        y = replace(y, base=None)  # a line that ends at nothing has no place for its name
    with axes(height + 2.0 * (len(groups) - 1), panels=(len(groups), 1)) as (canvas, panels):
        for ax, of_panel in zip(panels.flat if len(groups) > 1 else [panels], groups):
            _scales(ax, lines, x, y)
            for i, line in enumerate(of_panel):
                ax.plot(*zip(*line.points), color=SERIES[i], **_dots(line))
                band(ax, line, SERIES[i])
                if line.marks:
                    ax.plot(*zip(*line.marks), "o", ms=8, mfc="none", mec=SERIES[i], mew=1.4)
            _levels(ax, levels, x)
            if limit:
                first, *_, last = sorted(p for line in lines for p, _ in line.points)
                ax.plot([first, last], [limit[0]] * 2, color=MUTED, lw=0.9, ls=(0, (4, 3)))  # names stand behind it
                ax.annotate(
                    limit[1],
                    (first, limit[0]),
                    xytext=(0, 3),
                    textcoords="offset points",
                    fontsize=8.5,
                    color=MUTED,
                    bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
                )
            tops = [v for line in lines for _, v in line.points] + [at for _, _, at, _ in levels]
            tops += [end for line in lines for x, _ in line.points for end in line.ends.get(x, ())]
            if not y.base:
                top = max([*tops, limit[0] if limit else 0]) * 1.1
                ax.set_ylim(0 if from_zero and min(tops) >= 0 else None, top or 1)
            if len(lines) > 1:
                heading, named = _headed(of_panel)
                if heading:
                    ax.set_title(heading, fontsize=9, color=INK)
                _name_ends(ax, named, y)
            ax.xaxis.set_major_formatter(lambda v, _: text.size(v) if x.bytes else text.number(v))
            ax.yaxis.set_major_formatter(lambda v, _: text.number(v))
            ax.set(ylabel=y.label)
        ax.set(xlabel=x.label)
        note = f"{note}{banded(lines)}".strip()
        return finish(canvas, key, title, _in_words(lines, x, y, levels), note, _data(of_data, x, y))


def _groups(lines: Sequence[Line]) -> list[Sequence[Line]]:
    """The lines of each panel, those that lie on each other as one. More than MOST_LINES are several panels: by what their
    names begin or end with, "relaxed, 2 CTAs", where that makes few enough, else as even as may be."""
    merged = _merged(lines)
    count = math.ceil(len(merged) / MOST_LINES)
    if count < 2:
        return [merged] if merged else []
    for end in (0, -1):
        by_part: dict[str, list[Line]] = {}
        for line in lines:
            by_part.setdefault(line.label.split(", ")[end], []).append(line)
        parts = [_merged(of_part) for of_part in by_part.values()]
        if 1 < len(parts) <= count + 1 and max(map(len, parts)) <= MOST_LINES:
            return parts
    size = math.ceil(len(merged) / count)
    return [merged[i : i + size] for i in range(0, len(merged), size)]


def _scales(ax: Any, lines: Sequence[Line], x: Axis, y: Axis) -> None:
    """The same for every panel."""
    xs = [p for line in lines for p, _ in line.points]
    if x.base and min(xs) > 0:
        ax.set_xscale("log", base=x.base)
        put_ticks(ax.xaxis, _ticks(min(xs), max(xs), x.base))
    if y.base:
        _logarithmic(ax, [v for line in lines for _, v in line.points])


def _levels(ax: Any, levels: Sequence[tuple[float, float, float, str]], x: Axis) -> None:
    for i, (begin, end, at, words) in enumerate(levels):
        near = i > 0 and abs(at / levels[i - 1][2] - 1) < 0.2  # its name goes below, that of the last is above
        ax.plot([begin, end], [at, at], color=INK, lw=0.8)
        ax.annotate(
            words,
            (math.sqrt(begin * end) if x.base else (begin + end) / 2, at),
            xytext=(0, -12 if near else 5),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.5, "alpha": 0.7},
        )


def _data(lines: Sequence[Line], x: Axis, y: Axis) -> Data:
    across = f"{x.label}, bytes" if x.bytes and "bytes" not in x.label else x.label
    head = ["line", across, y.label]
    if not any(line.ends for line in lines):
        return Data(head, [[line.label, *point] for line in lines for point in line.points])
    rows = [[line.label, *point, *line.interval(point[0])] for line in lines for point in line.points]
    return Data([*head, "low", "high"], rows)


def _dots(line: Line) -> dict[str, Any]:
    """A dot for each point, unless they would touch."""
    return {"marker": "o", "ms": 2.5, "mec": PAPER, "mew": 0.3} if len(line.points) <= MOST_DOTS else {}


def banded(lines: Iterable[Line]) -> str:
    """What a note says of the bands, if there are any."""
    return f" {BANDS}" if any(line.ends for line in lines) else ""


def band(ax: Any, line: Line, color: str) -> None:
    """The intervals behind the line; a bar at each point too, which shows one whose neighbours have none."""
    if not line.ends:
        return
    xs = [x for x, _ in line.points]
    low, high = zip(*(line.interval(x) for x in xs))
    ax.fill_between(xs, low, high, color=color, alpha=0.18, lw=0)
    ax.vlines(xs, low, high, color=color, lw=2.4, alpha=0.4)


def _logarithmic(ax: object, values: list[float]) -> None:
    """A logarithmic y axis with whole decades as its ticks, or 1, 2 and 5 of each where there are few."""
    ax.set_yscale("log")
    low, high = min(v for v in values if v > 0), max(values)
    ax.set_ylim(low / 1.15, high * 1.15)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if len(decades) > 4 else (1, 2, 5)
    put_ticks(ax.yaxis, [t for d in decades for s in steps if low / 1.15 <= (t := s * 10.0**d) <= high * 1.15])


def _merged(lines: Sequence[Line], close: float = 0.015) -> list[Line]:
    """Lines that lie on each other as one that bears their names: of two, one would hide the other."""
    kept: list[Line] = []
    names: list[list[str]] = []
    for line in lines:
        for other, of_other in zip(kept, names):
            same = [p for p, _ in line.points] == [p for p, _ in other.points] and not line.marks and not other.marks
            if same and all(
                abs(a - b) <= close * max(abs(a), abs(b)) for (_, a), (_, b) in zip(line.points, other.points)
            ):
                of_other.append(line.label)
                break
        else:
            kept.append(replace(line))
            names.append([line.label])
    return [replace(line, label=together(of_line)) for line, of_line in zip(kept, names)]


def together(names: Sequence[str]) -> str:
    """The names of lines as one: "relaxed, 8 CTAs" and "relaxed, 16 CTAs" are "relaxed, 8 CTAs, 16 CTAs"."""
    parts = [name.split(", ") for name in names]
    shared = _shared(parts)
    rest = [", ".join(part[shared:]) for part in parts]
    return ", ".join(parts[0][:shared]) + (", " if shared else "") + ("; " if any("," in r for r in rest) else ", ").join(rest)


def _shared(parts: Sequence[Sequence[str]]) -> int:
    """How many of their first parts all names have, one part of each left over."""
    most = min(map(len, parts)) - 1 if len(parts) > 1 else 0
    return next((i for i in range(most) if len({part[i] for part in parts}) > 1), most)


def _headed(lines: Sequence[Line]) -> tuple[str, Sequence[Line]]:
    """What the names of a panel's lines begin or end with, as its heading, and the lines without it: said once."""
    parts = [line.label.split(", ") for line in lines]
    first = _shared(parts)
    last = _shared([part[first:][::-1] for part in parts])
    heading = ", ".join([*parts[0][:first], *parts[0][len(parts[0]) - last :]])
    return heading, [
        replace(line, label=", ".join(part[first : len(part) - last])) for line, part in zip(lines, parts)
    ]


def _name_ends(ax: object, lines: Sequence[Line], y: Axis) -> None:
    """The names of the lines behind their last points, apart from each other."""
    low, high = ax.get_ylim()
    ends = [line.points[-1][1] for line in lines]
    right = max(line.points[-1][0] for line in lines)
    # In shares of the axis' height; moved apart around where they end, and kept below its top.
    span = math.log(high / low) if y.base else high - low
    at = [(math.log(end / low) if y.base else end - low) / span for end in ends]
    names = [textwrap.wrap(line.label, NAME_WIDTH, break_long_words=False) for line in lines]
    apart = spread(at, 0.062, [len(name) for name in names])
    down = max(sum(apart) / len(at) - sum(at) / len(at), max(apart) - 1.03)
    for i, (name, share) in enumerate(zip(names, apart)):
        place = low * math.exp((share - down) * span) if y.base else low + (share - down) * span
        ax.annotate(
            "\n".join(name),
            (right, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=SERIES[i],
            annotation_clip=False,
        )


def _in_words(lines: Sequence[Line], x: Axis, y: Axis, levels: Sequence[tuple[float, float, float, str]]) -> str:
    def place(value: float) -> str:
        return text.size(value) if x.bytes else f"{value:g}"

    said = [
        f"{line.label}: from {text.number(line.points[0][1])} at {place(line.points[0][0])} to "
        f"{text.number(line.points[-1][1])} at {place(line.points[-1][0])}"
        for line in lines
    ]
    said += [f"{words} from {place(begin)} to {place(end)}" for begin, end, _, words in levels]
    return f"{_finding(lines, y)} {y.label} over {x.label}: {'; '.join(said)}."


def _finding(lines: Sequence[Line], y: Axis) -> str:
    """Which line ends highest and which lowest; of one line between what it lies."""
    if len(lines) == 1:
        values = [v for _, v in lines[0].points]
        return f"{_unit_words(y)} between {text.number(min(values))} and {text.number(max(values))}."
    ends = sorted(((line.points[-1][1], line.label) for line in lines), key=lambda end: end[0])
    (low, lowest), (high, highest) = ends[0], ends[-1]
    unit = "" if "," in y.label or y.label.startswith("share") else f" {y.label}"
    if text.number(low) == text.number(high):
        return f"All {len(ends)} lines end at {text.number(high)}{unit}."
    return f"The line of {highest} ends highest, at {text.number(high)}{unit}, and that of {lowest} lowest, at {text.number(low)}."


def _unit_words(y: Axis) -> str:
    """ "Cycles lie", "The value in ns lies"."""
    if re.search(r"[/%µ]|^ns$", y.label):
        return f"The value in {y.label} lies"
    several = re.match(r"[a-z]+s\b", y.label)
    return f"{y.label[:1].upper()}{y.label[1:]} {'lie' if several else 'lies'}"
