# SPDX-License-Identifier: Apache-2.0
"""Runs that add to the leading ones: a table of them, and which run is the newest that answers a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from .. import family
from ..answer.question import Part, Question
from ..answer.questions import PARTS, by_number
from ..block import kinds
from ..block.kinds import Block, Cell, Fold, Lines, Section, Span, Table
from ..book import identity, text
from ..compare.published import PLAIN
from ..compare.subjects import Subject
from ..page.front import MAIN
from ..page.part import page_of
from ..said import SENTENCES
from .entries import MOST_OF, Entry

INSTRUCTIONS = "sass"
FEW = 3  # families that are named
# Questions whose newest answer may be in a run of few cases, and the cases that its first sentence rests on.
RESTS_ON = {
    22: "kernels/gemm/bf16/",
    23: "kernels/(gemv|gemm_curve)/bf16/",
    24: "kernels/grouped/bf16/",
    30: "link/peer/",
    29: "collective/",
}
OF_KERNELS = (22, 23, 24)
NEWEST = "Newest answers"
WHY = "Kernels change with the commit, and links need several GPUs: the newest run that answers may be none of these above."


def first_sentence(number: int, subject: Subject) -> str:
    """What a run says first of a question; "" where it says nothing."""
    sentences = [s for s in SENTENCES[number](subject.book, subject.book.columns[0]) if s] if subject.book.columns else []
    return "".join(piece for piece, _ in sentences[0]) if sentences else ""


def cases_of(number: int, entry: Entry) -> set[str]:
    return {name for name in entry.cases if re.match(RESTS_ON[number], name)}


def newest(found: Iterable[Entry], gpu: str, number: int, says: Callable[[Entry], str]) -> list[Entry]:
    """Of the runs of a folder that answer a question with most cases, or half as many, the newest; of a day the largest, of
    equal ones that do not say when they began the last by name, and beside it others of that day that share no case with
    it."""
    counted = [(entry, cases) for entry in found if entry.gpu == gpu and (cases := cases_of(number, entry)) and says(entry)]
    most = max((len(cases) for _, cases in counted), default=0)
    large = [(entry, cases) for entry, cases in counted if len(cases) >= MOST_OF * most]
    chosen: list[Entry] = []
    known: set[str] = set()
    for entry, cases in sorted(large, key=lambda at: (at[0].date, len(at[1]), at[0].started, at[0].name), reverse=True):
        if not chosen or (entry.date == chosen[0].date and not cases & known):
            chosen.append(entry)
            known |= cases
    return chosen


def part_of(question: Question) -> Part:
    return next(part for part in PARTS if question in part.questions)


def answers(
    number: int, chosen: Sequence[Entry], says: Callable[[Entry], str], folder: Callable[[Entry], str], asked: str
) -> list[Span]:
    """A line: what each run says, and where it does. `asked` is what stands before it, `folder` a report's from the page
    that leads there."""
    page = page_of(part_of(by_number()[number]))
    spans = [Span(asked, kind="asked")]
    for entry in chosen:
        commit = identity.commit_of(entry.run) if number in OF_KERNELS else ""
        on = f", measured on {entry.date}" if entry.date else ""
        spans += [Span(f" {says(entry)} From "), Span(f"{entry.gpu}, {entry.purpose}", f"{folder(entry)}/{page}#q{number}")]
        spans.append(Span(f"{on}{f', commit {commit}' if commit else ''}."))
    return spans


def section_of_newest(lines: Mapping[int, list[list[Span]]]) -> Section | None:
    """Each question with what the newest run of each kind of GPU says of it."""
    blocks: list[Block] = [kinds.Part(by_number()[number].ask, [Lines(found)]) for number, found in lines.items() if found]
    return Section("newest", NEWEST, blocks, WHY) if blocks else None


def _said(titles: Sequence[str], processes: int) -> str:
    """What was measured: few families by name; and that it was repeated."""
    what = ", ".join(titles) if len(titles) <= FEW else f"{len(titles)} families"
    return f"{what}, in {processes} processes each" if processes > 1 else what


def repeated(entry: Entry, folder: str) -> list[Span]:
    """Where it is known how far processes differ."""
    return [
        Span(f"How far {entry.processes} processes differ that measure the same on one GPU of this kind: "),
        Span(f"{entry.gpu}, {entry.purpose}", f"{folder}/{MAIN}"),
        Span("."),
    ]


def counted(entry: Entry, folder: str) -> list[Span]:
    """Where it is known what the hardware counted."""
    return [
        Span("What the hardware counted of each pipe, on a GPU of this kind: "),
        Span(f"{entry.gpu}, {entry.purpose}", f"{folder}/{INSTRUCTIONS}.html"),
        Span("."),
    ]


def section(others: Sequence[Entry], folders: Mapping[Entry, str]) -> Section | None:
    """A line for each, the newest first, behind a fold."""
    rows = []
    for entry in sorted(others, key=lambda entry: (entry.date, entry.started), reverse=True):
        families = dict.fromkeys(m.name.split("/")[0] for m in entry.run.measurements if m.ok)
        what = dict.fromkeys(family.family_of(key).title for key in families)
        rows.append(
            [
                Cell(f"{entry.gpu}, {entry.purpose}", f"{folders[entry]}/{MAIN}"),
                Cell(entry.date),
                Cell(identity.gpu_name(entry.run)),
                Cell(_said(list(what), entry.processes)),
                Cell(text.number(len(entry.cases))),
                Cell(identity.commit_of(entry.run)),
            ]
        )
    if not rows:
        return None
    head = ["Run", "Measured on", "GPU", "What", "Cases", "Commit"]
    table = Table("The newest first", head, rows, kind=PLAIN)
    return Section("further", "Further runs", [Fold("All of them", text.counted(len(rows), "run"), [table])])
