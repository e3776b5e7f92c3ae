# SPDX-License-Identifier: Apache-2.0
"""The front page of one GPU, as measured: what it is, six numbers, its pictures, and what surprised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..answer import surprises
from ..block import over_time
from ..block.kinds import Block, Figures, Fold, Headlines, Lines, Paragraph, Section, Span
from ..book import headline, text
from ..book.model import BURST, LASTING, STATES, Book, Column
from ..draw.diagram import sm_diagram
from ..draw.repeated import run_to_run
from ..draw.staircase import staircase
from ..draw.svg import Figure
from . import guard, overview

# NVIDIA's names by compute capability without its last digit, for files from before a run said it of its GPU: of 8.x, Ada
# is 8.9 alone. What comes after these is said by the run (harness/target_table.hpp).
UNSAID = {8: "Ampere", 9: "Hopper", 10: "Blackwell", 11: "Blackwell", 12: "Blackwell"}
ADA = 89
KIND = "front"  # of the page: how it is set on a screen and on paper


def subject(book: Book) -> Column | None:
    """The GPU that a book is about: its only column, where enough was measured of one."""
    column = book.columns[0] if len(book.columns) == 1 else None
    return column if column and column.run.gpu and len(headline.headlines(book, column)) > 1 else None


def generation(gpu: dict[str, Any]) -> str | None:
    """ "Hopper"; None of what is not known."""
    digits = str(gpu.get("architecture", "")).removeprefix("sm_").rstrip("af")
    if gpu.get("generation") or not digits.isdecimal():
        return gpu.get("generation")
    return "Ada" if int(digits) == ADA else UNSAID.get(int(digits) // 10)


def lead(book: Book, column: Column) -> str:
    """What it is, in a line; then when and with what it was measured."""
    gpu = column.run.gpu or {}
    chip = gpu.get("architecture", "")
    named = generation(gpu)
    said = [f"{gpu['sm_count']} SMs" if gpu.get("sm_count") else "", f"of {named} ({chip})" if named else chip]
    clock, watts = gpu.get("sm_clock_max_mhz"), gpu.get("power_limit_w")
    more = [
        f"up to {clock:.0f}{text.THIN}MHz" if clock else "",
        f"{text.size(gpu['memory_bytes'])} of memory" if gpu.get("memory_bytes") else "",
        f"{text.size(gpu['l2_bytes'])} of L2" if gpu.get("l2_bytes") else "",
        f"a power limit of {watts:.0f}{text.THIN}W" if watts else "",
    ]
    what = ", ".join(filter(None, [" ".join(filter(None, said)), *more]))
    return f"{what}. {_how(book, column)}"


def _how(book: Book, column: Column) -> str:
    """When, with which software, how much, and in how many processes."""
    started = str((column.run.extra.get("run") or {}).get("started") or "")[:10]
    driver = column.run.environment.get("driver")
    cases = sum(c is column for c, _ in book.measurements)
    most = book.processes[column.index].most
    processes = f"in up to {most} processes" if most > 1 else "in one process: how far processes differ is not known"
    when = f" on {started}" if started else ""
    with_what = f" with driver {driver}" if driver else ""
    return f"{text.counted(cases, 'case')} measured{when}{with_what}, {processes}."


def first(
    book: Book,
    column: Column,
    siblings: Sequence[surprises.Sibling] = (),
    repeated: surprises.Sibling | None = None,
) -> list[Block]:
    """The six numbers and the pictures, then what surprised: what is printed."""
    drawn = [guard.made("The picture", make, lambda said: said) for make in _pictures(book, column)]
    figures = Figures([found for found in drawn if isinstance(found, Figure)])
    strange = [found for found in drawn if found and not isinstance(found, Figure)]
    numbers = Headlines(headline.headlines(book, column, repeated))
    blocks: list[Block] = [Section("as-measured", "In six numbers", [numbers, figures, *strange])]
    if lines := _surprises(book, column, siblings):
        intro = (
            "Found by rule: figures far from their limit, from what others published, and from GPUs of the same name."
        )
        blocks.append(Section("surprises", "What surprised", [Lines(lines)], intro))
    return blocks


def more(book: Book, column: Column, further: Sequence[Span] = ()) -> list[Block]:
    """The pictures of the other state, folded, and how far processes differ, or where that is said."""
    blocks: list[Block] = []
    others = [state for state in STATES if state != state_of(book, column)]
    if drawn := overview.overview(book, others):
        folded = Fold("Its roofline, and where the peak went", text.counted(len(drawn), "picture"), [Figures(drawn)])
        blocks.append(Section("peak", f"The same {others[0]}", [folded], printed=False))
    if repeated := guard.made("The spread", lambda: run_to_run(book, column), lambda said: None):
        blocks.append(Section("run-to-run", "From run to run", [Figures([repeated])], printed=False))
    elif further:
        blocks.append(Section("run-to-run", "From run to run", [Paragraph(list(further))], printed=False))
    return blocks


def state_of(book: Book, column: Column) -> str:
    """The state that the front page shows: lasting load where it was measured."""
    return LASTING if overview.roofs.roofline(book, column, LASTING) else BURST


def _pictures(book: Book, column: Column) -> list[Callable[[], Figure | None]]:
    state = state_of(book, column)
    return [
        lambda: sm_diagram(book, column),
        lambda: staircase(book, column),
        lambda: overview.waterfall(book, column, state),
        lambda: overview.roofline(book, column, state),
        lambda: overview.under_roof(book, column, state),
    ]


def _surprises(book: Book, column: Column, siblings: Sequence[surprises.Sibling]) -> list[list[Span]]:
    found = guard.made("What surprised", lambda: surprises.surprises(book, column, siblings), lambda said: [])
    lines = [[Span(surprise.said, surprise.anchor)] for surprise in found]
    clocks = guard.made("The clock", lambda: _clocks(book, column), lambda said: [])
    return lines + clocks


SURPRISING = 0.02  # of the reported clock: one or two of its steps of 15 MHz surprise nobody


def _clocks(book: Book, column: Column) -> list[list[Span]]:
    """The load under which the clock that the SMs counted was furthest from the one that the driver reported."""
    apart = []
    for load in over_time.loads(book, column):
        counted, reported = load.settled(load.counted), load.settled(load.reported)
        if counted and reported and abs(counted / reported - 1) > SURPRISING:
            apart.append((abs(counted / reported - 1), counted, reported, load))
    if not apart:
        return []
    _, counted, reported, load = max(apart, key=lambda found: found[0])
    said = (
        f"Under lasting load, {load.called}, the SMs counted {counted:.0f}{text.THIN}MHz, where the driver "
        f"reported {reported:.0f}{text.THIN}MHz."
    )
    return [[Span(said, load.anchor)]]
