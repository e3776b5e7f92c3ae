# SPDX-License-Identifier: Apache-2.0
"""Grids of coloured cells as SVG: sweeps, maps of pairs, register fragments. Colours are the page's own."""

from __future__ import annotations

import base64
import html
import io
import math
from collections.abc import Callable, Sequence
from typing import Any

from assay import plotting

from ..book import text
from . import placing
from .svg import Data, Figure, seen

DIAGONAL = math.sqrt(0.5)  # of a slanted name's length it reaches so far up and to the right
SMALL = 420  # units of width: less may stand beside others
BROAD = 800  # units: on upright paper its letters would be too small to read


def tiny(grid: Any, rows: Sequence[Any], columns: Sequence[Any], words: str) -> str:
    """A map of a few cells to stand in a table, darker where the value is larger; each cell says its value."""
    top = max((v for line in grid for v in line if v == v), default=0) or 1
    cells = []
    for y, line in enumerate(grid):
        for x, value in enumerate(line):
            if value == value:
                said = html.escape(f"{words.format(row=rows[y], column=columns[x])}: {text.number(value)}")
                cells.append(
                    f'<rect x="{8 * x}" y="{6 * y}" width="8" height="6" fill-opacity="{max(0.04, value / top):.2f}">'
                    f"<title>{said}</title></rect>"
                )
    width, height = 8 * len(columns), 6 * len(rows)
    return seen(
        f'<svg class="tiny" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">'
        f"{''.join(cells)}</svg>"
    )


def grid(
    key: str,
    title: str,
    description: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cell: Callable[[int, int], tuple[str, str, float, str] | None],
    note: str = "",
    *,
    size: tuple[int, int] = (30, 20),
    left: int = 130,
    slanted: bool = True,
    breaks: Sequence[int] = (),
) -> Figure:
    """A grid of labelled cells. `cell` gives (label, colour class, strength 0..1, what a pointer over it says) or None
    for an empty place. Column names are slanted where they are long; lines are drawn before the rows in `breaks`."""
    wide, high = size
    left = max([left, *(math.ceil(placing.width(name, 9)) + 8 for name in rows)])
    names = [placing.width(name, 9) for name in columns]
    top = 12 + (math.ceil(DIAGONAL * max(names, default=0)) if slanted else 8)
    reach = max((wide * (x + 0.5) + DIAGONAL * (name + 9) for x, name in enumerate(names)), default=0)
    right = max(30, reach - wide * len(columns) + 8) if slanted else 4
    width, height = left + wide * len(columns) + round(right), top + high * len(rows) + 4
    parts, data = [], Data(["row", "column", "shown", "in words"], [])
    for x, name in enumerate(columns):
        at = left + wide * x + wide / 2
        turn = f' transform="rotate(-45 {at:g} {top - 5})" text-anchor="start"' if slanted else ' text-anchor="middle"'
        parts.append(f'<text class="label" x="{at:g}" y="{top - 5}"{turn}>{html.escape(name)}</text>')
    for y, name in enumerate(rows):
        at = top + high * y + high / 2 + 3
        parts.append(f'<text class="label" x="{left - 5}" y="{at:g}" text-anchor="end">{html.escape(name)}</text>')
        parts.append(f'<g transform="translate(0 {top + high * y})" text-anchor="middle">')
        for x in range(len(columns)):
            if found := cell(y, x):
                label, color, strength, words = found
                data.rows.append([name, columns[x], label, words])
                dark = " strong" if strength > 0.62 and color.startswith("s") else ""
                parts.append(
                    f'<g><title>{html.escape(words)}</title><rect class="{color}" x="{left + wide * x}" width="{wide}" '
                    f'height="{high}" fill-opacity="{max(0.03, min(1, strength)):.2g}"/>'
                )
                if label:
                    at = f'x="{left + wide * (x + 0.5):g}" y="{high / 2 + 3:g}"'
                    parts.append(f'<text class="in{dark}" {at}>{html.escape(label)}</text>')
                parts.append("</g>")
        parts.append("</g>")
    for y in breaks:
        x, across = left, top + high * y
        parts.append(f'<path class="break" d="M{x} {across}H{left + wide * len(columns)}"/>')
        if len(rows) == len(columns):
            parts.append(f'<path class="break" d="M{left + wide * y} {top}V{top + high * len(rows)}"/>')
    return _finish(key, title, description, width, height, parts, note, data)


def dense(
    key: str,
    title: str,
    description: str,
    shades: Any,
    bands: Sequence[tuple[str, int, str]],
    note: str = "",
    *,
    across: str = "",
    size: tuple[int, int] = (8, 4),
    left: int = 110,
) -> Figure:
    """A map of thousands of cells as one picture: `shades` (rows x columns) from 0, pale, to 1; NaN is left out.

    `bands` are the rows from the top: (colour class, rows, name). The picture is a mask over a rectangle of each
    band's colour, so that the colours are the page's own. `across` names the columns.
    """
    wide, high = size
    rows, columns = shades.shape
    width, height = left + wide * columns + 4, 18 + high * rows + 4
    place = f'x="{left}" y="18" width="{wide * columns}" height="{high * rows}"'
    parts = [
        f'<mask id="{key}-mask" maskUnits="userSpaceOnUse" {place} style="mask-type:luminance"><image {place} '
        f'preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,{_png(shades)}"/>'
        f'</mask><text class="label" x="{left}" y="12">{html.escape(across)}</text>'
    ]
    top = 18
    for color, count, name in bands:
        parts.append(
            f'<rect class="{color}" x="{left}" y="{top}" width="{wide * columns}" height="{high * count}" '
            f'mask="url(#{key}-mask)"/><text class="label" x="{left - 5}" y="{top + high * count / 2 + 3:g}" '
            f'text-anchor="end">{html.escape(name)}</text>'
        )
        top += high * count
        if top < height - 4:
            parts.append(f'<path class="break" d="M{left} {top}H{left + wide * columns}"/>')
    data = Data(
        ["row", *map(str, range(columns))], [[y, *(float(f"{v:.3g}") for v in row)] for y, row in enumerate(shades)]
    )
    return _finish(key, title, description, width, height, parts, note, data)


def strips(
    key: str,
    title: str,
    description: str,
    rows: Sequence[tuple[str, Sequence[tuple[int, int, str, float, str, str]], float | None]],
    count: int,
    note: str = "",
) -> Figure:
    """Rows of `count` places as strips of one colour: (name, strips, mark), a strip (first place, places, colour class,
    strength, label, what a pointer over it says); its label is left out where it has no room."""
    left, wide, high, gap = 90, 640, 16, 6
    height = len(rows) * (high + gap) + 16
    parts = []
    for y, (name, strips_of, mark) in enumerate(rows):
        top = y * (high + gap) + 2
        parts.append(f'<text class="label" x="{left - 5}" y="{top + 11}" text-anchor="end">{html.escape(name)}</text>')
        for first, length, color, strength, label, words in strips_of:
            x, width = left + wide * first / count, wide * length / count
            parts.append(
                f'<g><title>{html.escape(words)}</title><rect class="{color}" x="{x:.4g}" y="{top}" '
                f'width="{width:.3g}" height="{high}" fill-opacity="{strength:.2g}"/>'
            )
            if width >= 7 * len(label):
                parts.append(
                    f'<text class="in" x="{x + width / 2:.4g}" y="{top + 11}" text-anchor="middle">'
                    f"{html.escape(label)}</text>"
                )
            parts.append("</g>")
        if mark is not None:
            parts.append(f'<path class="break" d="M{left + wide * mark / count:.4g} {top - 2}v{high + 4}"/>')
    for place in range(0, count + 1, 32):
        x = left + wide * place / count
        parts.append(f'<text class="label" x="{x:.4g}" y="{height - 3}" text-anchor="middle">{place}</text>')
    data = Data(
        ["row", "first place", "places", "label", "in words"],
        [[name, first, length, label, words] for name, found, _ in rows for first, length, _, _, label, words in found],
    )
    return _finish(key, title, description, left + wide + 10, height, parts, note, data)


def _png(shades: Any) -> str:
    """Grey values as a PNG in base64."""
    import numpy as np

    plotting.load()
    from matplotlib.image import imsave

    grey = np.where(np.isnan(shades), 0, 0.03 + 0.97 * np.clip(np.nan_to_num(shades), 0, 1))
    buffer = io.BytesIO()
    imsave(buffer, grey, cmap="gray", vmin=0, vmax=1, format="png")
    return base64.b64encode(buffer.getvalue()).decode()


def _finish(
    key: str, title: str, description: str, width: int, height: int, parts: Sequence[str], note: str, data: Data
) -> Figure:
    svg = (
        f'<svg class="cells{" small" if width < SMALL else " broad" if width > BROAD else ""}" viewBox="0 0 {width} {height}" style="--own:{width * 1.25:.0f}px" role="img" '
        f'aria-labelledby="{key}-title {key}-desc"><title id="{key}-title">{html.escape(title)}</title>'
        f'<desc id="{key}-desc">{html.escape(description)}</desc>{"".join(parts)}</svg>'
    )
    return Figure(key, title, description, seen(svg), note, data)
