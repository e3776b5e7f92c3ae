# SPDX-License-Identifier: Apache-2.0
"""Answers about matrix math: questions 1, 2, 3 and 5."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...answer.findings import Answer, Part, lines, of_row, picked, stated
from ...answer.question import Question
from ...block import over_time
from ...book import instructions, labels, text, units
from ...book.mma import FAMILIES, best_mma, measured_fastest, mma_type, preferred
from ...book.model import Book, Column, Row
from .power import power as power_cases
from .sweeps import reaching_peak


def _per_second(book: Book, name: str) -> Callable[[Column], list[Part]]:
    """Beside a rate per clock: the throughput of the same case, sustained where that was measured."""
    row = book.row(name, "tflops")

    def throughput(column: Column) -> list[Part]:
        if row is None:
            return []
        held, burst = row.sustained[column.index], row.numbers[column.index]
        n, word = (held, "sustained") if held else (burst, "in a burst")
        return [(f"{text.number(n.value, n.half_width)} {row.unit} {word}", n.anchor)] if n else []

    return throughput


def mma_rates(book: Book, question: Question) -> Answer:
    """Of every (family, type) the fastest case per clock, and its throughput, sustained where that was measured."""
    best: dict[tuple[str, str], Row] = {}
    for row in book.find(r"tensor_core/.*", "flop_per_clock_per_sm"):
        kind = mma_type(row.name)
        if kind and row.first:
            key = (row.name.split("/")[1], kind)
            held, column = best.get(key), row.numbers.index(row.first)
            alike = held is None or held.numbers[column]  # else measured in different runs
            if preferred(book, row, held, column) if alike else row.first.value > held.first.value:
                best[key] = row
    answer = Answer(question)
    for (family, kind), row in sorted(best.items(), key=lambda item: -item[1].first.value):
        answer.findings.append(of_row(book, row, f"{FAMILIES[family]} {kind}", _per_second(book, row.name)))
    answer.more, answer.findings = max(0, len(answer.findings) - 10), answer.findings[:10]
    return answer


def to_peak(book: Book, question: Question) -> Answer:
    """Cycles of one MMA, and the smallest shape that reaches the peak."""
    answer = picked(book, question)
    names = dict.fromkeys(
        name for c in book.columns for name, _, _ in reaching_peak(book, c) if HEADLINE_MMA.search(name)
    )
    for name in list(names)[:6]:

        def smallest(column: Column, name: str = name) -> list[Part]:
            found = reaching_peak(book, column)
            return [(said, anchor) for other, said, anchor in found if other == name]

        answer.findings += lines(book, f"the peak of {name.replace('/', ' ').replace('mma_sync', 'mma.sync')} takes", smallest)
    return answer


HEADLINE_MMA = re.compile(r"wgmma/(bf16|e4m3)/|mma_sync/(bf16|s8)/m16n8k(16|32)$")


def fp32(book: Book, question: Question) -> Answer:
    """TF32 against FFMA, and what an FP8 mma.sync is made of."""

    def tf32(column: Column) -> list[Part]:
        best = best_mma(book, "flop_per_clock_per_sm", column.index).get("tf32")
        ffma = book.row("special_function/ffma/f32", "flop_per_clock_per_sm")
        if not best or not measured_fastest(book, column, "tf32"):
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
            f"products of f32 operands by {row.name.split('/')[-1]}, without loads and splits",
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


def power(book: Book, question: Question) -> Answer:
    """Of each type the data that runs fastest and slowest; which clock is left while it lasts."""
    found: dict[str, dict[int, list[Part]]] = {}
    for column in book.columns:
        by_kind: dict[str, list] = {}
        for case in power_cases(book, column):
            by_kind.setdefault(case.kind, []).append(case)
        for kind, cases in by_kind.items():
            found.setdefault(kind, {})[column.index] = [
                (
                    f"{labels.words(c.data)} {c.tflops:.0f} {units.unit(kind, 'TFLOP/s')}"
                    + (f" at {c.watts:.0f} W" if c.watts else ""),
                    c.anchor,
                )
                for c in (cases if len(cases) < 3 else (cases[0], cases[-1]))
            ]
    findings = [
        f for kind, said in found.items() for f in lines(book, kind, lambda c, said=said: said.get(c.index, []))
    ]
    findings += over_time.findings(book, over_time.LOOPS)
    return Answer(question, findings) if findings else picked(book, question)
