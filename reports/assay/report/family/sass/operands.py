# SPDX-License-Identifier: Apache-2.0
"""For which operands the rates of multiply-adds are: the best, the plain one, and what register banks leave of it."""

from __future__ import annotations

from ...answer.findings import Finding, Part, lines, stated
from ...book import labels, text
from ...book.model import Book, Column
from ...book.operands import METRIC, OPERANDS, PLAIN, rates

BANKS = "sass/operands/"
SAME = 0.01  # of the best rate: the plain one is as fast


def _said(book: Book, column: Column, opcode: str, plain: str) -> list[Part]:
    found = rates(book, column, plain)
    own = next((n for name, _, n in found if name == plain), None)
    if own is None:
        return []
    best, operands, n = found[0]
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
