# SPDX-License-Identifier: Apache-2.0
"""Tensor cores: one line per type of operand, the sweep over N, what shapes reach the peak, power by data."""

from __future__ import annotations

from ...block import over_time
from ...block.declaration import Family
from ...block.kinds import Block, figures
from ...book.model import Book
from . import answers, power, rates, sweeps


def pictures(book: Book) -> list[Block]:
    columns = book.columns[:4]
    by_column = (draw(book, c) for c in columns for draw in (sweeps.n_sweep, power.power_by_data, over_time.picture))
    return [figures(*by_column, *(sweeps.in_flight(book, c) for c in columns))]


FAMILY = Family(
    "tensor_core",
    "Tensor cores",
    "Matrix instructions: what one SM delivers per clock, and what the GPU delivers per second.",
    blocks=(pictures, rates.blocks, sweeps.blocks),
    answers={1: answers.mma_rates, 2: answers.to_peak, 3: answers.fp32, 5: answers.power},
    of_instructions=True,
)
