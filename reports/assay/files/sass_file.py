# SPDX-License-Identifier: Apache-2.0
"""The hot loops of kernels as `assay sass --json` found them (schema `assay.sass/1`).

The files lie beside a run, as sass-NAME.json, and are read with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import schema_check

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
    return schema_check.load(path, SCHEMA, "assay.sass-1.schema.json", HOW)


def load(path: Path) -> list[HotLoop]:
    """The hot loops of one file. Raises RunFileError."""
    return [_loop(kernel, hot) for kernel in read(path)["kernels"] for hot in kernel["hot"]]


def _loop(kernel: dict[str, Any], hot: dict[str, Any]) -> HotLoop:
    measured = hot.get("measured") or {}
    counts: dict[str, int] = {}
    busy: dict[str, float] = {}
    for opcode in (opcode for part in hot["parts"] for opcode in part["opcodes"]):
        name, count = opcode["opcode"], opcode["count"]
        counts[name] = counts.get(name, 0) + count
        busy[name] = busy.get(name, 0) + count * float(opcode["cycles"])
    return HotLoop(
        kernel["name"],
        kernel["target"],
        hot["warps"],
        sorted(counts.items(), key=lambda item: -busy[item[0]]),
        [(p["pipe"], float(p.get("cycles", 0))) for p in hot.get("pipes", ())],
        hot["predicted"]["cycles"],
        hot["predicted"]["bound_by"],
        measured["cycles"] if measured else None,
        measured.get("name", ""),
    )


def load_with(run: Path) -> list[HotLoop]:
    """The loops of every such file in the folder of a run file."""
    return [loop for path in sorted(run.parent.glob(PATTERN)) for loop in load(path)]
