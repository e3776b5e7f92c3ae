# SPDX-License-Identifier: Apache-2.0
"""Our matrix products, each beside the fastest library that took turns with it: shapes of one operation, type and state."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from assay.files import Baseline

from . import labels
from .model import SUSTAINED, Book, Column, name_in, of_state

# Operation in the name -> what it is called. Question 22 is of the first two, 23 of gemv, 24 of the grouped.
OPERATIONS = {
    "gemm": "GEMM",
    "gemm_block_scaled": "GEMM with block scales",
    "gemv": "product of few tokens",
    "grouped": "grouped GEMM",
}
GEMM = ("gemm", "gemm_block_scaled")
BLOCKS = "_block128"  # ends the types whose operands have a scale for each block
PLAIN = ("", "nt")  # variants that are not said
SHAPE = re.compile(r"(\d+)×(\d+)×(\d+)")


@dataclass
class Product:
    """One shape in one state, ours and the fastest of its baselines."""

    operation: str
    kind: str  # "bf16": of the operands, or of the weights
    shape: str  # "8192×8192×8192", with its variant unless that is "nt"
    name: str  # of the measurement
    value: float  # TFLOP/s; GB/s where tokens are few
    best: Baseline | None

    @property
    def sizes(self) -> tuple[int, int, int] | None:
        """m, n and k of a plain shape."""
        found = SHAPE.fullmatch(self.shape)
        return tuple(map(int, found.groups())) if found else None

    @property
    def library(self) -> float | None:
        return self.value / self.best.speedup.value if self.best and self.best.speedup.value > 0 else None

    @property
    def called(self) -> str:
        return called(self.operation, self.kind)


def called(operation: str, kind: str) -> str:
    """ "bf16 GEMM", "e4m3 GEMM with block scales", "e4m3 grouped GEMM with block scales"."""
    scaled = kind.endswith(BLOCKS) and "block scales" not in OPERATIONS[operation]
    kind = kind.removesuffix(BLOCKS).replace("_", " by ")
    return f"{kind} {OPERATIONS[operation]}{' with block scales' if scaled else ''}"


def metric_of(operation: str) -> str:
    return "bandwidth_gb_per_s" if operation == "gemv" else "tflops"


def unit_of(operation: str) -> str:
    return "GB/s" if operation == "gemv" else "TFLOP/s"


def kinds_of(book: Book, operation: str) -> list[str]:
    rows = book.find(rf"kernels/{operation}/.+/.+", metric_of(operation))
    return list(dict.fromkeys(row.name.split("/")[2] for row in rows))


def products(book: Book, column: Column, state: str, operation: str, kind: str) -> list[Product]:
    """Every shape of one operation and type that was measured in this state."""
    found = []
    for row in book.find(rf"kernels/{operation}/{re.escape(kind)}/.*", metric_of(operation)):
        n = of_state(row, column.index, state)
        name = name_in(row, state)
        m = book.measurement(column, name)
        if n and m and m.kind == "kernel":
            shape, _, variant = row.name.split("/", 3)[3].removesuffix(SUSTAINED).partition("/")
            best = min(m.baselines, key=lambda b: b.speedup.value, default=None)
            shape = labels.product(shape)
            said = shape if variant in PLAIN else f"{shape}, {labels.words(variant)}"
            found.append(Product(operation, kind, said, name, n.value, best))
    return found


def against(found: Iterable[Product]) -> list[Product]:
    """Those that have a baseline, the worst first."""
    return sorted((p for p in found if p.best), key=lambda p: p.best.speedup.value)


def middle(paired: list[Product]) -> float:
    return statistics.median(p.best.speedup.value for p in paired)
