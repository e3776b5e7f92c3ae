# SPDX-License-Identifier: Apache-2.0
"""Whole kernels: against their baselines, and what bounds their hot loops."""

from __future__ import annotations

from ...block.declaration import Family
from ...block.kinds import Block, Part, figures
from ...book.model import STATES, Book
from . import paired
from .loops import HOT_LOOPS, hot_loop, hot_loop_table
from .products import evidence


def blocks(book: Book) -> list[Block]:
    drawn = (paired.paired(book, column, state) for column in book.columns[:4] for state in STATES)
    found: list[Block] = [figures(*drawn)]
    if table := hot_loop_table(book):
        found.append(Part("Hot loops of kernels", [HOT_LOOPS, table], "hot-loops"))
    return found


FAMILY = Family(
    "kernels",
    "Kernels",
    "Whole kernels against their baselines, in pairs.",
    blocks=(evidence, blocks),
    answers={11: hot_loop},
)
