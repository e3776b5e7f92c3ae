# SPDX-License-Identifier: Apache-2.0
"""The answers as sentences: for each question a function of a run."""

from __future__ import annotations

from collections.abc import Callable

from ..answer.findings import Sentence
from ..book.model import Book, Column

SENTENCES: dict[int, Callable[[Book, Column], list[Sentence | None]]] = {}
