# SPDX-License-Identifier: Apache-2.0
"""Answers about the suite as a whole, of no single family."""

from __future__ import annotations

from collections.abc import Callable

from assay.files import Measurement

from ..book import text
from ..book.model import STATES, Book, Column
from ..book.roofs import waterfall
from .findings import Answer, Part, lines, one_line
from .question import Question


def disassembly(book: Book, question: Question) -> Answer:
    good, total = verified(book.measurements)
    offline = [m for by_target in book.not_run.values() for m in by_target.values() if m.sass]
    held = sum(1 for m in offline if m.sass.get("verified"))
    findings = []
    if total:
        findings.append(one_line("loops measured", f"{good} of {total} loops hold the opcodes they claim", ""))
    if offline:
        findings.append(
            one_line(
                "loops that were only built", f"{held} of {len(offline)}, on {len(book.targets)} targets", "not-run"
            )
        )
    return Answer(question, findings)


def targets(book: Book, question: Question) -> Answer:
    findings = []
    if book.isa:
        for target in book.isa.targets:
            n = book.isa.totals(target)
            said = f"{n['native'] + n['split']} of {sum(n.values())} forms native, {n['emulated']} emulated"
            findings.append(one_line(target, said, book.isa_page))
    if book.targets:
        said = f"{len(book.not_run)} cases on {', '.join(book.targets)}"
        findings.append(one_line("built and disassembled", said, "not-run"))
    return Answer(question, findings, remark="" if book.isa else "ask the assembler: assay isa --json, then --isa")


def peak(book: Book, question: Question) -> Answer:
    answer = Answer(question)
    for state in STATES:

        def said(column: Column, state: str = state) -> list[Part]:
            steps = waterfall(book, column, state)
            return [(f"{text.number(s.tflops)}: {s.label}", "peak") for s in steps]

        answer.findings += lines(book, f"bf16 {state}, TFLOP/s", said)
    return answer


def gate(book: Book, question: Question) -> Answer:
    return Answer(question, remark="not a question for one report: assay gate BASE CANDIDATE answers it")


def siblings(book: Book, question: Question) -> Answer:
    return Answer(question, remark="not a question for one report: give `assay report` the runs of its siblings as well")


def verified(measurements: list[tuple[Column, Measurement]]) -> tuple[int, int]:
    """(measurements whose loop was checked and held what it must, measurements with machine code)."""
    with_code = [m for _, m in measurements if m.sass]
    return sum(1 for m in with_code if m.sass.get("verified")), len(with_code)


ANSWERS: dict[int, Callable[[Book, Question], Answer]] = {
    12: disassembly,
    32: targets,
    33: peak,
    34: siblings,
    35: gate,
}
