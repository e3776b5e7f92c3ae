# SPDX-License-Identifier: Apache-2.0
"""The matrix of instructions by target, as `assay isa --json` wrote it (schema `assay.isa/1`)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import RunFileError

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
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror}; give what `assay isa --json` printed") from None
    except ValueError:
        raise RunFileError(f"{path}: not valid JSON; give what `assay isa --json` printed") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else None
        raise RunFileError(f"{path}: schema: {found!r:.60} is not {SCHEMA!r}; give what `assay isa --json` printed")
    groups: dict[str, list[dict[str, Any]]] = {}
    try:
        for form in document["forms"]:
            groups.setdefault(str(form["group"]), []).append({**form, "targets": dict(form["targets"])})
        targets, assembler = [str(t) for t in document["targets"]], str(document["assembler"])
    except (KeyError, TypeError, ValueError):
        raise RunFileError(f"{path}: forms: damaged; run `assay isa --json` again") from None
    return Isa(assembler, targets, groups)
