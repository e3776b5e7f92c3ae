# SPDX-License-Identifier: Apache-2.0
"""The questions of the suite, answered from a book, each in at most a few short findings. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..run_file import Baseline
from . import derive, functions, instructions, numerics, pipes, tensor_cores, text
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
        for row in rows[: pick.limit]:
            finding = of_row(book, row, pick.label, beside=_strongest_baseline(book, row.name))
            answer.findings.append(finding)
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
        if kind and row.first:
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


def _lines(book: Book, label: str, said: Callable[[Column], list[Part]]) -> list[Finding]:
    """One finding with a line for each column that `said` says something of, or none."""
    lines = [(column.tag, parts) for column in book.columns if (parts := said(column))]
    return [Finding(label, lines)] if lines else []


def to_peak(book: Book, question: Question) -> Answer:
    """Cycles of one MMA, and the smallest shape that reaches the peak."""
    answer = picked(book, question)
    names = dict.fromkeys(
        name for c in book.columns for name, _, _ in tensor_cores.reaching_peak(book, c) if HEADLINE_MMA.search(name)
    )
    for name in list(names)[:6]:

        def smallest(column: Column, name: str = name) -> list[Part]:
            found = tensor_cores.reaching_peak(book, column)
            return [(said, anchor) for other, said, anchor in found if other == name]

        answer.findings += _lines(book, f"peak of {name}", smallest)
    return answer


HEADLINE_MMA = re.compile(r"wgmma/(bf16|e4m3)/|mma_sync/(bf16|s8)/m16n8k(16|32)$")


def fp32(book: Book, question: Question) -> Answer:
    """TF32 against FFMA, and what an FP8 mma.sync is made of."""

    def tf32(column: Column) -> list[Part]:
        best = derive.best_mma(book, "flop_per_clock_per_sm", column.index).get("tf32")
        ffma = book.row("special_function/ffma/f32", "flop_per_clock_per_sm")
        if not best or not ffma or not (plain := ffma.numbers[column.index]):
            return []
        said = f"{text.number(best[1].value / plain.value)} × FFMA's {text.number(plain.value, plain.half_width)}"
        return [(stated(best[1], best[0].unit), best[1].anchor), (said, plain.anchor)]

    def fp8(column: Column) -> list[Part]:
        name = "tensor_core/mma_sync/e4m3/m16n8k32"
        m, row = book.measurement(column, name), book.row(name, "flop_per_clock_per_sm")
        number = row.numbers[column.index] if row else None
        if m is None or number is None:
            return []
        made_of = ", ".join(f"{n} {op}" for op, n in instructions.opcodes(m))
        how = "emulated by" if "emulated" in number.flags else "native:"
        return [(stated(number, row.unit), number.anchor), (f"{how} {made_of}", number.anchor)]

    found = _lines(book, "tf32 on the tensor cores", tf32) + _lines(book, "fp8 mma.sync", fp8)
    return Answer(question, found) if found else picked(book, question)


def rounding(book: Book, question: Question) -> Answer:
    """What each type's sums keep, and what promoting them gains."""
    by_name: dict[tuple[str, str], dict[int, tuple[str, str]]] = {}
    for column in book.columns:
        for card in numerics.cards(book, column):
            said = card.headline or card.finding
            by_name.setdefault((card.name, card.accumulate), {})[column.index] = (said, card.anchor)
    order = sorted(by_name, key=lambda k: (k[1] == "f16", not k[0].startswith("wgmma")))
    answer = Answer(question, more=max(0, len(order) - 8))
    for key in order[:8]:
        label = f"{key[0]}, {key[1]} sums" if key[1] else key[0]
        answer.findings += _lines(
            book, label, lambda c, found=by_name[key]: [found[c.index]] if c.index in found else []
        )
    for row in book.find(r"numerics/error_growth/.*", "promotion_gain")[:2]:
        answer.findings.append(
            of_row(book, row, f"promoting {text.case_words(row.name).removeprefix('error_growth ')}")
        )
    return answer if answer.findings else picked(book, question)


def power(book: Book, question: Question) -> Answer:
    """Of each type the data that runs fastest and slowest."""
    found: dict[str, dict[int, list[Part]]] = {}
    for column in book.columns:
        by_kind: dict[str, list] = {}
        for case in tensor_cores.power(book, column):
            by_kind.setdefault(case.kind, []).append(case)
        for kind, cases in by_kind.items():
            found.setdefault(kind, {})[column.index] = [
                (f"{text.words(c.data)} {c.tflops:.0f} TFLOP/s" + (f" at {c.watts:.0f} W" if c.watts else ""), c.anchor)
                for c in (cases if len(cases) < 3 else (cases[0], cases[-1]))
            ]
    findings = [
        f for kind, lines in found.items() for f in _lines(book, kind, lambda c, lines=lines: lines.get(c.index, []))
    ]
    return Answer(question, findings) if findings else picked(book, question)


def layouts(book: Book, question: Question) -> Answer:
    """How many operand maps are as documented, and what the FP8 permutation costs."""
    findings = []

    def maps(column: Column) -> list[Part]:
        every = [m for c, m in book.measurements if c is column and m.name.startswith(numerics.FRAGMENT)]
        same = sum(1 for m in every if m.value("matches_ptx_isa"))
        return [(f"{same} of {len(every)} as the PTX ISA has them", "fragments.html")] if every else []

    findings += _lines(book, "register maps", maps)
    ways = dict.fromkeys(p.way for c in book.columns for p in numerics.permutations(book, c))
    for way in ways:

        def cost(column: Column, way: str = way) -> list[Part]:
            mine = [p for p in numerics.permutations(book, column) if p.way == way]
            return [
                (f"{text.number(dict(p.cycles)['added_cycles_per_tile'])} cycles per 64 × 128 tile", p.anchor)
                for p in mine
            ]

        findings += _lines(book, f"permutation, {way}", cost)
    return Answer(question, findings) if findings else picked(book, question)


def overlap(book: Book, question: Question) -> Answer:
    """Per schedule the efficiency where exp2 and MMA take as long."""
    findings = [
        of_row(book, row, text.case_words(row.name).removeprefix("overlap "))
        for row in book.find(r"special_function/overlap/(wgmma|mma_sync)_bf16/.*", "overlap_efficiency")
    ]
    return Answer(question, findings) if findings else picked(book, question)


def exp2(book: Book, question: Question) -> Answer:
    """The best mix of each polynomial with MUFU, with its error, after the rates of the instructions."""
    answer = picked(book, question)
    degrees = sorted({m.degree for c in book.columns for m in functions.mixes(book, c)})
    for degree in degrees:

        def best(column: Column, degree: int = degree) -> list[Part]:
            for m in functions.mixes(book, column):
                if m.degree == degree:
                    said = f"{text.number(round(m.best[1], 1))} results/clk/SM with {text.percent(m.best[0])} by polynomial"
                    said += f", {text.number(m.speedup.value)} × MUFU alone" if m.speedup else ""
                    said += f"; at most {text.number(m.max_ulp)} ulp off" if m.max_ulp is not None else ""
                    return [(said, m.anchor)]
            return []

        answer.findings += _lines(book, f"polynomial of degree {degree}", best)
    return answer


def pipelines(book: Book, question: Question) -> Answer:
    """A few common instructions, the pipes that pairs show, and whether the counters agree."""
    answer = picked(book, question)
    count = sum(1 for row in instructions.instructions(book) if row.first_rate or row.first_latency)
    if count:
        answer.findings.insert(0, one_line("all of them", f"{count} instructions in one table", "instructions.html"))
        answer.more = 0

    def shared(column: Column) -> list[Part]:
        found = pipes.pipe_map(book, column)
        if found is None:
            return []
        agree = f", as counters have it for {text.percent(found.agreement)}" if found.agreement is not None else ""
        groups = (
            f"{p.label or 'one pipe'}: {', '.join(dict.fromkeys(found.opcodes[i].split('.')[0] for i in p.members))}"
            for p in found.pipes
        )
        return [(f"{len(found.pipes)} pipes{agree}", "sass"), *((said, "sass") for said in groups)]

    answer.findings += _lines(book, "pipes", shared)
    return answer


def targets(book: Book, question: Question) -> Answer:
    findings = []
    if book.isa:
        for target in book.isa.targets:
            n = book.isa.totals(target)
            said = f"{n['native'] + n['split']} of {sum(n.values())} forms native, {n['emulated']} emulated"
            findings.append(one_line(target, said, "isa.html" if book.isa.page else "isa"))
    if book.targets:
        said = f"{len(book.not_run)} cases on {', '.join(book.targets)}"
        findings.append(one_line("built and disassembled", said, "not-run"))
    return Answer(question, findings, remark="" if book.isa else "ask the assembler: assay isa --json, then --isa")


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


ANSWERED_BY = (mma_rates, to_peak, fp32, rounding, power, layouts, imbalance, overlap, exp2, pipelines, disassembly)
ANSWERED_BY += (collectives, targets, peak, siblings, gate)
SPECIAL: dict[str, Callable[[Book, Question], Answer]] = {f.__name__: f for f in ANSWERED_BY}


def answers(book: Book) -> list[tuple[str, list[Answer]]]:
    """(part, its answers), every question of the suite in order, answered or not."""
    return [
        (part, [SPECIAL[q.special](book, q) if q.special else picked(book, q) for q in questions])
        for part, questions in PARTS.items()
    ]
