# SPDX-License-Identifier: Apache-2.0
"""Which bits of which thread say what a sparse MMA keeps of A: maps beside those of the fragments."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...book import text
from ...book.model import Book, Column
from ...draw import cells
from ...draw.svg import Figure

PREFIX = "tensor_core/sparse_metadata/"
SERIES = "chunk_of_metadata"
ROWS = 16  # of A


@dataclass
class Fragment:
    """Which thread and register holds each element of an operand."""

    title: str  # "A, 16 × 16"
    sources: list[tuple[str, str]]  # (instruction, anchor) of those that share the map
    matches: bool | None  # whether it is the map of the PTX ISA
    figure: Figure


def holders_of(grid: np.ndarray) -> dict[int, tuple[int, int]]:
    """Chunk of A, counted row by row -> the (lane, nibble) whose four bits say what is kept of it."""
    return {int(grid[at]): (int(at[0]), int(at[1])) for at in zip(*np.nonzero(~np.isnan(grid))) if grid[at] >= 0}


def maps(book: Book, column: Column) -> list[Fragment]:
    """One picture for all instructions of one map."""
    found: dict[tuple, Fragment] = {}
    for c, m in book.measurements:
        series = m.series_named(SERIES)
        if c is not column or not m.name.startswith(PREFIX) or series is None or len(series.axes) != 2:
            continue
        path = m.name.removeprefix(PREFIX)
        held = holders_of(series.grid)
        same = tuple(sorted(held.items()))
        source = (path.replace("/", " "), c.anchor(m.name))
        if same in found:
            found[same].sources.append(source)
        elif held:
            found[same] = _fragment(column, path, str(m.params.get("sparsity", "2:4")), held, source)
    return list(found.values())


def _fragment(
    column: Column, path: str, sparsity: str, held: dict[int, tuple[int, int]], source: tuple[str, str]
) -> Fragment:
    wide = (max(held) + ROWS) // ROWS  # chunks in a row of A
    size = re.sub(r"\D*", "", sparsity.split(":")[1]) or "4"

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        if (at := held.get(y * wide + x)) is None:
            return None
        lane, nibble = at
        words = f"row {y}, elements {int(size) * x} to {int(size) * (x + 1) - 1}: bits {4 * nibble} to {4 * nibble + 3}"
        label = f"T{lane}:{4 * nibble}"
        return label, f"s{lane // 4 % 6 + 1}", 0.15 + 0.14 * (lane % 4), f"{words} of thread {lane}"

    title = f"Metadata of sparse A, {sparsity}, {ROWS} × {wide} chunks"
    figure = cells.grid(
        f"metadata{column.index}-{text.slug(path)}",
        title,
        f"Which thread's register holds the four bits of each of {ROWS} by {wide} chunks of {size} elements.",
        [str(y) for y in range(ROWS)],
        [str(x) for x in range(wide)],
        cell,
        f"Rows: of A. Columns: chunks of {size} elements. T4:8 is bits 8 to 11 of the metadata register of thread 4.",
        size=(40, 15),
        left=20,
        slanted=False,
    )
    return Fragment(title, [source], None, figure)
