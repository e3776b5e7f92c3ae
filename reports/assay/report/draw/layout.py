# SPDX-License-Identifier: Apache-2.0
"""Where the axes of a picture go, so that what is written around them has room.

Matplotlib's constrained layout does so for any figure. It measures the label of each tick eight times, which took a third
of a report's time. Our pictures are one grid of equal panels with labels below and to the left: each label is measured once
here (`ticks` draws them), and the names of the axes are put where they stay.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay import plotting

plotting.load()

from matplotlib.backends.backend_svg import RendererSVG  # noqa: E402
from matplotlib.layout_engine import LayoutEngine  # noqa: E402
from matplotlib.transforms import ScaledTranslation  # noqa: E402

from . import ticks  # noqa: E402

PAD = 3  # points around each panel with its labels
ANOTHER = 0.12  # an axis that becomes longer or shorter by such a share may have other ticks


@dataclass
class Margins:
    """Points that the labels of a panel take beyond its axes."""

    left: float = 0
    below: float = 0
    right: float = 0
    above: float = 0

    def take(self, box: Any, frame: Any) -> None:
        self.left = max(self.left, frame.x0 - box.x0)
        self.below = max(self.below, frame.y0 - box.y0)
        self.right = max(self.right, box.x1 - frame.x1)
        self.above = max(self.above, box.y1 - frame.y1)


USUAL = Margins(40, 24, 60, 8)  # with these an axis is as long as most are, and chooses its ticks


class OneLook(LayoutEngine):
    """Lays a figure of 72 points an inch out, once: asked again, it leaves all where it is."""

    _adjust_compatible = True
    _colorbar_gridspec = True

    def __init__(self) -> None:
        super().__init__()
        self.done = False
        self.ticks: dict[Any, ticks.Drawn] = {}  # by axis

    def execute(self, fig: Any) -> None:
        if self.done:
            return
        self.done = True
        renderer = RendererSVG(*fig.bbox.size, io.StringIO())
        _place(fig, dict.fromkeys(fig.axes, USUAL), renderer)
        self.ticks = {axis: ticks.Drawn(axis) for ax in fig.axes for axis in (ax.xaxis, ax.yaxis)}
        around = {ax: _around(ax, self.ticks, renderer) for ax in fig.axes}
        before = {ax: ax.bbox.size for ax in fig.axes}
        _place(fig, _with_texts(around, self.ticks, renderer), renderer)
        for ax, size in before.items():
            if any(abs(math.log(now / then)) > ANOTHER for now, then in zip(ax.bbox.size, size)):
                around[ax] = _around(ax, self.ticks, renderer)
        _place(fig, _with_texts(around, self.ticks, renderer), renderer)  # again, since the places of texts are shares of an axis
        for drawn in self.ticks.values():  # when all have theirs: panels share what chooses them
            drawn.settle()


def _around(ax: Any, drawn: Mapping[Any, ticks.Drawn], renderer: Any) -> Margins:
    """What the labels of ticks, the names of axes, which are put behind these, and the title take."""
    found = Margins()
    for axis in (ax.xaxis, ax.yaxis):
        for label in drawn[axis].draw():
            found.take(label.get_window_extent(renderer), ax.bbox)
    for axis, side in ((ax.xaxis, "below"), (ax.yaxis, "above")):
        if axis.get_major_formatter().get_offset():  # a power of ten for all ticks, which is written as it is drawn
            setattr(found, side, getattr(found, side) + axis.OFFSETTEXTPAD + axis.get_offset_text().get_fontsize())
    if ax.get_xlabel():
        found.below += ax.xaxis.labelpad
        ax.xaxis.set_label_coords(0.5, 0, ax.transAxes + _moved(ax, 0, -found.below))
        found.below += ax.xaxis.label.get_window_extent(renderer).height
    if ax.get_ylabel():
        found.left += ax.yaxis.labelpad
        ax.yaxis.set_label_coords(0, 0.5, ax.transAxes + _moved(ax, -found.left, 0))
        found.left += ax.yaxis.label.get_window_extent(renderer).width
    if ax.get_title():
        found.above = max(found.above, ax.title.get_window_extent(renderer).y1 - ax.bbox.y1)
    return found


def _moved(ax: Any, right: float, up: float) -> Any:
    return ScaledTranslation(right / 72, up / 72, ax.figure.dpi_scale_trans)


def _with_texts(
    around: Mapping[Any, Margins], drawn: Mapping[Any, ticks.Drawn], renderer: Any
) -> dict[Any, Margins]:
    """With what was written at places of the axes and reaches beyond them."""
    of_ticks = {label for one in drawn.values() for label in one.labels}
    found = {ax: replace(margins) for ax, margins in around.items()}
    for ax, margins in found.items():
        for words in ax.texts:
            if words.get_visible() and words.get_text() and words not in of_ticks:
                margins.take(words.get_window_extent(renderer), ax.bbox)
    return found


def _place(fig: Any, around: Mapping[Any, Margins], renderer: Any) -> None:
    """Panels of one size, each column and row apart by what most of their panels' labels take."""
    grid = fig.axes[0].get_gridspec()
    columns = [Margins() for _ in range(grid.ncols)]
    rows = [Margins() for _ in range(grid.nrows)]
    for ax, margins in around.items():
        at = ax.get_subplotspec()
        column, row = columns[at.colspan.start], rows[at.rowspan.start]
        column.left, column.right = max(column.left, margins.left), max(column.right, margins.right)
        row.below, row.above = max(row.below, margins.below), max(row.above, margins.above)
    whole_width, whole_height = fig.bbox.size
    top = whole_height - sum(legend.get_window_extent(renderer).height + PAD for legend in fig.legends)
    width = (whole_width - sum(c.left + c.right + 2 * PAD for c in columns)) / grid.ncols
    height = (top - sum(r.above + r.below + 2 * PAD for r in rows)) / grid.nrows
    width, height = max(width, 1), max(height, 1)  # of names that leave no room
    for ax in around:
        at = ax.get_subplotspec()
        before, above = columns[: at.colspan.start], rows[: at.rowspan.start]
        left = sum(c.left + width + c.right + 2 * PAD for c in before) + columns[at.colspan.start].left + PAD
        down = sum(r.above + height + r.below + 2 * PAD for r in above) + rows[at.rowspan.start].above + PAD
        ax.set_position(
            (left / whole_width, (top - down - height) / whole_height, width / whole_width, height / whole_height)
        )
