# SPDX-License-Identifier: Apache-2.0
"""The matrix of instructions by target, as `assay isa --json` wrote it (schema `assay.isa/1`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import schema_check

SCHEMA = "assay.isa/1"
STATUSES = {
    "native": "one instruction",
    "split": "several of the same",
    "emulated": "others instead",
    "rejected": "none",
    "unknown": "taken, but what it becomes is not known",
}


@dataclass
class Isa:
    """The verdict of the assembler on each form of an instruction, for each target."""

    assembler: str
    targets: list[str]
    groups: dict[str, list[dict[str, Any]]]  # forms: "name", "ptx", "targets" -> target -> {"status": ...}

    @property
    def forms(self) -> list[dict[str, Any]]:
        return [form for forms in self.groups.values() for form in forms]

    def counts(self, group: str, target: str) -> Counter:
        """How many forms of the group are of each status there."""
        return Counter(form["targets"].get(target, {}).get("status", "rejected") for form in self.groups[group])

    def totals(self, target: str) -> Counter:
        return sum((self.counts(group, target) for group in self.groups), Counter())


def load(path: Path) -> Isa:
    """Reads the matrix. Raises RunFileError."""
    document = schema_check.load(path, SCHEMA, "assay.isa-1.schema.json", "give what `assay isa --json` printed")
    groups: dict[str, list[dict[str, Any]]] = {}
    for form in document["forms"]:
        groups.setdefault(form["group"], []).append(form)
    return Isa(document["assembler"], document["targets"], groups)
