# SPDX-License-Identifier: Apache-2.0
"""The main page: of one GPU as measured, of several the shape of each machine; then the parts of the report."""

from __future__ import annotations

from collections.abc import Sequence

from ..answer.surprises import Sibling
from ..block.kinds import Block, Bullets, Chapter, Figures, Page, Paragraph, Section, Span, chapters, sentence
from ..book.model import Book
from . import environment, measured, overview
from .elsewhere import Elsewhere

MAIN = "index.html"
DATA = "runs.json"
HOW = [
    "The kernel is disassembled first; its measured loop must hold the opcodes it claims, and no spills. A mismatch is "
    "an error.",
    "Clock, power, temperature and throttling are watched; figures are per clock (the chip) and per second (what you "
    "get), in a burst and sustained.",
    "Samples are taken until the 95% confidence interval of the median, within one process, is narrow enough or time is "
    "up; the report says which. How far processes differ is said where a case was measured in several.",
    "Ours and a baseline take turns in one process, in random order, on the same random data; the ratio has its own "
    "interval.",
    "Kernels are checked against a float64 reference, and latency chains for the value they end with, before their "
    "time counts.",
]


def page(
    book: Book,
    title: str,
    parts: list[Chapter],
    siblings: Sequence[Sibling] = (),
    elsewhere: Elsewhere = Elsewhere(),
    repeated: Sibling | None = None,
) -> Page:
    """`parts` are the pages that it leads to; `siblings` other GPUs of the name of a book's only one; `elsewhere` is what
    other reports have more of, `repeated` a run that says how far processes differ."""
    listed = Section("parts", "The parts of this report", [chapters(parts)])
    skip = ("#parts", "Skip to the parts")
    if column := measured.subject(book):
        found = [*measured.first(book, column, siblings, repeated), listed, elsewhere.section_of(MAIN)]
        found += [*measured.more(book, column, elsewhere.repeated), environment.machine(book)]
        heading, lead = f"{title}, as measured", measured.lead(book, column)
        return Page(MAIN, "", heading, lead, [s for s in found if s], skip=skip, kind=measured.KIND)
    of_peak = shape(book)
    drawn = of_peak and any(isinstance(block, Figures) for block in of_peak.blocks)
    ordered = [of_peak, listed] if drawn else [listed, of_peak]  # what is there stands before what is not
    return Page(MAIN, "", title, "", [s for s in ordered if s], environment.head(book), skip=skip)


def shape(book: Book) -> Section | None:
    """Rooflines and where the peak went."""
    if not book.columns:
        return None
    drawn = overview.overview(book)
    lacking = "No roofline: it needs a DRAM bandwidth (memory/hbm) and one matrix rate (tensor_core) from the same run."
    blocks: list[Block] = [Figures(drawn)] if drawn else [sentence(lacking, "muted")]
    if not book.rows and not book.refused_rows:
        blocks.append(sentence("No tables: no measurement of these runs succeeded.", "muted"))
    return Section("peak", "The shape of the machine", blocks)


def how() -> Section:
    data = [
        Span("These pages need no network. "),
        Span(DATA, DATA),
        Span(" has the data, of schema assay.run/1, without raw samples."),
    ]
    return Section("how", "How a number is made", [Bullets(HOW, numbered=True), Paragraph(data)])
