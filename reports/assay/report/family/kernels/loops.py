# SPDX-License-Identifier: Apache-2.0
"""What bounds the hot loops of kernels, and whether the time agrees."""

from __future__ import annotations

import re

from assay.files.sass_file import HotLoop

from ...answer.findings import Answer, one_line
from ...answer.overlap import efficiencies
from ...answer.question import Question
from ...block.kinds import EMPTY, Cell, Table, sentence
from ...book import labels, text
from ...book.model import Book

HOT_LOOPS = sentence(
    "Read off the machine code: how long the busiest pipe, or one warp alone, needs for an iteration of all warps. Data "
    "of other warps and of memory beyond L1 is taken as there, and branches as the code's structure suggests."
)


def measured(book: Book) -> list[HotLoop]:
    """The loops whose time is known, each case once."""
    return list({loop.case: loop for loop in book.loops if loop.measured}.values())


def short(kernel: str) -> str:
    """A demangled name without its return type, namespaces and arguments."""
    name = kernel.split("(CU")[0].removeprefix("void ")
    return re.sub(r"\b(?:\w+|\(anonymous namespace\))::", "", name).split("(")[0] or kernel


def anchor(book: Book, loop: HotLoop) -> str:
    return next((c.anchor(loop.case) for c in book.columns if book.measurement(c, loop.case)), "")


def hot_loop_table(book: Book) -> Table | None:
    """What each loop consists of, the pipes it keeps busy, and predicted against measured."""
    rows = []
    for loop in book.loops:
        opcodes = ", ".join(f"{count} {opcode}" for opcode, count in loop.opcodes[:4])
        busy = ", ".join(f"{pipe} {cycles:.0f}" for pipe, cycles in loop.pipes[:4])
        agrees = Cell(text.percent(loop.predicted / loop.measured)) if loop.measured else EMPTY
        rows.append(
            [
                Cell(labels.case_words(loop.case) if loop.case else short(loop.kernel), anchor(book, loop)),
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


def hot_loop(book: Book, question: Question) -> Answer:
    """Of two-stage pipelines the share of their bound; the rest is a question for `assay sass`."""
    pattern = r"special_function/overlap/wgmma_(bf16|e4m3)/two_stage\w*/ffma_ex2_fadd"
    findings = efficiencies(book, book.find(pattern, "overlap_efficiency"))
    for loop in measured(book)[:4]:
        said = f"{loop.bound_by} bounds it: {text.number(round(loop.predicted))} cycles predicted, "
        said += f"{text.number(round(loop.measured))} measured, {text.percent(loop.predicted / loop.measured)}"
        findings.append(one_line(f"hot loop of {labels.case_words(loop.case)}", said, "hot-loops"))
    command = "assay sass WHAT: opcodes by pipe, bound, schedule and stages of its loops"
    if findings:
        findings.append(one_line("of any other kernel", command, ""))
    return Answer(question, findings, remark=command)
