# SPDX-License-Identifier: Apache-2.0
"""Question 16: atomics by operation and contention, against summing in shared memory and writing once."""

from __future__ import annotations

from dataclasses import replace
from ...answer.findings import Part, lines
from ...block.kinds import Block, Evidence, Table
from ...block.tables import metric_table, of_column, who
from ...book import labels, text
from ...book.model import Book, Column
from ...draw import curves
from ...draw.curves import Axis
from ...draw.svg import Figure

SPACES = {"global": "global memory", "shared": "shared memory"}
WAYS = {
    "thread_atomics": "an atomic by each thread",
    "warp_atomics": "summed in each warp, then an atomic",
    "shared_atomics": "summed in shared memory by atomics, then one atomic",
    "shuffles": "summed in each CTA by shuffles, then one atomic",
    "partials": "partial sums written, a second kernel adds them",
}


def evidence(book: Book) -> list[Block]:
    found = Evidence(16, "assay run '^memory/(atomics|reduction)/'")
    found.findings += lines(book, "summing an array", lambda c: ways(book, c))
    for space, words in SPACES.items():
        found.findings += lines(book, f"atomics in {words}", lambda c, at=space: contention(book, c, at))
    for column in book.columns[:4]:
        for space in SPACES:
            found.draw(contention_curve(book, column, space))
        found.tabulate(ways_table(book, column))
        for space in SPACES:
            found.tabulate(operations(book, column, space))
    return [found]


def ways(book: Book, column: Column) -> list[Part]:
    """How much faster the best way is than an atomic by each thread."""
    found = dict(of_column(book, column, "memory/reduction/"))
    rates = {name: rate for name, m in found.items() if (rate := m.value("bandwidth_gb_per_s"))}
    if not rates:
        return []
    best = max(rates, key=rates.__getitem__)
    said = [
        (
            f"{WAYS.get(best, labels.words(best))} is fastest, {text.number(round(rates[best]))} GB/s",
            column.anchor(found[best].name),
        )
    ]
    slow = "thread_atomics"
    if slow in rates and slow != best:
        said.append((f"{rates[best] / rates[slow]:.0f} × {WAYS[slow]}", column.anchor(found[slow].name)))
    return said


def contention(book: Book, column: Column, space: str) -> list[Part]:
    """The rate to one address and to own addresses of the most common operations."""
    found = []
    for name, m in of_column(book, column, f"memory/atomics/{space}/"):
        one, own = m.metrics.get("ops_per_clock_one_address"), m.metrics.get("ops_per_clock_own_addresses")
        if name in ("add_u32", "add_f32", "cas_b32") and one and own:
            said = f"{labels.words(name)} {one.value:.2g} {text.unit(one.unit)} to one address, {own.value:.3g} to own ones"
            found.append((said, column.anchor(m.name)))
    return found


def contention_curve(book: Book, column: Column, space: str) -> Figure | None:
    drawn = []
    unit = ""
    for name, m in of_column(book, column, f"memory/atomics/{space}/"):
        if series := m.series_named("ops_per_clock"):
            unit = text.unit(series.unit)
            drawn += [replace(line, label=labels.words(name)) for line in curves.lines_of(series)]
    return curves.draw(
        f"atomics-{space}{column.index}",
        f"Atomics in {SPACES[space]} over the addresses that threads share{who(book, column)}",
        drawn,
        Axis("addresses", 2),
        Axis(unit, 10),
        height=4.0,
        note="All threads at once; from one address for all to one for each.",
    )


def ways_table(book: Book, column: Column) -> Table | None:
    rows = [(WAYS.get(name, labels.words(name)), m) for name, m in of_column(book, column, "memory/reduction/")]
    rows.sort(key=lambda row: -(row[1].value("bandwidth_gb_per_s") or 0))
    size = next((m.params.get("array_bytes") for _, m in rows), None)
    of = f" of {text.size(size)} in L2" if isinstance(size, (int, float)) else ""
    metrics = {"time_us": "µs", "bandwidth_gb_per_s": "GB/s"}
    return metric_table(f"Ways to sum an array{of}{who(book, column)}", column, rows, metrics, "Way")


def operations(book: Book, column: Column, space: str) -> Table | None:
    found = of_column(book, column, f"memory/atomics/{space}/")
    units = [text.unit(m.metrics[k].unit) for _, m in found for k in m.metrics if k.startswith("ops_per")]
    unit = units[0] if units else ""
    return metric_table(
        f"Atomics in {SPACES[space]}{who(book, column)}",
        column,
        [(labels.words(name), m) for name, m in found],
        {
            "latency_cycles": "latency, cycles",
            "ops_per_clock_one_address": f"one address, {unit}",
            "ops_per_clock_own_addresses": f"own addresses, {unit}",
        },
        "Operation",
        lambda v: f"{v:.3g}" if v < 1000 else text.number(round(v)),
    )
