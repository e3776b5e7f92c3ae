# SPDX-License-Identifier: Apache-2.0
"""Matplotlib figures as SVG that belongs to the page: its fonts, its colours in light and dark, its ids.

Figures are drawn with one stand-in colour per role; the SVG then names the page's CSS variables instead, so that one
drawing serves the light page, the dark page and print.
"""

from __future__ import annotations

import html
import io
import itertools
import math
import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assay import plotting
from assay.plain_text import one_line, printable

from . import placing

# Role -> stand-in. The CSS variables of the same names are in templates/style.css.j2.
INK, MUTED, GRID, PAPER = "#0a0b01", "#0a0b02", "#0a0b03", "#0a0b04"
SERIES = ["#0a0b11", "#0a0b12", "#0a0b13", "#0a0b14", "#0a0b15", "#0a0b16"]
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--line",
    PAPER: "--paper",
    **{stand_in: f"--series{i + 1}" for i, stand_in in enumerate(SERIES)},
}

WIDTH = 5.2  # inches; 374 SVG units, about the width of a phone, so that 9-unit text is legible there
LONGEST_TEXT = 120  # characters of a line in a figure
DPI = 72  # what SVG has, whatever is asked for
STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may hold a dollar sign
    "svg.hashsalt": "assay",  # ids that are the same each time
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.bottom": False,  # no ticks, just their labels; of these, as far from the axis as of ticks without a length
    "ytick.left": False,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "axes.labelsize": 9,
    "axes.titley": 1,  # else every title is placed by the labels of all ticks
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
}


@dataclass
class Data:
    """What a picture was drawn from, as rows of a table."""

    head: list[str]
    rows: list[list[Any]]


@dataclass
class Figure:
    """An SVG with its words: a title, what it shows for those who cannot see it, and a note under it."""

    key: str
    title: str
    description: str
    svg: str
    note: str = ""
    data: Data | None = None


@lru_cache(maxsize=1)
def _measure_each_text_once() -> None:
    """Matplotlib forgets with each figure how wide a text is, and most have the same ticks: a tenth of a report's
    time. How high a font is it reads from the font's tables for every text; since 3.11 it asks the renderer first."""
    plotting.load()
    from matplotlib.backends.backend_svg import RendererSVG
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.textpath import TextToPath

    measure = TextToPath.get_text_width_height_descent
    known: dict[tuple[Any, ...], Any] = {}

    def measured(self: Any, words: str, font: Any, ismath: Any) -> Any:
        key = words, hash(font), ismath  # a font's hash is of all that it is, and changes with it
        if key not in known:
            known[key] = measure(self, words, font, ismath)
        return known[key]

    TextToPath.get_text_width_height_descent = measured
    heights: dict[int, tuple[float, float, float]] = {}

    def height(_: Any, font: Any) -> tuple[float, float, float]:
        """(above the line, below it, between lines), in points, as the font's designer wants them."""
        if hash(font) not in heights:
            face = get_font(findfont(font))
            said, point = face.get_sfnt_table("OS/2"), font.get_size_in_points() / face.get_sfnt_table("head")["unitsPerEm"]
            ends = said["sTypoAscender"], -said["sTypoDescender"], said["sTypoLineGap"]
            heights[hash(font)] = tuple(point * end for end in ends)
        return heights[hash(font)]

    RendererSVG._get_font_height_metrics = height


@contextmanager
def axes(height: float, width: float = WIDTH, panels: tuple[int, int] = (1, 1)) -> Any:
    """(figure, axes) in the page's style; of several panels, (rows, columns), an array of axes. Matplotlib is imported here,
    when a figure is first drawn."""
    plotting.load()
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    from .layout import OneLook

    _measure_each_text_once()
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(figsize=(width, height), dpi=DPI, layout=OneLook())
        FigureCanvasSVG(canvas)  # so that texts are measured as they will be set
        yield canvas, canvas.subplots(*panels, sharex="col", sharey="row")


def seen(svg: str) -> str:
    """The picture with all characters of its texts that are not seen as themselves written as escapes."""
    return "\n".join(map(printable, svg.split("\n")))


def put_ticks(axis: Any, positions: Iterable[float], words: Sequence[str] | None = None) -> None:
    """Ticks at these positions alone, with these words. Matplotlib's own way makes five artists of each; ours are drawn when
    the figure is laid out."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axis.set_major_locator(FixedLocator(list(positions)))
    axis.set_minor_locator(NullLocator())
    if words is not None:
        axis.set_major_formatter(FixedFormatter(list(map(printable, words))))


def _texts(canvas: Any) -> list[Any]:
    """What was written into the figure, but for the ticks: these are set when they are drawn."""
    of_axes = [(*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label) for ax in canvas.axes]
    return [*canvas.texts, *itertools.chain(*of_axes)]


def finish(canvas: Any, key: str, title: str, description: str, note: str, data: Data) -> Figure:
    """Renders the figure, whose file holds `data`. Must be called inside `axes`."""
    title, description = one_line(title), one_line(description)
    for artist in _texts(canvas):
        artist.set_text("\n".join(one_line(line, LONGEST_TEXT) for line in artist.get_text().split("\n")))
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of names too long for the space, and of signs that a font lacks
        # Not by savefig, which draws the whole figure once more to find out where everything goes.
        canvas.get_layout_engine().execute(canvas)
        canvas.canvas.print_svg(buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r' id="(?:figure|axes|patch|text|line2d|matplotlib|xtick|ytick|legend|PathCollection|LineCollection|'
        r'QuadMesh|FillBetweenPolyCollection|PolyCollection)[\w.]*"',
        "",
        svg,
    )
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{key}-", svg)  # unique over the page
    for stand_in, variable in VARIABLES.items():
        svg = svg.replace(stand_in, f"var({variable})")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)  # matplotlib < 3.10
    svg = re.sub(r"font-family: [^;\"]*(; )?", "", svg)
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    # Places to a hundredth of a unit, less than a pixel shows; not in what is printed.
    svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r'(?:<use [^>]* style="[^"]*"/>\n?){2,}', _styled_once, svg)
    view = re.search(r'viewBox="[^"]*"', svg)[0]
    head = (
        f'<svg {view} role="img" aria-labelledby="{key}-title {key}-desc" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink"><title id="{key}-title">{html.escape(title)}</title>'
        f'<desc id="{key}-desc">{html.escape(description)}</desc>'
    )
    return Figure(key, title, description, seen(re.sub(r"<svg[^>]*>", lambda _: head, svg, count=1)), note, data)


def _styled_once(uses: re.Match[str]) -> str:
    """Markers in a row, each run of one style in a group that bears it."""
    found = re.findall(r'(<use [^>]*?) style="([^"]*)"/>', uses[0])
    groups = itertools.groupby(found, key=lambda use: use[1])
    return "".join(f'<g style="{style}">{"".join(f"{use}/>" for use, _ in same)}</g>\n' for style, same in groups)


def name_dot(ax: Any, room: placing.Room, x: float, y: float, words: str, color: str, size: float = 8) -> bool:
    """Puts a name where there is room for it, with a line to the dot if it stands apart; whether there was room."""
    at_x, at_y = ax.transData.transform((x, y))
    middle = room.place(at_x, at_y, words, size)
    if middle is None:
        return False
    *_, to_x, to_y = room.segments[-1]
    back = ax.transData.inverted().transform
    if math.hypot(to_x - at_x, to_y - at_y) > 10:
        ax.plot(*zip((x, y), back((to_x, to_y))), color=color, lw=0.6)
    ax.annotate(words, back(middle), ha="center", va="center", fontsize=size, color=color)
    return True


def spread(positions: list[float], gap: float, heights: Sequence[int] = ()) -> list[float]:
    """Positions moved apart as little as an even walk allows so that neighbours are `gap` away; order is kept.

    `heights` are lines of text where some have several: their middles stand that much further apart.
    """
    order = sorted(range(len(positions)), key=positions.__getitem__)
    moved = list(positions)
    for before, after in itertools.pairwise(order):
        lines = (heights[before] + heights[after]) / 2 if heights else 1
        moved[after] = max(moved[after], moved[before] + gap * lines)
    return moved


def spark(samples: list[float], width: int = 160, height: int = 28, most: int = 80) -> str:
    """A polyline of the samples in the order they were taken, at most `most` of them, evenly picked."""
    if len(samples) < 3:
        return ""
    step = max(1, -(-len(samples) // most))
    shown = samples[::step]
    low, high = min(shown), max(shown)
    scale = (height - 4) / (high - low) if high > low else 0
    points = " ".join(
        f"{i * width / (len(shown) - 1):.0f},{height - 2 - (v - low) * scale:.0f}" for i, v in enumerate(shown)
    )
    return (
        f'<svg class="spark" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">'
        f'<polyline points="{points}"/></svg>'
    )


# The same thing has the same colour in every picture.
OURS, LIBRARY = SERIES[0], SERIES[1]
BANDWIDTH, LATENCY = SERIES[0], SERIES[1]
CLOCK, POWER = SERIES[0], SERIES[1]
KIND_COLORS = {"nvf4": 4, "mxf4": 4, "e4m3": 0, "e5m2": 0, "s8": 0, "bf16": 1, "f16": 1, "tf32": 2, "f64": 5, "f32": 3}


def color_of(kind: str) -> str:
    return SERIES[KIND_COLORS.get(kind, 5)]


def log_labels(ax: Any, heights: list[float], x: float, colors: list[str], gap: float, words: list[str]) -> None:
    """Direct labels at the right ends of lines on a log axis, moved apart where they would touch; `gap` in decades."""
    for y, color, word in zip(spread([math.log10(v) for v in heights], gap), colors, words):
        ax.annotate(word, (x, 10**y), xytext=(4, 0), textcoords="offset points", va="center", color=color, fontsize=9)
