# SPDX-License-Identifier: Apache-2.0
"""A page of each measurement, whose address is its name and stays: what every run and every publication says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .. import family
from ..block.kinds import Block, Cell, Fold, Page, Paragraph, Section, Span, Table, sentence
from ..book import labels, model, text
from ..book.model import STATES, Number, Published
from ..book.published import short_title
from ..compare.figures import calls
from ..compare.published import PLAIN
from ..compare.subjects import Subject
from ..page import repeating

FOLDER = "m"


@dataclass
class Case:
    """All that is known of one measurement: by metric and subject."""

    name: str
    units: dict[str, str] = field(default_factory=dict)
    numbers: dict[tuple[str, int], Number] = field(default_factory=dict)  # by metric and index of the subject
    published: list[Published] = field(default_factory=list)


def address(name: str) -> str:
    """Of the page, from the root of the site."""
    return f"{FOLDER}/{text.slug(name)}.html"


def cases(subjects: Sequence[Subject], published: Sequence[Published]) -> dict[str, Case]:
    """By name, in the order of the families."""
    found: dict[str, Case] = {}
    for subject in subjects:
        for row in subject.book.rows:
            for state in STATES:
                if at := subject.number(row, state):
                    case = found.setdefault(name := model.name_in(row, state), Case(name))
                    case.units.setdefault(row.metric, row.unit)
                    case.numbers[row.metric, subject.index] = at[1]
    for p in published:
        if p.name in found:
            found[p.name].published.append(p)
    order = list(family.declared())
    place = {key: i for i, key in enumerate(order)}
    return dict(sorted(found.items(), key=lambda item: (place.get(item[0].split("/")[0], len(place)), item[0])))


def page(
    case: Case, subjects: Sequence[Subject], where: Mapping[tuple[int, str], str], words: Mapping[str, str]
) -> Page:
    """`where` leads to the details of a subject's measurement, by its index and anchor, where it has a report."""
    shown = [s for s in subjects if any(index == s.index for _, index in case.numbers)]
    blocks: list[Block] = [_measured(case, shown, where, words)]
    if case.published:
        theirs = [
            [
                Cell(p.gpu),
                Cell(labels.quantity(p.metric)),
                Cell(f"{text.number(p.value)} {text.unit(p.unit)}", p.url, "published"),
            ]
            + [Cell("datasheet" if p.datasheet else short_title(p.title)), Cell(p.note)]
            for p in case.published
        ]
        blocks.append(Table("Published by others", ["GPU", "Quantity", "Figure", "By", "Note"], theirs))
    repeat = Paragraph([Span("To repeat it: "), *_commands(case, shown), Span(".")])
    title = labels.case_words(case.name)
    return Page(
        address(case.name),
        case.name,
        f"{title[:1].upper()}{title[1:]}",
        case.name,
        [Section("figures", "Figures", [*blocks, repeat])],
    )


def _commands(case: Case, shown: Sequence[Subject]) -> list[Span]:
    """Of the runs that measured it: beside torch there is another than for the suite's own."""
    measured = (s.book.measurement(c, case.name) for s in shown for c in s.book.columns)
    found = dict.fromkeys(repeating.command(m) for m in measured if m) or [repeating.of_name(case.name)]
    spans = [[Span(" or "), Span(said, kind="code")] for said in sorted(found)]
    return [span for pair in spans for span in pair][1:]


def _measured(
    case: Case, shown: Sequence[Subject], where: Mapping[tuple[int, str], str], words: Mapping[str, str]
) -> Table:
    """A line for each quantity, or where runs are more than these a line for each run, the newest first."""

    def cell(metric: str, subject: Subject) -> Cell:
        number = case.numbers.get((metric, subject.index))
        if number is None:
            return Cell("")
        around = text.plus_minus(number.value, number.low, number.high)
        more = (Span(around, kind="pm"),) if around not in ("", "±0") else ()
        said = text.number(number.value, number.half_width)
        return Cell(said, where.get((subject.index, number.anchor), ""), more=more)

    # How kernels were called under lasting load is said where runs did it in different ways: their figures differ by it.
    measured = {s.index: next(filter(None, (s.book.measurement(c, case.name) for c in s.book.columns)), None) for s in shown}
    ways = {index: calls(m) for index, m in measured.items()}
    several = len(set(ways.values())) > 1
    notes = [model.UNWATCHED] if case.name.endswith(model.SUSTAINED) and not all(model.watched(m) for m in measured.values() if m) else []
    label = {s.index: f"{s.label}, called {ways[s.index]}" if several else s.label for s in shown}
    if len(case.units) < len(shown):
        head = ["Run", *(", ".join(filter(None, [labels.quantity(m), text.unit(u)])) for m, u in case.units.items())]
        rows = [[Cell(label[s.index]), *(cell(metric, s) for metric in case.units)] for s in reversed(shown)]
        meanings = dict.fromkeys(words[metric] for metric in case.units if words.get(metric))
        return Table("Measured, the newest run first", head, rows, [*meanings, *notes], PLAIN)
    rows = [
        [Cell(labels.quantity(metric), title=words.get(metric, "")), Cell(text.unit(unit)), *(cell(metric, s) for s in shown)]
        for metric, unit in case.units.items()
    ]
    return Table("Measured", ["Quantity", "Unit", *(label[s.index] for s in shown)], rows, notes)


def index(found: Mapping[str, Case]) -> list[Block]:
    """Every measurement, by family."""
    families: dict[str, list[str]] = {}
    for name in found:
        families.setdefault(name.split("/")[0], []).append(name)
    blocks: list[Block] = [
        sentence("The address of each is made of its name alone, and stays when it is measured again.", "muted")
    ]
    for key, names in families.items():
        rows = [[Cell(name, address(name)), Cell(labels.case_words(name))] for name in names]
        table = Table(family.family_of(key).title, ["Measurement", "In words"], rows)
        blocks.append(Fold(family.family_of(key).title, f"{len(names)}", [table]))
    return blocks
