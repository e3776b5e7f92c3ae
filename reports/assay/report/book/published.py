# SPDX-License-Identifier: Apache-2.0
"""What others published about the same cases, how far ours is from it, and why."""

from __future__ import annotations

import re

from . import text
from .model import Book, Column, Number, Published, Row, base_architecture

NOTABLE = 0.05  # deviation from a published figure that wants a reason


def figures(book: Book, row: Row) -> list[Published]:
    """What others measured on the architectures of this report, and datasheets of its GPUs."""
    names = {(c.run.gpu or {}).get("name") for c in book.columns}
    architectures = {base_architecture(c.architecture) for c in book.columns}
    return [p for p in row.published if p.gpu in names or (p.architecture in architectures and not p.datasheet)]


def comparable(p: Published, column: Column) -> bool:
    """The same GPU; or what does not grow with the GPU, of the same architecture."""
    same = p.architecture == base_architecture(column.architecture)
    return p.comparable(column) or (same and p.unit in ("ns", "B", "byte", ""))


def short_title(title: str) -> str:
    """The part of a source's title that tells it apart: its authors, or its first words."""
    named = re.search(r"\(([^)]*)\)", title)
    return named[1] if named else " ".join(title.split(",")[0].split()[:3])


def reason(book: Book, column: Column, row: Row, n: Number, p: Published) -> str:
    """What is known of a deviation: the same in nanoseconds at another clock, the spread over the chip, the closest
    other case, then what the source says of itself."""
    if p.datasheet:
        return "the datasheet has a limit, not a measurement"
    said = []
    clock = re.search(r"(\d{3,4}) MHz", p.note)
    m = book.measurement(column, row.name)
    ours = (m.conditions.get("sm_clock_mhz") if m else None) or (column.run.gpu or {}).get("sm_clock_max_mhz")
    if clock and ours and p.unit == "cycle" and abs(float(clock[1]) / ours - 1) > 0.01:
        theirs_ns, ours_ns = 1e3 * p.value / float(clock[1]), 1e3 * n.value / ours
        said.append(
            f"{theirs_ns:.1f} ns at their {clock[1]} MHz, {ours_ns:.1f} ns at {ours:.0f} MHz here "
            f"({text.deviation(ours_ns, theirs_ns)})"
        )
    metric = m.metrics.get(row.metric) if m else None
    if metric and metric.spread and metric.spread["min"] <= p.value <= metric.spread["max"]:
        low, high = (text.number(round(metric.spread[end], 1)) for end in ("min", "max"))
        said.append(f"the SMs here differ from {low} to {high}")
    for name, words in CLOSER.get(row.name, ()):
        other = book.row(name, row.metric)
        o = other.numbers[column.index] if other else None
        if o and abs(o.value / p.value - 1) < abs(n.value / p.value - 1):
            said.append(f"{words} {text.number(round(o.value, 1))} ({text.deviation(o.value, p.value)})")
    if p.note:
        said.append(f"On theirs: {p.note.rstrip('.')}")
    return ". ".join(said)


# Cases that may be closer to how others measured: (name, words before its figure).
CLOSER = {
    "memory/l1/latency": (("memory/l1/latency/index", "with an index that becomes an address"),),
    "memory/l2_near/latency": (("memory/l2_near/latency_spoiled", "without copies in the other partition"),),
    "memory/l2_far/latency": (("memory/l2_far/latency_replicated", "from the copy in the near partition"),),
}
