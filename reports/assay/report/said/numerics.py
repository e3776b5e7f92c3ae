# SPDX-License-Identifier: Apache-2.0
"""Sentences on numerics: questions 4 and 6."""

from __future__ import annotations

from assay.files import Measurement

from ..answer.findings import Part, Sentence
from ..book.model import Book, Column
from ..family.numerics.fragments import FRAGMENT, PERMUTATION
from ..family.numerics.sums import ACCUMULATE, GROWTH
from .write import figure, first, say, short

Found = list[Sentence | None]


def adding(book: Book, column: Column) -> Found:
    """How many bits the sums of fp8 keep, beside those of bf16, and what promoting them gains."""

    def bits(name: str) -> Part | None:
        return figure(book, column, f"{ACCUMULATE}{name}", "accumulator_fraction_bits")

    fp8, bf16 = bits("wgmma/e4m3"), bits("wgmma/bf16")
    how = {_how(book.measurement(column, f"{ACCUMULATE}wgmma/{kind}")) for kind in ("e4m3", "bf16")} - {""}
    after = f", and what lies below is {how.pop()}" if len(how) == 1 else ""
    gain = figure(book, column, f"{GROWTH}wgmma/e4m3", "promotion_gain")
    return [
        first(
            say(
                f"In fp8, wgmma keeps {{fp8}} fraction bits of what it adds, in bf16 {{bf16}}{after}.",
                fp8=fp8,
                bf16=bf16,
            ),
            say("In bf16, mma.sync keeps {bits} fraction bits of what it adds.", bits=bits("mma_sync/bf16")),
        ),
        say("Promoting partial sums to f32 makes long fp8 sums {gain} times more accurate.", gain=gain),
    ]


def _how(m: Measurement | None) -> str:
    return str(m.params.get("addends") or m.params.get("results") or "") if m else ""


def permuting(book: Book, column: Column) -> Found:
    """What each way adds to the conversion of a tile, and whether register maps are as documented."""
    prmt, shfl, other = (
        figure(book, column, f"{PERMUTATION}{name}", "added_cycles_per_tile", _cycles)
        for name in ("byte_permute", "shuffle", "permute_other_operand")
    )
    maps = [
        m.value("matches_ptx_isa")
        for c, m in book.measurements
        if c is column and m.name.startswith(FRAGMENT) and m.value("matches_ptx_isa") is not None
    ]
    good = sum(map(bool, maps))
    what = "are as the PTX ISA documents them"
    said = f"All {{maps}} register maps {what}." if good == len(maps) else f"{good} of {{maps}} register maps {what}."
    return [
        say(
            "Byte permutes add {prmt} cycles to the conversion of a tile, shuffles add {shfl}, and permuting the other "
            "operand adds {other}.",
            prmt=prmt,
            shfl=shfl,
            other=other,
        ),
        say(said, maps=(str(len(maps)), "fragments.html")) if maps else None,
    ]


def _cycles(value: float) -> str:
    return "none" if round(value) == 0 else short(round(value))
