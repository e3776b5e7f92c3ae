# SPDX-License-Identifier: Apache-2.0
"""Rooflines from measured roofs, and where the peak went.

Each function returns plain data for a figure and a sentence, or nothing where the run lacks what it needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .mma import best_mma, measured_fastest, mma_type
from .model import Book, Column

# Bytes per element of an operand, scales of block-scaled types included where they matter (1/32 or 1/16 byte more).
OPERAND_BYTES = {
    "f64": 8,
    "f32": 4,
    "tf32": 4,
    "bf16": 2,
    "f16": 2,
    "e4m3": 1,
    "e5m2": 1,
    "s8": 1,
    "u8": 1,
    "e4m3_block128": 1,
    "mxf8": 1 + 1 / 32,
    "mxf6": 0.75 + 1 / 32,
    "mxf4": 0.5 + 1 / 32,
    "nvf4": 0.5 + 1 / 16,
    "s4": 0.5,
}
FFMA = r"(sass|special_function)/ffma/.*"
# Types whose kernels stand under the roof of another.
SAME_ROOF = {
    "f16": "bf16",
    "e5m2": "e4m3",
    "e4m3_block128": "e4m3",
    "mxf8": "e4m3",
    "u8": "s8",
}


@dataclass
class Roof:
    kind: str
    tflops: float
    datasheet: float | None = None
    also: list[str] = field(default_factory=list)  # types within 2 % of this one, drawn as one roof


@dataclass
class Point:
    label: str
    kind: str
    intensity: float  # FLOP per byte of compulsory DRAM traffic
    tflops: float


@dataclass
class Roofline:
    column: Column
    bandwidth: float  # GB/s, measured
    bandwidth_name: str
    datasheet_bandwidth: float | None
    roofs: list[Roof]
    points: list[Point] = field(default_factory=list)


def _datasheet(book: Book, column: Column, pattern: str, metric: str) -> float | None:
    """The largest datasheet figure for this very GPU."""
    gpu = (column.run.gpu or {}).get("name")
    found = [p.value for p in book.published_for(pattern, metric) if p.datasheet and p.gpu == gpu]
    return max(found, default=None)


def intensity(name: str) -> tuple[str, float] | None:
    """(operand type, FLOP per byte) of a kernel from its name, each tensor moved once; None for an unknown shape.

    gemm and gemv: 2MNK over A, B and a 2-byte C. attention: 4 b h s^2 d (half when causal) over Q, K, V and O.
    """
    parts = name.split("/")
    if len(parts) < 4 or parts[0] != "kernels":
        return None
    kind = parts[2]
    width = OPERAND_BYTES.get(kind)
    if width is None:
        return None
    if shape := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", parts[3]):
        m, n, k = map(int, shape.groups())
        activations = 2 if parts[1] == "gemv" else width  # gemv: only the weights are narrow
        return kind, 2 * m * n * k / (m * k * activations + n * k * width + 2 * m * n)
    if shape := re.fullmatch(r"b(\d+)h(\d+)s(\d+)d(\d+)", parts[3]):
        b, h, s, d = map(int, shape.groups())
        flop = 4 * b * h * s * s * d * (0.5 if "causal" in parts[4:] else 1)
        return kind, flop / (b * h * s * d * (3 * width + 2))
    return None


def roofline(book: Book, column: Column) -> Roofline | None:
    """Measured roofs and kernels of one GPU; None without a DRAM bandwidth and one compute roof."""
    i = column.index
    memory = [(r.numbers[i].value, r.name) for r in book.find(r"memory/hbm/\w+", "bandwidth_gb_per_s") if r.numbers[i]]
    roofs: dict[str, Roof] = {}
    for kind, (row, number) in best_mma(book, "tflops", i).items():
        if kind == "b1":  # no kernel here stands under it, and it would push all others to the floor
            continue
        kind = SAME_ROOF.get(kind, kind)
        sheet = _datasheet(book, column, rf"tensor_core/\w+/{kind}/.*", "tflops")
        if kind not in roofs or number.value > roofs[kind].tflops:
            roofs[kind] = Roof(kind, number.value, sheet)
    if ffma := _ffma_tflops(book, column):
        roofs["f32"] = Roof("f32", ffma, _datasheet(book, column, FFMA, "tflops"))
    if not memory or not roofs:
        return None
    bandwidth, name = max(memory)
    points = []
    for row in book.find(r"kernels/.*", "tflops"):
        if row.numbers[i] and (known := intensity(row.name)):
            kind, flop_per_byte = known
            points.append(
                Point(row.group.split("/")[1], SAME_ROOF.get(kind, kind), flop_per_byte, row.numbers[i].value)
            )
    ordered: list[Roof] = []
    for roof in sorted(roofs.values(), key=lambda r: -r.tflops):
        if ordered and ordered[-1].tflops < 1.02 * roof.tflops:
            ordered[-1].also.append(roof.kind)
        else:
            ordered.append(roof)
    return Roofline(
        column, bandwidth, name, _datasheet(book, column, r"memory/hbm/\w+", "bandwidth_gb_per_s"), ordered, points
    )


def _ffma_tflops(book: Book, column: Column) -> float | None:
    """FFMA roof: stated, or from operations per clock at the clock it was measured at (one FFMA is two)."""
    found = []
    for c, m in book.measurements:
        if c.index != column.index or not re.fullmatch(FFMA, m.name):
            continue
        clock, rate = m.conditions.get("sm_clock_mhz"), m.metrics.get("ops_per_clock_per_sm")
        if "tflops" in m.metrics:
            found.append(m.metrics["tflops"].value)
        elif rate and clock and column.sm_count:
            found.append(2 * rate.value * column.sm_count * clock * 1e-6)
    return max(found, default=None)


# --- where the peak went --------------------------------------------------------------------------------------------


@dataclass
class Step:
    label: str
    tflops: float
    published: bool = False


def waterfall(book: Book, column: Column, kind: str = "bf16") -> list[Step]:
    """Datasheet, clock under load, best MMA loop, library GEMM, our GEMM, attention; [] with fewer than three steps.

    The loop is the fastest of those that were sustained, if any was, and the clock the one it had.
    """
    if not measured_fastest(book, column, kind):
        return []
    i, steps = column.index, []
    if sheet := _datasheet(book, column, rf"tensor_core/\w+/{kind}/.*", "tflops"):
        steps.append(Step("datasheet", sheet, published=True))
    _, best = best_mma(book, "flop_per_clock_per_sm", i)[kind]
    clocks = {m.name: m.conditions.get("sm_clock_mhz") for c, m in book.measurements if c is column}
    loops = [row for row in book.find(r"tensor_core/.*", "tflops") if mma_type(row.name) == kind and row.numbers[i]]
    held = max((row for row in loops if row.sustained[i]), key=lambda row: row.sustained[i].value, default=None)
    loop = held or max(loops, key=lambda row: row.numbers[i].value, default=None)
    if loop:
        clock = clocks.get(f"{loop.name}/sustained" if held else loop.name)
        if clock and best.limit and column.sm_count:
            steps.append(Step(f"peak at {clock:.0f} MHz", best.limit * column.sm_count * clock * 1e-6))
        number = loop.sustained[i] or loop.numbers[i]
        steps.append(Step("best MMA loop" + (", sustained" if held else ""), number.value))
    gemms = [
        (c, m)
        for c, m in book.measurements
        if c is column and m.name.startswith(f"kernels/gemm/{kind}/") and "tflops" in m.metrics and m.kind == "kernel"
    ]
    if gemms:
        _, ours = max(gemms, key=lambda pair: pair[1].metrics["tflops"].value)
        library = max((ours.metrics["tflops"].value / b.speedup.value for b in ours.baselines), default=None)
        if library:
            steps.append(Step("library GEMM", library))
        steps.append(Step("our GEMM", ours.metrics["tflops"].value))
    attention = [r.numbers[i].value for r in book.find(rf"kernels/attention/{kind}/.*", "tflops") if r.numbers[i]]
    if attention:
        steps.append(Step("attention", max(attention)))
    return steps if len(steps) >= 3 else []
