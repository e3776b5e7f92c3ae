# SPDX-License-Identifier: Apache-2.0
"""A part of the report on a page: its questions with their answers, a picture, a table; all else behind folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .. import family
from ..answer.findings import Answer
from ..answer.question import Part, Question
from ..block import kinds
from ..block.kinds import (
    Answers,
    Block,
    Cases,
    Chapter,
    Evidence,
    Figures,
    Fold,
    Page,
    Paragraph,
    Section,
    Span,
    Table,
    Tables,
)
from ..book import text
from ..draw.svg import Figure
from . import sections


def page(
    part: Part,
    answers: list[Answer],
    made: dict[str, list[Block]],
    cases_of: dict[str, Cases],
    of_families: Iterable[Page] = (),
    first: Iterable[Block | None] = (),
    last: Iterable[Block | None] = (),
) -> Page:
    """`made` and `cases_of` are by family; `first` and `last` are sections that no family has."""
    keys = [key for key in (*part.families, *made) if key in part.families and (key in made or key in cases_of)]
    keys = list(dict.fromkeys(keys))
    blocks = {key: [b for b in made.get(key, []) if b] for key in keys}
    behind = evidence_of(answers, [b for of_family in made.values() for b in of_family if isinstance(b, Evidence)])
    every = [b for of_family in blocks.values() for b in of_family if not isinstance(b, Evidence)]
    pictures = _taken([*behind, *every], part.pictures)
    tables = _chosen([*behind, *every], part.table)
    # What the part itself shows is no longer behind an answer, so that what is left is known only now.
    left = {e.number: anchor(e) for e in behind if e or e.findings}
    shown: list[Block] = [Answers([_leading(a, {anchor(e) for e in behind} - {*left.values()}) for a in answers], left)]
    shown += [Figures(pictures)] if pictures else []
    shown += [Tables(tables)] if len(tables) > 1 else tables
    folds = [fold for e in behind if (fold := of_evidence(e, _topic(answers, e)))]
    for key in keys:
        others = [b for b in blocks[key] if not isinstance(b, Evidence) and not any(b is t for t in tables)]
        folds += _folds(family.family_of(key).title, others)
    cases = [_cases(key, cases_of[key]) for key in keys if key in cases_of]
    shown += list(first)
    if folds:
        shown.append(Section("more", "Sweeps, variants and all figures", folds))
    if cases:
        pages = [_table(p) for p in of_families]
        shown.append(Section("cases", "Every case, with its conditions and machine code", [*cases, *pages]))
    shown += list(last)
    return Page(page_of(part), part.title, part.title, part.about, [b for b in shown if b])


def page_of(part: Part) -> str:
    return f"{part.key}.html"


def chapter(part: Part, answers: list[Answer], shown: bool) -> Chapter | None:
    """What a list of the parts says of it: the first sentence of its first answer, else what it is about. Of a part
    that was not measured how to do so."""
    if not shown:
        command = command_of(part.questions[0]) if part.questions else ""
        return Chapter(part.title, f"Not measured in this run; {command} does.", "") if command else None
    sentences = [s for a in answers for _, said in a.said for s in said]
    claim = "".join(piece for piece, _ in sentences[0]) if sentences else part.about
    return Chapter(part.title, claim, page_of(part))


# --- what lies behind the answers --------------------------------------------------------------------------------------


def anchor(found: Evidence) -> str:
    return f"q{found.number}-more"


def evidence_of(answers: list[Answer], made: list[Evidence]) -> list[Evidence]:
    """For each answer what it rests on: what the family made, and the findings."""
    by_number = {e.number: e for e in made}
    found = []
    for answer in answers:
        question = answer.question
        evidence = by_number.get(question.number) or Evidence(question.number, command_of(question))
        evidence.findings = answer.findings
        found.append(evidence)
    return found


def _leading(answer: Answer, gone: set[str]) -> Answer:
    """The answer, with what would lead to evidence of which nothing is left leading nowhere: the picture stands below."""
    said = [
        (tags, [[(words, "" if at in gone else at) for words, at in sentence] for sentence in sentences])
        for tags, sentences in answer.said
    ]
    return replace(answer, said=said)


def command_of(question: Question) -> str:
    """What measures it; "" of what other commands tell."""
    return f"assay run '{question.cases}'" if question.cases else ""


def of_evidence(found: Evidence, topic: str) -> Fold | None:
    if not found and not found.findings:
        return None
    return Fold(topic, found.holds, [found], anchor(found))


def _topic(answers: list[Answer], found: Evidence) -> str:
    return next(a.question.topic for a in answers if a.question.number == found.number)


def _figure_lists(blocks: Iterable[Block]) -> Iterator[list[Figure]]:
    for block in blocks:
        if isinstance(block, (Figures, Evidence)):
            yield block.figures


def _stem(figure: Figure) -> str:
    """The same for the pictures of each run, and for those of a burst and of lasting load: they stand together."""
    return figure.key.rstrip("0123456789").removesuffix("-sustained")


def _taken(blocks: list[Block], keys: tuple[str, ...]) -> list[Figure]:
    """The figure that a part shows, for each run and state, out of the blocks that hold it."""
    for key in keys or ("",):
        found = [f for figures in _figure_lists(blocks) for f in figures if f.key.startswith(key)]
        if found:
            found = [f for f in found if _stem(f) == _stem(found[0])]
            break
    else:
        found = [f for figures in _figure_lists(blocks) for f in figures][:1]
    for figures in _figure_lists(blocks):
        figures[:] = [f for f in figures if f not in found]
    return found


def _chosen(blocks: list[Block], caption: str) -> list[Table]:
    """The table that a part shows, one for each run, out of the blocks that hold it."""
    lists = [b.tables for b in blocks if isinstance(b, Evidence)]
    every = [t for tables in lists for t in tables] + [b for b in blocks if isinstance(b, Table)]
    found = [t for t in every if t.name.startswith(caption)] if caption else []
    found = found or every[:1]
    for tables in lists:
        tables[:] = [t for t in tables if not any(t is f for f in found)]
    return found


def _folds(title: str, blocks: list[Block]) -> list[Block]:
    """Blocks of a family that belong to no question: what has a heading behind it, pictures and tables behind theirs."""
    figures = [f for b in blocks if isinstance(b, Figures) for f in b.figures]
    folds: list[Block] = []
    if figures:
        folds.append(Fold(f"More pictures: {title}", text.counted(len(figures), "picture"), [Figures(figures)]))
    for block in blocks:
        if isinstance(block, Table):
            folds.append(Fold(block.name, "", [block]))
        elif isinstance(block, kinds.Part):
            folds.append(Fold(block.heading, "", block.blocks, block.anchor))
        elif not isinstance(block, Figures):
            folds.append(block)
    return folds


def _cases(key: str, found: Cases) -> Paragraph:
    return Paragraph(
        [Span(f"{family.family_of(key).title}: {text.counted(found.count, 'case')}", sections.page_of(key))]
    )


def _table(page: Page) -> Paragraph:
    return Paragraph([Span(page.short or page.heading, page.name)])
