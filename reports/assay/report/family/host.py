# SPDX-License-Identifier: Apache-2.0
"""Question 39: the processor side, its caches, its memory and its arithmetic."""

from __future__ import annotations

from ..answer.findings import Part, lines
from ..block.declaration import Family
from ..block.kinds import Block, Cell, Evidence, Table
from ..block.tables import who
from ..book import text
from ..book.model import Book, Column, Number
from ..draw import curves
from ..draw.curves import Axis, Line
from ..draw.svg import Figure

CACHES = r"host/cache_latency/\d+"
WAYS = {"read": "reading memory", "copy": "copying in memory", "triad": "a sum of two arrays into a third"}
THREADS = {"one_thread": "f32 math, one thread", "all_threads": "f32 math, all threads"}


def evidence(book: Book) -> list[Block]:
    found = Evidence(39, "assay run '^host/'")
    found.findings += lines(book, "a load, by footprint", lambda c: _loads(book, c))
    for column in book.columns[:4]:
        found.draw(latency_over_footprint(book, column))
        found.tabulate(table(book, column))
    return [found]


def latencies(book: Book, column: Column) -> list[tuple[int, Number]]:
    """(footprint in bytes, latency in ns), from the smallest."""
    found = [(row, row.numbers[column.index]) for row in book.find(CACHES, "latency_ns")]
    return sorted(((int(row.case.rpartition("/")[2]), n) for row, n in found if n), key=lambda point: point[0])


def _loads(book: Book, column: Column) -> list[Part]:
    return [(f"{text.size(size)} {text.number(float(f'{n.value:.3g}'))} ns", n.anchor) for size, n in latencies(book, column)]


def latency_over_footprint(book: Book, column: Column) -> Figure | None:
    points = latencies(book, column)
    ends = {float(size): (n.low, n.high) for size, n in points if n.low is not None and n.high is not None}
    line = Line("a load", [(float(size), n.value) for size, n in points], ends=ends)
    return curves.draw(
        f"host-latency{column.index}",
        f"Latency of the CPU's loads over footprint{who(book, column)}",
        [line],
        Axis("footprint", 2, bytes=True),
        Axis("ns", 10),
        note="One thread follows pointers through so many bytes, in random order.",
    )


def table(book: Book, column: Column) -> Table | None:
    """What the processor's memory and arithmetic give."""
    figures = [("a load from memory", "host/dram_latency", "latency_ns")]
    figures += [(words, f"host/dram_bandwidth/{way}", "bandwidth_gb_per_s") for way, words in WAYS.items()]
    figures += [(words, f"host/peak_fma/f32/{threads}", "tflops") for threads, words in THREADS.items()]
    rows = []
    for words, name, metric in figures:
        row = book.row(name, metric)
        if row and (n := row.numbers[column.index]):
            around = text.plus_minus(n.value, n.low, n.high)
            rows.append([Cell(words), Cell(text.number(n.value, n.half_width), n.anchor), Cell(around), Cell(text.unit(row.unit))])
    caption = f"The CPU's memory and arithmetic{who(book, column)}"
    return Table(caption, ["What", "Measured", "±", "Unit"], rows, kind="compact plain") if rows else None


FAMILY = Family("host", "Host", "What the processor side costs.", (evidence,))
