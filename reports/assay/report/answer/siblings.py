# SPDX-License-Identifier: Apache-2.0
"""Question 34: how far GPUs of one name are apart, in clocks, watts and what they do per second, and per clock."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from ..book import identity, labels, text
from ..book.model import LASTING, STATES, Book, Column, Number, Row, of_state
from .findings import Answer, Finding, Part, one_line
from .questions import Question

# A figure per clock is a constant of the chip and agrees; what differs is how fast the clock may go.
GROUPS = {
    "TFLOP/s, TOP/s": ("TFLOP/s", "TOP/s"),
    "GB/s": ("GB/s", "GB/s/SM"),
    "times": ("s", "ms", "us", "ns"),
    "per clock": ("cycle", "FLOP/clk/SM", "OP/clk/SM", "op/clk/SM", "op/clk", "B/clk/SM"),
}
SHOWN = 2  # rows that are furthest apart, of each group


@dataclass
class Spread:
    """One row in one state: each sibling's value over the median of all."""

    row: Row
    state: str
    ratios: list[float]
    anchor: str

    @property
    def width(self) -> float:
        return max(self.ratios) - min(self.ratios)


def _siblings(book: Book) -> list[Column]:
    """The columns with the name that most have."""
    names = [identity.gpu_name(c.run) for c in book.columns if c.run.gpu]
    most = max(dict.fromkeys(names), key=names.count, default="")
    return [c for c in book.columns if c.run.gpu and identity.gpu_name(c.run) == most]


def _sure(n: Number) -> bool:
    """Whether the figure is not within its noise of nothing: a share of that says nothing."""
    return n.low is None or n.low > 0 or n.high < 0


def spreads(book: Book) -> list[Spread]:
    """Rows by how far apart GPUs of one name are, widest first."""
    columns = _siblings(book)
    found = []
    for row in book.rows:
        if not (row.primary or row.unit in GROUPS["TFLOP/s, TOP/s"]):
            continue
        for state in STATES:
            numbers = [n for c in columns if (n := of_state(row, c.index, state))]
            if len(numbers) > 1 and all(map(_sure, numbers)):
                middle = statistics.median(n.value for n in numbers)
                found.append(Spread(row, state, [n.value / middle for n in numbers], numbers[0].anchor))
    return sorted(found, key=lambda s: -s.width)


def _conditions(book: Book, columns: list[Column]) -> list[Finding]:
    """Clock and power of the cases that all siblings held under lasting load."""
    by_column = [{m.name: m for c, m in book.measurements if c is column} for column in columns]
    names = [
        name
        for name in set.intersection(*(set(found) for found in by_column))
        if name.endswith("/sustained") and all(found[name].conditions.get("sm_clock_mhz") for found in by_column)
    ]
    if not names:
        return []
    lines: list[tuple[str, list[Part]]] = []
    for column, found in zip(columns, by_column):
        clocks = [found[name].conditions["sm_clock_mhz"] for name in names]
        watts = [w for name in names if (w := found[name].conditions.get("power_w")) is not None]
        said = f"{statistics.median(clocks):.0f} MHz"
        said += f" at {statistics.median(watts):.0f} W" if watts else ""
        lines.append((column.tag, [(f"{said}, medians over {text.counted(len(names), LASTING + ' case')}", "")]))
    return [Finding("clock and power", lines)]


def answer(book: Book, question: Question) -> Answer:
    columns = _siblings(book)
    found = spreads(book) if len(columns) > 1 else []
    result = Answer(question)
    if not found:
        return result
    tags = ", ".join(f"{c.tag} {c.label}" for c in columns)
    result.findings.append(one_line("which GPUs", f"{tags}: {identity.relation([c.run for c in columns])}", ""))
    result.findings += _conditions(book, columns)
    for label, units in GROUPS.items():
        of_group = [s for s in found if s.row.unit in units]
        if of_group:
            middle = statistics.median(s.width for s in of_group)
            cases = text.counted(len(of_group), "figure")
            parts = [(f"{text.percent(middle)} between the extremes, median of {cases}", "")]
            parts += [(f"widest {_case(s)} {text.percent(s.width)}", s.anchor) for s in of_group[:SHOWN]]
            result.findings.append(Finding(label, [("", parts)]))
    return result


def _case(s: Spread) -> str:
    return f"{labels.case_words(s.row.name)}, {s.state}"
