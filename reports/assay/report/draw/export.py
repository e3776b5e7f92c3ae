# SPDX-License-Identifier: Apache-2.0
"""A picture as files that stand alone: SVG with its colours, PNG, and CSV with what it was drawn from. Pure."""

from __future__ import annotations

import csv
import io
import re
from functools import lru_cache

from assay import plotting
from assay.plain_text import printable

from ..book import text
from . import placing
from .svg import Figure

ROOM = 8  # units around the picture
TITLE = 16  # units of height of the line above it
LINE = 13  # and of each that it goes on in, where the picture is narrow
BOLD = 1.16  # times as wide as the same letters upright
SIZE = 10  # of its letters
FONT = "DejaVu Sans"  # matplotlib's, so that it is there
ZOOM = 2  # pixels of a unit, in PNG


@lru_cache(maxsize=4)
def _variables(css: str) -> dict[str, str]:
    """The custom properties of the first :root, which are those of the light page."""
    root = re.search(r":root\s*\{(.*?)\}", css, re.DOTALL)
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", root[1])) if root else {}


def _resolved(said: str, css: str) -> str:
    values = _variables(css)
    return re.sub(r"var\((--[\w-]+)\)", lambda found: values.get(found[1], "#000"), said)


@lru_cache(maxsize=4)
def _rules(css: str) -> str:
    """What of the page's style is of SVGs: rules whose selectors begin with one of their classes."""
    found = re.findall(r"(?<=[}\n])\s*(\.(?:cells|diagram)\b[^{}]*\{[^{}]*\})", css)
    return _resolved(" ".join(found), css)


def svg(figure: Figure, css: str) -> str:
    """The picture with its title above, on paper, needing nothing of the page."""
    view = re.search(r'viewBox="([^"]*)"', figure.svg)
    *_, width, height = (float(part) for part in view[1].split())
    title = title_lines(figure.title, width)
    down = TITLE + LINE * (len(title) - 1)
    drawn = _resolved(re.sub(r"<(title|desc)\b[^>]*>[^<]*</\1>", "", figure.svg), css)
    head, rest = drawn[: drawn.index(">")], drawn[drawn.index(">") :]
    inner = re.sub(r'\s(?:role|aria-labelledby|style|xmlns|xmlns:xlink|viewBox)="[^"]*"', "", head) + rest
    # Nothing leaves the picture. To cut off what would takes half of the time in which it becomes a PNG.
    place = f'x="{ROOM}" y="{ROOM + down}" width="{width:g}" height="{height:g}"'
    inner = inner.replace("<svg", f'<svg {place} overflow="visible" {view[0]}', 1)
    paper, ink = (_variables(css).get(name, "#000") for name in ("--paper", "--ink"))
    whole = f"{width + 2 * ROOM:g} {height + 2 * ROOM + down:g}"
    wide, high = whole.split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {whole}" '
        f'width="{wide}" height="{high}" font-family="{FONT}, sans-serif" role="img">'
        f"<title>{_escaped(figure.title)}</title><desc>{_escaped(figure.description)}</desc>"
        f'<style>text {{ font-family: "{FONT}", sans-serif; }} {_rules(css)}</style>'
        f'<rect width="{wide}" height="{high}" fill="{paper}"/>'
        + "".join(
            f'<text x="{ROOM}" y="{ROOM + 9 + LINE * i}" font-size="{SIZE}" font-weight="bold" fill="{ink}">{_escaped(line)}</text>'
            for i, line in enumerate(title)
        )
        + f"{inner}</svg>\n"
    )


def title_lines(title: str, width: float) -> list[str]:
    """The title above a picture of this width; a single word that is wider keeps its line."""
    lines: list[str] = []
    for word in title.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and BOLD * placing.width(longer, SIZE) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines or [""]


def name_of(figure: Figure) -> str:
    """Of its files, without what they end with."""
    return figure.key if re.fullmatch(r"\w[\w.-]*", figure.key, re.ASCII) else text.slug(figure.key)


def _escaped(said: str) -> str:
    return printable(said).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def table(figure: Figure) -> str:
    """What it was drawn from, as CSV; values that would be formulas of a spreadsheet are text."""
    if figure.data is None:
        return ""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(printable, figure.data.head))
    writer.writerows([[_plain(value) for value in row] for row in figure.data.rows])
    return out.getvalue()


def _plain(value: object) -> object:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.9g}"
    if not isinstance(value, str):
        return value
    said = printable(value)
    return f"'{said}" if said[:1] in ("=", "+", "-", "@") else said


def png(alone: str) -> bytes:
    """Of an SVG that stands alone."""
    import resvg_py

    plotting.load()
    from matplotlib import get_data_path

    return resvg_py.svg_to_bytes(
        svg_string=alone,
        zoom=ZOOM,
        skip_system_fonts=True,
        font_files=[f"{get_data_path()}/fonts/ttf/DejaVuSans{bold}.ttf" for bold in ("", "-Bold")],
        font_family=FONT,
        sans_serif_family=FONT,
    )
