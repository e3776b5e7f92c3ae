# SPDX-License-Identifier: Apache-2.0
"""Special functions against matrix math."""

from __future__ import annotations

from ...block.declaration import Family
from ...block.kinds import Block, figures
from ...book.model import Book
from . import balance, formats, overlap, polynomial


def pictures(book: Book) -> list[Block]:
    columns = book.columns[:4]
    by_column = (draw(book, c) for c in columns for draw in (overlap.overlap_efficiency, polynomial.exp2_mix))
    return [figures(balance.imbalance_figure(book), *by_column, balance.imbalance_map(book))]


FAMILY = Family(
    "special_function",
    "Special functions",
    "exp2, log2, reciprocal and their kin on the MUFU pipe, and what replaces them.",
    blocks=(pictures, formats.blocks, polynomial.blocks),
    answers={7: balance.imbalance, 8: overlap.overlap, 9: polynomial.exp2},
    of_instructions=True,
)
