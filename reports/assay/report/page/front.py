# SPDX-License-Identifier: Apache-2.0
"""The main page, and all that stand beside it."""

from __future__ import annotations

from .. import family
from ..answer.findings import Answer
from ..block.kinds import (
    Answers,
    Block,
    Bullets,
    Cases,
    Details,
    Figures,
    Fold,
    Page,
    Paragraph,
    Section,
    Span,
    sentence,
)
from ..book import identity, interval
from ..book.model import Book, Column
from . import environment, guard, isa, measured, overview, sections, unmeasured
from .answers import answers
from .details import detail
from .sections import MAIN, MANY

DATA = "runs.json"
HOW = [
    "The kernel is disassembled first; its measured loop must hold the opcodes it claims, and no spills. A mismatch is "
    "an error.",
    "Clock, power, temperature and throttling are watched; figures are per clock (the chip) and per second (what you "
    "get), in a burst and sustained.",
    "Samples are taken until the 95% confidence interval of the median, within one process, is narrow enough or time is "
    "up; the report says which. How far processes differ is said where a case was measured in several.",
    "Ours and a baseline take turns in one process, in random order, on the same random data; the ratio has its own "
    "interval.",
    "Kernels are checked against a float64 reference, and latency chains for the value they end with, before their "
    "time counts.",
]
NO_LOOPS = (
    "The texts of the measured loops are in loops.txt.gz, which does not lie beside the run's file. To see the loop of a "
    "case: "
)


class Report:
    """All pages of a book. Those in `others` need none of the families' blocks and are there at once."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.title = identity.title([column.run for column in book.columns])
        self.drawing = sections.Drawing(book)
        self.cases = sections.cases(book)
        homes = {key: sections.home_of(key, found) for key, found in self.cases.items()}
        self.families = {page: family.family_of(key).title for key, page in homes.items()}
        self.details: dict[str, list[dict]] = {}
        for column, m in book.measurements:
            self.details.setdefault(homes.get(m.name.split("/")[0], MAIN), []).append(detail(book, column, m))
        # Anchor of a measurement -> the page with its details.
        self.homes = {d["anchor"]: page for page, found in self.details.items() for d in found}
        makers = [make for declared in family.declared().values() for make in declared.pages]
        made = (guard.made("The page", lambda make=make: make(book), lambda _: None) for make in makers)
        self.of_families = [page for page in made if page]
        self.built = unmeasured.built(book, MAIN, MANY)
        self.others = [
            _family_page(homes[key], found, self._details(homes[key]))
            for key, found in self.cases.items()
            if homes[key] != MAIN
        ]
        self.others += self.of_families
        if self.built and len(unmeasured.matrix(book)) > MANY:
            self.others.append(unmeasured.built_page(book, self.built))
        if book.isa:
            self.others.append(isa.page(book.isa))

    def main(self) -> Page:
        """The main page, when the blocks of all families are drawn."""
        made = self.drawing.finish()
        front = measured.subject(self.book)
        parts: list[Block | None] = [
            *(measured.sections(self.book, front) if front else []),
            _answers(self.book, answers(self.book, sections.evidence(made))),
            self._shape(front),
            *sections.sections(made, self.cases, self.of_families),
            unmeasured.refused(self.book),
            unmeasured.unmeasured(self.book),
            self.built,
            isa.section(self.book.isa),
            unmeasured.published_elsewhere(self.book),
            self._all_details(),
        ]
        found = [part for part in parts if part]
        contents = [(s.short or s.title, f"#{s.anchor}") for s in found if s.listed]
        own = {family.place_of(key) for key in [*self.cases, *made]}
        families = sum(1 for s in found if s.anchor in own)
        after = 1 + sum(s.anchor == "peak" and s.listed for s in found) + families
        contents[after:after] = [(page.short or page.title, page.name) for page in self.of_families]
        if front:
            machine = Fold("The machine, and what it did while it was measured", "", environment.head(self.book))
            found.append(Section("machine", "Conditions", [machine], listed=False))
        return Page(
            MAIN,
            "",
            f"{self.title}, as measured" if front else self.title,
            measured.lead(self.book, front) if front else "",
            found,
            [] if front else environment.head(self.book),
            contents,
            [_how()],
            skip=("#answers", "Skip to the answers"),
            kind=measured.KIND if front else "",
        )

    def _shape(self, front: Column | None) -> Section | None:
        """Rooflines and where the peak went, where no front page has them."""
        if not self.book.columns or front:
            return None
        drawn = overview.overview(self.book)
        nothing = [] if self.cases else [sentence("No tables: no measurement of these runs succeeded.", "muted")]
        lacking = (
            "No roofline: it needs a DRAM bandwidth (memory/hbm) and one matrix rate (tensor_core) from the same run."
        )
        blocks: list[Block] = [Figures(drawn)] if drawn else [sentence(lacking, "muted")]
        blocks += nothing
        return Section("peak", "The shape of the machine", blocks, listed=bool(drawn))

    def _details(self, page: str) -> Details:
        return Details(self.details.get(page, []), self.book.columns)

    def _all_details(self) -> Section:
        others = [page for page in self.details if page != MAIN]
        blocks: list[Block] = []
        if others:
            spans = [Span("On pages of their own: ")]
            for page in others:
                spans += [
                    Span(self.families[page], page),
                    Span(f", {len(self.details[page])} cases"),
                ]
                spans.append(Span("; " if page != others[-1] else "."))
            blocks.append(Paragraph(spans))
        if any(m.lacks_loops_file for _, m in self.book.measurements):
            blocks.append(Paragraph([Span(NO_LOOPS), Span("assay sass NAME", kind="code"), Span(".")]))
        if own := self._details(MAIN):
            blocks += [sentence(WHAT_DETAILS_SAY), own]
        elif not self.details:
            blocks.append(sentence("None: nothing was measured.", "muted"))
        return Section("details", "Details of every measurement", blocks, short="Details", printed=False)


WHAT_DETAILS_SAY = "Conditions, machine code, samples, and the command that repeats it."


def _family_page(name: str, found: Cases, details: Details) -> Page:
    declared = family.family_of(found.rows[0].family)
    section = Section("details", "Details of every case", [sentence(WHAT_DETAILS_SAY), details], printed=False)
    return Page(name, declared.title, declared.title, declared.intro, [found, section])


def _how() -> Section:
    data = [
        Span("These pages need no network. "),
        Span(DATA, DATA),
        Span(" has the data, of schema assay.run/1, without raw samples."),
    ]
    return Section("how", "How a number is made", [Bullets(HOW, numbered=True), Paragraph(data)])


def _answers(book: Book, found: list[tuple[str, list[Answer]]]) -> Section:
    legend = interval.legend(book.processes)
    intro = f"The questions this suite asks, and what these runs say. {legend} Every number leads to how it was made."
    return Section("answers", "The answers", [Answers(part, of_part) for part, of_part in found], intro, "Answers")
