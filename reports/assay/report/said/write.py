# SPDX-License-Identifier: Apache-2.0
"""How a sentence is made of figures: each leads to its measurement, and a sentence without one of its figures is not
said."""

from __future__ import annotations

import string
from collections.abc import Callable

from ..answer.findings import Part, Sentence
from ..book import text
from ..book.model import LASTING, Book, Column, Number, Row, of_state

MOST_NUMBERS = 3  # in a sentence; reports/tests/test_said.py counts them


def say(template: str, **figures: Part | None) -> Sentence | None:
    """ "A load takes {cycles} cycles." with its figures in their places; None where one is missing."""
    sentence: Sentence = []
    for words, name, _, _ in string.Formatter().parse(template):
        if words:
            sentence.append((words, ""))
        if name is not None:
            figure = figures[name]
            if figure is None:
                return None
            sentence.append(figure)
    return sentence


def first(*sentences: Sentence | None) -> Sentence | None:
    """The first that can be said."""
    return next((s for s in sentences if s), None)


def short(value: float) -> str:
    """Three significant digits, and all digits before the point: what a reader keeps in mind."""
    if abs(value) >= 100:
        return text.number(round(value))
    return text.number(float(f"{value:.3g}"))


def scientific(value: float) -> str:
    """ "9.8×10⁻⁷", without signs that only programmers read."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}×10{str(int(power)).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def million(value: float) -> str:
    """ "5.53 million"."""
    return f"{value / 1e6:.3g} million" if value >= 1e6 else text.number(round(value, -3))


def number_of(book: Book, column: Column, name: str, metric: str, state: str = "") -> Number | None:
    row = book.row(name, metric)
    return number_in(row, column, state)


def number_in(row: Row | None, column: Column, state: str = "") -> Number | None:
    if row is None:
        return None
    return of_state(row, column.index, state) if state else row.numbers[column.index]


def figure(
    book: Book, column: Column, name: str, metric: str, form: Callable[[float], str] = short, state: str = ""
) -> Part | None:
    """A metric of a case, with the measurement that it leads to."""
    n = number_of(book, column, name, metric, state)
    return (form(n.value), n.anchor) if n else None


def sustained(book: Book, column: Column, name: str, metric: str) -> Part | None:
    return figure(book, column, name, metric, state=LASTING)


def percent(ratio: float) -> str:
    """ "97.7 %", "100 %"."""
    return f"{100 * ratio:.3g}{text.THIN}%"


def share(n: Number | None) -> Part | None:
    """A number as the share of its limit."""
    return (percent(n.share), n.anchor) if n and n.share is not None else None
