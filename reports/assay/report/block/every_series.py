# SPDX-License-Identifier: Apache-2.0
"""Series that no question draws in its own way: as curves where their places are numbers, as tables where they are words."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from types import MappingProxyType

from assay.files import Measurement, Series

from ..answer.findings import Part
from ..book import labels, text
from ..book.model import Book, Column
from ..draw import curves
from ..draw.curves import Axis
from .kinds import Cell, Evidence, Table
from .tables import of_column, sweep_table, who

MOST_COLUMNS, MOST_ROWS = 20, 40  # of a table; more are a curve or nothing
MOST_LINES = 8  # of one figure; a series of more is a table
# What an axis is of, where its name alone does not say.
AXES = {
    "cluster": "clusters of",
    "distance": "distance in ranks",
    "distance_bytes": "bytes between the two loads",
    "latency_cycles": "latency, cycles",
    "message_bytes": "bytes of a message",
    "stride_bytes": "bytes from one line to the next",
    "writes_of_16": "writes, of 16 accesses",
}
WORDS = ("finding", "answer")  # params that say in words what a case found


def add_every_series(
    book: Book,
    column: Column,
    prefix: str,
    found: Evidence,
    drawn: Container[str] = (),
    titles: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Every series of the cases of `prefix` whose name does not begin with one of `drawn`.

    `titles` are by case and series, "tlb latency_cycles"; others are made of these words.
    """
    for name, m in of_column(book, column, prefix):
        if any(name == done or name.startswith(f"{done}/") for done in drawn):
            continue
        for series in m.series:
            made = labels.figure_words(m.name, series.name)
            title = titles.get(f"{name} {series.name}", made[0].upper() + made[1:]) + who(book, column)
            if figure := _figure(f"{text.slug(prefix + name)}-{text.slug(series.name)}{column.index}", title, series):
                found.draw(figure)
            else:
                found.tabulate(_table(title, column, m, series))


def said(book: Book, column: Column, prefix: str) -> list[Part]:
    """What cases found, in their own words."""
    return [
        (f"{_label(name)}: {m.params[key]}", column.anchor(m.name))
        for name, m in of_column(book, column, prefix)
        for key in WORDS
        if m.params.get(key)
    ]


def _label(name: str) -> str:
    return labels.words(name.replace("/", "_"))


def _figure(key: str, title: str, series: Series) -> object:
    lines = curves.lines_of(series, labels.quantity(series.name) if len(series.axes) == 1 else "")
    if not lines or len(lines) > MOST_LINES:
        return None
    axis = series.axes[-1]
    xs = [p for line in lines for p, _ in line.points]
    wide = min(xs) > 0 and max(xs) >= 16 * min(xs)
    values = [v for line in lines for _, v in line.points]
    steep = min(values) > 0 and max(values) >= 100 * min(values)
    sized = axis.name.endswith("bytes")
    label = AXES.get(axis.name) or labels.words(axis.name.removesuffix("_bytes") if sized else axis.name)
    x = Axis(label, 2 if wide else None, bytes=sized)
    unit, quantity = text.unit(series.unit), labels.quantity(series.name)
    said = f"{quantity}, %" if unit == "%" else unit or quantity
    y = Axis(said, 10 if steep else None)
    if len(series.axes) == 2:
        of = AXES.get(series.axes[0].name) or labels.words(series.axes[0].name)
        lines = [replace(line, label=f"{of} {line.label}") if line.label[0].isdigit() else line for line in lines]
    return curves.draw(key, title, lines, x, y)


def _table(title: str, column: Column, m: Measurement, series: Series) -> Table | None:
    unit = f", {text.unit(series.unit)}" if series.unit else ""
    if len(series.axes) > 1:
        heading = ", ".join(labels.words(axis.name) for axis in series.axes[:-1])
        wide = len(series.axes[-1].points) > MOST_COLUMNS
        return None if wide else sweep_table(title + unit, column, m, series.name, heading)
    if not series.curve or len(series.curve) > MOST_ROWS:
        return None
    rows = [[Cell(labels.words(str(p)), column.anchor(m.name)), Cell(text.number(v))] for p, v in series.curve]
    return Table(title, [labels.words(series.axes[0].name), text.unit(series.unit) or "value"], rows)
