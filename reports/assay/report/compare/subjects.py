# SPDX-License-Identifier: Apache-2.0
"""Which runs are compared with which. Pure.

A subject is what has a report of its own: a GPU, with all runs of it that measured different cases. Runs that measured
the same cases, or are of other GPUs, are other subjects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from assay.files import Run
from assay.files.isa_file import Isa
from assay.files.sass_file import HotLoop

from ..book import identity, model
from ..book.join import joined
from ..book.model import Book, Column, Number, Row


@dataclass(eq=False, repr=False)  # with all of its runs
class Subject:
    """One of the things compared: its book, and the folder that its pages are in."""

    index: int
    label: str
    short: str  # in sentences and over columns
    folder: str
    book: Book

    @cached_property
    def run(self) -> Run:
        """The run that says what the machine is."""
        return self.book.columns[0].run

    @property
    def gpu(self) -> dict:
        return self.run.gpu or {}

    def number(self, row: Row | None, state: str) -> tuple[Column, Number] | None:
        """What it found of a row of its own book, and in which of its runs."""
        for column in self.book.columns if row else ():
            if found := model.of_state(row, column.index, state):
                return column, found
        return None


def _measures(run: Run) -> set[str]:
    return {m.name for m in run.measurements if m.ok}


def _may_be_one(a: Run, b: Run) -> bool:
    """Whether nothing says that these are two GPUs."""
    ids = {identity.gpu_id(run) for run in (a, b)} - {None}
    return identity.gpu_name(a) == identity.gpu_name(b) and len(ids) < 2


def siblings_of(subject: Subject, among: Iterable[Subject]) -> list[tuple[Book, Column]]:
    """Other GPUs of this one's name, each by its first run."""

    def is_sibling(other: Subject) -> bool:
        same_name = identity.gpu_name(other.run) == identity.gpu_name(subject.run)
        return same_name and not _may_be_one(subject.run, other.run)

    measured = [one for one in among if one.book.columns] if subject.book.columns else []
    return [(other.book, other.book.columns[0]) for other in measured if is_sibling(other)]


def repeated_of(subject: Subject, among: Iterable[Subject]) -> tuple[Book, Column] | None:
    """Of the GPUs of this one's name, itself among them, the run whose cases ran in most processes, if in more than its
    own did: how far processes differ."""
    if not subject.book.columns:
        return None
    found = [
        (other.book.processes[column.index].most, other.book, column)
        for other in among
        for column in other.book.columns
        if column.run.gpu and identity.gpu_name(column.run) == identity.gpu_name(subject.run)
    ]
    most, book, column = max(found, key=lambda one: one[0], default=(0, subject.book, subject.book.columns[0]))
    return (book, column) if most > max(p.most for p in subject.book.processes) else None


def split(runs: list[Run]) -> list[list[Run]]:
    """The runs of each subject. Runs of one name that measured different cases stand in one report, each in its column.

    What was only built and checked, without a GPU, belongs to every subject.
    """
    groups: list[list[Run]] = []
    built = []
    for run in joined(runs):
        if not run.gpu and all(m.status == "not_run" for m in run.measurements):
            built.append(run)
            continue
        for group in groups:
            if all(_may_be_one(run, other) and not _measures(run) & _measures(other) for other in group):
                group.append(run)
                break
        else:
            groups.append([run])
    return [[*group, *built] for group in groups] or [built]


SHORTER = (
    (re.compile(r"^NVIDIA (GeForce )?"), ""),
    (re.compile(r" \d+ ?GB HBM\w*"), ""),
    (re.compile(r"^(.*), run "), ""),  # runs of one GPU differ in this alone
)


def short_labels(labels: list[str]) -> list[str]:
    """The labels without what a reader does not need to tell them apart."""
    found = list(labels)
    for pattern, instead in SHORTER:
        shorter = [pattern.sub(instead, label) for label in found]
        if len(set(shorter)) == len(shorter):
            found = shorter
    return found


def subjects(
    groups: list[list[Run]],
    published: Iterable[Run] = (),
    isa: Isa | None = None,
    loops: Iterable[HotLoop] = (),
) -> list[Subject]:
    """A subject of each group of runs, in their order."""
    published, loops = list(published), list(loops)
    labels = identity.labels([group[0] for group in groups])
    shorts = short_labels(labels)
    folders = [re.sub(r"[^a-z0-9]+", "-", short.lower()).strip("-")[:60] or "run" for short in shorts]
    folders = [f"{name}-{i + 1}" if folders.count(name) > 1 else name for i, name in enumerate(folders)]
    books = [model.build(group, published, isa, loops) for group in groups]
    return [
        Subject(i, label, short, folder, book)
        for i, (label, short, folder, book) in enumerate(zip(labels, shorts, folders, books))
    ]
