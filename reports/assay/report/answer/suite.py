# SPDX-License-Identifier: Apache-2.0
"""Answers about the suite as a whole, of no single family."""

from __future__ import annotations

from collections.abc import Callable

from assay.files import Measurement

from ..book import labels, text
from ..book.model import STATES, Book, Column, Row
from ..book.roofs import waterfall
from .findings import Answer, Part, lines, one_line
from .questions import Question


def disassembly(book: Book, question: Question) -> Answer:
    good, total = verified(book.measurements)
    offline = [m for by_target in book.not_run.values() for m in by_target.values() if m.sass]
    held = sum(1 for m in offline if m.sass.get("verified"))
    findings = []
    if total:
        findings.append(one_line("measured", f"{good} of {total} loops hold the opcodes they claim", "details"))
    if offline:
        findings.append(one_line("built only", f"{held} of {len(offline)}, on {len(book.targets)} targets", "not-run"))
    return Answer(question, findings)


def targets(book: Book, question: Question) -> Answer:
    findings = []
    if book.isa:
        for target in book.isa.targets:
            n = book.isa.totals(target)
            said = f"{n['native'] + n['split']} of {sum(n.values())} forms native, {n['emulated']} emulated"
            findings.append(one_line(target, said, "isa.html"))
    if book.targets:
        said = f"{len(book.not_run)} cases on {', '.join(book.targets)}"
        findings.append(one_line("built and disassembled", said, "not-run"))
    return Answer(question, findings, remark="" if book.isa else "ask the assembler: assay isa --json, then --isa")


def peak(book: Book, question: Question) -> Answer:
    answer = Answer(question)
    for state in STATES:

        def said(column: Column, state: str = state) -> list[Part]:
            steps = waterfall(book, column, state)
            return [(" → ".join(f"{s.label} {text.number(s.tflops)}" for s in steps), "peak")] if steps else []

        answer.findings += lines(book, f"bf16 {state}, TFLOP/s", said)
    return answer


def siblings(book: Book, question: Question) -> Answer:
    spread = spread_of_siblings(book)
    if not spread:
        return Answer(question)
    middle = sorted(max(r) - min(r) for _, r in spread)[len(spread) // 2]
    findings = [one_line("all cases, median", f"{text.percent(middle)} between the extremes", "")]
    findings += [
        one_line(f"widest: {labels.case_words(row.name)}", text.percent(max(r) - min(r)), row.first.anchor)
        for row, r in spread[:3]
    ]
    return Answer(question, findings)


def gate(book: Book, question: Question) -> Answer:
    return Answer(question, remark="not a question for one report: assay gate BASE CANDIDATE answers it")


def spread_of_siblings(book: Book) -> list[tuple[Row, list[float]]]:
    """Rows by how far apart GPUs of one name are: (row, value over the median of its siblings), widest first."""
    names = [(c.run.gpu or {}).get("name") for c in book.columns]
    spread = []
    for row in book.rows:
        values = [n.value for n, name in zip(row.numbers, names) if n and name == names[0]]
        # A share of what may be nothing says nothing.
        sure = all(n is None or n.low is None or n.low > 0 or n.high < 0 for n in row.numbers)
        if row.primary and sure and len(values) > 1:
            middle = sorted(values)[len(values) // 2]
            if middle:
                spread.append((row, [value / middle for value in values]))
    return sorted(spread, key=lambda item: min(item[1]) - max(item[1]))


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
