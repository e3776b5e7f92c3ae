# SPDX-License-Identifier: Apache-2.0
"""Why ours differs from a published figure: checks that are calculated from the page's own figures. Pure.

A reason is a sentence with the deviation that it leaves. It is given only where no more than NOTABLE is left: what a
source says of itself is not a reason, for no figure here could contradict it. Without one, a deviation is not explained.
A figure that is no latency, by how it was taken, is none of that: it differs for it is of something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from . import labels, text
from .model import Book, Column, Number, Published, Row
from .published import comparable, figures

NOTABLE = 0.05  # deviation from a published figure that wants a reason, and that a reason may leave


@dataclass(frozen=True)
class Check:
    """A possible reason, and how far ours is from theirs if it is one: 0.02 for 2 % more."""

    said: str
    left: float

    @property
    def holds(self) -> bool:
        return abs(self.left) <= NOTABLE


@dataclass(frozen=True)
class Compared:
    """A measured figure beside a published one of the same unit that may be compared with it."""

    row: Row
    published: Published
    ratio: float  # of ours to theirs
    reason: str  # of more than NOTABLE; "" where none is known, or none is needed

    @property
    def close(self) -> bool:
        return abs(self.ratio - 1) <= NOTABLE


def compared(book: Book, columns: Iterable[Column] | None = None) -> list[Compared]:
    """Every such pair, with the first of these columns that it may be compared with; of all columns if none are given."""
    chosen = list(book.columns if columns is None else columns)
    found = []
    for row in book.rows:
        for p in figures(book, row) if row.first else ():
            ours = [(c, n) for c in chosen if (n := row.numbers[c.index]) and p.unit == row.unit and comparable(p, c)]
            if ours and p.value:
                column, n = ours[0]
                ratio = n.value / p.value
                why = "" if abs(ratio - 1) <= NOTABLE else reason(book, column, row, n, p)
                found.append(Compared(row, p, ratio, why))
    return found


# As the notes on loads timed apart have it (results/published/mt4g-*.json): such a figure is what the code around the load
# takes.
NO_LATENCY = re.compile("nothing makes the second reading (of the clock )?wait", re.IGNORECASE)
TIMED_LOADS = "memory/timed_loads/"  # a method beside the chip, with faults that its probe names: no latency either
NO_LATENCY_SAID = "a load timed alone, whose second reading of the clock does not wait for it, shows no latency"


def reason(book: Book, column: Column, row: Row, n: Number, p: Published) -> str:
    """The reasons that hold, in one text; "" where none does. Each explains it alone: together they would be too much."""
    if p.unit == "cycle" and NO_LATENCY.search(p.note):
        return NO_LATENCY_SAID
    return ". Or: ".join(check.said for check in checks(book, column, row, n, p) if check.holds)


def checks(book: Book, column: Column, row: Row, n: Number, p: Published) -> Iterator[Check]:
    """Every reason that applies to figures of this kind, whether it holds or not."""
    ways = (_clock_of_datasheet, _another_reaches) if p.datasheet else (_clocks, _spread, _other_way, _misses, _whole_gpu)
    for possible in ways:
        yield from possible(book, column, row, n, p)


def _clock_of_datasheet(book: Book, column: Column, row: Row, n: Number, p: Published) -> Iterator[Check]:
    """A datasheet's peak is a limit per clock and SM at a clock, and that of the SMs here may be another."""
    m = book.measurement(column, row.name)
    a_clock = m and m.metrics.get("flop_per_clock_per_sm")
    clock = m and m.conditions.get("sm_clock_mhz")
    if p.unit != "TFLOP/s" or not a_clock or not a_clock.limit or not clock or not column.sm_count:
        return
    theirs = 1e6 * p.value / (a_clock.limit * column.sm_count)
    said = f"{text.number(a_clock.limit)} per clock and SM are the datasheet's figure at {theirs:.0f} MHz; the SMs ran at "
    left = n.value / clock / (p.value / theirs) - 1
    yield Check(f"{said}{clock:.0f} ({text.deviation(1 + left, 1)})", left)


def _another_reaches(book: Book, column: Column, row: Row, n: Number, p: Published) -> Iterator[Check]:
    """What the GPU does at its best, another case of the same instruction, or of the same memory, may show."""
    others = book.find(rf"{re.escape(row.name.rpartition('/')[0])}/[^/]+", row.metric)
    found = [(o.value, other.name) for other in others if other is not row and (o := other.numbers[column.index])]
    if n.better == "lower" or n.value > p.value or not found:
        return
    value, name = max(found)
    said = f"{labels.case_words(name)} reaches {text.number(round(value, 1))} ({text.deviation(value, p.value)})"
    yield Check(said, value / p.value - 1)


# What runs at the SM clock takes the same cycles at any.
AT_THE_SM_CLOCK = re.compile(
    r"(sass|tensor_core|special_function|sync)/|memory/(l1|shared|constant|texture|distributed_)"
)


def _clocks(book: Book, column: Column, row: Row, n: Number, p: Published) -> Iterator[Check]:
    """The same time is more cycles of a faster clock, for what has a clock of its own."""
    theirs = re.search(r"(\d{3,4}) MHz", p.note)
    m = book.measurement(column, row.name)
    ours = (m.conditions.get("sm_clock_mhz") if m else None) or (column.run.gpu or {}).get("sm_clock_max_mhz")
    if not theirs or not ours or p.unit != "cycle" or AT_THE_SM_CLOCK.match(row.name):
        return
    clock = float(theirs[1])
    left = n.value / ours / (p.value / clock) - 1
    yield Check(
        f"ratio of cycles {n.value / p.value:.2f}, of clocks {ours / clock:.2f}; in ns "
        f"{text.number(round(1e3 * n.value / ours, 1))} at {ours:.0f} MHz, "
        f"{text.number(round(1e3 * p.value / clock, 1))} at their {clock:.0f} "
        f"({text.deviation(1 + left, 1)})",
        left,
    )


def _spread(book: Book, column: Column, row: Row, n: Number, p: Published) -> Iterator[Check]:
    """SMs differ: theirs may be one of them."""
    m = book.measurement(column, row.name)
    metric = m.metrics.get(row.metric) if m else None
    if metric and metric.spread:
        low, high = metric.spread["min"], metric.spread["max"]
        ends = " to ".join(text.number(round(end, 1)) for end in (low, high))
        yield Check(f"the SMs here range from {ends}", 0.0 if low <= p.value <= high else n.value / p.value - 1)


# Cases that may be closer to how others measured: (name, what is done there).
OTHER_WAYS = {
    "memory/l1/latency": (("memory/l1/latency/index", "with an index that becomes an address"),),
    "memory/l2_near/latency": (("memory/l2_near/latency_spoiled", "without copies in the other partition"),),
    "sass/dfma/f64": (("sass/dfma/f64_uniform_factor", "with a uniform factor"),),
    "memory/l2_far/latency": (("memory/l2_far/latency_replicated", "from the copy in the near partition"),),
}


def _other_way(book: Book, column: Column, row: Row, n: Number, p: Published) -> Iterator[Check]:
    for name, words in OTHER_WAYS.get(row.name, ()):
        other = book.row(name, row.metric)
        o = other.numbers[column.index] if other else None
        if o:
            said = f"{words} {text.number(round(o.value, 1))} ({text.deviation(o.value, p.value)})"
            yield Check(said, o.value / p.value - 1)


MISSES = re.compile(r"([\d,]+) of its ([\d,]+) loads miss")


def _misses(book: Book, column: Column, row: Row, n: Number, p: Published) -> Iterator[Check]:
    """A known share of their loads missed L1: the same share of ours would take as long as L2 here."""
    share, beyond = MISSES.search(p.note), book.row("memory/l2_near/latency", row.metric)
    l2 = beyond.numbers[column.index] if beyond else None
    if share and l2 and row.name == "memory/l1/latency":
        missing, loads = (float(count.replace(",", "")) for count in share.groups())
        expected = n.value + missing / loads * (l2.value - n.value)
        said = f"{missing:.0f} of their {loads:.0f} loads miss; with as many from L2 here "
        yield Check(
            f"{said}{text.number(round(expected, 1))} ({text.deviation(expected, p.value)})", expected / p.value - 1
        )


def _whole_gpu(book: Book, column: Column, row: Row, n: Number, p: Published) -> Iterator[Check]:
    """L2 is one for all SMs: on fewer of them, each gets more. If so, then at every footprint that both have."""
    theirs = re.search(r"(\d{2,3}) SMs", p.note)
    if not theirs or not column.sm_count or p.unit != "B/clk/SM" or not row.name.startswith("memory/l2/"):
        return
    ours, others = n.value * column.sm_count, p.value * int(theirs[1])
    if int(theirs[1]) != column.sm_count:
        said = f"on all SMs {text.number(round(ours))} and {text.number(round(others))} B/clk, {column.sm_count} and "
        left = [ours / others - 1, *_left_of_siblings(book, column, row, p, column.sm_count / int(theirs[1]))]
        yield Check(f"{said}{theirs[1]} SMs ({text.deviation(ours, others)})", max(left, key=abs))


def _left_of_siblings(book: Book, column: Column, row: Row, p: Published, factor: float) -> Iterator[float]:
    """The deviations that the same reason leaves of the probe's other cases: of ".../30mib" for ".../20mib"."""
    probe = row.name.rpartition("/")[0]
    if row.name.count("/") < 3:
        return
    for other in book.find(rf"{re.escape(probe)}/[^/]+", row.metric):
        n = other.numbers[column.index]
        theirs = next((q for q in figures(book, other) if (q.gpu, q.title, q.unit) == (p.gpu, p.title, p.unit)), None)
        if other is not row and n and theirs:
            yield factor * n.value / theirs.value - 1
