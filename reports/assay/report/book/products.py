# SPDX-License-Identifier: Apache-2.0
"""Our matrix products, each beside the fastest library that took turns with it: shapes of one operation, type and state."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.files import Baseline

from . import labels
from .model import BURST, SUSTAINED, Book, Column, name_in, of_state

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

    @property
    def fastest(self) -> str:
        """What the fastest baseline is called; "" without one."""
        return baseline_of(self.name, self.best.name) if self.best else ""

    @property
    def in_bf16(self) -> bool:
        return bool(self.best) and in_bf16(self.name, self.best.name)


def called(operation: str, kind: str) -> str:
    """ "bf16 GEMM", "e4m3 GEMM with block scales", "e4m3 grouped GEMM with block scales"."""
    scaled = kind.endswith(BLOCKS) and "block scales" not in OPERATIONS[operation]
    kind = kind.removesuffix(BLOCKS).replace("_", " by ")
    return f"{kind} {OPERATIONS[operation]}{' with block scales' if scaled else ''}"


def packed(kind: str) -> bool:
    """Whether weights of this type are unpacked by the kernel that multiplies them."""
    return kind not in ("bf16", "f16")


def in_bf16(case: str, baseline: str) -> bool:
    """Whether a baseline multiplies in bf16 what the case has packed: it reads 16 bits of each weight. Those that take
    packed weights have it in their name."""
    _, operation, kind, *_ = [*case.split("/"), "", ""]
    return operation == "gemv" and packed(kind) and "pack" not in baseline


def baseline_of(case: str, name: str) -> str:
    """What a baseline of a case is called: "cuBLASLt's best of 32", beside packed weights "cuBLASLt's best of 32 in bf16"."""
    return labels.baseline(name) + (" in bf16" if in_bf16(case, name) else "")


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


@dataclass(frozen=True)
class Tokens:
    """What one number of tokens does with a layer's weights."""

    name: str  # of the measurement
    bandwidth: float | None  # GB/s
    time: float | None  # us


CURVE = "kernels/gemm_curve/"  # of all numbers of tokens


def by_tokens(book: Book, column: Column, kind: str) -> dict[tuple[int, int], dict[int, Tokens]]:
    """n and k of each layer -> number of tokens -> what they do with it, in a burst: of single products, or else of curves."""
    found: dict[tuple[int, int], dict[int, Tokens]] = {}
    for p in products(book, column, BURST, "gemv", kind):
        if p.sizes:
            m, n, k = p.sizes
            time = book.measurement(column, p.name).value("time_us")
            found.setdefault((n, k), {})[m] = Tokens(p.name, p.value, time)
    for c, m in book.measurements if not found else ():
        layer = re.fullmatch(rf"{CURVE}{re.escape(kind)}/n(\d+)k(\d+)", m.name)
        if c is not column or not layer:
            continue
        rates, times = (dict(s.curve) if (s := m.series_named(name)) else {} for name in ("bandwidth_gb_per_s", "time_us"))
        of_layer = found.setdefault((int(layer[1]), int(layer[2])), {})
        of_layer.update({int(at): Tokens(m.name, rates.get(at), times.get(at)) for at in sorted({*rates, *times})})
    return found


def over_one(layers: Mapping[tuple[int, int], Mapping[int, Tokens]]) -> dict[int, float]:
    """Number of tokens -> how many times as long as one token they take, in the median of the layers; of numbers that most
    layers were measured with."""
    ratios: dict[int, list[float]] = {}
    for of_layer in layers.values():
        one = of_layer[1].time if 1 in of_layer else None
        for m, of_tokens in of_layer.items():
            if one and of_tokens.time and m > 1:
                ratios.setdefault(m, []).append(of_tokens.time / one)
    return {m: statistics.median(found) for m, found in sorted(ratios.items()) if 2 * len(found) > len(layers)}


def against(found: Iterable[Product]) -> list[Product]:
    """Those that have a baseline, the worst first."""
    return sorted((p for p in found if p.best), key=lambda p: p.best.speedup.value)


def middle(paired: list[Product]) -> float:
    return statistics.median(p.best.speedup.value for p in paired)
