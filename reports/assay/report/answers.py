# SPDX-License-Identifier: Apache-2.0
"""The questions of the suite, answered from a book, each in at most a few short findings. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..run_file import Baseline
from . import derive, text
from .model import Book, Column, Number, Row
from .questions import PARTS, Question

Part = tuple[str, str]  # (text, anchor of the measurement or section, or "")


@dataclass
class Finding:
    """What one case says: a line per column, tagged where there are several, each of one or more parts."""

    label: str
    lines: list[tuple[str, list[Part]]]


@dataclass
class Answer:
    question: Question
    findings: list[Finding] = field(default_factory=list)
    remark: str = ""
    more: int = 0  # rows that answer too and are left to the tables


def stated(number: Number, unit: str) -> str:
    """ "4 093 ±2 FLOP/clk/SM (99.9 % of limit)": value, interval, unit, share of the limit."""
    parts = [text.number(number.value, number.half_width)]
    if interval := text.plus_minus(number.value, number.low, number.high):
        parts.append(interval)
    parts.append(text.unit(unit))
    if number.share is not None:
        parts.append(f"({text.percent(number.share)} of limit)")
    return " ".join(parts)


def speedup(baseline: Baseline) -> str:
    """ "1.041 ±0.006": how many times faster ours is than the baseline."""
    ratio, (low, high) = baseline.speedup.value, baseline.speedup.ci95 or (None, None)
    half_width = None if low is None else max(ratio - low, high - ratio)
    return f"{text.number(ratio, half_width)} {text.plus_minus(ratio, low, high)}".strip()


def one_line(label: str, said: str, anchor: str) -> Finding:
    return Finding(label, [("", [(said, anchor)])])


def of_row(
    book: Book, row: Row, label: str | None = None, beside: Callable[[Column], list[Part]] = lambda c: []
) -> Finding:
    """The row's number in every column that has it, with what `beside` adds for the column."""
    lines = [
        (column.tag, [(stated(n, row.unit), n.anchor), *beside(column)])
        for column, n in zip(book.columns, row.numbers)
        if n
    ]
    if label is None:
        emulated = any(n and "emulated" in n.flags for n in row.numbers)
        label = text.case_words(row.name) + (" (emulated)" if emulated else "")
    return Finding(label, lines)


def _strongest_baseline(book: Book, name: str) -> Callable[[Column], list[Part]]:
    """Beside a paired case: its speed-up over the fastest of its baselines."""

    def beside(column: Column) -> list[Part]:
        m = book.measurement(column, name)
        if m is None or not m.baselines:
            return []
        best = min(m.baselines, key=lambda b: b.speedup.value)
        return [(f"{speedup(best)} × {best.name}", column.anchor(name))]

    return beside


def picked(book: Book, question: Question) -> Answer:
    """The answer of a question that names its rows."""
    answer = Answer(question)
    for pick in question.picks:
        rows = book.find(pick.pattern, pick.metric)
        if pick.metric and not rows:
            rows = book.find(pick.pattern)
        answer.more += max(0, len(rows) - pick.limit)
        answer.findings += [of_row(book, row, beside=_strongest_baseline(book, row.name)) for row in rows[: pick.limit]]
    return answer


def _per_second(book: Book, name: str) -> Callable[[Column], list[Part]]:
    """Beside a rate per clock: the throughput of the same case, sustained where that was measured."""
    row = book.row(name, "tflops")

    def beside(column: Column) -> list[Part]:
        if row is None:
            return []
        held, burst = row.sustained[column.index], row.numbers[column.index]
        n, word = (held, "sustained") if held else (burst, "in a burst")
        return [(f"{text.number(n.value, n.half_width)} {row.unit} {word}", n.anchor)] if n else []

    return beside


def mma_rates(book: Book, question: Question) -> Answer:
    """Of every (family, type) the fastest case per clock, and its throughput, sustained where that was measured."""
    best: dict[tuple[str, str], Row] = {}
    for row in book.find(r"tensor_core/.*", "flop_per_clock_per_sm"):
        kind = derive.mma_type(row.name)
        if kind and row.first and derive.plain(row):
            key = (row.name.split("/")[1], kind)
            if key not in best or row.first.value > best[key].first.value:
                best[key] = row
    answer = Answer(question)
    for (family, kind), row in sorted(best.items(), key=lambda item: -item[1].first.value):
        answer.findings.append(of_row(book, row, f"{family} {kind}", _per_second(book, row.name)))
    answer.more, answer.findings = max(0, len(answer.findings) - 10), answer.findings[:10]
    return answer


def imbalance(book: Book, question: Question) -> Answer:
    return Answer(
        question,
        [
            one_line(
                item.label,
                f"below d = {item.head_dimension:.1f}, at {item.flop_per_exp2:.0f} FLOP per exp2",
                item.anchor,
            )
            for item in derive.imbalances(book)
        ],
    )


def disassembly(book: Book, question: Question) -> Answer:
    good, total = derive.verified(book.measurements)
    offline = [m for by_target in book.not_run.values() for m in by_target.values() if m.sass]
    held = sum(1 for m in offline if m.sass.get("verified"))
    findings = []
    if total:
        findings.append(one_line("measured", f"{good} of {total} loops hold the opcodes they claim", "details"))
    if offline:
        findings.append(one_line("built only", f"{held} of {len(offline)}, on {len(book.targets)} targets", "not-run"))
    return Answer(question, findings)


def collectives(book: Book, question: Question) -> Answer:
    findings = []
    for operation, series in derive.collective_series(book).items():
        for one in series[:3]:
            size, top, *_ = max(one.points, key=lambda p: p[1])
            findings.append(
                one_line(f"{operation} {one.label}", f"{text.number(top)} GB/s at {text.size(size)}", "collective")
            )
    return Answer(question, findings)


def targets(book: Book, question: Question) -> Answer:
    if not book.targets:
        return Answer(question)
    said = f"{len(book.not_run)} cases on {', '.join(book.targets)}"
    return Answer(question, [one_line("built and disassembled", said, "not-run")])


def peak(book: Book, question: Question) -> Answer:
    lines = []
    for column in book.columns:
        if steps := derive.waterfall(book, column):
            lines.append((column.tag, [(" → ".join(f"{s.label} {text.number(s.tflops)}" for s in steps), "peak")]))
    return Answer(question, [Finding("bf16, TFLOP/s", lines)] if lines else [])


def siblings(book: Book, question: Question) -> Answer:
    spread = derive.siblings(book)
    if not spread:
        return Answer(question)
    middle = sorted(max(r) - min(r) for _, r in spread)[len(spread) // 2]
    findings = [one_line("all cases, median", f"{text.percent(middle)} between the extremes", "")]
    findings += [
        one_line(f"widest: {text.case_words(row.name)}", text.percent(max(r) - min(r)), row.first.anchor)
        for row, r in spread[:3]
    ]
    return Answer(question, findings)


def gate(book: Book, question: Question) -> Answer:
    return Answer(question, remark="not a question for one report: assay gate BASE CANDIDATE answers it")


SPECIAL: dict[str, Callable[[Book, Question], Answer]] = {
    f.__name__: f for f in (mma_rates, imbalance, disassembly, collectives, targets, peak, siblings, gate)
}


def answers(book: Book) -> list[tuple[str, list[Answer]]]:
    """(part, its answers), every question of the suite in order, answered or not."""
    return [
        (part, [SPECIAL[q.special](book, q) if q.special else picked(book, q) for q in questions])
        for part, questions in PARTS.items()
    ]
