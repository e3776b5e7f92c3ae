# SPDX-License-Identifier: Apache-2.0
"""The questions of the suite, answered from a book, each in at most a few short findings. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..run_file import Baseline
from . import derive, text
from .model import Book, Number, Row
from .questions import PARTS, Question


@dataclass
class Finding:
    """`label`: `values`, one per column that has it, each with the anchor of its measurement."""

    label: str
    values: list[tuple[str, str]]  # (text, anchor or "")


@dataclass
class Answer:
    question: Question
    findings: list[Finding] = field(default_factory=list)
    remark: str = ""
    more: int = 0  # rows that answer too and are left to the tables

    @property
    def answered(self) -> bool:
        return bool(self.findings or self.remark)


def stated(number: Number, unit: str) -> str:
    """"4 093 ±2 FLOP/clk/SM (99.9 %)": value, interval, unit, share of the limit."""
    parts = [text.number(number.value, number.half_width)]
    if interval := text.plus_minus(number.value, number.low, number.high):
        parts.append(interval)
    parts.append(text.unit(unit))
    if number.share is not None:
        parts.append(f"({text.percent(number.share)} of limit)")
    return " ".join(parts)


def speedup(baseline: Baseline) -> str:
    """"1.041 ±0.006": how many times faster ours is than the baseline."""
    ratio, (low, high) = baseline.speedup.value, baseline.speedup.ci95 or (None, None)
    half_width = None if low is None else max(ratio - low, high - ratio)
    return f"{text.number(ratio, half_width)} {text.plus_minus(ratio, low, high)}".strip()


def finding(row: Row, numbers: list[Number | None] | None = None, label: str | None = None) -> Finding:
    numbers = row.numbers if numbers is None else numbers
    values = [(stated(n, row.unit), n.anchor) for n in numbers if n]
    if label is None:
        parts = row.name.split("/")
        label = " ".join(parts[1:] or parts)
        emulated = any("emulated" in n.flags for n in numbers if n)
        label += " (emulated)" if emulated else ""
    return Finding(label, values)


def _with_baseline(book: Book, row: Row, found: Finding) -> Finding:
    """Adds "1.04× cublaslt_best16" where the case was measured in pairs."""
    for column, m in book.measurements:
        if m.name == row.name and m.baselines:
            best = min(m.baselines, key=lambda b: b.speedup.value)
            found.values.append((f"{speedup(best)} × {best.name}", column.anchor(m.name)))
    return found


def picked(book: Book, question: Question) -> Answer:
    """The answer of a question that names its rows."""
    answer = Answer(question)
    for pick in question.picks:
        rows = book.find(pick.pattern, pick.metric)
        if pick.metric and not rows:
            rows = book.find(pick.pattern)
        answer.more += max(0, len(rows) - pick.limit)
        answer.findings += [_with_baseline(book, row, finding(row)) for row in rows[:pick.limit]]
    return answer


def mma_rates(book: Book, question: Question) -> Answer:
    """Of every (family, type) the fastest case per clock, and its sustained throughput."""
    best: dict[tuple[str, str], Row] = {}
    for row in book.find(r"tensor_core/.*", "flop_per_clock_per_sm"):
        kind = derive.mma_type(row.name)
        if kind and row.first and derive.plain(row):
            key = (row.name.split("/")[1], kind)
            if key not in best or row.first.value > best[key].first.value:
                best[key] = row
    answer = Answer(question)
    for (family, kind), row in sorted(best.items(), key=lambda item: -item[1].first.value):
        found = finding(row, label=f"{family} {kind}")
        per_second = book.row(row.name, "tflops")
        if per_second:
            held = [n or burst for n, burst in zip(per_second.sustained, per_second.numbers)]
            word = "sustained" if any(per_second.sustained) else "burst"
            found.values += [(f"{text.number(n.value, n.half_width)} {per_second.unit} {word}", n.anchor) for n in held if n]
        answer.findings.append(found)
    answer.more, answer.findings = max(0, len(answer.findings) - 10), answer.findings[:10]
    return answer


def imbalance(book: Book, question: Question) -> Answer:
    found = derive.imbalances(book)
    return Answer(question, [
        Finding(item.label, [(f"below d = {text.number(item.head_dimension)}, at {text.number(item.flop_per_exp2)} FLOP per exp2",
                              item.anchor)]) for item in found])


def disassembly(book: Book, question: Question) -> Answer:
    good, total = derive.verified(book.measurements)
    offline = [m for by_target in book.not_run.values() for m in by_target.values() if m.sass]
    held = sum(1 for m in offline if m.sass.get("verified"))
    findings = []
    if total:
        findings.append(Finding("measured", [(f"{good} of {total} loops hold the opcodes they claim", "")]))
    if offline:
        findings.append(Finding("built only", [(f"{held} of {len(offline)} on {len(book.targets)} targets", "not-run")]))
    return Answer(question, findings)


def collectives(book: Book, question: Question) -> Answer:
    findings = []
    for operation, series in derive.collective_series(book).items():
        for one in series[:3]:
            size, top, *_ = max(one.points, key=lambda p: p[1])
            findings.append(Finding(f"{operation} {one.label}",
                                    [(f"{text.number(top)} GB/s at {text.size(size)}", "collective")]))
    return Answer(question, findings)


def targets(book: Book, question: Question) -> Answer:
    if not book.targets:
        return Answer(question)
    return Answer(question, [Finding("built and disassembled", [(
        f"{len(book.not_run)} cases on {', '.join(book.targets)}", "not-run")])])


def peak(book: Book, question: Question) -> Answer:
    findings = []
    for column in book.columns:
        steps = derive.waterfall(book, column)
        if steps:
            chain = " → ".join(f"{s.label} {text.number(s.tflops)}" for s in steps)
            findings.append(Finding(f"{column.label}, bf16 TFLOP/s", [(chain, "peak")]))
    return Answer(question, findings)


def siblings(book: Book, question: Question) -> Answer:
    spread = derive.siblings(book)
    if not spread:
        return Answer(question)
    return Answer(question, [
        Finding(row.name, [(f"{text.percent(max(r) - min(r))} apart", row.first.anchor)]) for row, r in spread[:3]])


def gate(book: Book, question: Question) -> Answer:
    return Answer(question, remark="Not a question for one report: `assay gate BASE CANDIDATE` answers it.")


SPECIAL: dict[str, Callable[[Book, Question], Answer]] = {
    f.__name__: f for f in (mma_rates, imbalance, disassembly, collectives, targets, peak, siblings, gate)}


def answers(book: Book) -> list[tuple[str, list[Answer]]]:
    """(part, its answers), every question of the suite in order, answered or not."""
    return [(part, [SPECIAL[q.special](book, q) if q.special else picked(book, q) for q in questions])
            for part, questions in PARTS.items()]
