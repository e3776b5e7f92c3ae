# SPDX-License-Identifier: Apache-2.0
"""All pages of a report, and which place is on which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import family
from ..answer.findings import Answer
from ..answer.question import Part
from ..answer.surprises import Sibling
from ..block.kinds import Block, Details, Page, Paragraph, Section, Span, sentence
from ..book import identity, interval
from ..book.model import ISA_PAGE, Book
from . import environment, front, glossary, guard, isa, part, published, sections, unmeasured
from .answers import answers
from .details import detail
from .elsewhere import Elsewhere

WHAT_DETAILS_SAY = "Conditions, machine code, samples, and the command that repeats it."
NO_LOOPS = (
    "The texts of the measured loops are in loops.txt.gz, which does not lie beside the run's file. To see the loop of a "
    "case: "
)


class Report:
    """All pages of a book. Those in `others` need none of the families' blocks and are there at once. `siblings` are of
    other books; `permanent` has the addresses of measurements' pages of all runs, where there are such. `elsewhere` is
    what other reports have more of; `repeated` is a run that tells how far processes differ. It is made by up to
    `processes`."""

    def __init__(
        self,
        book: Book,
        siblings: Sequence[Sibling] = (),
        permanent: Mapping[str, str] | None = None,
        processes: int = 1,
        elsewhere: Elsewhere | None = None,
        repeated: Sibling | None = None,
    ) -> None:
        self.book = book
        self.elsewhere = elsewhere or Elsewhere()
        self.siblings = siblings
        self.repeated = repeated
        self.isa = book.isa if book.isa_page == ISA_PAGE else None  # that has a page here
        self.title = identity.title([column.run for column in book.columns])
        self.drawing = sections.Drawing(book, processes)
        self.cases = sections.cases(book)
        self.details: dict[str, list[dict[str, Any]]] = {}  # by family
        for column, m in book.measurements:
            self.details.setdefault(m.name.split("/")[0], []).append(
                detail(book, column, m, (permanent or {}).get(m.name, ""))
            )
        self.homes = sections.homes(book)
        self.parts = family.parts([*self.cases, *family.declared()])
        makers = [(key, make) for key, declared in family.declared().items() for make in declared.pages]
        made = [(key, guard.made("The page", lambda make=make: make(book), lambda _: None)) for key, make in makers]
        self.of_families = [(key, page) for key, page in made if page]
        self.others = [self._cases_page(key) for key in self.cases]
        self.others += [page for _, page in self.of_families]
        self.others += [page for page in (unmeasured.built_page(book), isa.page(self.isa), glossary.page()) if page]
        self.published = published.sections(book) if book.published else []
        self.published_elsewhere = unmeasured.published_elsewhere(book)
        self.shown = [one for one in self.parts if self._has(one)]
        self.of_parts: list[Page] = []

    def finish(self) -> Page:
        """Makes the pages of the parts, when the blocks of all families are drawn; returns the main page."""
        made = self.drawing.finish()
        found = {p.key: answered for p, answered in answers(self.book, sections.evidence(made))}
        self.of_parts = [self._part(one, found.get(one.key, []), made) for one in self.shown]
        chapters = [part.chapter(one, found.get(one.key, []), one in self.shown) for one in self.parts]
        main = front.page(self.book, self.title, [c for c in chapters if c], self.siblings, self.elsewhere, self.repeated)
        for page in [*self.of_parts, *self.others, main]:
            for anchor in anchors(page.sections):
                self.homes.setdefault(anchor, page.name)
        return main

    @property
    def navigation(self) -> list[tuple[str, str]]:
        """(label, page): the same on every page."""
        parts = [(one.title, part.page_of(one)) for one in self.shown]
        return [("Overview", front.MAIN), *parts, *((page.short, page.name) for page in self.others if page.short)]

    @property
    def printed(self) -> list[Page]:
        """The pages whose blocks the Markdown has too."""
        tables = {sections.page_of(key) for key in self.cases} | {unmeasured.PAGE, glossary.PAGE}
        return [*self.of_parts, *(page for page in self.others if page.name in tables)]

    def _has(self, one: Part) -> bool:
        """Whether there is anything to show of a part."""
        built = {name.split("/")[0] for name in self.book.not_run}
        if one.key == "published":
            return bool(self.published or self.published_elsewhere)
        measured = any(key in self.cases or key in built for key in one.families)
        return measured or one.key == "host" or (one.key == "sass" and self.isa is not None)

    def _part(self, one: Part, answered: list[Answer], made: dict[str, list[Block]]) -> Page:
        mine = {key: blocks for key, blocks in made.items() if key in one.families}
        pages = [page for key, page in self.of_families if key in one.families]
        first: list[Block | None] = []
        last: list[Block | None] = []
        if one.key == "host":
            first = [environment.section(self.book), unmeasured.unmeasured(self.book), unmeasured.refused(self.book)]
            last = [unmeasured.built(self.book), self._no_loops(), front.how()]
        elif one.key == "published":
            first, last = self.published, [self.published_elsewhere]
        elif one.key == "sass":
            last = [isa.section(self.isa)]
        cases = {key: found for key, found in self.cases.items() if key in one.families}
        page = part.page(one, answered, mine, cases, pages, first, last)
        page.head += self.elsewhere.head_of(page.name)
        if "kernels" in one.families:  # they change with the commit, as no GPU does
            page.lead = f"{page.lead} {identity.of_commits([column.run for column in self.book.columns])}".strip()
        return page

    def _cases_page(self, key: str) -> Page:
        declared, found = family.family_of(key), self.cases[key]
        details = Details(self.details.get(key, []), self.book.columns)
        section = Section("details", "Details of every case", [sentence(WHAT_DETAILS_SAY), details], printed=False)
        whole = next(p for p in self.parts if key in p.families)
        back = Paragraph([Span("What they say together: "), Span(whole.title, part.page_of(whole)), Span(".")])
        title = f"{declared.title}: every case"
        lead = f"{declared.intro} {interval.legend(self.book.processes)}".strip()
        return Page(sections.page_of(key), title, title, lead, [found, section], [back])

    def _no_loops(self) -> Section | None:
        if not any(m.lacks_loops_file for _, m in self.book.measurements):
            return None
        said = Paragraph([Span(NO_LOOPS), Span("assay sass NAME", kind="code"), Span(".")])
        return Section("loops", "Texts of loops", [said])


def anchors(blocks: Iterable[Any]) -> Iterator[str]:
    """Of blocks and of those inside them: the places that links name."""
    for block in blocks:
        if getattr(block, "anchor", ""):
            yield block.anchor
        yield from anchors(getattr(block, "blocks", ()))
        for figure in getattr(block, "figures", ()):
            yield figure.key
