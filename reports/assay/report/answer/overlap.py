# SPDX-License-Identifier: Apache-2.0
"""How much of its bound a schedule reaches that overlaps matrix math with special functions."""

from __future__ import annotations

from collections.abc import Iterable

from ..book import labels, text
from ..book.model import Book, Column, Row
from .findings import Finding, Part, lines


SCHEDULES = {
    "in_order": "one warpgroup that does both in order",
    "two_stage": "one warpgroup in two stages",
    "two_warpgroups": "two warpgroups",
    "two_stage_two_warpgroups": "two warpgroups in two stages",
    "ping_pong": "two warpgroups that take turns",
    "ping_pong_3": "three warpgroups that take turns",
    "two_warps": "two warps",
    "interleaved": "one warp that interleaves both",
}


def label(name: str) -> str:
    """ "wgmma bf16, two warpgroups, FFMA + EX2 on each element" of a case of overlap."""
    kind, schedule, work = name.split("/")[2:]
    of = labels.words(kind.replace("_acc_", ", sums in "))
    return (
        f"{of}, {SCHEDULES.get(schedule, labels.words(schedule))}, {work.upper().replace('_', ' + ')} on each element"
    )


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
            how = f", where exp2 takes {ratio_here.value:.2f} times as long as the MMA" if ratio_here else ""
            found = [(f"{text.percent(n.value)} of perfect overlap{how}", n.anchor)] if n else []
            if found and cap and (most := cap.numbers[column.index]):
                found.append((f"{text.percent(most.value)} without any dependence between the two", most.anchor))
            return found

        findings += lines(book, label(row.name), share)
    return findings
