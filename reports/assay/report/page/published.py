# SPDX-License-Identifier: Apache-2.0
"""What others published, beside what was measured here."""

from __future__ import annotations

from .. import family
from ..block import published
from ..block.kinds import Block, Fold, Section, Tables, sentence
from ..book import labels, text
from ..book.deviation import NOTABLE
from ..book.model import Book, Row
from ..book.published import comparable, figures


def sections(book: Book) -> list[Block]:
    """How many figures agree, those that do not, and all by family."""
    rows = [row for row in book.rows if row.first and figures(book, row)]
    if not rows:
        return []
    compared = [(row, found) for row in rows if (found := deviations(book, row))]
    apart = [row for row, found in compared if max(found) > NOTABLE]
    total = sum(len(found) for _, found in compared)
    close = sum(d <= NOTABLE for _, found in compared for d in found)
    said = (
        f"Of {total} published figures that can be compared with ours, {close} lie within {100 * NOTABLE:g}{text.THIN}%."
        if total
        else "No published figure can be compared with ours."
    )
    blocks: list[Block] = [sentence(said)]
    table = published.table(book, "Figures that differ by more, with the reason where one is known", _labelled(apart))
    blocks += [Tables([table])] if table else []
    by_family: dict[str, list[Row]] = {}
    for row in rows:
        by_family.setdefault(row.family, []).append(row)
    folds: list[Block] = []
    for key, found in by_family.items():
        title = family.family_of(key).title
        every = published.table(book, f"{title}, beside what others published", _labelled(found))
        folds += [Fold(title, text.counted(len(found), "figure"), [every])] if every else []
    return [
        Section("beside", "Beside our figures", blocks),
        Section("more", "All published figures of these GPUs and their architecture", folds),
    ]


def deviations(book: Book, row: Row) -> list[float]:
    """How far ours is from each published figure of the same unit that may be compared."""
    found = []
    for p in figures(book, row):
        ours = [n for c, n in zip(book.columns, row.numbers) if n and p.unit == row.unit and comparable(p, c)]
        found += [abs(ours[0].value / p.value - 1)] if ours and p.value else []
    return found


def _labelled(rows: list[Row]) -> list[tuple[str, Row]]:
    return [(labels.figure_words(row.name, row.metric), row) for row in rows]
