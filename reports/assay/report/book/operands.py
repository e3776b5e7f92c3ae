# SPDX-License-Identifier: Apache-2.0
"""For which operands the rates of multiply-adds are. Pure."""

from __future__ import annotations

from . import labels
from .instructions import opcodes
from .model import Book, Column, Number

METRIC = "ops_per_clock_per_sm"
PLAIN = {"FFMA": "sass/ffma/f32", "DFMA": "sass/dfma/f64"}
# What follows the plain case's name, in words.
OPERANDS = {
    "": "three registers, two of them common to all",
    "accumulate": "three registers, the sum in place",
    "two_registers": "two registers",
    "immediate_factor": "an immediate factor",
    "immediate_term": "an immediate term",
    "uniform_factor": "a uniform factor",
    "uniform_term": "a uniform term",
}


def rates(book: Book, column: Column, plain: str) -> list[tuple[str, str, Number]]:
    """(case, its operands in words, rate) of the plain case and those of the same opcode with other operands, the
    fastest first."""
    m = book.measurement(column, plain)
    own = {op for op, _ in opcodes(m)} if m else set()
    found = []
    for row in book.find(rf"{plain}(_\w+)?", METRIC):
        other, n = book.measurement(column, row.name), row.numbers[column.index]
        if n and other and {op for op, _ in opcodes(other)} == own:
            suffix = row.name.removeprefix(plain).removeprefix("_")
            found.append((row.name, OPERANDS.get(suffix, labels.words(suffix)), n))
    return sorted(found, key=lambda entry: -entry[2].value)


def best(book: Book, column: Column, opcode: str) -> tuple[str, Number] | None:
    """(its operands in words, rate) of the fastest case of a multiply-add."""
    found = rates(book, column, PLAIN[opcode])
    return found[0][1:] if found else None
