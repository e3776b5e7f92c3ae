# SPDX-License-Identifier: Apache-2.0
"""The six numbers that a GPU is known by, each beside its datasheet and with what is known of its noise. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import graph, identity, text
from .mma import best_mma
from .model import BURST, LASTING, SUSTAINED, Book, Column, Number, name_in, of_state
from .roofs import best_read, datasheet

KINDS = {"bf16": "bf16", "e4m3": "fp8"}  # of operands: as the file has it, as people say it
L2_LATENCIES = ("memory/l2_near/latency", "memory/l2/latency")
NO_DATASHEET = "no datasheet figure"
WHOLE_BOARD = "whole board, idle included"  # what a pJ here is of


@dataclass
class Headline:
    """One of the six: figures of one unit, what the datasheet has instead, and how far it can be trusted."""

    label: str
    values: list[str]
    unit: str
    numbers: list[Number] = field(default_factory=list)
    scale: float = 1.0  # of a number to be in `unit`
    sheet: str = NO_DATASHEET
    share: float | None = None  # of the datasheet's figure
    remark: str = ""
    elsewhere: str = ""  # how far processes differ in another run, where this one has one process

    @property
    def anchor(self) -> str:
        return self.numbers[0].anchor

    @property
    def noise(self) -> str:
        """ "826 to 834 in 6 processes", or "±0.9 in one process"."""
        found = [_noise(n, self.scale) for n in self.numbers]
        ends = " / ".join(said for said, _ in found if said)
        return f"{ends} {found[0][1]}" if ends else ""


def _noise(n: Number, scale: float) -> tuple[str, str]:
    """(interval or range, of how many processes)."""
    if len(n.processes) > 1:
        low, high = (scale * end(n.processes) for end in (min, max))
        narrow = 5 * (high - low) or None  # to one digit of how far they differ
        ends = f"{text.number(low, narrow)} to {text.number(high, narrow)}" if narrow else text.number(low)
        return ends, f"in {len(n.processes)} processes"
    if n.low is None or n.high is None:
        return "", ""
    return text.plus_minus(scale * n.value, scale * n.low, scale * n.high), "in one process"


def headlines(book: Book, column: Column, repeated: tuple[Book, Column] | None = None) -> list[Headline]:
    """Those of the six that the run measured; `repeated` is another whose cases ran in several processes."""
    found = _headlines(book, column)
    if repeated is None:
        return found
    own, other = (identity.gpu_id(c.run) for c in (column, repeated[1]))
    where = "another run of this GPU" if own and own == other else f"another {identity.short_name(column.run)}"
    ranges = {h.label: h.noise for h in _headlines(*repeated) if any(len(n.processes) > 1 for n in h.numbers)}
    for one in found:
        if one.label in ranges and not any(len(n.processes) > 1 for n in one.numbers):
            one.elsewhere = f"{where}: {ranges[one.label]}"
    return found


def _headlines(book: Book, column: Column) -> list[Headline]:
    made = [
        *(_throughput(book, column, kind) for kind in KINDS),
        _memory(book, column),
        _latencies(book, column),
        _launch(book, column),
        _energy(book, column),
    ]
    return [headline for headline in made if headline]


def shown(n: Number, scale: float = 1.0) -> str:
    """Three or four digits: a headline is not a table."""
    value = scale * n.value
    return text.number(round(value)) if value >= 1000 else f"{value:#.3g}".rstrip(".")


def _best(book: Book, column: Column, kind: str) -> tuple[str, str, Number] | None:
    """(state, measurement, throughput) of the fastest dense MMA of a type, under lasting load where that was measured."""
    for state in (LASTING, BURST):
        if found := best_mma(book, "tflops", column.index, state).get(kind):
            row, number = found
            return state, name_in(row, state), number
    return None


def _throughput(book: Book, column: Column, kind: str) -> Headline | None:
    found = _best(book, column, kind)
    if not found:
        return None
    state, name, n = found
    made = Headline(f"{KINDS[kind]} math, {state}", [shown(n)], "TFLOP/s", [n])
    if sheet := datasheet(book, column, rf"tensor_core/\w+/{kind}/.*", "tflops"):
        made.sheet, made.share = f"datasheet {text.number(round(sheet))}", n.value / sheet
    m = book.measurement(column, name)
    clock, watts = (m.conditions.get(key) for key in ("sm_clock_mhz", "power_w")) if m else (None, None)
    said = [f"{clock:.0f}{text.THIN}MHz" if clock else "", f"{watts:.0f}{text.THIN}W" if watts else ""]
    made.remark = " and ".join(filter(None, said))
    made.remark = f"at {made.remark}" if made.remark else ""
    return made


def _memory(book: Book, column: Column) -> Headline | None:
    found = best_read(book, column, BURST)
    if not found:
        return None
    _, n = found
    made = Headline("Reading memory", [shown(n, 1e-3)], "TB/s", [n], 1e-3)
    if sheet := datasheet(book, column, r"memory/hbm/read", "bandwidth_gb_per_s"):
        made.sheet, made.share = f"datasheet {text.number(sheet * 1e-3)}", n.value / sheet
    return made


def number_of(book: Book, column: Column, name: str, metric: str) -> Number | None:
    row = book.row(name, metric)
    return row.numbers[column.index] if row else None


def _latencies(book: Book, column: Column) -> Headline | None:
    memory = number_of(book, column, "memory/dram/latency", "latency_ns")
    l2 = next((n for name in L2_LATENCIES if (n := number_of(book, column, name, "latency_ns"))), None)
    labelled = [(label, n) for label, n in (("memory", memory), ("L2", l2)) if n]
    if not labelled:
        return None
    label = " / ".join(label for label, _ in labelled)
    made = Headline(f"Latency, {label}", [shown(n) for _, n in labelled], "ns", [n for _, n in labelled])
    far = number_of(book, column, "memory/l2_far/latency", "latency_ns")
    if l2 and far:
        made.remark = f"far L2 {shown(far)}{text.THIN}ns"
    return made


def _launch(book: Book, column: Column) -> Headline | None:
    n = number_of(book, column, "launch/empty/stream", "time_us")
    if not n:
        return None
    # One after another they take as long as the CPU takes to launch them; the GPU begins the next sooner if it is there.
    made = Headline("Launch of a kernel, CPU", [shown(n)], text.unit("us"), [n])
    if on_the_gpu := number_of(book, column, "launch/empty/stream", "interval_us"):
        made.remark = f"on the GPU {shown(on_the_gpu)}{text.THIN}{made.unit} from one to the next; "
    if both := graph.two_times(book, column):
        made.remark += f"in a graph {shown(both[0])} or {shown(both[1])}{text.THIN}{made.unit}, not explained"
    elif node := number_of(book, column, "launch/empty/graph", "time_us"):
        made.remark += f"in a graph {shown(node)}{text.THIN}{made.unit}"
    made.remark = made.remark.removesuffix("; ")
    return made


def _energy(book: Book, column: Column) -> Headline | None:
    """What the whole board takes for an operation of bf16; the datasheet's is its power over its throughput."""
    found = _best(book, column, "bf16")
    if not found:
        return None
    state, name, _ = found
    rows = (book.row(of_case, "energy_pj_per_flop") for of_case in (name, name.removesuffix(SUSTAINED)))
    n = next((n for row in rows if row and (n := of_state(row, column.index, state))), None)
    if not n:
        return None
    made = Headline("Energy of a bf16 FLOP", [shown(n)], "pJ", [n], remark=WHOLE_BOARD)
    sheet = datasheet(book, column, r"tensor_core/\w+/bf16/.*", "tflops")
    watts = (column.run.gpu or {}).get("power_limit_default_w") or (column.run.gpu or {}).get("power_limit_w")
    if sheet and watts:
        made.sheet = f"datasheet {watts / sheet:.2f}, from its watts and its FLOP/s"
        made.remark += f", {text.deviation(n.value, watts / sheet)}"
    return made
