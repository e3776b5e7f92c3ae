# SPDX-License-Identifier: Apache-2.0
"""The grid of a picture and what is written at its ticks, as one line and one text each.

Matplotlib makes five artists of each tick, copies the properties of the first to all others, and measures each label
twice as it draws. That took a fifth of a report's time. Where ticks are and what they say is still matplotlib's to
choose, by the locators and formatters of an axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from assay import plotting

plotting.load()

from matplotlib import rcParams  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.ticker import NullFormatter, NullLocator  # noqa: E402


class Drawn:
    """The ticks of an axis as they were drawn last."""

    def __init__(self, axis: Any) -> None:
        self.axis = axis
        self.labels: list[Any] = []
        self.lines: list[Any] = []

    def draw(self) -> list[Any]:
        """The labels. Anew each time, for an axis of another length may have other ticks."""
        for artist in [*self.labels, *self.lines]:
            artist.remove()
        ax, axis, upright = self.axis.axes, self.axis, self.axis.axis_name == "x"
        asked = axis.get_tick_params()
        at = in_view(axis, axis.get_majorticklocs(), axis.get_major_formatter())
        self.lines = [_grid(ax, [place for place, _ in at], upright)] if at and asked.get("gridOn") else []
        if not isinstance(axis.get_minor_formatter(), NullFormatter):
            at += in_view(axis, axis.get_minorticklocs(), axis.get_minor_formatter())
        shown = asked.get("labelbottom" if upright else "labelleft", asked.get("label1On", True))
        words = [(place, said) for place, said in at if said] if shown else []
        if words:
            of_ticks = ax.get_xaxis_text1_transform if upright else ax.get_yaxis_text1_transform
            moved, up, across = of_ticks(asked.get("pad", _setting(axis, "major.pad")))
            look = {
                "transform": moved,
                "va": up,
                "ha": across,
                "color": asked.get("labelcolor", _setting(axis, "labelcolor")),
                "fontsize": asked.get("labelsize", _setting(axis, "labelsize")),
                "clip_on": False,  # they lie outside the axes, where all else that axes hold is cut off
            }
            self.labels = [Text(*((x, 0) if upright else (0, x)), said, **look) for x, said in words]
        else:
            self.labels = []
        for artist in [*self.lines, *self.labels]:
            artist.set_figure(ax.figure)
            ax.add_artist(artist)  # which leaves the limits of the axes as they are
        return self.labels

    def settle(self) -> None:
        """Matplotlib finds no more ticks to draw of its own."""
        self.axis.set_major_locator(NullLocator())
        self.axis.set_minor_locator(NullLocator())


def in_view(axis: Any, positions: Any, formatter: Any) -> list[tuple[float, str]]:
    """(place, what is written there) of the ticks that the axis shows."""
    said = formatter.format_ticks(positions)
    low, high = sorted(axis.get_view_interval())
    hair = 1e-9 * (high - low)
    return [(float(at), words) for at, words in zip(positions, said) if low - hair <= at <= high + hair]


def _grid(ax: Any, positions: Sequence[float], upright: bool) -> Any:
    """All lines of the grid in one direction, below what is drawn."""
    along = [value for place in positions for value in (place, place, math.nan)]
    over = [0, 1, math.nan] * len(positions)
    where = ax.get_xaxis_transform("grid") if upright else ax.get_yaxis_transform("grid")
    return Line2D(
        *((along, over) if upright else (over, along)),
        transform=where,
        color=rcParams["grid.color"],
        lw=rcParams["grid.linewidth"],
        zorder=0.5,
        solid_capstyle="butt",
    )


def _setting(axis: Any, name: str) -> Any:
    return rcParams[f"{axis.axis_name}tick.{name}"]
