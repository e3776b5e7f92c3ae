# SPDX-License-Identifier: Apache-2.0
"""Special functions by format: results per clock and latency."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...block.kinds import EMPTY, Block, Cell, Span, Table
from ...book import text
from ...book.model import Book, Number

FUNCTION = re.compile(r"special_function/(?!ffma|overlap|exp2_|imbalance|interference)(\w+)/(\w+)")
IN_C = "CUDA C"  # the format of what a function of the language compiles to
SAID = {"full_f32": "f32, scaled for every divisor", "f32_subnormal": "f32, subnormal results kept"}


@dataclass
class Function:
    """One function in one format: results per clock and SM, and latency."""

    name: str
    form: str
    rate: list[Number | None]
    latency: list[Number | None]


def by_format(book: Book) -> list[Function]:
    """Functions that were measured: instructions by name, f32 first, then those of CUDA C."""
    found = []
    for row in book.find(r"special_function/.*", "ops_per_clock_per_sm"):
        if match := FUNCTION.fullmatch(row.name):
            bare = book.row(row.name, "mufu_latency_cycles") or book.row(row.name, "latency_cycles")
            none: list[Number | None] = [None] * len(book.columns)
            name, form = (match[2], IN_C) if match[1] == "cuda_c" else match.groups()
            found.append(Function(name, form, row.numbers, bare.numbers if bare else none))
    return sorted(found, key=lambda f: (f.form == IN_C, f.name.strip("_"), f.form != "f32", f.form))


def blocks(book: Book) -> list[Block]:
    head = [f"{c.tag} {words}".strip() for c in book.columns for words in ("results/clk/SM", "latency")]
    rows = [
        [Cell(f.name), Cell(SAID.get(f.form, f.form)), *(cell for c in book.columns for cell in _cells(f, c.index))]
        for f in by_format(book)
    ]
    caption = "Results per clock and SM, share of the limit; cycles until a result can be used"
    return [Table(caption, ["Function", "Format", *head], rows)]


def _cells(f: Function, column: int) -> list[Cell]:
    rate, latency = f.rate[column], f.latency[column]
    more = []
    if rate and rate.share:
        more.append(Span(text.percent(rate.share), kind="share"))
    if rate and "emulated" in rate.flags:
        more.append(Span("emulated", kind="flag"))
    return [
        Cell(text.number(n.value, n.half_width), n.anchor, "value", more=tuple(more) if n is rate else ())
        if n
        else EMPTY
        for n in (rate, latency)
    ]
