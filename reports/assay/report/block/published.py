# SPDX-License-Identifier: Apache-2.0
"""The table of measured figures with the published ones beside them, a line for each published figure."""

from __future__ import annotations

from ..book import text
from ..book.deviation import NOTABLE, reason
from ..book.model import Book, Column, Published, Row
from ..book.published import comparable, figures, short_title
from .kinds import EMPTY, Cell, Span, Table


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
    head = [
        "Figure",
        *(f"{c.tag} measured" if c.tag else "Measured" for c in book.columns),
        "Published",
        "Deviation",
        "Why",
    ]
    return _of_those_that_measured(book, caption, head, found)


def _of_those_that_measured(book: Book, caption: str, head: list[str], found: list[list[Cell]]) -> Table | None:
    """Runs that measured none of it have no column."""
    kept = [i for i in range(len(head)) if not 0 < i <= len(book.columns) or any(cells[i].said for cells in found)]
    table = Table(caption, [head[i] for i in kept], [[cells[i] for i in kept] for cells in found])
    return table if found else None


def in_short(book: Book, caption: str, rows: list[tuple[str, list[Row]]]) -> Table | None:
    """(label, rows) as one line each: what was measured, and between what lie the published figures that compare."""
    found = []
    for label, of_label in rows:
        if of_label := [row for row in of_label if row.first]:
            own = [_together([_own(row, c) for row in of_label if row.numbers[c.index]]) for c in book.columns]
            theirs = [Cell(said) for row in of_label if (said := _between(book, row))]
            found.append([Cell(label), *own, _together(theirs)])
    head = [
        "Figure",
        *(f"{c.tag} measured" if c.tag else "Measured" for c in book.columns),
        "Published of this architecture",
    ]
    return _of_those_that_measured(book, caption, head, found)


def _together(cells: list[Cell]) -> Cell:
    if not cells:
        return EMPTY
    first, *rest = [Span(f"{c.said}{',' if c is not cells[-1] else ''}", c.anchor) for c in cells]
    return Cell(first.said, first.anchor, more=tuple(rest))


def _between(book: Book, row: Row) -> str:
    """ "270 to 281 cycles"."""
    comparing = [p for p in figures(book, row) if p.unit == row.unit and any(comparable(p, c) for c in book.columns)]
    if not comparing:
        return ""
    ends = dict.fromkeys(text.number(end(p.value for p in comparing)) for end in (min, max))
    return f"{' to '.join(ends)} {text.unit(row.unit)}"


def _own(row: Row, column: Column) -> Cell:
    n = row.numbers[column.index]
    if not n:
        return EMPTY
    share = f" ({text.percent(n.share)} of the limit)" if n.share is not None else ""
    if row.unit in ("B", "byte"):
        return Cell(text.size(n.value) + share, n.anchor)
    interval = text.plus_minus(n.value, n.low, n.high)
    parts = [text.number(n.value, n.half_width), "" if interval == "±0" else interval, text.unit(row.unit)]
    return Cell(text.THIN.join(filter(None, parts)) + share, n.anchor)


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
