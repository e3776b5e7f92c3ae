# SPDX-License-Identifier: Apache-2.0
"""How much of its bound a schedule reaches that overlaps matrix math with special functions."""

from __future__ import annotations

from collections.abc import Iterable

from ..book import labels, text
from ..book.model import Book, Column, Row
from .findings import Finding, Part, lines


def efficiencies(book: Book, rows: Iterable[Row]) -> list[Finding]:
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
            ratio_here = ratio.numbers[column.index] if ratio else None
            how = f", exp2 {ratio_here.value:.2f} × the MMA" if ratio_here else ""
            most = cap.numbers[column.index] if cap else None
            how += f"; unrelated to each other they reach {text.percent(most.value)}" if most else ""
            return [(f"{text.percent(n.value)} of the longer one's bound{how}", n.anchor)] if n else []

        findings += lines(book, labels.case_words(row.name).removeprefix("overlap "), share)
    return findings
