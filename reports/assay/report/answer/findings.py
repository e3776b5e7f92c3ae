# SPDX-License-Identifier: Apache-2.0
"""What an answer is made of: findings, each a label and what every column says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assay.files import Baseline

from ..book import interval, labels, text
from ..book.model import Book, Column, Number, Row
from .question import Question

Part = tuple[str, str]  # (text, anchor of the measurement or section, or "")
Sentence = list[Part]  # its pieces, one after another


@dataclass
class Finding:
    """What one case says: a line per column, tagged where there are several, each of one or more parts."""

    label: str
    lines: list[tuple[str, list[Part]]]


@dataclass
class Answer:
    """Sentences, which a reader reads, and findings, on which they rest."""

    question: Question
    findings: list[Finding] = field(default_factory=list)
    remark: str = ""  # why there are none
    more: int = 0  # rows that answer too and are left to the tables
    said: list[tuple[str, list[Sentence]]] = field(default_factory=list)  # (tags of the runs or "", sentences)


def stated(number: Number, unit: str, *, limit: bool = True) -> str:
    """ "4 093 FLOP/clk/SM (99.9 % of limit)": value, unit, share of the limit; what several processes found. Its
    interval is in the tables and with the details."""
    parts = [text.number(float(f"{number.value:.5g}")), text.unit(unit)]
    if limit and number.share is not None:
        parts.append(f"({text.percent(number.share)} of limit)")
    if apart := interval.spread(number.processes):
        parts.append(apart)
    return " ".join(parts)


def speedup(baseline: Baseline) -> str:
    """ "1.041 ±0.006": how many times faster ours is than the baseline."""
    ratio, (low, high) = baseline.speedup.value, baseline.speedup.ci95 or (None, None)
    half_width = None if low is None else max(ratio - low, high - ratio)
    apart = interval.spread(interval.values_of(baseline.speedup))
    around = text.plus_minus(ratio, low, high)
    return " ".join(filter(None, (text.number(ratio, half_width), around, apart)))


def one_line(label: str, said: str, anchor: str) -> Finding:
    return Finding(label, [("", [(said, anchor)])])


def of_row(
    book: Book, row: Row, label: str | None = None, more: Callable[[Column], list[Part]] = lambda c: []
) -> Finding:
    """The row's number in every column that has it, with what `more` adds for the column."""
    lines = [
        (column.tag, [(stated(n, row.unit), n.anchor), *more(column)])
        for column, n in zip(book.columns, row.numbers)
        if n
    ]
    if label is None:
        emulated = any(n and "emulated" in n.flags for n in row.numbers)
        label = labels.case_words(row.name) + (" (emulated)" if emulated else "")
    return Finding(label, lines)


def _strongest_baseline(book: Book, name: str) -> Callable[[Column], list[Part]]:
    """Beside a paired case: its speed-up over the fastest of its baselines."""

    def more(column: Column) -> list[Part]:
        m = book.measurement(column, name)
        if m is None or not m.baselines:
            return []
        best = min(m.baselines, key=lambda b: b.speedup.value)
        return [(f"{speedup(best)} × {best.name}", column.anchor(name))]

    return more


def picked(book: Book, question: Question) -> Answer:
    """The answer of a question that names its rows."""
    answer = Answer(question)
    for pick in question.picks:
        rows = book.find(pick.pattern, pick.metric)
        if pick.metric and not rows:
            rows = book.find(pick.pattern)
        answer.more += max(0, len(rows) - pick.limit)
        for row in rows[: pick.limit]:
            finding = of_row(book, row, pick.label, more=_strongest_baseline(book, row.name))
            answer.findings.append(finding)
    return answer


def lines(book: Book, label: str, said: Callable[[Column], list[Part]]) -> list[Finding]:
    """One finding with a line for each column that `said` says something of, or none."""
    lines = [(column.tag, parts) for column in book.columns if (parts := said(column))]
    return [Finding(label, lines)] if lines else []
