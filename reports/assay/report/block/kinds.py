# SPDX-License-Identifier: Apache-2.0
"""The kinds of blocks that pages are made of. For each, templates/blocks.html.j2 and blocks.md.j2 have a macro.

A block says what is shown; how it is set is for its macro alone. `form` is the macro's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ..answer.findings import Answer, Finding
from ..book import text
from ..book.headline import Headline
from ..book.model import Column, Row
from ..draw.svg import Figure

HALF_A_PAGE = 66  # characters of a table


class Block:
    """What a page consists of; true where it has something to show."""

    form: ClassVar[str]

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class Span:
    """A piece of text, the anchor it leads to, how it is set ("code", "muted", "good", ...), and what a pointer says."""

    said: str
    anchor: str = ""
    kind: str = ""
    title: str = ""


@dataclass(frozen=True)
class Cell(Span):
    """What one place of a table says: a piece of text, and perhaps more pieces, or facts to unfold."""

    more: tuple[Span, ...] = ()
    fold: Facts | None = None

    @property
    def length(self) -> int:
        return len(self.said) + sum(len(span.said) + 1 for span in self.more)

    @property
    def text(self) -> str:
        """All of it as plain text."""
        folded = (
            [f"{label}: {', '.join(s.said for s in spans)}" for label, spans in self.fold.rows] if self.fold else []
        )
        return " ".join(part for part in [self.said, *(span.said for span in self.more), "; ".join(folded)] if part)


EMPTY = Cell("")


@dataclass
class Paragraph(Block):
    """Pieces of text, set one after another as they are."""

    spans: list[Span]
    kind: str = ""
    form: ClassVar[str] = "paragraph"


def sentence(said: str, kind: str = "") -> Paragraph:
    return Paragraph([Span(said)], kind)


@dataclass
class Bullets(Block):
    """A list of sentences, numbered or not."""

    lines: list[str]
    numbered: bool = False
    form: ClassVar[str] = "bullets"

    def __bool__(self) -> bool:
        return bool(self.lines)


@dataclass
class Facts(Block):
    """Labels and what is said of each, its pieces parted by commas. `wide` sets them side by side."""

    rows: list[tuple[str | Span, list[Span]]]
    wide: bool = False
    form: ClassVar[str] = "facts"

    def __bool__(self) -> bool:
        return bool(self.rows)


@dataclass
class Terms(Block):
    """Terms with what they mean, each at a place that links name."""

    rows: list[tuple[str, str, str]]  # (anchor, term, meaning)
    form: ClassVar[str] = "terms_of"


@dataclass
class Figures(Block):
    """Figures beside each other, as many as fit."""

    figures: list[Figure]
    form: ClassVar[str] = "figures"

    def __bool__(self) -> bool:
        return bool(self.figures)


def figures(*drawn: Figure | None) -> Figures:
    """Those that there was something to draw for."""
    return Figures([figure for figure in drawn if figure])


@dataclass
class Picture(Block):
    """A figure over the whole width, with pieces of text in its caption."""

    figure: Figure
    spans: list[Span]
    form: ClassVar[str] = "picture"


@dataclass
class Table(Block):
    """Rows of cells under a caption; the first cell of a row is its heading."""

    caption: str | Span
    head: list[str]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)  # sentences under it
    kind: str = "compact"
    groups: dict[int, str] = field(default_factory=dict)  # a heading of its own before the row of this index
    form: ClassVar[str] = "table"

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def name(self) -> str:
        return self.caption if isinstance(self.caption, str) else self.caption.said

    @property
    def wide(self) -> bool:
        """Whether it wants the whole width of the page: more characters than half of it holds."""
        columns = zip(self.head, *([cell.length for cell in row] for row in self.rows))
        return sum(max(len(head), *lengths) + 2 for head, *lengths in columns) > HALF_A_PAGE


@dataclass
class Tables(Block):
    """Tables in two columns, wide ones across both."""

    tables: list[Table]
    form: ClassVar[str] = "tables"

    def __bool__(self) -> bool:
        return bool(self.tables)


@dataclass
class Fold(Block):
    """Blocks that are unfolded by a click on their summary; `aside` stands beside it."""

    summary: str
    aside: str
    blocks: list[Block]
    anchor: str = ""
    form: ClassVar[str] = "fold"


@dataclass
class Part(Block):
    """Blocks under a heading."""

    heading: str
    blocks: list[Block]
    anchor: str = ""
    form: ClassVar[str] = "part"


@dataclass
class Evidence(Block):
    """What the answer to a question rests on: sentences, figures, tables; `command` measures it."""

    number: int
    command: str
    findings: list[Finding] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    remark: str = ""  # why there may be no findings
    form: ClassVar[str] = "evidence"

    def __bool__(self) -> bool:
        return bool(self.findings or self.figures or self.tables)

    @property
    def holds(self) -> str:
        """ "3 pictures, 1 table": what there is to see."""
        counts = {"picture": len(self.figures), "table": len(self.tables)}
        return ", ".join(text.counted(n, word) for word, n in counts.items() if n)

    def draw(self, figure: Figure | None) -> None:
        if figure:
            self.figures.append(figure)

    def tabulate(self, table: Table | None) -> None:
        if table:
            self.tables.append(table)


@dataclass
class Answers(Block):
    """Questions, each with what is said of it, and a link to what lies behind."""

    answers: list[Answer]
    behind: dict[int, str] = field(default_factory=dict)  # question -> anchor of its figures and tables
    form: ClassVar[str] = "answers"

    def __bool__(self) -> bool:
        return bool(self.answers)

    @property
    def answered(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.said]

    @property
    def open(self) -> list[Answer]:
        return [answer for answer in self.answers if not answer.said]


@dataclass
class Cases(Block):
    """Every case of a family: its metrics in each column, their limits, what others published."""

    title: str
    columns: list[Column]
    groups: list[tuple[str, list[tuple[str, list[Row]]]]]  # (heading or "", (case, its metrics))
    descriptions: dict[str, str] = field(default_factory=dict)  # of metrics
    covers: str = ""  # what ± is an interval of
    form: ClassVar[str] = "cases"

    @cached_property
    def rows(self) -> list[Row]:
        return [row for _, cases in self.groups for _, rows in cases for row in rows]

    def __bool__(self) -> bool:
        return bool(self.rows)

    @cached_property
    def count(self) -> int:
        return len({row.name for row in self.rows})

    @cached_property
    def limited(self) -> bool:
        return any(row.limit for row in self.rows)

    @cached_property
    def shown(self) -> list[int]:
        """The columns that measured some of it."""
        count = max((len(row.numbers) for row in self.rows), default=0)
        return [
            i for i in range(count) if any(row.numbers[i] or row.sustained[i] or i in row.refused for row in self.rows)
        ]

    @cached_property
    def published(self) -> bool:
        return any(row.related for row in self.rows)


@dataclass
class Details(Block):
    """Everything known about each of some measurements, to unfold."""

    measurements: list[dict[str, Any]]
    columns: list[Column]
    form: ClassVar[str] = "details"

    def __bool__(self) -> bool:
        return bool(self.measurements)


@dataclass
class Searchable(Block):
    """A large table with a search: `of` names its macro and its script."""

    of: str  # "instructions" or "forms"
    values: dict[str, Any]
    form: ClassVar[str] = "searchable"


@dataclass
class Section(Block):
    """A section of a page with a heading that links name."""

    anchor: str
    title: str
    blocks: list[Block]
    intro: str = ""
    printed: bool = True
    form: ClassVar[str] = "section"


@dataclass
class Headlines(Block):
    """The numbers that a GPU is known by, each in a place of its own."""

    headlines: list[Headline]
    form: ClassVar[str] = "headlines"

    def __bool__(self) -> bool:
        return bool(self.headlines)


@dataclass
class Lines(Block):
    """A list of sentences made of pieces of text."""

    lines: list[list[Span]]
    form: ClassVar[str] = "lines"

    def __bool__(self) -> bool:
        return bool(self.lines)


@dataclass
class Page:
    """A file of the report: its head and its sections."""

    name: str
    title: str
    heading: str
    lead: str
    sections: list[Block]
    head: list[Block] = field(default_factory=list)
    foot: list[Block] = field(default_factory=list)
    short: str = ""  # of the title, in the navigation; "" keeps it out
    wide: bool = False
    kind: str = ""  # of the page's body: a class of its own for how it is set
    skip: tuple[str, str] = ("#main", "Skip to the content")

    @property
    def figures(self) -> list[Figure]:
        """Every picture on it, wherever in its blocks."""
        return list(figures_in([self.head, self.sections, self.foot]))

    @property
    def scripts(self) -> list[str]:
        """What its searchable tables need."""
        blocks = [b for s in self.sections for b in (s.blocks if isinstance(s, Section) else [s])]
        found = [b.of for b in blocks if isinstance(b, Searchable)]
        return ["state", *found] if found else []


def figures_in(value: Any) -> Iterator[Figure]:
    """The pictures in blocks, and in blocks of these."""
    if isinstance(value, Figure):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from figures_in(one)
    elif isinstance(value, Block):
        for name in ("blocks", "figures", "figure"):
            yield from figures_in(getattr(value, name, None))


@dataclass(frozen=True)
class Chapter:
    """A page as others list it: its title, what it says in a line, and its name; "" where there is none."""

    title: str
    claim: str
    page: str


def chapters(found: list[Chapter]) -> Facts:
    """The pages with what each says, as a list."""
    return Facts([(Span(c.title, c.page), [Span(c.claim, kind="" if c.page else "muted")]) for c in found])
