# SPDX-License-Identifier: Apache-2.0
"""Every question of the suite in order, answered or not."""

from __future__ import annotations

from .. import family
from ..answer import suite
from ..answer.findings import Answer, picked
from ..answer.questions import PARTS, Question
from ..block.kinds import Evidence
from ..book.model import Book
from . import guard, sections

MOST = 11  # findings among the answers; the rest is with the evidence


def answers(book: Book, evidence: dict[int, Evidence] | None = None) -> list[tuple[str, list[Answer]]]:
    """(part, its answers); `evidence` as of `sections.evidence`, made here where it is not at hand."""
    if evidence is None:
        evidence = sections.evidence(sections.blocks(book))
    derived = {**suite.ANSWERS}
    for declared in family.declared().values():
        derived.update(declared.answers)

    def one(question: Question) -> Answer:
        if question.number in evidence:
            found = evidence[question.number]
            return guard.made(
                "The answer",
                lambda: from_evidence(book, question, found),
                lambda said: Answer(question, remark=said.spans[0].said),
            )
        make = derived.get(question.number, picked)
        return guard.made(
            "The answer", lambda: make(book, question), lambda said: Answer(question, remark=said.spans[0].said)
        )

    return [(part, [one(q) for q in questions]) for part, questions in PARTS.items()]


def from_evidence(book: Book, question: Question, found: Evidence) -> Answer:
    """Its findings and the rows that the question names; without any, how to measure some."""
    answer = picked(book, question)
    if not found.findings and not answer.findings:
        why = f": {found.remark}" if found.remark else ""
        answer.remark = f"not measured in this run{why}; to have it, {found.command}"
        return answer
    answer.more += max(0, len(found.findings) - MOST)
    answer.findings = found.findings[:MOST] + answer.findings
    answer.anchor = found.anchor if found else ""
    return answer
