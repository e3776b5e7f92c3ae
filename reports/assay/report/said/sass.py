# SPDX-License-Identifier: Apache-2.0
"""Sentences on instructions: questions 10, 12 and 32."""

from __future__ import annotations

from ..answer.findings import Part, Sentence
from ..answer.suite import verified
from ..book import text
from ..book.instructions import instructions
from ..book.model import Book, Column, base_architecture
from ..family.sass import pipes
from .write import figure, first, say

Found = list[Sentence | None]
PAGE = "instructions.html"


def costs(book: Book, column: Column) -> Found:
    """Three common latencies, how many pipes pairs show, and where all instructions are."""
    ffma, dfma, shfl = (
        figure(book, column, f"sass/{name}", "latency_cycles") for name in ("ffma/f32", "dfma/f64", "shfl/idx_b32")
    )
    count = sum(
        1 for row in instructions(book) if any(numbers[column.index] for numbers in (row.latency, row.rate) if numbers)
    )
    every: Part | None = (f"All {text.number(count)} instructions", PAGE) if count else None
    found = pipes.pipe_map(book, column)
    return [
        first(
            say(
                "The result of an FFMA can be used after {ffma} cycles, of a DFMA after {dfma} and of a SHFL after {shfl}.",
                ffma=ffma,
                dfma=dfma,
                shfl=shfl,
            ),
            say("The result of an FFMA can be used after {ffma} cycles.", ffma=ffma),
        ),
        first(
            say(
                "Run in pairs, instructions show {pipes} pipes that they share; {every} are in one table.",
                pipes=(str(len(found.pipes)), pipes.anchor(column)) if found else None,
                every=(every[0][0].lower() + every[0][1:], PAGE) if every else None,
            ),
            say("{every} are in one table.", every=every),
        ),
    ]


def checked(book: Book, column: Column) -> Found:
    good, total = verified([(c, m) for c, m in book.measurements if c is column])
    if not total:
        return []
    if good == total:
        return [say("Yes: all {total} measured loops hold the opcodes they claim.", total=(text.number(total), ""))]
    return [
        say(
            "Not always: {good} of {total} measured loops hold the opcodes they claim.",
            good=(text.number(good), ""),
            total=(text.number(total), ""),
        )
    ]


def targets(book: Book, column: Column) -> Found:
    """How many forms this GPU's target has; the others are in the table."""
    if not book.isa:
        return []
    base = base_architecture(column.architecture)
    alike = [t for t in book.isa.targets if base_architecture(t) == base]
    built_for = (column.run.gpu or {}).get("target")
    target = built_for if built_for in alike else next(iter(alike), None)
    if target is None:
        return []
    n = book.isa.totals(target)
    return [
        say(
            f"The assembler makes {{native}} of {{forms}} forms native instructions of {target}, and emulates {{others}}.",
            native=(text.number(n["native"] + n["split"]), book.isa_page),
            forms=(text.number(sum(n.values())), book.isa_page),
            others=(text.number(n["emulated"]), book.isa_page),
        )
    ]
