# SPDX-License-Identifier: Apache-2.0
"""Runs that add to the leading ones: a table of them, and the newest state of our kernels, which change with the commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .. import family
from ..block.kinds import Cell, Section, Span, Table
from ..book import identity, text
from ..compare.published import PLAIN
from ..compare.subjects import Subject
from ..page.front import MAIN
from ..said.kernels import beside_library
from .entries import MOST_OF, Entry

KERNELS = "kernels"
FEW = 3  # families that are named
GEMM = beside_library(("gemm",))


def of_kernels(entry: Entry) -> set[str]:
    """The cases that stand beside a library."""
    return {m.name for m in entry.run.measurements if m.ok and m.kind == "kernel" and m.baselines}


def newest_kernels(found: Iterable[Entry], gpu: str) -> Entry | None:
    """Of the runs of a folder that measured most kernels, or half as many, the newest, of a day the largest."""
    counted = [(len(of_kernels(entry)), entry) for entry in found if entry.gpu == gpu]
    most = max((count for count, _ in counted), default=0)
    large = [(entry.date, count, entry.started, entry) for count, entry in counted if most and count >= MOST_OF * most]
    return max(large, key=lambda each: each[:3], default=(None,))[-1]


def leads_to(entry: Entry, subject: Subject, folder: str) -> list[Span]:
    """Where the newest run of most kernels is, and the first sentence of what it says; `folder` is its report's, from
    the page that leads there."""
    commit = identity.commit_of(entry.run)
    said = f"{text.counted(len(of_kernels(entry)), 'case')} beside a library{f', commit {commit}' if commit else ''}"
    on = "" if not entry.date else f", measured on {entry.date}"
    spans = [
        Span(f"The newest run of most of our kernels on an {identity.gpu_name(entry.run)}: "),
        Span(f"{entry.gpu}, {entry.purpose}", f"{folder}/{KERNELS}.html"),
        Span(f"{on} ({said})."),
    ]
    sentences = [s for s in GEMM(subject.book, subject.book.columns[0]) if s]
    if sentences:
        spans.append(Span(f" {''.join(piece for piece, _ in sentences[0])}"))
    return spans


def _said(titles: Sequence[str], processes: int) -> str:
    """What was measured: few families by name; and that it was repeated."""
    what = ", ".join(titles) if len(titles) <= FEW else f"{len(titles)} families"
    return f"{what}, in {processes} processes each" if processes > 1 else what


def repeated(entry: Entry, folder: str) -> list[Span]:
    """Where it is known how far processes differ."""
    return [
        Span(f"How far {entry.processes} processes differ that measure the same on one GPU of this kind: "),
        Span(f"{entry.gpu}, {entry.purpose}", f"{folder}/{MAIN}"),
        Span("."),
    ]


def section(others: Sequence[Entry], folders: Mapping[Entry, str]) -> Section | None:
    """A line for each, the newest first."""
    rows = []
    for entry in sorted(others, key=lambda entry: (entry.date, entry.started), reverse=True):
        families = dict.fromkeys(m.name.split("/")[0] for m in entry.run.measurements if m.ok)
        what = dict.fromkeys(family.family_of(key).title for key in families)
        rows.append(
            [
                Cell(f"{entry.gpu}, {entry.purpose}", f"{folders[entry]}/{MAIN}"),
                Cell(entry.date),
                Cell(identity.gpu_name(entry.run)),
                Cell(_said(list(what), entry.processes)),
                Cell(text.number(len(entry.cases))),
                Cell(identity.commit_of(entry.run)),
            ]
        )
    head = ["Run", "Measured on", "GPU", "What", "Cases", "Commit"]
    return Section("further", "Further runs", [Table("The newest first", head, rows, kind=PLAIN)]) if rows else None
