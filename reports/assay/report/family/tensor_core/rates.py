# SPDX-License-Identifier: Apache-2.0
"""One line per type of operand: what each source of A reaches, throughput and energy."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...block.kinds import EMPTY, Block, Cell, Span, Table
from ...book import text
from ...book.mma import EQUAL, FAMILIES, SOURCES, parse, preferred
from ...book.model import SUSTAINED, Book, Column, Number, Row


@dataclass
class Best:
    """The fastest case of one source."""

    row: Row
    number: Number
    shape: str


@dataclass
class Line:
    """One (family, type, accumulator) of one column."""

    column: Column
    family: str
    kind: str
    accumulate: str  # as parse has it
    sums: str = ""  # the accumulator's type
    best: dict[str, Best] = field(default_factory=dict)  # by source
    emulated: bool = False
    tflops: Number | None = None
    sustained: Number | None = None
    energy: Number | None = None  # pJ per FLOP, under lasting load

    @property
    def usual(self) -> Best:
        """The dense case, or the first there is."""
        return self.best.get("dense") or next(iter(self.best.values()))


def lines(book: Book) -> list[Line]:
    """The table: per column, family, type and accumulator the fastest case of each source, the fastest types first."""
    found: dict[tuple[int, str, str, str], Line] = {}
    for row in book.find(r"tensor_core/.*", "flop_per_clock_per_sm"):
        mma = parse(row.name)
        if mma is None:
            continue
        for column, number in zip(book.columns, row.numbers):
            if number is None:
                continue
            key = (column.index, mma.family, mma.kind, mma.accumulate)
            line = found.setdefault(key, Line(column, mma.family, mma.kind, mma.accumulate))
            m = book.measurement(column, row.name)
            line.sums = str(m.params.get("accumulate", line.accumulate)) if m else line.accumulate
            best = line.best.get(mma.source)
            if preferred(book, row, best.row if best else None, column.index):
                line.best[mma.source] = Best(row, number, mma.shape)
    for line in found.values():
        line.emulated = "emulated" in line.usual.number.flags
        _per_second(book, line)
    order = list(FAMILIES)

    def rank(line: Line) -> tuple:
        rate = line.usual.number.value / (1 if "dense" in line.best else 2)
        return order.index(line.family), line.emulated, line.kind == "b1", -round(rate, -2), line.kind, line.accumulate

    return sorted(found.values(), key=rank)


def _per_second(book: Book, line: Line) -> None:
    """Adds throughput and energy: of the dense case if there is one."""
    best = line.usual
    i = line.column.index
    if row := book.row(best.row.name, "tflops"):
        line.tflops = row.numbers[i]
        line.sustained = row.sustained[i]
    for name in (best.row.name, best.row.name + SUSTAINED):
        row = book.row(name, "energy_pj_per_flop")
        if row and (found := row.sustained[i] or row.numbers[i]):
            line.energy = found


def blocks(book: Book) -> list[Block]:
    found = lines(book)
    if not found:
        return []
    several = len(book.columns) > 1
    sources = list(dict.fromkeys(line.usual.number.limit_source for line in found if line.usual.number.limit_source))
    limits = "; ".join(sources) if len(sources) < 3 else "each from the source that the details of its case name"
    table = Table(
        "Per type and accumulator the fastest shape: FLOP (of integers OP) per clock and SM, the share of the limit, and "
        "TFLOP/s (of integers TOP/s) of the GPU; pJ of the whole board, idle included. Of shapes within "
        f"{100 * EQUAL:g}{text.THIN}% of the fastest: one that was also measured under lasting load, else the one of most "
        f"TFLOP/s. Limits: {limits}",
        [
            "Type",
            *(["Run"] if several else []),
            "Sums",
            *SOURCES.values(),
            "TFLOP/s or TOP/s, burst",
            "sustained",
            "pJ/FLOP or pJ/OP",
        ],
        [_row(line, several) for line in found],
        kind="tensor",
    )
    for family, title in FAMILIES.items():
        if (first := next((i for i, line in enumerate(found) if line.family == family), None)) is not None:
            table.groups[first] = title
    return [table]


def _row(line: Line, several: bool) -> list[Cell]:
    flags = (Span("emulated", kind="flag"),) if line.emulated else ()
    cells = [Cell(line.kind, more=flags), *([Cell(line.column.tag)] if several else []), Cell(line.sums)]
    cells += [_best(line.best[source]) if source in line.best else EMPTY for source in SOURCES]
    for n in (line.tflops, line.sustained, line.energy):
        cells.append(Cell(text.number(n.value, n.half_width), n.anchor, "value") if n else EMPTY)
    return cells


def _best(best: Best) -> Cell:
    n = best.number
    share = (Span(text.percent(n.share), kind="share"),) if n.share else ()
    where = f"{best.row.name} {text.plus_minus(n.value, n.low, n.high)}"
    more = (*share, Span(best.shape, kind="held"))
    return Cell(text.number(n.value, n.half_width), n.anchor, "value", where, more)
