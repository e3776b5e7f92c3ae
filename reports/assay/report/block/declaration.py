# SPDX-License-Identifier: Apache-2.0
"""What a family of measurements declares about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..answer.findings import Answer
from ..answer.question import Question
from ..book.model import Book
from .kinds import Block, Page


@dataclass(frozen=True)
class Family:
    """A part of the chip: its title, the blocks of its section, the questions it answers, and pages of its own.

    Each function of `blocks` makes blocks, those that have nothing to show among them; they stand on the page in this
    order, before the table of the family's cases. `answers` are by the number of the question; a question whose
    `Evidence` is among the blocks is answered by that.
    """

    key: str  # what the names of its measurements begin with
    title: str
    intro: str = ""
    blocks: tuple[Callable[[Book], Iterable[Block | None]], ...] = ()
    answers: Mapping[int, Callable[[Book, Question], Answer]] = field(default_factory=dict)
    pages: tuple[Callable[[Book], Page | None], ...] = ()
    of_instructions: bool = False  # its cases are in the table of instructions too
