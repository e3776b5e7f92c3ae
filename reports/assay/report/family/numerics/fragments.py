# SPDX-License-Identifier: Apache-2.0
"""Which thread and register holds which element of an operand, and what it costs to move them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.files import Measurement, Series

from ...answer.findings import Answer, Part, lines, picked
from ...answer.question import Question
from ...block.kinds import Block, Cell, Page, Picture, Section, Span, Table
from ...book import labels, text
from ...book.model import Book, Column
from ...draw import cells
from ...draw.svg import Figure
from . import metadata
from .metadata import Fragment
from .sums import FAMILIES, title_of

FRAGMENT = "numerics/fragment/"
PERMUTATION = "numerics/fp8_permutation/"
PAGE = "fragments.html"


def fragments(book: Book, column: Column) -> list[Fragment]:
    """The maps of one run as pictures, of instructions with one map one picture."""
    found: dict[tuple, Fragment] = {}
    for c, m in book.measurements:
        series = m.series_named("map")
        if c is not column or not m.name.startswith(FRAGMENT) or not series or "columns" not in m.params:
            continue
        path = m.name.removeprefix(FRAGMENT)
        name, accumulate = title_of(path)
        source = (name + (f", {accumulate} sums" if accumulate else ""), c.anchor(m.name))
        operand = str(m.params.get("operand", path.rsplit("/", 1)[-1])).upper()
        held = holders_of(m, series)
        matches = m.value("matches_ptx_isa")
        same = (operand, matches, path.split("/")[0], frozenset((at, tuple(who)) for at, who in held.items()))
        if same in found:
            found[same].sources.append(source)
        elif held:
            size = f"{max(r for r, _ in held) + 1} × {max(c for _, c in held) + 1}"
            title = f"{operand} of {FAMILIES.get(path.split('/')[0], '')}, {size}"
            figure = _picture(f"fragment{column.index}-{text.slug(path)}", title, held, len(series.axes) == 3)
            found[same] = Fragment(title, [source], None if matches is None else bool(matches), figure)
    return list(found.values())


def holders_of(m: Measurement, series: Series) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """(row, column) -> the (thread, register, element of it) that hold it."""
    width = int(m.params.get("columns", 0))
    held: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    grid = series.grid if len(series.axes) == 3 else series.grid[..., None]
    there = ~np.isnan(grid)
    for at, (register, thread, element) in zip(grid[there].tolist(), np.argwhere(there).tolist()):
        held.setdefault(divmod(int(at), width), []).append((thread, register, element))
    return held


SHOWN = (16, 16)  # rows and columns of a map; beyond them it repeats


def _picture(key: str, title: str, held: dict[tuple[int, int], list[tuple[int, int, int]]], packed: bool) -> Figure:
    tall, wide = max(r for r, _ in held) + 1, max(c for _, c in held) + 1

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        holders = held.get((y, x))
        if not holders:
            return None
        thread, register, element = holders[0]
        words = f"row {y}, column {x}: thread {thread}, register {register}" + (
            f", element {element}" if packed else ""
        )
        words += f", and {len(holders) - 1} more" if len(holders) > 1 else ""
        # Quads in turn have one of six colours, lanes of a quad four strengths.
        return f"T{thread}:r{register}", f"s{thread // 4 % 6 + 1}", 0.15 + 0.14 * (thread % 4), words

    shown = (min(SHOWN[0], tall), min(SHOWN[1], wide))
    cut = f" Rows 0 to {shown[0] - 1} of {tall}." if tall > shown[0] else ""
    cut += f" Columns 0 to {shown[1] - 1} of {wide}." if wide > shown[1] else ""
    return cells.grid(
        key,
        title,
        f"Which thread and register holds each of {tall} by {wide} elements.{cut}",
        [str(r) for r in range(shown[0])],
        [str(c) for c in range(shown[1])],
        cell,
        cut.strip(),
        size=(34, 15),
        left=20,
        slanted=False,
    )


@dataclass
class Permutation:
    """One way to turn accumulators into the next operand, and what it costs per tile."""

    way: str
    cycles: list[tuple[str, float | None]]  # (what, cycles)
    anchor: str


def permutations(book: Book, column: Column) -> list[Permutation]:
    keys = ("added_cycles_per_tile", "cycles_per_tile", "conversion_cycles_per_tile")
    return [
        Permutation(labels.words(m.name.removeprefix(PERMUTATION)), [(k, m.value(k)) for k in keys], c.anchor(m.name))
        for c, m in book.measurements
        if c is column and m.name.startswith(PERMUTATION) and "added_cycles_per_tile" in m.metrics
    ]


def layouts(book: Book, question: Question) -> Answer:
    """How many operand maps are as documented, and what the FP8 permutation costs."""
    findings = []

    def maps(column: Column) -> list[Part]:
        every = [m for c, m in book.measurements if c is column and m.name.startswith(FRAGMENT)]
        same = sum(1 for m in every if m.value("matches_ptx_isa"))
        return [(f"{same} of {len(every)} as the PTX ISA has them", PAGE)] if every else []

    findings += lines(book, "register maps", maps)
    ways = dict.fromkeys(p.way for c in book.columns for p in permutations(book, c))
    for way in ways:

        def cost(column: Column, way: str = way) -> list[Part]:
            mine = [p for p in permutations(book, column) if p.way == way]
            return [
                (
                    f"{text.number(round(dict(p.cycles)['added_cycles_per_tile'] or 0, 1))} cycles per 64 × 128 tile",
                    p.anchor,
                )
                for p in mine
            ]

        findings += lines(book, f"permutation, {way}", cost)
    return Answer(question, findings) if findings else picked(book, question)


def blocks(book: Book) -> list[Block]:
    several = len(book.columns) > 1
    found: list[Block] = []
    for column in book.columns:
        ways = permutations(book, column)
        head = ["Way", *(labels.words(key.removesuffix("_per_tile")) for key, _ in ways[0].cycles)] if ways else []
        rows = [
            [Cell(p.way, p.anchor), *(Cell(text.number(round(v, 1)) if v is not None else "") for _, v in p.cycles)]
            for p in ways
        ]
        of = f", {column.tag} {column.label}" if several else ""
        caption = f"Turning f32 accumulators into the next e4m3 operand{of}: cycles per tile of 64 × 128"
        found.append(Table(caption, head, rows))
    return found


def _with_maps(book: Book) -> list[tuple[Column, list[Fragment]]]:
    made = ((c, [*fragments(book, c), *metadata.maps(book, c)]) for c in book.columns)
    return [(column, maps) for column, maps in made if maps]


def page_of_maps(book: Book) -> Page | None:
    """Every map as a picture, on a page of its own."""
    sections: list[Block] = [
        Section(f"fragments{column.index}", f"{column.tag} {column.label}".strip(), [_pictured(f) for f in maps])
        for column, maps in _with_maps(book)
    ]
    lead = (
        "Found by running each MMA. T4:r1 is register 1 of thread 4: of 32 in a warp, of 128 in a warpgroup. Colours "
        "follow groups of four threads. Where a register holds several elements, pointing at one says which it is."
    )
    heading = "Which register holds which element"
    return Page(PAGE, "Fragments", heading, lead, sections) if sections else None


def _pictured(f: Fragment) -> Picture:
    agrees = {
        True: [Span("as the PTX ISA has it", kind="good")],
        False: [Span("not as the PTX ISA has it", kind="bad")],
    }
    sources = [Span(name, anchor) for name, anchor in f.sources]
    return Picture(f.figure, [*agrees.get(f.matches, []), *sources])
