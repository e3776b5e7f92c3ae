# SPDX-License-Identifier: Apache-2.0
"""What follows from the rows: rooflines, the MMA-to-exp2 imbalance, ladders, where the peak went. Pure.

Each function returns plain data for a figure and a sentence, or nothing where the run lacks what it needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..run_file import Baseline, Measurement
from . import tensor_cores, text
from .model import Book, Column, Number, Published, Row

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


def mma_type(name: str) -> str | None:
    """The operand type in "tensor_core/wgmma/bf16/..." of a dense case on the suite's own random data, of which both
    operands are numbers of one type; None for all other names."""
    mma = tensor_cores.parse(name)
    usual = mma and not mma.source.startswith("sparse") and mma.kind != "b1" and not re.search("[0-9]_[a-z]", mma.kind)
    return mma.kind if usual else None


def best_mma(book: Book, metric: str, column: int) -> dict[str, tuple[Row, Number]]:
    """The fastest dense MMA of each operand type in one column, of those that the hardware has."""
    best: dict[str, tuple[Row, Number]] = {}
    for row in book.find(r"tensor_core/.*", metric):
        kind, number = mma_type(row.name), row.numbers[column]
        if not kind or not number or "emulated" in number.flags:
            continue
        if tensor_cores.preferred(row, best[kind][0] if kind in best else None, column):
            best[kind] = (row, number)
    return best


def measured_fastest(book: Book, column: Column, kind: str) -> bool:
    """Whether the column has the fastest MMA of a type, of those that columns of its architecture have: a run of some
    instructions may lack it."""
    rates = [
        best[kind][1].value
        for c in book.columns
        if c.architecture == column.architecture
        and kind in (best := best_mma(book, "flop_per_clock_per_sm", c.index))
    ]
    own = best_mma(book, "flop_per_clock_per_sm", column.index).get(kind)
    return own is not None and own[1].value >= 0.98 * max(rates)


# --- roofline -------------------------------------------------------------------------------------------------------


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


# --- MMA against exp2 -----------------------------------------------------------------------------------------------


@dataclass
class Imbalance:
    """Attention spends 4d FLOP of MMA and one exp2 per element of the score matrix, d the head dimension.

    `flop_per_exp2` is what the matrix pipe does while the special-function pipe does one exp2; below
    `head_dimension` = flop_per_exp2 / 4 the exp2 takes longer than the two products.
    """

    label: str
    kind: str
    flop_per_exp2: float
    published: bool = False
    anchor: str = ""

    @property
    def head_dimension(self) -> float:
        return self.flop_per_exp2 / 4


ATTENTION_TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "mxf8", "mxf6", "mxf4", "nvf4")


def imbalances(book: Book) -> list[Imbalance]:
    """Per column and MMA type that attention could use, fastest first, measured per clock on one SM; then published."""
    found = []
    for column in book.columns:
        exp2 = book.row("special_function/ex2/f32", "ops_per_clock_per_sm")
        if exp2 is None or exp2.numbers[column.index] is None:
            continue
        best = best_mma(book, "flop_per_clock_per_sm", column.index)
        mine: list[Imbalance] = []
        for kind, (row, number) in sorted(best.items(), key=lambda item: -item[1][1].value):
            if kind not in ATTENTION_TYPES:
                continue
            ratio = number.value / exp2.numbers[column.index].value
            if mine and mine[-1].flop_per_exp2 < 1.02 * ratio:  # one line for types of one rate
                mine[-1].label += f", {kind}"
            else:
                who = f"{column.tag} " if column.tag else ""
                mine.append(Imbalance(f"{who}{row.name.split('/')[1]} {kind}", kind, ratio, anchor=number.anchor))
        found += mine
    if found:
        rate = book.published_for("special_function/ex2/f32", "tera_ops_per_s")
        peak = [
            p for p in book.published_for(r"tensor_core/wgmma/f16/.*", "tflops") if rate and p.title == rate[0].title
        ]
        if peak:
            found.append(
                Imbalance(
                    f"H100, published: {peak[0].value:g} TFLOP/s, {rate[0].value:g} T exp2/s",
                    "f16",
                    peak[0].value / rate[0].value,
                    published=True,
                )
            )
    return found


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


# --- bars, ladders, series ------------------------------------------------------------------------------------------


@dataclass
class Bar:
    label: str
    values: list[float | None]  # per column
    texts: list[str]
    published: list[Published] = field(default_factory=list)


LADDER = r"memory/(constant\w*|shared|l1|l2|l2_near|l2_far|dram|dsmem/\w+|dsmem)/latency|tma/[^/]+/latency"


def latency_ladder(book: Book) -> list[Bar]:
    """Cycles of each level, nearest first."""
    bars = []
    for row in book.find(LADDER, "latency_cycles"):
        values = [n.value if n else None for n in row.numbers]
        label = text.words(row.name.removesuffix("/latency").removeprefix("memory/").replace("/", "_"))
        bars.append(Bar(label, values, [], row.beside))
    return sorted(bars, key=lambda b: min(v for v in b.values if v is not None))


def bandwidth_shares(book: Book) -> list[tuple[Row, list[Number | None]]]:
    """Bandwidths of the memory hierarchy that have a limit, one metric per case; of variants the plain one alone."""
    chosen: dict[str, Row] = {}
    for metric in ("bytes_per_clock_per_sm", "bandwidth_gb_per_s"):
        for row in book.find(r"(memory|tma|tmem)/(?!hbm/power/).*", metric):
            if any(n and n.limit for n in row.numbers):
                chosen.setdefault(row.name, row)
    return [(row, row.numbers) for name, row in chosen.items() if name.rpartition("/")[0] not in chosen]


@dataclass
class Series:
    label: str
    points: list[tuple[float, float, float, float]]  # bytes, GB/s, low, high


def collective_series(book: Book) -> dict[str, list[Series]]:
    """Bus bandwidth against size, per operation: one series per type, number of GPUs, variant and column."""
    found: dict[str, dict[str, list]] = {}
    for row in book.find(r"collective/[^/]+/[^/]+/\d+/.*", "bus_bandwidth_gb_per_s"):
        _, operation, kind, count, *rest = row.name.split("/")
        for column, n in zip(book.columns, row.numbers):
            if n is None:
                continue
            label = " ".join(
                [*([column.tag] if column.tag else []), kind, *(part.replace("gpus", " GPUs") for part in rest)]
            )
            low, high = (n.low, n.high) if n.low is not None else (n.value, n.value)
            found.setdefault(operation, {}).setdefault(label, []).append((float(count), n.value, low, high))
    return {
        operation: [Series(label, sorted(points)) for label, points in by_label.items()]
        for operation, by_label in found.items()
    }


@dataclass
class Pair:
    """A kernel against one baseline: how many times faster ours is."""

    name: str
    baseline: Baseline


def pairs(book: Book, column: Column) -> list[Pair]:
    """Every paired comparison of one run, in its order."""
    return [Pair(m.name.removeprefix("kernels/"), b) for c, m in book.measurements if c is column for b in m.baselines]


# --- siblings -------------------------------------------------------------------------------------------------------


def siblings(book: Book) -> list[tuple[Row, list[float]]]:
    """Rows by how far apart GPUs of one name are: (row, value over the median of its siblings), widest first."""
    names = [(c.run.gpu or {}).get("name") for c in book.columns]
    spread = []
    for row in book.rows:
        values = [n.value for n, name in zip(row.numbers, names) if n and name == names[0]]
        # A share of what may be nothing says nothing.
        sure = all(n is None or n.low is None or n.low > 0 or n.high < 0 for n in row.numbers)
        if row.primary and sure and len(values) > 1:
            middle = sorted(values)[len(values) // 2]
            if middle:
                spread.append((row, [value / middle for value in values]))
    return sorted(spread, key=lambda item: min(item[1]) - max(item[1]))


def verified(measurements: list[tuple[Column, Measurement]]) -> tuple[int, int]:
    """(measurements whose loop was checked and held what it must, measurements with machine code)."""
    with_code = [m for _, m in measurements if m.sass]
    return sum(1 for m in with_code if m.sass.get("verified")), len(with_code)
