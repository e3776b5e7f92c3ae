# SPDX-License-Identifier: Apache-2.0
"""Sentences on what others published: question 40."""

from __future__ import annotations

from ..answer.findings import Sentence
from ..book import text
from ..book.deviation import NOTABLE, compared
from ..book.model import Book, Column
from .write import say


def agreement(book: Book, column: Column) -> list[Sentence | None]:
    """How many of them ours are near, and how many of the others have a reason."""
    pairs = compared(book, [column])
    if not pairs:
        return []
    close = sum(pair.close for pair in pairs)
    explained = sum(bool(pair.reason) for pair in pairs)
    rest = len(pairs) - close
    return [
        say(
            f"Of {{all}} published figures comparable with ours, {{close}} lie within "
            f"{100 * NOTABLE:g}{text.THIN}%.",
            all=(text.number(len(pairs)), ""),
            close=(text.number(close), "beside"),
        ),
        say(
            "For {explained} others a reason was calculated, and {open} are not explained.",
            explained=(text.number(explained), ""),
            open=(text.number(rest - explained), "beside"),
        )
        if rest
        else None,
    ]
