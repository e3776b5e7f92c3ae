# SPDX-License-Identifier: Apache-2.0
"""What families have to show: their blocks and their cases."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

from assay import plotting

from .. import family
from ..block.kinds import Block, Cases, Evidence
from ..book import interval
from ..book.model import Book, Row
from . import guard

WORTH_A_POOL = 200  # measurements; fewer are drawn before a process has started


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0))


class Drawing:
    """Makes the blocks of all families, whose figures take most of a report's time, in up to `processes` of their own:
    where there is one alone, in this one."""

    def __init__(self, book: Book, processes: int) -> None:
        self.book = book
        self.pool: ProcessPoolExecutor | None = None
        self.pending: dict[str, list[Future]] = {}
        if len(book.measurements) >= WORTH_A_POOL and processes > 1:
            global _book
            _book = book  # a forked process has it without being sent it
            plotting.load()  # once, instead of in each
            import matplotlib.figure  # noqa: F401

            self.pool = ProcessPoolExecutor(min(4, processes), get_context("fork"))
            for key, declared in family.declared().items():
                tasks = range(len(declared.blocks))
                self.pending[key] = [self.pool.submit(_made_apart, key, index) for index in tasks]

    def finish(self) -> dict[str, list[Block]]:
        """The same as `blocks`."""
        if self.pool is None:
            return blocks(self.book)
        with self.pool:
            return {key: [b for task in tasks for b in task.result()] for key, tasks in self.pending.items()}


_book: Book | None = None


def _made_apart(key: str, index: int) -> list[Block]:
    return _made(_book, family.declared()[key].blocks[index])


def _made(book: Book, make: Callable[[Book], Iterable[Block | None]]) -> list[Block]:
    what = f"{make.__name__.replace('_', ' ').strip().capitalize()}"
    return guard.made(what, lambda: list(make(book)), lambda said: [said])


def blocks(book: Book) -> dict[str, list[Block]]:
    """The blocks of each family, also evidence that nothing was found for."""
    return {key: [b for make in f.blocks for b in _made(book, make)] for key, f in family.declared().items()}


def cases(book: Book) -> dict[str, Cases]:
    """The cases of each family that has some, in the order of the page."""
    by_family: dict[str, list[Row]] = {key: [] for key in family.declared()}
    for row in [*book.rows, *book.refused_rows]:
        by_family.setdefault(row.family, []).append(row)
    covers = interval.short(book.processes)
    return {
        key: Cases(family.family_of(key).title, book.columns, grouped(rows), book.descriptions, covers)
        for key, rows in by_family.items()
        if rows
    }


def page_of(key: str) -> str:
    """The page that holds the table and the details of a family's cases."""
    return f"{family.place_of(key)}-cases.html"


def homes(book: Book) -> dict[str, str]:
    """Anchor of a measurement -> the page with its details."""
    return {column.anchor(m.name): page_of(m.name.split("/")[0]) for column, m in book.measurements}


def evidence(made: dict[str, list[Block]]) -> dict[int, Evidence]:
    return {b.number: b for blocks in made.values() for b in blocks if isinstance(b, Evidence)}


def grouped(rows: list[Row], least: int = 3) -> list[tuple[str, list[tuple[str, list[Row]]]]]:
    """Cases under the heading of their probe, after those of all probes that have fewer than `least` cases: these
    share one part without a heading."""
    probes: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        probes.setdefault(row.group, {}).setdefault(row.name, []).append(row)
    few: list[tuple[str, list[Row]]] = []
    parts: list[tuple[str, list[tuple[str, list[Row]]]]] = []
    for group, cases in probes.items():
        heading = group if len(cases) >= least else ""
        labelled = [
            (metrics[0].case if heading else name.partition("/")[2] or name, metrics) for name, metrics in cases.items()
        ]
        if heading:
            parts.append((heading, labelled))
        else:
            few += labelled
    return [("", few), *parts] if few else parts
