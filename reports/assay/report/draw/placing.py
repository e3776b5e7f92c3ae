# SPDX-License-Identifier: Apache-2.0
"""Where labels go so that none lies on a line, a dot or another label. Pure: places are in units of the picture."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from assay import plotting

Box = tuple[float, float, float, float]  # left, bottom, right, top
Segment = tuple[float, float, float, float]  # from x, y to x, y
RADII = (7, 14, 22, 32, 44, 58, 74, 92, 112)
ANGLES = (0, 180, 315, 225, 45, 135, 270, 90, 340, 200, 20, 160)  # degrees, those tried first that read best
FINE = 1000
AIR = 1.5  # between a label and what it must not touch


@lru_cache(maxsize=1)
def _font() -> Any:
    plotting.load()
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return get_font(findfont(FontProperties(family=["DejaVu Sans"])))


# A font reads its file when a letter is first asked for. Processes that fork with one open share its place in
# the file, and read each other's letters; matplotlib forgets its own fonts in the same way.
os.register_at_fork(after_in_child=_font.cache_clear)


@lru_cache(maxsize=4096)
def _advance(letter: str) -> float:
    """How far a letter takes the line on, in sizes of the text. Letter by letter, since setting a line takes a millisecond."""
    font = _font()
    if not font.get_char_index(ord(letter)):
        return 1.0  # another font's: as wide as the widest that are in use
    font.set_size(FINE, 72)  # large, so that no letter is moved to a whole pixel
    return font.load_char(ord(letter)).linearHoriAdvance / 65536 / FINE


def width(words: str, size: float) -> float:
    """Of a line of text as matplotlib sets it, which moves some letters nearer; the fonts of browsers are not wider."""
    return size * sum(map(_advance, words))


def crosses(segment: Segment, box: Box) -> bool:
    """Whether a piece of a line touches a box, by clipping it."""
    x, y, to_x, to_y = segment
    first, last = 0.0, 1.0
    for start, step, low, high in ((x, to_x - x, box[0], box[2]), (y, to_y - y, box[1], box[3])):
        if step == 0:
            if not low <= start <= high:
                return False
            continue
        ends = sorted(((low - start) / step, (high - start) / step))
        first, last = max(first, ends[0]), min(last, ends[1])
    return first <= last


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@dataclass
class Room:
    """A picture with what is taken of it: labels are placed one after another."""

    bounds: Box
    segments: list[Segment] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)

    def dot(self, x: float, y: float, radius: float = 3) -> None:
        self.boxes.append((x - radius, y - radius, x + radius, y + radius))

    def line(self, points: Sequence[tuple[float, float]]) -> None:
        self.segments += [(*a, *b) for a, b in zip(points, points[1:])]

    def place(self, x: float, y: float, words: str, size: float) -> tuple[float, float] | None:
        """The middle of a label for the dot at (x, y), which then is taken with its line to the dot; None without room."""
        wide, high = width(words, size) + 2 * AIR, size + 2 * AIR
        for radius in RADII:
            for angle in ANGLES:
                across, up = math.cos(math.radians(angle)), math.sin(math.radians(angle))
                at = (x + across * (radius + wide / 2), y + up * (radius + high / 2))
                box = (at[0] - wide / 2, at[1] - high / 2, at[0] + wide / 2, at[1] + high / 2)
                leader = (x, y, *nearest(box, x, y))
                if self._free(box) and not any(
                    crosses(leader, other) for other in self.boxes if not _holds(other, x, y)
                ):
                    self.boxes.append(box)
                    self.segments.append(leader)
                    return at
        return None

    def _free(self, box: Box) -> bool:
        inside = (
            self.bounds[0] <= box[0]
            and self.bounds[1] <= box[1]
            and box[2] <= self.bounds[2]
            and box[3] <= self.bounds[3]
        )
        return (
            inside
            and not any(overlap(box, other) for other in self.boxes)
            and not any(crosses(segment, box) for segment in self.segments)
        )


def nearest(box: Box, x: float, y: float) -> tuple[float, float]:
    """The place on a box that is closest to a dot."""
    return min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])


def _holds(box: Box, x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def room_of(ax: Any, lines: Iterable[Sequence[tuple[float, float]]], dots: Iterable[tuple[float, float]]) -> Room:
    """The room of axes whose layout is settled, with lines and dots given in their data."""
    frame = ax.get_window_extent()
    room = Room((frame.x0, frame.y0, frame.x1, frame.y1))
    for line in lines:
        room.line([tuple(ax.transData.transform(point)) for point in line])
    for dot in dots:
        room.dot(*ax.transData.transform(dot))
    return room
