# SPDX-License-Identifier: Apache-2.0
"""How an FP8 mma.sync adds, in words: what was found, of which cases, by which instructions, and who published it."""

from __future__ import annotations

import re

from assay.files import Measurement

from ...answer.findings import Finding, Part, lines
from ...book import text
from ...book.instructions import opcodes
from ...book.model import Book, Column
from ...book.published import short_title

FP8 = re.compile(r"numerics/accumulate/mma_sync/(e[45]m[23]\w*)(?:/.+)?")
OWN = re.compile(r"F2FP|[HQ]MMA|FADD|HADD2|HFMA2")  # what unpacks, multiplies and adds


def findings(book: Book) -> list[Finding]:
    """A line for each way of adding and run."""
    kinds = {sums for _, m in book.measurements if FP8.fullmatch(m.name) and (sums := _sums(m))}
    found: list[Finding] = []
    for sums in sorted(kinds, reverse=True):  # f32 first

        def said(column: Column, sums: str = sums) -> list[Part]:
            parts = _said(book, column, sums)
            if parts and not found and book.published and not any(FP8.fullmatch(p.name) for p in book.published):
                parts.append(("none of the published figures of this report is of it", ""))
            return parts

        found += lines(book, f"how fp8 mma.sync adds, {sums} sums", said)
    return found


def _sums(m: Measurement) -> str:
    return str(m.params.get("accumulate", "")) if m.params.get("finding") else ""


def _said(book: Book, column: Column, sums: str) -> list[Part]:
    """Cases that add alike together."""
    alike: dict[tuple[str, str, float | None], list[str]] = {}
    for c, m in book.measurements:
        if c is column and FP8.fullmatch(m.name) and _sums(m) == sums:
            key = (str(m.params["finding"]), _carried_out(m), m.value("model_agreement"))
            alike.setdefault(key, []).append(m.name)
    parts: list[Part] = []
    for (finding, how, agreement), names in alike.items():
        said = f"{' and '.join(FP8.fullmatch(name)[1] for name in names)}: {finding}"
        said += f"; {how}" if how else ""
        if agreement is not None:
            said += f"; so predicted, {text.percent(agreement)} of random dot products are right bit for bit"
        parts.append((f"{said} ({', '.join(names)})", column.anchor(names[0])))
        parts += _published(book, names)
    return parts


def _carried_out(m: Measurement) -> str:
    """ "carried out by 2 HMMA.16816.F32, 4 FADD on operands unpacked to f16 (F2FP), not by FP8 hardware"."""
    if not ((m.sass or {}).get("emulated") or "emulated" in m.flags):
        return ""
    used = [(re.sub(r"\.E[45]M[23]", "", op), n) for op, n in opcodes(m, 10) if OWN.match(op)]
    return f"carried out by {', '.join(f'{n} {op}' for op, n in used)}, not by FP8 hardware" if used else ""


def _published(book: Book, names: list[str]) -> list[Part]:
    """What others state of these cases."""
    found = dict.fromkeys(
        f"{text.number(p.value)} {text.unit(p.unit)}, {short_title(p.title)}".replace(" ,", ",")
        for p in book.published
        if p.name in names
    )
    return [(f"published: {'; '.join(found)}", "")] if found else []
