# SPDX-License-Identifier: Apache-2.0
"""How far apart the empty kernels of a graph begin: one time in some cases of a run, another in others. Pure."""

from __future__ import annotations

from .model import Book, Column, Number

APART = 0.1  # of the least: more is not how well a time repeats
CASE = "launch/graph_interval"
INTERVALS = (
    ("launch/empty/graph", "interval_us"),
    (CASE, "interval_us"),
    (CASE, "interval_us_beside_a_context"),
    (CASE, "interval_us_at_the_end"),
)
# What the case varies while its graphs take one of the times, by series.
VARIED = {
    "interval_us_of_graph": "which of {} graphs runs",
    "interval_us_of_stream": "in which of {} streams it runs",
    "interval_us_after_idle": "how long the GPU idled before, up to {} ms",
}


def two_times(book: Book, column: Column) -> tuple[Number, Number] | None:
    """The least and the greatest interval of the run, where they are further apart than a time repeats."""
    rows = [book.row(*figure) for figure in INTERVALS]
    found = [n for row in rows if row and (n := row.numbers[column.index])]
    least, most = (end(found, key=lambda n: n.value, default=None) for end in (min, max))
    return (least, most) if least and most and most.value > (1 + APART) * least.value else None


def ruled_out(book: Book, column: Column) -> tuple[list[str], float]:
    """(what was varied and made no difference, the largest deviation among them)."""
    m = book.measurement(column, CASE)
    said, apart = [], 0.0
    for name, words in VARIED.items():
        values = [(x, y) for x, y in series.curve] if m and (series := m.series_named(name)) else []
        if len(values) > 1:
            spread = max(y for _, y in values) / min(y for _, y in values) - 1
            if spread < APART:
                count = max(x for x, _ in values) if "idle" in name else len(values)
                said.append(words.format(f"{count:g}"))
                apart = max(apart, spread)
    return said, apart
