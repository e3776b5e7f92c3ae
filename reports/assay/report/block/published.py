# SPDX-License-Identifier: Apache-2.0
"""The table of measured figures with the published ones beside them, a line for each published figure."""

from __future__ import annotations

import re

from ..book import text
from ..book.deviation import NOTABLE, reason
from ..book.model import Book, Column, Published, Row
from ..book.published import comparable, figures, short_title
from .kinds import EMPTY, Cell, Table


def table(book: Book, caption: str, rows: list[tuple[str, Row]]) -> Table | None:
    """(label, row) as lines: the measured value once, beside it each published one. A label is said once."""
    found: list[list[Cell]] = []
    last = ""
    for label, row in rows:
        if not row.first:
            continue
        for i, p in enumerate(figures(book, row) or [None]):
            heading = label if i == 0 and label != last else ""
            last = label
            own = [_own(row, c) if i == 0 else EMPTY for c in book.columns]
            found.append([Cell(heading), *own, *(_theirs(book, row, p) if p else [EMPTY] * 3)])
    head = ["Figure", *(f"{c.tag} measured".strip() for c in book.columns), "Published", "Deviation", "Why"]
    # Runs that measured none of it have no column.
    kept = [i for i in range(len(head)) if not 0 < i <= len(book.columns) or any(cells[i].said for cells in found)]
    table = Table(caption, [head[i] for i in kept], [[cells[i] for i in kept] for cells in found])
    return table if found else None


def _own(row: Row, column: Column) -> Cell:
    n = row.numbers[column.index]
    if not n:
        return EMPTY
    share = f" ({text.percent(n.share)} of the limit)" if n.share is not None else ""
    if row.unit in ("B", "byte"):
        return Cell(text.size(n.value) + share, n.anchor)
    interval = text.plus_minus(n.value, n.low, n.high)
    said = f"{text.number(n.value, n.half_width)} {interval} {text.unit(row.unit)}{share}"
    return Cell(re.sub(" ±0 ", " ", said), n.anchor)


def _theirs(book: Book, row: Row, p: Published) -> list[Cell]:
    """What they found, how far ours is from it, and why."""
    value = text.size(p.value) if p.unit in ("B", "byte") else f"{text.number(p.value)} {text.unit(p.unit)}"
    source = "datasheet" if p.datasheet else short_title(p.title)
    told = Cell(f"{value}, {p.gpu.replace('NVIDIA ', '')}, {source}", kind="published", title=p.note)
    for column, n in zip(book.columns, row.numbers):
        if n and p.unit == row.unit and comparable(p, column):
            if abs(n.value / p.value - 1) <= NOTABLE:
                return [told, Cell(text.deviation(n.value, p.value)), EMPTY]
            why = reason(book, column, row, n, p)
            told_of = Cell(why) if why else Cell("not explained", kind="bad")
            return [told, Cell(text.deviation(n.value, p.value)), told_of]
    return [told, Cell("other GPU" if p.unit == row.unit else "other unit"), EMPTY]
