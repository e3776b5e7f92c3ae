# SPDX-License-Identifier: Apache-2.0
"""The page of all instructions, and the answer that names some."""

from __future__ import annotations

from ...answer.findings import Answer, Part, lines, one_line, picked
from ...answer.questions import Question
from ...block.kinds import Page, Searchable
from ...book import interval, text
from ...book.instructions import instructions
from ...book.model import Book, Column
from . import operands, pipes

PAGE = "instructions.html"


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
