# SPDX-License-Identifier: Apache-2.0
"""Rooflines from measured roofs, and where the peak went.

Each function returns plain data for a figure and a sentence, or nothing where the run lacks what it needs. A burst is
over before the power limit slows the clock, so that what is sustained stands under sustained roofs, and a burst under
those of bursts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.files import Measurement

from . import labels
from .mma import best_mma, measured_fastest, mma_type
from .model import BURST, Book, Column, Number, Row, name_in, of_state
from .products import Product, products

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
    datasheet: float | None = None  # as published, at the boost clock of the datasheet
    at_highest_clock: float | None = None  # what the limit per clock is at the highest SM clock
    also: list[str] = field(default_factory=list)  # types within 2 % of this one, drawn as one roof


@dataclass
class Point:
    label: str
    kind: str
    intensity: float  # FLOP per byte of compulsory DRAM traffic
    tflops: float
    shape: str = ""  # "4096×7168×16384", or what the name says of it


@dataclass
class Roofline:
    column: Column
    state: str
    bandwidth: float  # GB/s of reading, measured
    bandwidth_name: str
    datasheet_bandwidth: float | None
    roofs: list[Roof]
    points: list[Point] = field(default_factory=list)


def datasheet(book: Book, column: Column, pattern: str, metric: str) -> float | None:
    """The largest datasheet figure for this very GPU."""
    gpu = (column.run.gpu or {}).get("name")
    found = [p.value for p in book.published_for(pattern, metric) if p.datasheet and p.gpu == gpu]
    return max(found, default=None)


def pins(gpu: Mapping[str, object]) -> float | None:
    """GB/s of the memory's pins: two transfers a clock on each bit of the bus. Other programs may write other facts."""
    bits, clock = (gpu.get(key) for key in ("memory_bus_bits", "memory_clock_max_mhz"))
    known = all(type(fact) in (int, float) and 0 < fact < math.inf for fact in (bits, clock))
    return 2 * clock * bits / 8e3 if known else None


def peak_at(column: Column, per_clock: float | None, clock_mhz: float | None) -> float | None:
    """TFLOP/s of so many FLOP per clock and SM on all SMs."""
    if not (per_clock and clock_mhz and column.sm_count):
        return None
    return per_clock * column.sm_count * clock_mhz * 1e-6


def _at_highest_clock(book: Book, column: Column, kind: str) -> float | None:
    fastest = best_mma(book, "flop_per_clock_per_sm", column.index).get(kind)
    return peak_at(column, fastest[1].limit, (column.run.gpu or {}).get("sm_clock_max_mhz")) if fastest else None


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


def best_read(book: Book, column: Column, state: str) -> tuple[Row, Number] | None:
    """The fastest way to read memory that was measured in this state: which it is differs by GPU."""
    rows = book.find(r"memory/hbm/read(/.*)?", "bandwidth_gb_per_s")
    found = [(row, n) for row in rows if (n := of_state(row, column.index, state)) and n.value > 0]
    return max(found, key=lambda entry: entry[1].value, default=None)


# Ways to read L2 past L1 in which a line is wanted by one SM at a time, so that no reads are merged on their way.
L2_READS = (("memory/l2/read", "bandwidth_gb_per_s"), ("memory/l2/read_loads", "best_gb_per_s"))


def best_l2_read(book: Book, column: Column) -> tuple[Row, Number] | None:
    """The fastest way to read L2 by loads that was measured."""
    rows = filter(None, (book.row(*figure) for figure in L2_READS))
    found = [(row, n) for row in rows if (n := row.numbers[column.index]) and n.value > 0]
    return max(found, key=lambda entry: entry[1].value, default=None)


def roofline(book: Book, column: Column, state: str) -> Roofline | None:
    """Measured roofs and kernels of one GPU in one state; None without reads of DRAM and one compute roof in it.

    What is 0 or less, as in a file from elsewhere, has no place on its logarithmic axes.
    """
    i = column.index
    read = best_read(book, column, state)
    roofs: dict[str, Roof] = {}
    for kind, (_, number) in best_mma(book, "tflops", i, state).items():
        if kind == "b1" or number.value <= 0:  # under b1 no kernel here stands, and it would push all others down
            continue
        kind = SAME_ROOF.get(kind, kind)
        sheet = datasheet(book, column, rf"tensor_core/\w+/{kind}/.*", "tflops")
        if kind not in roofs or number.value > roofs[kind].tflops:
            roofs[kind] = Roof(kind, number.value, sheet, _at_highest_clock(book, column, kind))
    if state == BURST and (ffma := _ffma_tflops(book, column) or 0) > 0:
        roofs["f32"] = Roof("f32", ffma, datasheet(book, column, FFMA, "tflops"))
    if not read or not roofs:
        return None
    bandwidth, name = read[1].value, read[0].name
    points = []
    for row in book.find(r"kernels/.*", "tflops"):
        if (n := of_state(row, i, state)) and n.value > 0 and (known := intensity(row.name)):
            kind, flop_per_byte = known
            operation, _, shape, *_ = row.name.split("/")[1:]
            points.append(Point(operation, SAME_ROOF.get(kind, kind), flop_per_byte, n.value, labels.product(shape)))
    ordered: list[Roof] = []
    for roof in sorted(roofs.values(), key=lambda r: -r.tflops):
        if ordered and ordered[-1].tflops < 1.02 * roof.tflops:
            ordered[-1].also.append(roof.kind)
        else:
            ordered.append(roof)
    sheet = datasheet(book, column, r"memory/hbm/\w+", "bandwidth_gb_per_s")
    return Roofline(column, state, bandwidth, name, sheet, ordered, points)


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
    calculated: bool = False  # published or calculated, not measured
    anchor: str = ""  # of the best loop: its measurement
    clocks: tuple[float, ...] = ()  # MHz that the SMs counted while it ran: the median, and the least and the most of its samples


def waterfall(book: Book, column: Column, state: str, kind: str = "bf16") -> list[Step]:
    """The limit at the highest clock, the datasheet, the limit at the clock that the SMs counted during the best MMA loop,
    that loop, library GEMM, our GEMM, attention, all measured in one state; [] with fewer than three steps.
    """
    if not measured_fastest(book, column, kind):
        return []
    i, steps = column.index, []
    gpu = column.run.gpu or {}
    if top := _at_highest_clock(book, column, kind):
        steps.append(Step(f"limit at the highest clock, {gpu['sm_clock_max_mhz']:.0f} MHz", top, calculated=True))
    if sheet := datasheet(book, column, rf"tensor_core/\w+/{kind}/.*", "tflops"):
        steps.append(Step("datasheet, at its boost clock", sheet, calculated=True))
    loops = [
        (n, row)
        for row in book.find(r"tensor_core/.*", "tflops")
        if mma_type(row.name) == kind and (n := of_state(row, i, state))
    ]
    if not loops:
        return []
    rate, loop = max(loops, key=lambda found: found[0].value)
    clocks = counted_clocks(book.measurement(column, name_in(loop, state)))
    _, fastest = best_mma(book, "flop_per_clock_per_sm", i)[kind]
    if clocks and (slowed := peak_at(column, fastest.limit, clocks[0])):
        steps.append(Step(f"limit at the loop's {clocks[0]:.0f} MHz", slowed, calculated=True))
    steps.append(Step("best MMA loop", rate.value, anchor=rate.anchor, clocks=clocks))
    gemms = products(book, column, state, "gemm", kind)
    library = max((g for g in gemms if g.library), key=lambda g: g.library, default=None)
    if library:
        steps.append(Step(f"library GEMM, {library.shape}", library.library))
    if ours := best_gemm(book, column, state, kind):
        steps.append(Step(f"our GEMM, {ours.shape}", ours.value))
    attention = book.find(rf"kernels/attention/{kind}/.*", "tflops")
    if found := [n.value for row in attention if (n := of_state(row, i, state))]:
        steps.append(Step("attention", max(found)))
    return steps if len(steps) >= 3 else []


def best_gemm(book: Book, column: Column, state: str, kind: str = "bf16") -> Product | None:
    """Our fastest, which stands in `waterfall`."""
    return max(products(book, column, state, "gemm", kind), key=lambda g: g.value, default=None)


def counted_clocks(m: Measurement) -> tuple[float, ...]:
    """MHz that the SMs counted while it was measured: the median, and the least and the most of its samples where its file
    has them.

    Never throughput over rate per clock, which is the throughput again: nothing could be above the limit at such a clock.
    """
    known = [m.conditions.get(f"sm_clock_{which}mhz") for which in ("", "min_", "max_")]
    if known[0] is None:
        return ()
    return (known[0],) if None in known else tuple(known)


def limit_at_highest_clock(column: Column, m: Measurement) -> float | None:
    """TFLOP/s that the limit per clock of this case allows at the highest clock that the driver names."""
    rate = m.metrics.get("flop_per_clock_per_sm")
    return peak_at(column, rate.limit if rate else None, (column.run.gpu or {}).get("sm_clock_max_mhz"))
