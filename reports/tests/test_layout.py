# SPDX-License-Identifier: Apache-2.0
"""Where the axes of pictures go: what is written around them has room, and panels are of one size."""

from __future__ import annotations

from typing import Any

import pytest

from assay.report.draw import placing
from assay.report.draw.svg import axes, put_ticks


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
    words = [*ax.texts, ax.xaxis.label, ax.yaxis.label, ax.title]  # texts at ticks are among those of the axes
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


def plotted(ax: Any) -> None:
    ax.plot([1, 30, 4000], [-2, 7, 5])
    ax.set(xscale="log", ylabel="up")
    put_ticks(ax.xaxis, [1, 10, 100, 1e9], ["one", "ten", "hundred", "out of view"])
    ax.tick_params(axis="y", labelsize=7, labelcolor="#123456")


def test_texts_and_lines_at_ticks_are_where_matplotlib_has_them() -> None:
    with axes(3) as (canvas, ax), axes(3) as (other, theirs):
        plotted(ax)
        drawn(canvas)
        other.set_layout_engine("none")
        plotted(theirs)
        theirs.set_position(ax.get_position())
        other.draw_without_rendering()
        ticks = [tick for axis in (theirs.xaxis, theirs.yaxis) for tick in axis.get_major_ticks()]
        low, high = theirs.get_ylim()
        expected = {
            tick.label1.get_text(): (tick.label1.get_window_extent().bounds, tick.label1.get_color(), tick.label1.get_fontsize())
            for tick in ticks
            if tick.label1.get_text() in ("one", "ten", "hundred") or (tick in ticks[4:] and low <= tick.get_loc() <= high)
        }
        found = {t.get_text(): (t.get_window_extent().bounds, t.get_color(), t.get_fontsize()) for t in ax.texts}
        assert found.keys() == expected.keys() and len(found) > 6
        assert not any(t.get_clip_on() for t in ax.texts), "beside the axes they are not seen otherwise"
        for words, (bounds, *look) in found.items():
            assert bounds == pytest.approx(expected[words][0], abs=0.01), words
            assert look == list(expected[words][1:])
        across, up = (line.get_xydata() for line in ax.lines[1:])
        assert sorted(set(across[:, 0][::3])) == [1, 10, 100]
        assert len(up) == 3 * (len(found) - 3)


def test_matplotlib_draws_no_ticks_of_its_own_beside() -> None:
    with axes(3, panels=(2, 1)) as (canvas, panels):
        for ax in panels:
            ax.plot([0, 1], [0, 1])
        drawn(canvas)
        assert all(not list(axis.get_majorticklocs()) for ax in panels for axis in (ax.xaxis, ax.yaxis))
        below = [[t for t in ax.texts if t.get_ha() == "center"] for ax in panels]
        assert not below[0] and below[1], "only the lowest panel has labels below"
        before = panels[0].get_xlim(), panels[0].get_ylim()
        canvas.draw_without_rendering()
        assert before == (panels[0].get_xlim(), panels[0].get_ylim())


def test_a_line_of_text_is_as_wide_as_matplotlib_sets_it_or_a_little_wider() -> None:
    font = placing._font()
    for words in ("bandwidth, all SMs", "m8192n8192k8192", "\N{MINUS SIGN}12\N{NARROW NO-BREAK SPACE}345.6 ±0.2 µs", "iiii"):
        font.set_size(200, 72)
        font.set_text(words, 0.0)
        set_by_it = font.get_width_height()[0] / 64 / 20
        assert 0.97 * set_by_it < placing.width(words, 10) < 1.06 * set_by_it, words
    assert placing.width("\N{CJK UNIFIED IDEOGRAPH-65E5}", 10) == 10, "a letter that the font lacks"
