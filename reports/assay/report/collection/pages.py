# SPDX-License-Identifier: Apache-2.0
"""The pages of the site, their places, and how they lead to each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from assay.files import Run
from assay.files.isa_file import Isa

from ..answer.questions import by_number
from ..block.kinds import EMPTY, Block, Cell, Page, Paragraph, Section, Span, Table, sentence
from ..book import identity, text
from ..book.model import Published
from ..compare import words
from ..compare.figures import PER_CLOCK, Value, counted
from ..compare.pages import Comparison
from ..compare.stored import Stored
from ..compare.subjects import Subject, short_labels, subjects
from ..family.sass import instructions as sass
from ..page import isa
from ..page.elsewhere import Elsewhere
from ..page.front import MAIN
from ..page.part import page_of
from . import changes, entries, further, gpus, measurements
from .entries import Entry
from .further import Asked

TITLE = "What GPUs are made of"
LEAD = (
    "What assay measured on each GPU, what others publish of GPUs that were not at hand, and how they compare. Every "
    "measured figure leads to its conditions, its machine code and the command that repeats it."
)
MATRIX, INSTRUCTIONS, SUPPORT, CHANGES, ALL = (
    *("matrix.html", "instructions.html", "support.html", "changes.html", "measurements.html"),
)


class Collection:
    """All results, and where everything about them stands. `homes` says on which page of its report a detail is."""

    def __init__(self, found: Sequence[Entry], published: Sequence[Run], matrix: Isa | None) -> None:
        self.entries = list(found)
        self.isa = matrix
        self.leads = entries.leading(self.entries)
        self.others = entries.adding(self.entries, self.leads)
        self.folders = entries.folders(self.leads, self.others)
        made = subjects([[entry.run] for entry in self.entries], published)
        self.subjects = {
            entry: replace(subject, folder=self.folders.get(entry, "")) for entry, subject in zip(self.entries, made)
        }
        if matrix:
            for subject in self.subjects.values():
                subject.book.isa, subject.book.isa_page = matrix, f"../../{SUPPORT}"
        # Among the leading runs alone less is needed to tell one from another.
        names = identity.labels([entry.run for entry in self.leads])
        for entry, label, short in zip(self.leads, names, short_labels(names)):
            self.subjects[entry] = replace(self.subjects[entry], label=label, short=short)
        self.homes: dict[int, dict[str, str]] = {}  # by index of the subject
        self.pages_of: dict[int, list[str]] = {}
        self._sentences: dict[tuple[Entry, Asked], str] = {}

    @cached_property
    def stored(self) -> Stored:
        """What all runs found, to tell what differs from one to the next anyway."""
        return Stored(self.subjects.values())

    @property
    def reported(self) -> list[Subject]:
        """Those that have a report of their own."""
        return [self.subjects[entry] for entry in [*self.leads, *self.others]]

    @property
    def published(self) -> list[Published]:
        return next(iter(self.subjects.values())).book.published

    @property
    def navigation(self) -> list[tuple[str, str]]:
        support = [("Support by target", SUPPORT)] if self.isa else []
        return [
            ("GPUs", MAIN),
            ("Comparison", MATRIX),
            ("Instructions", INSTRUCTIONS),
            *support,
            ("Changes", CHANGES),
            ("All measurements", ALL),
        ]

    def detail(self, subject: Subject, anchor: str) -> str:
        """The address of a measurement's details, from the root; "" where it has no report."""
        home = self.homes.get(subject.index, {}).get(anchor)
        return f"{subject.folder}/{home}#{anchor}" if home else ""

    def comparisons(self) -> list[tuple[str, Comparison]]:
        """(its folder, the comparison) of each pair of the leading runs, and of all of them."""
        leads = [self.subjects[entry] for entry in self.leads]
        groups: list[tuple[Subject, ...]] = list(itertools.combinations(leads, 2))
        if len(leads) > 2:
            groups.append(tuple(leads))

        def where(value: Value) -> str:
            return f"../../{self.detail(value.subject, value.number.anchor)}"

        return [(pair_folder(group), Comparison(group, where, "../../", self.stored)) for group in groups]

    def main(self) -> Page:
        def where(subject: Subject, name: str, anchor: str) -> str:
            return measurements.address(name)

        leads = [self.subjects[entry] for entry in self.leads]
        found = gpus.gpus(leads, self.published)
        sections: list[Block] = [gpus.index(found, where)]
        lines: dict[int, list[list[Span]]] = {}
        for asked, gpu in itertools.product(further.ASKED, dict.fromkeys(entry.gpu for entry in self.leads)):
            found = self._answers(asked, self._newest(gpu, asked), f"{gpu.upper()}:", "")
            lines.setdefault(asked.number, []).extend(found)
        if answered := further.section_of_newest(lines):
            sections.append(answered)
        if listed := further.section(self.others, self.folders):
            sections.append(listed)
        return self._page(MAIN, "", TITLE, LEAD, sections)

    def matrix(self, compared: Sequence[tuple[str, Comparison]]) -> Page:
        def where(subject: Subject, name: str, anchor: str) -> str:
            return measurements.address(name)

        rows = []
        for folder, comparison in compared:
            agree, of = counted(comparison.figures, lambda f: f.kind == PER_CLOCK)
            said = f"{text.number(agree)} of {text.number(of)}"
            first = words.title(comparison.found[0]) if comparison.found else "nothing differs"
            rows.append([Cell(comparison.title, f"{folder}/{MAIN}"), Cell(said), Cell(first)])
        head = ["Compared", "Figures per clock that agree", "What differs most"]
        pairs = Table("Measured GPUs, in pairs", head, rows, kind=gpus.PLAIN)
        found = gpus.gpus([self.subjects[entry] for entry in self.leads], self.published)
        sections = []
        if rows:
            sections.append(Section("pairs", "What differs between measured GPUs", [pairs]))
        tables = gpus.matrix(found, where)
        if tables:
            said = sentence(f"Columns with a star are published by others. {gpus.BURSTS}", "muted")
            sections.append(Section("published", "Measured beside published", [said, *tables]))
        return self._page(MATRIX, "Comparison", "How GPUs compare", "", sections, wide=True)

    def instructions(self) -> Page:
        """The table of instructions of each report that has one."""
        lines = []
        for entry in self.leads:
            folder, subject = self.folders[entry], self.subjects[entry]
            if any(home == INSTRUCTIONS for home in self.pages_of.get(subject.index, [])):
                lines.append((subject.label, f"{folder}/{INSTRUCTIONS}"))
        spans = [Span("Latency and rate of every instruction, to search, filter and sort: ")]
        for label, to in lines:
            spans += [Span(label, to), Span(", ")]
        spans[-1] = Span("." if lines else "No run has measured any.")
        tables: list[Block] = [*self._common_instructions()]
        return self._page(INSTRUCTIONS, "Instructions", "Instructions", "", [Paragraph(spans), *tables])

    def _common_instructions(self) -> list[Table]:
        """What common instructions cost, a column for each leading run: one table of latencies, one of rates."""
        leads = [self.subjects[entry] for entry in self.leads]
        found = [sass.common_costs(subject.book, subject.book.columns[0]) for subject in leads]
        names = list(dict.fromkeys(name for costs in found for name in costs))
        known = [(subject, costs) for subject, costs in zip(leads, found) if costs]
        tables = []
        for caption, at in (("Cycles until a result can be used", 0), ("Operations per clock and SM", 1)):
            rows = []
            for name in names:
                numbers = [(subject, costs[name][at] if name in costs else None) for subject, costs in known]
                cells = [sass.cost(n, self.detail(subject, n.anchor)) if n else EMPTY for subject, n in numbers]
                if any(cell.said for cell in cells):
                    rows.append([Cell(name), *cells])
            if rows:
                tables.append(Table(caption, ["Instruction", *(s.short for s, _ in known)], rows, kind=gpus.PLAIN))
        return tables

    def support(self) -> Page | None:
        if self.isa is None:
            return None
        page = isa.page(self.isa)
        return replace(page, name=SUPPORT, head=[*page.head, self._links(SUPPORT)])

    def changes(self) -> Page:
        lead = "What was measured when, and how far it agrees with the run before it of the same kind of GPU."
        sections = changes.section(self.entries, self.subjects, self.folders, self.stored)
        return self._page(CHANGES, "Changes", "Changes of the results", lead, sections)

    def _says(self, entry: Entry, asked: Asked) -> str:
        if (entry, asked) not in self._sentences:
            self._sentences[entry, asked] = further.said_of(asked, self.subjects[entry])
        return self._sentences[entry, asked]

    def _newest(self, gpu: str, asked: Asked) -> list[Entry]:
        return further.newest([*self.leads, *self.others], gpu, asked, lambda entry: self._says(entry, asked))

    def _answers(self, asked: Asked, newest: list[Entry], label: str, root: str) -> list[list[Span]]:
        def folder(entry: Entry) -> str:
            return f"{root}{self.folders[entry]}"

        return further.answers(asked, newest, lambda entry: self._says(entry, asked), folder, label)

    def elsewhere(self) -> dict[int, Elsewhere]:
        """By index of the subject: which other runs have newer answers, and one that was repeated. A leading run is told
        of all questions, another of those that it answered earlier."""
        found = {}
        reported = [*self.leads, *self.others]
        newest = {(gpu, a): self._newest(gpu, a) for gpu in {e.gpu for e in reported} for a in further.ASKED}
        for entry in reported:
            pages: dict[str, list[list[Span]]] = {}
            for asked in further.ASKED:
                others = newest[entry.gpu, asked]
                earlier = bool(others) and entry.date < others[0].date and bool(self._says(entry, asked))
                if others and entry not in others and (entry in self.leads or earlier):
                    question = by_number()[asked.number]
                    lines = self._answers(asked, others, question.ask, "../../")
                    pages.setdefault(page_of(further.part_of(question)), []).extend(lines)
                    if entry in self.leads:
                        pages.setdefault(MAIN, []).extend(lines)
            if entry in self.leads:
                newer = further.newer_gemm(entry, reported, self.subjects, lambda e: f"../../{self.folders[e]}")
                pages[MAIN] = [*filter(None, [newer]), *pages.get(MAIN, [])]
            repeated = max((e for e in reported if e.gpu == entry.gpu), key=lambda e: e.processes)
            spread = repeated.processes > entry.processes
            to = further.repeated(repeated, f"../../{self.folders[repeated]}") if spread else []
            counting = next((e for e in reversed(reported) if e.gpu == entry.gpu and e.counts), None)
            if counting and not entry.counts:
                to_counts = further.counted(counting, f"../../{self.folders[counting]}")
                pages.setdefault(f"{further.INSTRUCTIONS}.html", []).append(to_counts)
            found[self.subjects[entry].index] = Elsewhere(to, pages)
        return found

    def cases(self) -> dict[str, measurements.Case]:
        """Every measurement of any run."""
        return measurements.cases(list(self.subjects.values()), self.published)

    def of_measurements(self, found: dict[str, measurements.Case]) -> tuple[Page, list[Page]]:
        """The list of all, and a page of each."""
        made = list(self.subjects.values())
        labels = identity.labels([entry.run for entry in self.entries])
        dated = [said if entry.name in said else f"{said}, {entry.name}" for said, entry in zip(labels, self.entries)]
        made = [replace(subject, label=label) for subject, label in zip(made, dated)]
        where = {
            (s.index, anchor): f"../{self.detail(s, anchor)}" for s in self.reported for anchor in self.homes[s.index]
        }
        said: dict[str, str] = {}
        for subject in made:
            said.update(subject.book.descriptions)
        pages = [measurements.page(case, made, where, said) for case in found.values()]
        lead = f"{text.number(len(pages))} measurements, each with a page of what every run says of it."
        return self._page(ALL, "All measurements", "All measurements", lead, measurements.index(found)), pages

    def _links(self, here: str) -> Paragraph:
        spans = []
        for label, to in self.navigation:
            spans += [Span(label) if to == here else Span(label, to), Span(" · ")]
        return Paragraph(spans[:-1])

    def _page(
        self, name: str, title: str, heading: str, lead: str, blocks: Sequence[Block], wide: bool = False
    ) -> Page:
        return Page(name, title, heading, lead, list(blocks), [self._links(name)], wide=wide)


def pair_folder(group: Sequence[Subject]) -> str:
    return "compare/" + "-and-".join(subject.folder.rpartition("/")[2] for subject in group)
