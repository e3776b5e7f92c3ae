# SPDX-License-Identifier: Apache-2.0
"""The instructions that the assembler knows for each target: a summary for the main page, and a page of all forms."""

from __future__ import annotations

import json
from typing import Any

from assay.files.isa_file import Isa

from ..block.kinds import Block, Cell, Fold, Page, Paragraph, Searchable, Section, Span, Table
from ..book.model import ISA_PAGE


def section(isa: Isa | None) -> Section | None:
    """How many forms of each group are native on each target."""
    if isa is None:
        return None
    rows = [
        [Cell(group), Cell(str(len(forms))), *(_count(isa, group, target) for target in isa.targets)]
        for group, forms in isa.groups.items()
    ]
    caption = "Native forms of each group" + ("; in brackets those that other instructions carry out" if rows else "")
    table = Table(caption, ["Group", "Forms", *isa.targets], rows, kind="compact matrix")
    said = (
        f"Asked of the assembler itself ({isa.assembler}): forms that become one instruction, and how many there are of "
        "each kind. "
    )
    blocks: list[Block] = [Paragraph([Span(said), Span("Every form", ISA_PAGE), Span(".")])]
    blocks.append(Fold("Forms by group and target", f"{len(isa.groups)} groups", [table]))
    return Section("isa", "Instructions by target", blocks)


def _count(isa: Isa, group: str, target: str) -> Cell:
    n = isa.counts(group, target)
    some = n["native"] + n["split"]
    said = f"{some or '–'}" + (f" ({n['emulated']})" if n["emulated"] else "")
    return Cell(said, kind="" if some or n["emulated"] else "muted")


def page(isa: Isa | None) -> Page | None:
    """Every form on every target, to search and filter."""
    if isa is None:
        return None
    lead = (
        f"{len(isa.forms)} forms, asked of the assembler itself ({isa.assembler}). N is native: one instruction; xK is "
        "split into K of one kind; E is emulated: becomes something else; a dot is rejected by the assembler; ? is "
        "accepted, but what it becomes is not known; ! is accepted with advice or a warning. A click on a name shows what it becomes and why."
    )
    values = {"targets": isa.targets, "groups": list(isa.groups), "count": len(isa.forms), "data": data(isa)}
    return Page(
        ISA_PAGE,
        "Instructions by target",
        "Instructions by target",
        lead,
        [Searchable("forms", values)],
        short="Instructions by target",
        wide=True,
    )


def data(isa: Isa) -> str:
    """The matrix as JSON for the script: verdicts repeat, so each different one is there once and forms point to it."""
    verdicts: dict[tuple[str, str], int] = {}
    forms: list[dict[str, Any]] = []
    for group, of_group in isa.groups.items():
        for form in of_group:
            entry = {
                "group": group,
                "name": str(form["name"]).removeprefix(f"{group}/"),
                "ptx": str(form["ptx"]),
                "on": [],
            }
            if form.get("timed"):
                entry["timed"] = str(form["timed"])
            for target in isa.targets:
                verdict = form["targets"].get(target, {"status": "rejected"})
                shown = (cell(verdict), remark(verdict))
                entry["on"].append(verdicts.setdefault(shown, len(verdicts)))
            forms.append(entry)
    shown = [{"cell": cell, "text": words} for cell, words in verdicts]
    document = {"targets": [target.removeprefix("sm_") for target in isa.targets], "verdicts": shown, "forms": forms}
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def cell(verdict: dict[str, Any]) -> str:
    """The sign of a verdict: "N", "x2", "E", "?" or "."; with "!" where the assembler had something to say."""
    if verdict["status"] == "unknown":
        return "?"
    signs = {"native": "N", "emulated": "E", "split": f"x{verdict.get('count', '')}"}
    return signs.get(verdict["status"], ".") + ("!" if verdict.get("advice") else "")


def remark(verdict: dict[str, Any]) -> str:
    """What a form becomes, or why it is rejected."""
    if verdict["status"] in ("rejected", "unknown"):
        return str(verdict.get("words", verdict.get("advice", "")))
    opcodes = sorted(verdict.get("opcodes", {}).items(), key=lambda item: -item[1])
    parts = [f"{count} {opcode}" for opcode, count in opcodes]
    parts += [f"call of {routine}" for routine in verdict.get("calls", [])]
    return "; ".join(part for part in (", ".join(parts) or "nothing", str(verdict.get("advice", ""))) if part)
