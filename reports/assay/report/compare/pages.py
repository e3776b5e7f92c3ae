# SPDX-License-Identifier: Apache-2.0
"""The page that compares runs: what differs between the machines, what differs in their figures, what agrees."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from .. import family
from ..block.kinds import Block, Cell, Figures, Fold, Page, Paragraph, Part, Section, Span, Table, sentence
from ..book import identity, labels, text
from ..page import environment
from ..page.front import MAIN
from . import causes, outlier, pictures, published, words
from .figures import AMOUNT, KINDS, PER_CLOCK, PER_SECOND, PER_WATT, Figure, Value, counted, counted_by_family, only_in, parted, ratio
from .findings import Finding, findings
from .stored import Stored
from .subjects import Subject

DIFFERENCES = "differences.html"
TOLD = 6  # findings in sentences; the others are in the table
SHOWN = 25  # findings of the table; the others are folded
# Facts that differ between any two runs and say little.
MINOR = ("id, a salted hash", "interval reached", "time measuring", "processes a case", "refused")
# What each section is about; its title says what was found.
ABOUT = {
    "machines": "Machines, conditions and builds",
    "differences": "What differs, the most telling first",
    "ratios": "Ratios over families",
    "agreement": "What agrees",
    "published": "Beside what is published",
}
HOW = (
    "A figure differs if its values are more than 0.5 % apart, and further than their noise: both 95% intervals, how far "
    "six processes on one GPU were apart, and, where other runs are stored, how far those of GPUs of one name are. Of each "
    "case one kind of figure counts, per clock where the SM clock paces it. "
    "Figures that one known cause explains are one finding, and so are those of a family that move alike. First stand the "
    "findings of which the known causes leave most unexplained, per clock before per second."
)
Where = Callable[[Value], str]  # the page with the details of a measurement, and its place there


class Comparison:
    """The subjects, their figures, and what was found; `where` leads to details on the subjects' own pages, whose
    folders are below `root`. `stored` are all runs that there are, to tell what differs from one to the next anyway."""

    def __init__(self, subjects: Sequence[Subject], where: Where, root: str = "", stored: Stored | None = None) -> None:
        self.subjects = list(subjects)
        self.where = where
        self.root = root
        self.figures, self.apart = parted(self.subjects, stored)
        self.found = findings(self.figures)
        self.causes = causes.causes(self.subjects)
        self.many = len(self.subjects) > words.COLUMNS
        self.title = words.heading(self.subjects)

    def pages(self) -> list[Page]:
        """The main one last."""
        differing = [f for f in self.figures if f.differs]
        return [*([self._differences()] if differing else []), self._main()]

    def _main(self) -> Page:
        sections = [
            self._machines(),
            self._findings(),
            self._ratios(),
            self._agreement(),
            published.section(self.subjects),
        ]
        found = [section for section in sections if section]
        reports = [Span("Each has a report of its own: ")]
        for subject in self.subjects:
            reports += [Span(subject.label, f"{self.root}{subject.folder}/{MAIN}"), Span("; ")]
        reports[-1] = Span(".")
        lead = words.summary(self.subjects, self.figures, self.found)
        links = [Span("On this page: ")]
        for section in found:
            links += [Span(ABOUT[section.anchor], f"#{section.anchor}"), Span("; ")]
        links[-1] = Span(".")
        return Page(MAIN, "", self.title, lead, found, [Paragraph(reports), Paragraph(links)])

    def _machines(self) -> Section | None:
        """What differs between machines, conditions, builds and drivers, before any figure."""
        facts = environment.fact_rows([s.book.columns[0] for s in self.subjects])
        known = [dict(environment.conditions(s.book, s.book.columns[0])) for s in self.subjects]
        facts += [
            (label, [of.get(label, "–") for of in known]) for label in dict.fromkeys(key for of in known for key in of)
        ]
        different = [(label, values) for label, values in facts if len(set(values)) > 1]
        same = [(label, values[0]) for label, values in facts if len(set(values)) == 1]
        minor = [(label, values) for label, values in different if label in MINOR]
        different = [(label, values) for label, values in different if label not in MINOR]
        blocks: list[Block] = []
        head = ["", *(s.short for s in self.subjects)] if not self.many else ["", "value, and the runs that have it"]
        if different:
            rows = [[Cell(label), *self._fact(values)] for label, values in different]
            caption = "What differs between the machines, and what they did meanwhile"
            blocks.append(Table(caption, head, rows, kind=published.FEW))
        relation = identity.relation([s.run for s in self.subjects])
        name = "One name, " if len({identity.gpu_name(s.run) for s in self.subjects}) == 1 else ""
        said = [f"{name}{relation}." if name and relation else ""]
        told = [
            f"{label} {value}" for label, value in same if label in ("driver", "CUDA", "architecture", "SMs", "commit")
        ]
        if same:
            listed = f", {words.joined(told)} among them" if told else ""
            said.append(
                f"{text.counted(len(same), 'fact')} of the machines {'is' if len(same) == 1 else 'are'} equal{listed}."
            )
        blocks.append(sentence(" ".join(part for part in said if part)))
        rows = [[Cell(label), *self._fact(values)] for label, values in minor]
        tables = [Table("Further differences", head, rows, kind=published.FEW)] if rows else []
        if same:
            rows = [[Cell(label), Cell(value)] for label, value in same]
            tables.append(Table("Equal on all", ["", "all"], rows, kind=published.FEW))
        blocks.append(Fold("Further facts", f"{len(minor) + len(same)}", tables))
        return Section("machines", self._machines_title(different), blocks) if facts else None

    @staticmethod
    def _machines_title(different: list[tuple[str, list[str]]]) -> str:
        """ "The machines differ in memory, L2, memory bus, bits and 6 more facts"."""
        named = [label for label, _ in different if label != "GPU"]
        if not named:
            return "The machines and their conditions are alike"
        shown = [label.split(",")[0] for label in named[:3]]
        shown += [text.counted(len(named) - 3, "more fact")] if len(named) > 3 else []
        return f"The machines differ in {words.joined(shown)}"

    def _fact(self, values: list[str]) -> list[Cell]:
        if not self.many:
            return [Cell(value) for value in values]
        by_value: dict[str, list[str]] = {}
        for subject, value in zip(self.subjects, values):
            by_value.setdefault(value, []).append(subject.short)
        said = [
            f"{value}: {len(of)} runs" if len(of) > 2 else f"{value}: {' and '.join(of)}"
            for value, of in by_value.items()
        ]
        return [Cell("; ".join(said))]

    def _findings(self) -> Section:
        if not self.found:
            said = "No figure differs beyond 0.5 % and its noise."
            return Section("differences", "Nothing differs beyond noise", [sentence(said)])
        blocks: list[Block] = []
        for place, finding in enumerate(self.found[:TOLD], 1):
            blocks.append(Part(f"{place}. {words.title(finding)}", self._told(finding), f"finding{place}"))
        if self.many and (drawn := pictures.distributions(self.subjects, self.found[: 2 * TOLD])):
            blocks.append(Figures([drawn]))
        blocks.append(self._ranking(self.found[:SHOWN], "Findings, those first that known causes explain least"))
        if rest := self.found[SHOWN:]:
            blocks.append(Fold("Smaller findings", f"{len(rest)}", [self._ranking(rest, "Smaller findings")]))
        more = [Span("Every figure that differs", DIFFERENCES), Span(", by finding. "), Span(HOW)]
        blocks.append(Paragraph(more, "muted"))
        told = sum(len(finding.figures) for finding in self.found)
        come = "figure that differs comes" if told == 1 else "figures that differ, one kind of each case, come"
        count = text.counted(len(self.found), "finding")
        title = f"{text.number(told)} {come} down to {count}, the most telling first"
        return Section("differences", title, blocks)

    def _told(self, finding: Finding) -> list[Block]:
        lead = finding.lead
        spans = [Span(f"{words.values(lead)}{words.support(finding)} {words.why(finding, self.causes, self.figures)} ")]
        spans += [Span("How it was measured: ")]
        ends = lead.values if not self.many else lead.ends
        for v in ends:
            spans += [Span(v.subject.short, self.where(v)), Span(", ")]
        spans[-1] = Span(".")
        return [Paragraph(spans)]

    def _ranking(self, found: Sequence[Finding], caption: str) -> Table:
        head = ["Finding", *self._value_heads(), "per clock", "per second", "per watt", "Cause", "Figures"]
        rows = []
        for finding in found:
            ratios = [self._of_kind(finding, kind) for kind in (PER_CLOCK, PER_SECOND, PER_WATT)]
            cause = self.causes[finding.cause].name if finding.cause else "not known"
            place = f"{DIFFERENCES}#finding{self.found.index(finding) + 1}"
            count = Cell(str(len(finding.figures)), place)
            name = words.name(finding)
            rows.append([Cell(name), *self._values(finding.lead), *ratios, Cell(cause), count])
        best = "Ratios are of the last column to the first, larger where it is better off." if not self.many else ""
        note = best or "Ratios are of the best run to the worst."
        return Table(caption, head, rows, [note], published.PLAIN)

    def _value_heads(self) -> list[str]:
        return ["least", "median", "most"] if self.many else [s.short for s in self.subjects]

    def _values(self, figure: Figure) -> list[Cell]:
        if self.many:
            low, high = (Cell(f"{words.value(v, figure.unit)} ({v.subject.short})", self.where(v)) for v in figure.ends)
            middle = statistics.median(v.number.value for v in figure.values)
            return [low, Cell(words.with_unit(middle, figure.unit)), high]
        by = {v.subject.index: v for v in figure.values}
        return [
            Cell(words.value(by[s.index], figure.unit), self.where(by[s.index])) if s.index in by else Cell("–")
            for s in self.subjects
        ]

    def _of_kind(self, finding: Finding, kind: str) -> Cell:
        """The ratio of the lead's case in figures of this kind."""
        lead = finding.lead
        if lead.kind == AMOUNT:
            return Cell("")
        alike = [f for f in self.figures if f.kind == kind and f.name == lead.name and f.state == lead.state]
        # The same quantity in another unit: latency_cycles and latency_ns, not a latency and a rate.
        stem = labels.quantity(lead.metric)
        alike.sort(key=lambda f: (f is not lead, labels.quantity(f.metric) != stem, not f.sure, not f.primary))
        if not alike or (kind == lead.kind and alike[0] is not lead):
            return Cell("")
        figure = alike[0]
        if self.many:
            return Cell(f"{ratio(figure.effect):.3g}")
        by = {v.subject.index: v.number.value for v in figure.values}
        first, *_, last = (by[s.index] for s in self.subjects if s.index in by)
        better = first / last if figure.is_time else last / first
        return Cell(f"{better:.3g}")

    def _ratios(self) -> Section | None:
        if self.many:
            return None
        drawn = pictures.heat_maps(self.subjects, self.figures)
        first, *others = (s.short for s in self.subjects)
        intro = (
            f"How many figures of each family have which ratio: blue where {' or '.join(others)} is better off, orange "
            f"where {first} is, grey where they are alike. The darker, the more of the family."
        )
        return Section("ratios", words.shares(self.figures), [Figures(drawn)], intro) if drawn else None

    def _agreement(self) -> Section:
        blocks: list[Block] = [sentence(words.agreement(self.figures))]
        keys = list(dict.fromkeys(f.family for f in self.figures))
        counts, rows = counted_by_family(self.figures), []
        for key in [k for k in [*family.declared(), *keys] if k in keys]:
            cells = [Cell(family.family_of(key).title)]
            for kind in KINDS:
                agree, of = counts.get((kind, key), (0, 0))
                cells.append(Cell(f"{agree} of {of}" if of else ""))
            rows.append(cells)
        if rows:
            unique = {row[0].said: row for row in rows}
            caption = "Figures that agree within 0.5 %, of all that were compared"
            table = Table(caption, ["Family", *KINDS], list(unique.values()), kind=published.PLAIN)
            blocks.append(Fold("Agreement by family", f"{len(unique)} families", [table]))
        blocks += [sentence(said) for said in outlier.sentences(self.subjects, self.figures)]
        if said := words.left_out(self.apart):
            blocks.append(sentence(said))
        alone = [
            f"{s.short} alone measured {text.counted(count, 'case')}"
            for s, count in zip(self.subjects, only_in(self.subjects))
            if count
        ]
        if alone:
            blocks.append(sentence(f"{words.joined(alone)}."))
        agree, of = counted(self.figures, lambda f: f.kind == PER_CLOCK)
        title = f"{text.number(agree)} of {text.number(of)} figures per clock agree" if of else "What agrees"
        return Section("agreement", title, blocks)

    def _differences(self) -> Page:
        """Every differing figure, under the finding that stands for it."""
        sections = []
        for place, finding in enumerate(self.found, 1):
            order = sorted(finding.figures, key=lambda f: -f.effect)
            rows = [
                [
                    Cell(f.name, kind="code"),
                    Cell(labels.quantity(f.metric)),
                    *self._values(f),
                    Cell(f"{ratio(f.effect):.3f}"),
                ]
                for f in order
            ]
            table = Table(
                words.name(finding), ["Case", "Quantity", *self._value_heads(), "largest over smallest"], rows
            )
            said = sentence(f"{words.values(finding.lead)}{words.support(finding)} {words.why(finding, self.causes, self.figures)}")
            sections.append(Section(f"finding{place}", f"{place}. {words.title(finding)}", [said, table]))
        lead = (
            "Every figure that differs by more than 0.5 % and its noise, of each case those of one kind, under the finding that "
            "stands for it."
        )
        return Page(DIFFERENCES, "Differences", "Every difference", lead, sections)
