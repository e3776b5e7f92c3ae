# SPDX-License-Identifier: Apache-2.0
"""Tables from measurements: metrics by case, series of two axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

from assay.files import Axis, Measurement, Metric

from ..book import labels, text
from ..book.model import Book, Column
from .kinds import EMPTY, Cell, Table


def who(book: Book, column: Column) -> str:
    """ ", A" behind a caption where there are several columns, else nothing; with the GPU where they are of several."""
    kinds = {(c.run.gpu or {}).get("name") for c in book.columns}
    named = f"{column.tag} {column.label}" if len(kinds) > 1 else column.tag
    return f", {named}" if len(book.columns) > 1 else ""


def of_column(book: Book, column: Column, prefix: str) -> list[tuple[str, Measurement]]:
    """(what the name says beyond the prefix, measurement) of one column, in the order of the book."""
    return [(m.name.removeprefix(prefix), m) for c, m in book.measurements if c is column and m.name.startswith(prefix)]


def metric_cell(column: Column, m: Measurement | None, metric: str, form: Callable[[float], str] = text.number) -> Cell:
    """The value of a metric as a cell that leads to the measurement; empty without it."""
    value = m.value(metric) if m else None
    return EMPTY if value is None else Cell(form(value), column.anchor(m.name))


def metric_table(
    caption: str,
    column: Column,
    rows: Iterable[tuple[str, Measurement]],
    metrics: dict[str, str],
    heading: str = "Case",
    form: Callable[[float], str] = text.number,
) -> Table | None:
    """A row for each measurement, a column for each metric that at least one of them has: name -> words with unit."""
    rows = list(rows)
    shown = {metric: words for metric, words in metrics.items() if any(metric in m.metrics for _, m in rows)}
    if not shown or not rows:
        return None
    return Table(
        caption,
        [heading, *shown.values()],
        [
            [Cell(label, column.anchor(m.name)), *(metric_cell(column, m, metric, form) for metric in shown)]
            for label, m in rows
        ],
    )


def sweep_table(
    caption: str, column: Column, m: Measurement | None, name: str, heading: str, *, sizes: bool = False
) -> Table | None:
    """A series of two axes or more as a table, its last axis across; `sizes` says that this one is bytes."""
    series = m.series_named(name) if m else None
    if series is None or len(series.axes) < 2:
        return None

    def place(axis: Axis, point: float | str) -> str:
        if isinstance(point, str):
            return labels.words(point)
        return text.size(point) if axis.name.endswith("bytes") else text.number(point)

    *down, across = series.axes
    rows = []
    grid = series.grid.reshape(-1, len(across.points))
    for points_of, values in zip(itertools.product(*(axis.points for axis in down)), grid):
        if any(not math.isnan(v) for v in values):
            label = ", ".join(place(axis, p) for axis, p in zip(down, points_of))
            cells = [EMPTY if math.isnan(v) else Cell(text.number(_short(v))) for v in values]
            rows.append([Cell(label, column.anchor(m.name)), *cells])
    head = [text.size(p) if sizes and not isinstance(p, str) else place(across, p) for p in across.points]
    return Table(caption, [heading, *head], rows)


def _short(value: float) -> float:
    """Three significant digits below 1000, whole numbers above: what a table of many has room for."""
    return round(value) if abs(value) >= 1000 else float(f"{value:.3g}")


def named(m: Measurement | None, prefix: str) -> dict[str, Metric]:
    """The metrics whose name begins with the prefix, by what follows it."""
    return {
        key.removeprefix(prefix): metric for key, metric in (m.metrics if m else {}).items() if key.startswith(prefix)
    }


def around(metric: Metric, form: Callable[[float], str]) -> str:
    """ "31.3 KiB (31 to 31.7)": a value and its interval where it has a width, of one unit where that is the same."""
    if not metric.ci95 or metric.ci95[0] == metric.ci95[1]:
        return form(metric.value)
    value, low, high = (form(at) for at in (metric.value, *metric.ci95))
    if low == high:
        return value
    number, _, unit = value.rpartition(text.THIN)
    if number and low.endswith(text.THIN + unit) and high.endswith(text.THIN + unit):
        low, high = (end.rpartition(text.THIN)[0] for end in (low, high))
    return f"{value} ({low} to {high})"
