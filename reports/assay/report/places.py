# SPDX-License-Identifier: Apache-2.0
"""Which question has its place in the section of which family, and who answers it. Pure."""

from __future__ import annotations

from collections.abc import Callable

from . import atomics, barriers, launch, levels, links, placement, tma, tmem, workers
from .blocks import Block
from .findings import Answer, picked
from .model import Book
from .questions import Question

FAMILIES: dict[str, tuple[Callable[[Book], Block], ...]] = {
    "memory": (levels.block, atomics.block),
    "tma": (tma.block,),
    "tmem": (tmem.block,),
    "sync": (barriers.block,),
    "launch": (launch.block, workers.block),
    "placement": (placement.block,),
    "link": (links.block, links.peer_block),
}
MOST = 11  # findings among the answers; the rest is in the place of the question


def blocks(book: Book) -> dict[str, list[Block]]:
    """The blocks of each family, those without data among them."""
    return {family: [make(book) for make in makers] for family, makers in FAMILIES.items()}


def answer(book: Book, question: Question, block: Block) -> Answer:
    """The findings of the block and the rows that the question names; without any, how to measure some."""
    found = picked(book, question)
    if not block.findings and not found.findings:
        found.remark = f"not measured in this run{block.remark and f': {block.remark}'}; to have it, {block.command}"
        return found
    found.more += max(0, len(block.findings) - MOST)
    found.findings = block.findings[:MOST] + found.findings
    found.place = block.place if block else ""
    return found
