# SPDX-License-Identifier: Apache-2.0
"""What others published about the same cases."""

from __future__ import annotations

import re

from .model import Book, Column, Published, Row, base_architecture


def figures(book: Book, row: Row) -> list[Published]:
    """What others measured on the architectures of this report, and datasheets of its GPUs."""
    names = {(c.run.gpu or {}).get("name") for c in book.columns}
    architectures = {base_architecture(c.architecture) for c in book.columns}
    return [p for p in row.published if p.gpu in names or (p.architecture in architectures and not p.datasheet)]


def comparable(p: Published, column: Column) -> bool:
    """The same GPU; or what does not grow with the GPU, of the same architecture."""
    same = p.architecture == base_architecture(column.architecture)
    return p.comparable(column) or (p.value != 0 and same and p.unit in ("ns", "B", "byte", ""))


def short_title(title: str) -> str:
    """The part of a source's title that tells it apart: its authors, or its first words."""
    named = re.search(r"\(([^)]*)\)", title)
    return named[1] if named else " ".join(title.split(",")[0].split()[:3])
