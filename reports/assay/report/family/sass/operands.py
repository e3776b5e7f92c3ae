# SPDX-License-Identifier: Apache-2.0
"""For which operands the rates of multiply-adds are: the best, the plain one, and what register banks leave of it."""

from __future__ import annotations

from ...answer.findings import Finding, Part, lines, stated
from ...book import labels, text
from ...book.instructions import opcodes
from ...book.model import Book, Column, Number

METRIC = "ops_per_clock_per_sm"
PLAIN = {"FFMA": "sass/ffma/f32", "DFMA": "sass/dfma/f64"}
BANKS = "sass/operands/"
SAME = 0.01  # of the best rate: the plain one is as fast
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


def _rates(book: Book, column: Column, plain: str) -> list[tuple[str, str, Number]]:
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


def _said(book: Book, column: Column, opcode: str, plain: str) -> list[Part]:
    rates = _rates(book, column, plain)
    own = next((n for name, _, n in rates if name == plain), None)
    if own is None:
        return []
    best, operands, n = rates[0]
    unit = book.row(best, METRIC).unit
    parts = [(f"{stated(n, unit)} with {operands} ({best})", n.anchor)]
    if best != plain:
        short = 1 - own.value / n.value
        said = f"{text.number(own.value, own.half_width)} with {OPERANDS['']} ({plain})"
        if short > SAME:
            said += f", {text.percent(short)} less: what bounds it is how its operands are read, not the pipe"
        parts.append((said, own.anchor))
    return parts + _banks(book, column, opcode, n.value)


def _banks(book: Book, column: Column, opcode: str, best: float) -> list[Part]:
    """How far register banks hold it back, from the cases that choose registers."""
    found = []
    for row in book.find(rf"{BANKS}{opcode.lower()}/\w+", METRIC):
        m, n = book.measurement(column, row.name), row.numbers[column.index]
        if m and n:
            found.append((n.value, str(m.params.get("operands") or labels.words(row.name.split("/")[-1])), n.anchor))
    if not found:
        return []
    found.sort(reverse=True)
    chosen = [found[0], found[-1]] if len(found) > 1 else found
    said = "; ".join(f"{text.number(float(f'{rate:.3g}'))}, {words}" for rate, words, _ in chosen)
    bound = ": their banks bound it" if found[0][0] < (1 - SAME) * best else ""
    return [(f"with other registers {said} ({BANKS}{opcode.lower()}){bound}", found[0][2])]


def findings(book: Book) -> list[Finding]:
    found: list[Finding] = []
    for opcode, plain in PLAIN.items():

        def said(column: Column, opcode: str = opcode, plain: str = plain) -> list[Part]:
            return _said(book, column, opcode, plain)

        found += lines(book, f"{opcode}, for which operands", said)
    return found
