# SPDX-License-Identifier: Apache-2.0
"""Whole kernels: against their baselines, and what bounds their hot loops."""

from __future__ import annotations

from ...answer.findings import Answer
from ...answer.question import Question
from ...block import over_time
from ...block.declaration import Family
from ...block.kinds import Block, Part, figures
from ...book.model import STATES, Book
from . import paired
from .loops import HOT_LOOPS, hot_loop, hot_loop_table
from .products import evidence


def blocks(book: Book) -> list[Block]:
    drawn = (paired.paired(book, column, state) for column in book.columns[:4] for state in STATES)
    lasting = (over_time.picture(book, column, over_time.GEMMS) for column in book.columns[:4])
    found: list[Block] = [figures(*drawn, *lasting)]
    if table := hot_loop_table(book):
        found.append(Part("Hot loops of kernels", [HOT_LOOPS, table], "hot-loops"))
    return found


def clock(book: Book, question: Question) -> Answer:
    """Which clock and power a GEMM settles at, from its beginning on."""
    return Answer(question, over_time.findings(book, over_time.GEMMS))


FAMILY = Family(
    "kernels",
    "Kernels",
    "Whole kernels against their baselines, in pairs.",
    blocks=(evidence, blocks),
    answers={11: hot_loop, 42: clock},
)
