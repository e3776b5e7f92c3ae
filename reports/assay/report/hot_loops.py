# SPDX-License-Identifier: Apache-2.0
"""Question 11: the hot loops of kernels, what bounds each, and whether the time that was measured agrees. Pure."""

from __future__ import annotations

import re

from . import text
from .blocks import EMPTY, Cell, Table
from .loops import HotLoop
from .model import Book


def measured(book: Book) -> list[HotLoop]:
    """The loops whose time is known, each case once."""
    return list({loop.case: loop for loop in book.loops if loop.measured}.values())


def short(kernel: str) -> str:
    """A demangled name without its return type, namespaces and arguments."""
    name = kernel.split("(CU")[0].removeprefix("void ")
    return re.sub(r"\b(?:\w+|\(anonymous namespace\))::", "", name).split("(")[0] or kernel


def anchor(book: Book, loop: HotLoop) -> str:
    return next((c.anchor(loop.case) for c in book.columns if book.measurement(c, loop.case)), "")


def table(book: Book) -> Table | None:
    """What each loop consists of, the pipes it keeps busy, and predicted against measured."""
    rows = []
    for loop in book.loops:
        opcodes = ", ".join(f"{count} {opcode}" for opcode, count in loop.opcodes[:4])
        busy = ", ".join(f"{pipe} {cycles:.0f}" for pipe, cycles in loop.pipes[:4])
        agrees = Cell(text.percent(loop.predicted / loop.measured)) if loop.measured else EMPTY
        rows.append(
            [
                Cell(text.case_words(loop.case) if loop.case else short(loop.kernel), anchor(book, loop)),
                Cell(short(loop.kernel) if loop.case else ""),
                Cell(str(loop.warps)),
                Cell(opcodes),
                Cell(busy),
                Cell(loop.bound_by),
                Cell(text.number(round(loop.predicted))),
                Cell(text.number(round(loop.measured)) if loop.measured else "–"),
                agrees,
            ]
        )
    head = [
        "Case",
        "Kernel",
        "Warps",
        "Opcodes of a warp",
        "Pipes, cycles",
        "Bound by",
        "Predicted",
        "Measured",
        "Predicted of it",
    ]
    caption = "Hot loops, cycles per iteration: what bounds them, and whether the time agrees"
    return Table(caption, head, rows) if rows else None
