# SPDX-License-Identifier: Apache-2.0
"""The questions of the suite, answered from a book, each in at most a few short findings. Pure."""

from __future__ import annotations

from collections.abc import Callable

from . import derive, machine_answers, places, text
from .blocks import Block
from .findings import Answer, Finding, one_line, picked
from .model import Book
from .questions import PARTS, Question


def disassembly(book: Book, question: Question) -> Answer:
    good, total = derive.verified(book.measurements)
    offline = [m for by_target in book.not_run.values() for m in by_target.values() if m.sass]
    held = sum(1 for m in offline if m.sass.get("verified"))
    findings = []
    if total:
        findings.append(one_line("measured", f"{good} of {total} loops hold the opcodes they claim", "details"))
    if offline:
        findings.append(one_line("built only", f"{held} of {len(offline)}, on {len(book.targets)} targets", "not-run"))
    return Answer(question, findings)


def collectives(book: Book, question: Question) -> Answer:
    findings = []
    for operation, series in derive.collective_series(book).items():
        for one in series[:3]:
            size, top, *_ = max(one.points, key=lambda p: p[1])
            findings.append(
                one_line(f"{operation} {one.label}", f"{text.number(top)} GB/s at {text.size(size)}", "collective")
            )
    return Answer(question, findings)


def targets(book: Book, question: Question) -> Answer:
    findings = []
    if book.isa:
        for target in book.isa.targets:
            n = book.isa.totals(target)
            said = f"{n['native'] + n['split']} of {sum(n.values())} forms native, {n['emulated']} emulated"
            findings.append(one_line(target, said, "isa.html" if book.isa.page else "isa"))
    if book.targets:
        said = f"{len(book.not_run)} cases on {', '.join(book.targets)}"
        findings.append(one_line("built and disassembled", said, "not-run"))
    return Answer(question, findings, remark="" if book.isa else "ask the assembler: assay isa --json, then --isa")


def peak(book: Book, question: Question) -> Answer:
    lines = []
    for column in book.columns:
        if steps := derive.waterfall(book, column):
            lines.append((column.tag, [(" → ".join(f"{s.label} {text.number(s.tflops)}" for s in steps), "peak")]))
    return Answer(question, [Finding("bf16, TFLOP/s", lines)] if lines else [])


def siblings(book: Book, question: Question) -> Answer:
    spread = derive.siblings(book)
    if not spread:
        return Answer(question)
    middle = sorted(max(r) - min(r) for _, r in spread)[len(spread) // 2]
    findings = [one_line("all cases, median", f"{text.percent(middle)} between the extremes", "")]
    findings += [
        one_line(f"widest: {text.case_words(row.name)}", text.percent(max(r) - min(r)), row.first.anchor)
        for row, r in spread[:3]
    ]
    return Answer(question, findings)


def gate(book: Book, question: Question) -> Answer:
    return Answer(question, remark="not a question for one report: assay gate BASE CANDIDATE answers it")


ANSWERED_BY = (*machine_answers.ANSWERED_BY, disassembly, collectives, targets, peak, siblings, gate)
SPECIAL: dict[str, Callable[[Book, Question], Answer]] = {f.__name__: f for f in ANSWERED_BY}


def answers(book: Book, blocks: dict[str, list[Block]] | None = None) -> list[tuple[str, list[Answer]]]:
    """(part, its answers), every question of the suite in order, answered or not; `blocks` as of `places.blocks`."""
    of_number = {b.number: b for found in (blocks or places.blocks(book)).values() for b in found}

    def one(question: Question) -> Answer:
        if question.number in of_number:
            return places.answer(book, question, of_number[question.number])
        return SPECIAL[question.special](book, question) if question.special else picked(book, question)

    return [(part, [one(q) for q in questions]) for part, questions in PARTS.items()]
