# SPDX-License-Identifier: Apache-2.0
"""The hot loops of kernels as `assay sass --json` found them (schema `assay.sass/1`).

The files lie beside a run, as sass-NAME.json, and are read with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import RunFileError

SCHEMA = "assay.sass/1"
PATTERN = "sass-*.json"


@dataclass(frozen=True)
class HotLoop:
    """One loop of one kernel, per iteration of all its warps."""

    kernel: str
    target: str
    warps: int
    opcodes: list[tuple[str, int]]  # those that take longest first
    pipes: list[tuple[str, float]]  # cycles each is busy, the busiest first
    predicted: float
    bound_by: str
    measured: float | None
    case: str  # that was measured, or ""


HOW = "write it again: assay sass WHAT --json > FILE"


def read(path: Path) -> dict[str, Any]:
    """One file as it is. Raises RunFileError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror}; {HOW}") from None
    except ValueError:
        raise RunFileError(f"{path}: not valid JSON; {HOW}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else None
        raise RunFileError(f"{path}: schema: {found!r:.60} is not {SCHEMA!r}; {HOW}")
    if not isinstance(document.get("kernels"), list):
        raise RunFileError(f"{path}: kernels: damaged; {HOW}")
    return document


def load(path: Path) -> list[HotLoop]:
    """The hot loops of one file. Raises RunFileError."""
    document = read(path)
    try:
        return [_loop(kernel, hot) for kernel in document["kernels"] for hot in kernel["hot"]]
    except (KeyError, TypeError, ValueError, IndexError):
        raise RunFileError(f"{path}: kernels: damaged; {HOW}") from None


def _loop(kernel: dict[str, Any], hot: dict[str, Any]) -> HotLoop:
    measured = hot["measured"] or {}
    counts: dict[str, int] = {}
    busy: dict[str, float] = {}
    for opcode in (opcode for part in hot["parts"] for opcode in part["opcodes"]):
        name, count = str(opcode["opcode"]), int(opcode["count"])
        counts[name] = counts.get(name, 0) + count
        busy[name] = busy.get(name, 0) + count * float(opcode["cycles"])
    return HotLoop(
        str(kernel["name"]),
        str(kernel["target"]),
        int(hot["warps"]),
        sorted(counts.items(), key=lambda item: -busy[item[0]]),
        [(str(p["pipe"]), float(p["cycles"])) for p in hot["pipes"]],
        float(hot["predicted"]["cycles"]),
        str(hot["predicted"]["bound_by"]),
        float(measured["cycles"]) if measured else None,
        str(measured.get("name", "")),
    )


def load_with(run: Path) -> list[HotLoop]:
    """The loops of every such file in the folder of a run file."""
    return [loop for path in sorted(run.parent.glob(PATTERN)) for loop in load(path)]
