# SPDX-License-Identifier: Apache-2.0
"""What a question is, what names the rows that answer it, and what a part of the report opens with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pick:
    """Rows that answer: a pattern of names, optionally one metric (else each case's headline), at most `limit`."""

    pattern: str
    metric: str | None = None
    limit: int = 4
    label: str | None = None  # where the name of the case does not say what the figure is


@dataclass(frozen=True)
class Question:
    number: int
    ask: str
    topic: str  # what it asks about, as the name of what lies behind its answer
    cases: str = ""  # a filter of `assay run` for what answers it
    picks: tuple[Pick, ...] = ()
    otherwise: str = ""  # what is said of a run that does not answer it; else that it was not measured


@dataclass(frozen=True)
class Part:
    """A page of the report: the families that it shows, and the questions that it opens with.

    Its picture is the first whose key begins with one of `pictures`, its table the first whose caption begins with
    `table`; without such, the first there is. All others are folded.
    """

    key: str  # the name of its page without ".html"
    title: str
    about: str
    families: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    pictures: tuple[str, ...] = ()
    table: str = ""
