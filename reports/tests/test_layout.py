# SPDX-License-Identifier: Apache-2.0
"""Where the axes of pictures go: what is written around them has room, and panels are of one size."""

from __future__ import annotations

from typing import Any

import pytest

from assay.report.draw import layout
from assay.report.draw.svg import axes


def drawn(canvas: Any) -> Any:
    canvas.get_layout_engine().execute(canvas)
    canvas.draw_without_rendering()
    return canvas


def inside(canvas: Any) -> bool:
    """All that is drawn, by matplotlib's own measure, in inches."""
    box = canvas.get_tightbbox()
    width, height = canvas.get_size_inches()
    return box.x0 > -0.01 and box.y0 > -0.01 and box.x1 < width + 0.01 and box.y1 < height + 0.01


def boxes(ax: Any) -> list[tuple[str, Any]]:
    ticks = [*layout.labels(ax.xaxis), *layout.labels(ax.yaxis)]
    words = [*ticks, ax.xaxis.label, ax.yaxis.label, ax.title, *ax.texts]
    shown = [w for w in words if w.get_text() and w.get_visible()]
    return [(w.get_text(), w.get_window_extent()) for w in shown]


def overlaps(canvas: Any) -> list[tuple[str, str]]:
    every = [box for ax in canvas.axes for box in boxes(ax)]
    return [(a, b) for i, (a, of_a) in enumerate(every) for b, of_b in every[i + 1 :] if of_a.overlaps(of_b)]


@pytest.mark.parametrize("names", [["a", "b", "c"], ["a name", "one that is rather long", "of seven words, with a comma"]])
def test_what_is_written_around_a_panel_is_inside_the_picture_and_apart(names: list[str]) -> None:
    with axes(3) as (canvas, ax):
        ax.plot([1, 2, 3], [0, 1, 2])
        ax.set(yticks=range(3), yticklabels=names, xlabel="across", ylabel="up", title="above")
        ax.annotate("behind the end of a line", (3, 1), xytext=(6, 0), textcoords="offset points", annotation_clip=False)
        drawn(canvas)
        assert inside(canvas)
        assert overlaps(canvas) == []
        assert ax.bbox.width > 60


def test_panels_are_of_one_size_with_their_titles_between_them() -> None:
    with axes(4, panels=(2, 2)) as (canvas, panels):
        for i, ax in enumerate(panels.flat):
            ax.plot([0, 10**i], [0, 10**i])
            ax.set(title=f"panel {i}", ylabel="a quantity" if i % 2 == 0 else "", xlabel="ms" if i > 1 else "")
        drawn(canvas)
        sizes = {tuple(round(side, 3) for side in ax.bbox.size) for ax in panels.flat}
        assert len(sizes) == 1
        assert inside(canvas)
        assert overlaps(canvas) == []


def test_a_power_of_ten_beside_the_axis_and_a_legend_have_room() -> None:
    with axes(3) as (canvas, ax):
        ax.plot([0, 1], [1e9, 1e9 + 1], label="a line")
        canvas.legend(loc="outside upper left")
        drawn(canvas)
        assert ax.yaxis.get_offset_text().get_text()
        assert inside(canvas)
        legend, offset = canvas.legends[0].get_window_extent(), ax.yaxis.get_offset_text().get_window_extent()
        assert not legend.overlaps(offset)


def test_a_figure_is_laid_out_once_so_that_what_was_placed_by_it_stays() -> None:
    with axes(3) as (canvas, ax):
        ax.plot([0, 1], [0, 1])
        canvas.get_layout_engine().execute(canvas)
        before = ax.get_position().bounds
        ax.annotate("far beyond", (1, 1), xytext=(60, 0), textcoords="offset points", annotation_clip=False)
        canvas.get_layout_engine().execute(canvas)
        assert ax.get_position().bounds == before


def test_names_that_leave_no_room_are_no_error() -> None:
    with axes(0.2) as (canvas, ax):
        ax.plot([0, 1], [0, 1])
        ax.set(yticks=[0], yticklabels=["a name " * 40], title="above", xlabel="below")
        drawn(canvas)
        assert ax.bbox.width > 0
