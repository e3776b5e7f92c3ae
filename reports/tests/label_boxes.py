# SPDX-License-Identifier: Apache-2.0
"""Where the words of a picture lie, from its SVG: for tests that no label lies on another or leaves the picture."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

from assay.report.draw.placing import Box, overlap, width

SIZES = {"cells": 9.0, "diagram": 9.5}  # of text that has none of its own
SIZES_OF_CLASS = {"in": 8.0, "label": 9.0}
TOUCH = 0.8  # units that boxes may share: letters do not fill theirs


@dataclass
class Label:
    words: str
    box: Box
    turned: bool  # by neither 0 nor 90 degrees: its box says little


def _moved(transform: str, at: tuple[float, float, float]) -> tuple[float, float, float]:
    """(x, y, angle) of a place after a transform of translations and rotations."""
    x, y, angle = at
    for name, arguments in reversed(re.findall(r"(\w+)\(([^)]*)\)", transform or "")):
        values = [float(v) for v in re.split(r"[\s,]+", arguments.strip())]
        if name == "translate":
            x, y = x + values[0], y + (values[1] if len(values) > 1 else 0)
        elif name == "rotate":
            turn, (about_x, about_y) = math.radians(values[0]), values[1:] or (0.0, 0.0)
            dx, dy = x - about_x, y - about_y
            x = about_x + dx * math.cos(turn) - dy * math.sin(turn)
            y = about_y + dx * math.sin(turn) + dy * math.cos(turn)
            angle += values[0]
    return x, y, angle


def labels(svg: str) -> tuple[Box, list[Label]]:
    """(the picture's own box, its labels)."""
    root = ElementTree.fromstring(
        svg if "xmlns=" in svg[:600] else svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    )
    left, top, wide, high = (float(part) for part in root.get("viewBox").split())
    usual = next((SIZES[name] for name in root.get("class", "").split() if name in SIZES), 9.0)
    found: list[Label] = []

    def walk(node, transforms, anchor):
        transforms = [node.get("transform", ""), *transforms]
        style = dict(part.split(":", 1) for part in node.get("style", "").replace(" ", "").split(";") if ":" in part)
        anchor = node.get("text-anchor") or style.get("text-anchor") or anchor
        if node.tag.endswith("}text") and (node.text or "").strip():
            of_class = next((SIZES_OF_CLASS[c] for c in node.get("class", "").split() if c in SIZES_OF_CLASS), usual)
            size = float((style.get("font-size") or node.get("font-size") or f"{of_class}px").removesuffix("px"))
            found.append(_label(node, transforms, anchor, size))
        for child in node:
            walk(child, transforms, anchor)

    walk(root, [], "start")
    return (left, top, left + wide, top + high), found


def _label(node, transforms, anchor, size) -> Label:
    words = node.text.strip()
    wide = width(words, size)
    x, y = float(node.get("x", 0)), float(node.get("y", 0))
    start = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    corners = [
        (start, y - 0.76 * size),
        (start + wide, y - 0.76 * size),
        (start, y + 0.2 * size),
        (start + wide, y + 0.2 * size),
    ]
    placed = []
    for corner in corners:
        at = (*corner, 0.0)
        for transform in transforms:
            at = _moved(transform, at)
        placed.append(at)
    xs, ys = [p[0] for p in placed], [p[1] for p in placed]
    return Label(words, (min(xs), min(ys), max(xs), max(ys)), placed[0][2] % 90 != 0)


def overlaps(svg: str) -> list[tuple[str, str]]:
    """Pairs of labels that lie on each other."""
    _, found = labels(svg)
    smaller = [
        (label.words, tuple(v + s * TOUCH for v, s in zip(label.box, (1, 1, -1, -1))))
        for label in found
        if not label.turned
    ]
    return [(a, b) for (a, x), (b, y) in itertools.combinations(smaller, 2) if overlap(x, y)]


def outside(svg: str, room: float = 2.0) -> list[str]:
    """Labels that leave the picture."""
    frame, found = labels(svg)
    return [
        label.words
        for label in found
        if label.box[0] < frame[0] - room
        or label.box[1] < frame[1] - room
        or label.box[2] > frame[2] + room
        or label.box[3] > frame[3] + room
    ]
