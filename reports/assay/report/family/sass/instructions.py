# SPDX-License-Identifier: Apache-2.0
"""The page of all instructions, and the answer that names some."""

from __future__ import annotations

from ...answer.findings import Answer, Part, lines, one_line, picked
from ...answer.question import Question
from ...block.kinds import EMPTY, Block, Cell, Page, Searchable, Table
from ...book import interval, text
from ...book.instructions import instructions
from ...book.model import Book, Column, Number
from ...book.operands import PLAIN, best
from . import operands, pipes

PAGE = "instructions.html"
COMMON = (  # as people call it, its case
    ("FADD, add of f32", "fadd/f32"),
    ("FMUL, product of f32", "fmul/f32"),
    ("FFMA, multiply-add of f32", "ffma/f32"),
    ("HFMA2, two multiply-adds of f16", "hfma2/f16x2"),
    ("DFMA, multiply-add of f64", "dfma/f64"),
    ("FMNMX, minimum or maximum of f32", "fmnmx/max_f32"),
    ("IADD3, sum of three integers", "iadd3/s32"),
    ("IMAD, multiply-add of integers", "imad/s32"),
    ("LOP3, logic of three words", "lop3/b32"),
    ("SHF, shift", "shf/left_b32"),
    ("PRMT, permutation of bytes", "prmt/b32"),
    ("SEL, choice by a predicate", "sel/b32"),
    ("POPC, count of bits", "popc/b32"),
    ("F2FP, two f32 into bf16", "f2fp/bf16x2_f32"),
    ("I2F, integer of 8 bits to f32", "i2f/f32_s8"),
    ("MUFU, reciprocal of f32", "mufu/rcp"),
    ("SHFL, exchange within a warp", "shfl/idx_b32"),
    ("VOTE, ballot of a warp", "vote/ballot"),
    ("REDUX, sum over a warp", "redux/add_s32"),
)


def pipelines(book: Book, question: Question) -> Answer:
    """A few common instructions, operands of multiply-adds, the pipes that pairs show, and whether counters agree."""
    answer = picked(book, question)
    count = sum(1 for row in instructions(book) if row.first_rate or row.first_latency)
    if count:
        answer.findings.insert(0, one_line("instructions measured", f"{count}, in one table", PAGE))
        answer.more = 0

    answer.findings += operands.findings(book)
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
        members = [(said, pipes.anchor(column)) for said in groups] if column in known else []
        return [(f"{len(found.pipes)} pipes{agree}", pipes.anchor(column)), *members]

    answer.findings += lines(book, "pipes", shared)
    return answer


def common_costs(book: Book, column: Column) -> dict[str, tuple[Number | None, Number | None]]:
    """Latency and rate of each instruction that most kernels consist of; a rate with the fastest operands measured."""
    found = {}
    for opcode, case in COMMON:
        rows = [book.row(f"sass/{case}", metric) for metric in ("latency_cycles", "ops_per_clock_per_sm")]
        latency, rate = (row.numbers[column.index] if row else None for row in rows)
        if (name := opcode.split(",")[0]) in PLAIN:
            fastest = best(book, column, name)
            rate = fastest[1] if fastest else None
        if latency or rate:
            found[opcode] = (latency, rate)
    return found


def cost(n: Number, to: str) -> Cell:
    return Cell(text.number(float(f"{n.value:.4g}")), to)


def common(book: Book) -> list[Block]:
    """What the instructions cost that most kernels consist of, a latency and a rate for each run."""
    found = [common_costs(book, column) for column in book.columns]
    rows, notes = [], []
    for opcode, _ in COMMON:
        numbers = [n for costs in found for n in costs.get(opcode, (None, None))]
        if any(numbers):
            rows.append([Cell(opcode), *(cost(n, n.anchor) if n else EMPTY for n in numbers)])
        if (name := opcode.split(",")[0]) in PLAIN:
            fastest = [best(book, column, name) for column in book.columns]
            if said := list(dict.fromkeys(found[0] for found in fastest if found)):
                notes.append(f"{name}: the rate is with {' or '.join(said)}, the fastest of those measured.")
    head = [f"{c.tag} {words}".strip() for c in book.columns for words in ("latency, cycles", "ops/clk/SM")]
    return [Table("Common instructions", ["Instruction", *head], rows, notes)]


def page(book: Book) -> Page | None:
    """Every instruction in one table to search, filter and sort."""
    rows = instructions(book)
    values = {
        "rows": rows,
        "columns": book.columns,
        "targets": book.targets,
        "counted": sorted({pipe for row in rows for pipe, _ in row.pipes}),
        "families": sorted({row.family for row in rows}),
    }
    lead = (
        "What each takes, measured one by one: cycles until its result can be used, results or operations per clock and "
        "SM with all SMs at work, and the fewest warps and independent chains per warp that reach that. "
        + interval.legend(book.processes)
    )
    table = Searchable("instructions", values)
    return (
        Page(PAGE, "Instructions", "Instructions", lead, [table], short="All instructions", wide=True) if rows else None
    )
