# SPDX-License-Identifier: Apache-2.0
"""Every question of the suite in order, answered or not."""

from __future__ import annotations

from .. import family, said
from ..answer import suite
from ..answer.findings import Answer, Sentence, picked
from ..answer.question import Part, Question
from ..answer.questions import PARTS
from ..block.kinds import Evidence
from ..book.model import Book
from . import guard, sections


def answers(book: Book, evidence: dict[int, Evidence] | None = None) -> list[tuple[Part, list[Answer]]]:
    """(part, its answers); `evidence` as of `sections.evidence`, made here where it is not at hand."""
    if evidence is None:
        evidence = sections.evidence(sections.blocks(book))
    derived = {**suite.ANSWERS}
    for declared in family.declared().values():
        derived.update(declared.answers)

    def one(question: Question) -> Answer:
        found = evidence.get(question.number)
        make = derived.get(question.number, picked)
        answer = guard.made(
            "The answer",
            lambda: from_evidence(book, question, found) if found else make(book, question),
            lambda left_out: Answer(question, remark=left_out.spans[0].said),
        )
        answer.said = guard.made("The answer", lambda: in_sentences(book, question), lambda _: [])
        return answer

    return [(part, [one(q) for q in part.questions]) for part in PARTS]


def from_evidence(book: Book, question: Question, found: Evidence) -> Answer:
    """Its findings and the rows that the question names; without any, why there are none."""
    answer = picked(book, question)
    answer.findings = found.findings + answer.findings
    answer.remark = found.remark
    return answer


def in_sentences(book: Book, question: Question) -> list[tuple[str, list[Sentence]]]:
    """What each run says; runs that say the same in one place."""
    make = said.SENTENCES.get(question.number)
    if make is None:
        return []
    alike: dict[str, tuple[list[str], list[Sentence]]] = {}
    for column in book.columns:
        if sentences := [sentence for sentence in make(book, column) if sentence]:
            words = " ".join(text for sentence in sentences for text, _ in sentence)
            alike.setdefault(words, ([], sentences))[0].append(column.tag)
    if len(alike) == 1 and len(book.columns) == len(next(iter(alike.values()))[0]):
        return [("", next(iter(alike.values()))[1])]
    return [(", ".join(tags), sentences) for tags, sentences in alike.values()]
