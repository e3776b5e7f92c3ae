# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions: what the name of a case says, and the fastest case of each type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .model import BURST, Book, Column, Number, Row, of_state

MMA = re.compile(r"tensor_core/(mma_sync|wgmma|tcgen05)/([^/]+)/([^/]+)(?:/(.+))?")
FAMILIES = {"wgmma": "wgmma", "tcgen05": "tcgen05", "mma_sync": "mma.sync"}
SPECIAL_DATA = {"zeros", "ones", "constant", "uniform_bits", "random_bits"}
# Where A comes from and whether half of it is left out: the columns of the table.
SOURCES = {"dense": "dense", "rs": "A in registers", "sparse": "sparse", "sparse_rs": "sparse, A in registers"}


@dataclass(frozen=True)
class Mma:
    """What the name of a case says."""

    family: str
    kind: str
    shape: str
    accumulate: str  # "" where the type has but one accumulator of interest
    source: str  # a key of SOURCES


@lru_cache(maxsize=4096)
def parse(name: str) -> Mma | None:
    """The parts of the name of a dense or sparse MMA on ordinary data; None for other names."""
    match = MMA.fullmatch(name)
    if not match:
        return None
    family, kind, shape, rest = match.groups()
    parts = set((rest or "").split("/"))
    if parts & SPECIAL_DATA:
        return None
    sparse = any(part.startswith("sparse") for part in parts)
    registers = any(part.endswith("rs") for part in parts) and family == "wgmma"
    source = "sparse_rs" if sparse and registers else "sparse" if sparse else "rs" if registers else "dense"
    return Mma(family, kind, shape, next((p[4:] for p in parts if p.startswith("acc_")), ""), source)


EQUAL = 0.001  # rates that differ by less are equals


def preferred(book: Book, row: Row, other: Row | None, column: int) -> bool:
    """Whether a row's rate in this column is above the other's; of equals the one that was also measured under lasting
    load is preferred, then the one of more a second."""
    number, held = row.numbers[column], row.sustained[column]
    best = other.numbers[column] if other else None
    if number is None or best is None:
        return number is not None
    if abs(number.value - best.value) > EQUAL * best.value:
        return number.value > best.value
    if bool(held) != bool(other.sustained[column]):
        return bool(held)
    return _per_second(book, row, column) > _per_second(book, other, column)


def _per_second(book: Book, row: Row, column: int) -> float:
    of_case = book.row(row.name, "tflops")
    number = of_case.numbers[column] if of_case else None
    return number.value if number else 0.0


def mma_type(name: str) -> str | None:
    """The operand type in "tensor_core/wgmma/bf16/..." of a dense case on the suite's own random data, of which both
    operands are numbers of one type; None for all other names."""
    mma = parse(name)
    usual = mma and not mma.source.startswith("sparse") and mma.kind != "b1" and not re.search("[0-9]_[a-z]", mma.kind)
    return mma.kind if usual else None


def best_mma(book: Book, metric: str, column: int, state: str = BURST) -> dict[str, tuple[Row, Number]]:
    """The fastest dense MMA of each operand type in one column and state, of those that the hardware has."""
    best: dict[str, tuple[Row, Number]] = {}
    for row in book.find(r"tensor_core/.*", metric):
        kind, number = mma_type(row.name), of_state(row, column, state)
        if not kind or not number or "emulated" in number.flags:
            continue
        held, least = best.get(kind, (None, None))
        better = preferred(book, row, held, column) if state == BURST else least is None or number.value > least.value
        if better:
            best[kind] = (row, number)
    return best


def measured_fastest(book: Book, column: Column, kind: str) -> bool:
    """Whether the column has the fastest MMA of a type, of those that columns of its architecture have: a run of some
    instructions may lack it."""
    rates = [
        best[kind][1].value
        for c in book.columns
        if c.architecture == column.architecture and kind in (best := best_mma(book, "flop_per_clock_per_sm", c.index))
    ]
    own = best_mma(book, "flop_per_clock_per_sm", column.index).get(kind)
    return own is not None and own[1].value >= 0.98 * max(rates)
