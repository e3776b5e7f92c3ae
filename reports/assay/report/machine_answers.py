# SPDX-License-Identifier: Apache-2.0
"""Answers about one SM: matrix math, numerics, special functions, pipelines (questions 1 to 11). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from . import derive, functions, hot_loops, instructions, numerics, pipes, tensor_cores, text
from .findings import Answer, Finding, Part, lines, of_row, one_line, picked, stated
from .model import Book, Column, Row
from .questions import Question


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
            held, column = best.get(key), row.numbers.index(row.first)
            alike = held is None or held.numbers[column]  # else measured in different runs
            if tensor_cores.preferred(row, held, column) if alike else row.first.value > held.first.value:
                best[key] = row
    answer = Answer(question)
    for (family, kind), row in sorted(best.items(), key=lambda item: -item[1].first.value):
        answer.findings.append(of_row(book, row, f"{family} {kind}", _per_second(book, row.name)))
    answer.more, answer.findings = max(0, len(answer.findings) - 10), answer.findings[:10]
    return answer


def imbalance(book: Book, question: Question) -> Answer:
    """The head dimension of each type of MMA, and the ratio at the dimensions that models have."""
    answer = Answer(question)
    for line in functions.balances(book):
        if line.mixed and answer.findings:
            parts = answer.findings[-1].lines[-1][1]
            parts.append((f"with polynomials below {line.head_dimension:.1f}", line.anchor))
            continue
        at = [f"{line.ratios[d]:.2f} × as long at {d}" for d in (64, 128) if d in line.ratios]
        said = "; ".join([f"below d = {line.head_dimension:.1f}", *([f"exp2 takes {', '.join(at)}"] if at else [])])
        answer.findings.append(one_line(line.label, said, line.anchor))
    return answer


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

        answer.findings += lines(book, f"peak of {name.replace('/', ' ')}", smallest)
    return answer


HEADLINE_MMA = re.compile(r"wgmma/(bf16|e4m3)/|mma_sync/(bf16|s8)/m16n8k(16|32)$")


def fp32(book: Book, question: Question) -> Answer:
    """TF32 against FFMA, and what an FP8 mma.sync is made of."""

    def tf32(column: Column) -> list[Part]:
        best = derive.best_mma(book, "flop_per_clock_per_sm", column.index).get("tf32")
        ffma = book.row("special_function/ffma/f32", "flop_per_clock_per_sm")
        if not best or not derive.measured_fastest(book, column, "tf32"):
            return []
        if not ffma or not (plain := ffma.numbers[column.index]):
            return []
        said = f"{text.number(best[1].value / plain.value)} × FFMA's {text.number(plain.value, plain.half_width)}"
        return [(stated(best[1], best[0].unit), best[1].anchor), (said, plain.anchor)]

    def error(column: Column, name: str) -> list[Part]:
        m = book.measurement(column, name)
        return (
            [(f"at most {m.value('max_error'):.1e} off", column.anchor(name))] if m and "max_error" in m.metrics else []
        )

    products = [
        of_row(
            book,
            row,
            f"a product of f32 matrices by {row.name.split('/')[-1]}",
            lambda column, name=row.name: error(column, name),
        )
        for row in book.find(r"tensor_core/fp32_matmul/.*", "tflops")
    ]

    def fp8(column: Column) -> list[Part]:
        name = "tensor_core/mma_sync/e4m3/m16n8k32"
        m, row = book.measurement(column, name), book.row(name, "flop_per_clock_per_sm")
        number = row.numbers[column.index] if row else None
        if m is None or number is None:
            return []
        made_of = ", ".join(f"{n} {op}" for op, n in instructions.opcodes(m))
        how = "emulated by" if "emulated" in number.flags else "native:"
        return [(stated(number, row.unit), number.anchor), (f"{how} {made_of}", number.anchor)]

    found = lines(book, "tf32 on the tensor cores", tf32) + products + lines(book, "fp8 mma.sync", fp8)
    return Answer(question, found) if found else picked(book, question)


def rounding(book: Book, question: Question) -> Answer:
    """What each type's sums keep, and what promoting them gains."""
    by_name: dict[tuple[str, str], dict[int, tuple[str, str]]] = {}
    for column in book.columns:
        for card in numerics.cards(book, column):
            said = card.headline or card.finding
            by_name.setdefault((card.name, card.accumulate), {})[column.index] = (said, card.anchor)
    order = list(by_name)
    answer = Answer(question, more=max(0, len(order) - 8))
    for key in order[:8]:
        label = f"{key[0]}, {key[1]} sums" if key[1] else key[0]
        answer.findings += lines(
            book, label, lambda c, found=by_name[key]: [found[c.index]] if c.index in found else []
        )
    for row in book.find(r"numerics/error_growth/wgmma/(e4m3|bf16)", "promotion_gain"):

        def gain(column: Column, row: Row = row) -> list[Part]:
            n = row.numbers[column.index]
            return [(f"{text.number(n.value)} × less error in long sums", n.anchor)] if n else []

        answer.findings += lines(book, f"promoting sums of {text.case_words(row.name).split(' ', 1)[1]}", gain)
    fused = dict.fromkeys(name for c in book.columns for name, _, _ in numerics.multiply_adds(book, c))
    for name in [name for name in fused if name.endswith("f32")][:3]:

        def found(column: Column, name: str = name) -> list[Part]:
            return [(said, at) for other, said, at in numerics.multiply_adds(book, column) if other == name]

        answer.findings += lines(book, name, found)
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
        f for kind, said in found.items() for f in lines(book, kind, lambda c, said=said: said.get(c.index, []))
    ]
    return Answer(question, findings) if findings else picked(book, question)


def layouts(book: Book, question: Question) -> Answer:
    """How many operand maps are as documented, and what the FP8 permutation costs."""
    findings = []

    def maps(column: Column) -> list[Part]:
        every = [m for c, m in book.measurements if c is column and m.name.startswith(numerics.FRAGMENT)]
        same = sum(1 for m in every if m.value("matches_ptx_isa"))
        return [(f"{same} of {len(every)} as the PTX ISA has them", "fragments.html")] if every else []

    findings += lines(book, "register maps", maps)
    ways = dict.fromkeys(p.way for c in book.columns for p in numerics.permutations(book, c))
    for way in ways:

        def cost(column: Column, way: str = way) -> list[Part]:
            mine = [p for p in numerics.permutations(book, column) if p.way == way]
            return [
                (
                    f"{text.number(round(dict(p.cycles)['added_cycles_per_tile'] or 0, 1))} cycles per 64 × 128 tile",
                    p.anchor,
                )
                for p in mine
            ]

        findings += lines(book, f"permutation, {way}", cost)
    return Answer(question, findings) if findings else picked(book, question)


def _efficiencies(book: Book, rows: Iterable[Row]) -> list[Finding]:
    """Of each schedule the share of the time that the longer of MMA and exp2 would take alone.

    Beside it what is left if elements and MMAs have nothing to do with each other, but for the register file.
    """
    findings = []
    for row in rows:
        kind, _, work = row.name.split("/")[2:]
        accumulated = kind.replace("_acc_", "_") if "_acc_" in kind else f"{kind}_f32"
        cap = book.row(f"special_function/interference/{accumulated}", f"independent_efficiency_{work}")

        def share(column: Column, row: Row = row, cap: Row | None = cap) -> list[Part]:
            n, ratio = row.numbers[column.index], book.row(row.name, "exp_to_mma_time")
            beside = ratio.numbers[column.index] if ratio else None
            how = f", exp2 {beside.value:.2f} × the MMA" if beside else ""
            most = cap.numbers[column.index] if cap else None
            how += f"; unrelated to each other they reach {text.percent(most.value)}" if most else ""
            return [(f"{text.percent(n.value)} of the longer one's bound{how}", n.anchor)] if n else []

        findings += lines(book, text.words(text.case_words(row.name).removeprefix("overlap ")), share)
    return findings


def overlap(book: Book, question: Question) -> Answer:
    """The best schedule of each type and work on an element, and what an exp2 costs the tensor cores beside it."""
    best: dict[tuple[str, str], Row] = {}
    for row in book.find(functions.OVERLAP.pattern, "overlap_efficiency"):
        kind, _, work = row.name.split("/")[2:]
        if row.first and ((kind, work) not in best or row.first.value > best[kind, work].first.value):
            best[kind, work] = row
    findings = _efficiencies(book, best.values())
    if not findings:
        return picked(book, question)
    for row in book.find(r"special_function/interference/wgmma_(bf16|e4m3)_f32", "tensor_cycles_per_ex2"):

        def taken(column: Column, row: Row = row) -> list[Part]:
            n = row.numbers[column.index]
            return [(f"{text.number(abs(round(n.value, 2)))} cycles of the tensor cores", n.anchor)] if n else []

        findings += lines(book, f"one MUFU.EX2 beside {text.words(row.name.split('/')[-1])} takes", taken)
    return Answer(question, findings)


def hot_loop(book: Book, question: Question) -> Answer:
    """Of two-stage pipelines the share of their bound; the rest is a question for `assay sass`."""
    pattern = r"special_function/overlap/wgmma_(bf16|e4m3)/two_stage\w*/ffma_ex2_fadd"
    findings = _efficiencies(book, book.find(pattern, "overlap_efficiency"))
    for loop in hot_loops.measured(book)[:4]:
        said = f"{loop.bound_by} bounds it: {text.number(round(loop.predicted))} cycles predicted, "
        said += f"{text.number(round(loop.measured))} measured, {text.percent(loop.predicted / loop.measured)}"
        findings.append(one_line(f"hot loop of {text.case_words(loop.case)}", said, "hot-loops"))
    command = "assay sass WHAT: opcodes by pipe, bound, schedule and stages of its loops"
    if findings:
        findings.append(one_line("any other kernel", command, ""))
    return Answer(question, findings, remark=command)


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

        answer.findings += lines(book, f"polynomial of degree {degree}", best)
    return answer


def pipelines(book: Book, question: Question) -> Answer:
    """A few common instructions, the pipes that pairs show, and whether the counters agree."""
    answer = picked(book, question)
    count = sum(1 for row in instructions.instructions(book) if row.first_rate or row.first_latency)
    if count:
        answer.findings.insert(0, one_line("all of them", f"{count} instructions in one table", "instructions.html"))
        answer.more = 0

    known = pipes.best_known(book)

    def shared(column: Column) -> list[Part]:
        found = pipes.pipe_map(book, column)
        if found is None:
            return []
        agree = f", as counters have it for {text.percent(found.agreement)}" if found.agreement is not None else ""
        groups = (
            f"{p.label or 'one pipe'}: {', '.join(dict.fromkeys(found.opcodes[i].split('.')[0] for i in p.members))}"
            for p in found.pipes
        )
        members = [(said, "sass") for said in groups] if column in known else []
        return [(f"{len(found.pipes)} pipes{agree}", "sass"), *members]

    answer.findings += lines(book, "pipes", shared)
    return answer


ANSWERED_BY = (mma_rates, to_peak, fp32, rounding, power, layouts, imbalance, overlap, exp2, pipelines, hot_loop)
