# SPDX-License-Identifier: Apache-2.0
"""Runs that add to the leading ones: a table of them, and which run is the newest that answers a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.files import Measurement

from .. import family
from ..answer.findings import Sentence
from ..answer.question import Part, Question
from ..answer.questions import PARTS, by_number
from ..block import kinds
from ..block.kinds import Block, Cell, Fold, Lines, Section, Span, Table
from ..book import identity, text
from ..book.model import STATES, Book, Column, watched
from ..book.products import kind_of
from ..book.roofs import best_gemm, waterfall
from ..compare.figures import calls
from ..compare.published import PLAIN
from ..compare.subjects import Subject
from ..page.front import MAIN
from ..page.part import page_of
from ..said import SENTENCES, kernels
from .entries import MOST_OF, Entry

INSTRUCTIONS = "sass"
FEW = 3  # families that are named
BEFORE = "-before"  # ends the names of runs of a build before a change, beside which one after it stands
NEWEST = "Newest answers"
WHY = "Kernels change with the commit, and links need several GPUs: the newest run that answers may be none of these above."
Says = Callable[[Book, Column], list[Sentence | None]]


@dataclass(frozen=True)
class Asked:
    """A question whose newest answer may be in a run of few cases, or one kind of product that it asks about."""

    number: int
    rests_on: Callable[[str], bool]  # whether an answer rests on the case of this name
    says: Says
    of_kernels: bool = False
    beside_library: bool = False  # whether the answer is a ratio to what took turns with ours


def _product(number: int, operation: str, kind: str) -> Asked:
    def rests_on(name: str) -> bool:
        return name.startswith(f"kernels/{operation}/") and kind_of(name) == kind

    return Asked(number, rests_on, kernels.of_kind(operation, kind), of_kernels=True, beside_library=True)


def _matching(number: int, cases: str, sentences: int, of_kernels: bool = False) -> Asked:
    """A question's first sentences."""

    def says(book: Book, column: Column) -> list[Sentence | None]:
        return [s for s in SENTENCES[number](book, column) if s][:sentences]

    return Asked(number, lambda name: bool(re.match(cases, name)), says, of_kernels)


ASKED = (
    _product(22, "gemm", "bf16"),
    _product(22, "gemm", "e4m3"),
    _product(22, "gemm", "e4m3_row"),
    _product(22, "gemm_block_scaled", "e4m3_block128"),
    _matching(23, "kernels/(gemv|gemm_curve)/bf16/", 2, of_kernels=True),  # the second says of how many layers it is
    _product(24, "grouped", "bf16"),
    _matching(30, "link/peer/", 1),
    _matching(29, "collective/", 1),
)


def said_of(asked: Asked, subject: Subject) -> str:
    """What a run says of it; "" where it says nothing."""
    book = subject.book
    sentences = [s for s in asked.says(book, book.columns[0]) if s] if book.columns else []
    return " ".join("".join(piece for piece, _ in sentence) for sentence in sentences)


def newest(found: Iterable[Entry], gpu: str, asked: Asked, says: Callable[[Entry], str]) -> list[Entry]:
    """The newest run of a folder that answers. Where ours is compared with a library, the newest of those that tried most of
    its choices, for a ratio to another is none to the library at its best; before it that of those beside something else,
    whose choices nobody counts: a framework calls one."""
    counted = [
        (entry, cases)
        for entry in found
        if entry.gpu == gpu and (cases := set(filter(asked.rests_on, entry.cases))) and says(entry)
    ]
    chosen = _newest_of(counted)
    if asked.beside_library:
        most = max((entry.tried.get(case, 0) for entry, cases in counted for case in cases), default=0)
        at_best = [(entry, {case for case in cases if entry.tried.get(case) == most}) for entry, cases in counted]
        at_best = [(entry, cases) for entry, cases in at_best if cases]
        elsewhere = [(entry, cases) for entry, cases in counted if not any(map(entry.tried.get, cases))]
        if not any(entry in chosen for entry, _ in at_best):
            chosen += _newest_of(at_best)
        elif most and not any(entry in chosen for entry, _ in elsewhere):
            chosen = _newest_of(elsewhere) + chosen
    return chosen


def _newest_of(counted: Sequence[tuple[Entry, set[str]]]) -> list[Entry]:
    """Of the runs with most cases, or half as many, the newest; of a day the largest, of equal ones that do not say when they
    began the last by name, but none that shows what was before a change, and beside it others of that day that share no case
    with it."""

    def order(at: tuple[Entry, set[str]]) -> tuple[str, int, bool, str, str]:
        entry, cases = at
        return entry.date, len(cases), not entry.name.endswith(BEFORE), entry.started, entry.name

    most = max((len(cases) for _, cases in counted), default=0)
    large = [(entry, cases) for entry, cases in counted if len(cases) >= MOST_OF * most]
    chosen: list[Entry] = []
    known: set[str] = set()
    for entry, cases in sorted(large, key=order, reverse=True):
        if not chosen or (entry.date == chosen[0].date and not cases & known):
            chosen.append(entry)
            known |= cases
    return chosen


def part_of(question: Question) -> Part:
    return next(part for part in PARTS if question in part.questions)


def _page(number: int) -> str:
    return page_of(part_of(by_number()[number]))


def answers(
    asked: Asked, chosen: Sequence[Entry], says: Callable[[Entry], str], folder: Callable[[Entry], str], label: str
) -> list[list[Span]]:
    """A line for each run: what it says, and where it does. `label` is what stands before it, `folder` a report's from the page
    that leads there."""
    page = _page(asked.number)
    lines = []
    for entry in chosen:
        commit = identity.commit_of(entry.run) if asked.of_kernels else ""
        on = f", measured on {entry.date}" if entry.date else ""
        lines.append(
            [
                Span(label, kind="asked"),
                Span(f" {says(entry)} From "),
                Span(f"{entry.gpu}, {entry.purpose}", f"{folder(entry)}/{page}#q{asked.number}"),
                Span(f"{on}{f', commit {commit}' if commit else ''}."),
            ]
        )
    return lines


def newer_gemm(
    lead: Entry, found: Iterable[Entry], subject_of: Mapping[Entry, Subject], folder: Callable[[Entry], str]
) -> list[Span]:
    """What the newest run of a folder has of the GEMM at which the peak of a leading one ends; [] where none is newer. Kernels
    get faster from commit to commit, and its pictures show its own."""
    own = subject_of[lead].book
    for state in reversed(STATES) if own.columns else ():
        column = own.columns[0]
        gemm = best_gemm(own, column, state)
        if not gemm or not waterfall(own, column, state):
            continue
        newer: list[tuple[Entry, Measurement]] = []
        for entry in found:
            if entry.gpu == lead.gpu and entry.date > lead.date and gemm.name in entry.cases:
                book = subject_of[entry].book
                m = book.measurement(book.columns[0], gemm.name)
                if m and m.value("tflops") and watched(m):
                    newer.append((entry, m))
        if not newer:
            return []
        entry, m = max(newer, key=lambda at: (at[0].date, at[0].started, at[0].name))
        before, after = calls(own.measurement(column, gemm.name)), calls(m)
        ways = f", called {after} there and {before} here" if before != after else ""
        another = " on another GPU of this kind" if identity.gpu_id(entry.run) != identity.gpu_id(lead.run) else ""
        commit = identity.commit_of(entry.run)
        return [
            Span(f"Where the peak went, {state}:", kind="asked"),
            Span(f" Our GEMM of {gemm.shape} has {text.number(round(gemm.value))} TFLOP/s in this report's pictures, and "),
            Span(f"{text.number(round(m.value('tflops')))} in {entry.gpu}, {entry.purpose}", f"{folder(entry)}/{_page(22)}#q22"),
            Span(f"{ways}, measured on {entry.date}{another}{f', commit {commit}' if commit else ''}."),
        ]
    return []


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
