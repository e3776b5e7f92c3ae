# SPDX-License-Identifier: Apache-2.0
"""The table of instructions: every case that times one instruction, what it takes and which pipe runs it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assay.files import Measurement, Series

from .counters import counted
from .identity import gpu_name
from .model import Book, Number

RATES = ("flop_per_clock_per_sm", "ops_per_clock_per_sm")

FAMILIES = re.compile(r"(sass|special_function|tmem|tensor_core/(mma_sync|wgmma|tcgen05))/")
# Cases of these that combine instructions, or ask something else of them.
OTHERS = re.compile(r"(sass/(pipes|operands)|special_function/(overlap\w*|exp2_\w+|imbalance|interference))/")

# What a loop needs to be one: these do not belong to the instruction that is measured.
LOOP_CONTROL = re.compile(r"(BRA|ISETP|UISETP|UIADD3|WARPSYNC|NOP)\b")

PIPE = re.compile(r"sm__inst_executed_pipe_(\w+)\.sum")


@dataclass
class Instruction:
    """One case across the columns, and on the targets it was built for but not run."""

    name: str
    opcodes: list[tuple[str, int]]  # with their counts in the measured loop, most frequent first
    latency: list[Number | None] = field(default_factory=list)
    rate: list[Number | None] = field(default_factory=list)
    rate_unit: str = ""
    interval: list[Number | None] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)  # "8 × 4": warps and chains that reach the peak, per column
    pipes: list[tuple[str, float]] = field(default_factory=list)  # share of the instructions, largest first
    emulated: bool = False
    sweep: Series | None = None
    targets: dict[str, tuple[str, str]] = field(default_factory=dict)  # (mark, words): measured, or built and not run

    @property
    def family(self) -> str:
        """ "tensor_core/wgmma", "sass", ...: what a reader chooses from."""
        parts = self.name.split("/")
        return "/".join(parts[:2]) if parts[0] == "tensor_core" else parts[0]

    @property
    def first_rate(self) -> Number | None:
        return next((n for n in self.rate if n), None)

    @property
    def first_latency(self) -> Number | None:
        return next((n for n in self.latency if n), None)


def is_instruction(name: str) -> bool:
    return bool(FAMILIES.match(name)) and not OTHERS.match(name) and not name.endswith("/sustained")


def opcodes(m: Measurement, most: int = 4) -> list[tuple[str, int]]:
    """The opcodes of the measured loop that make up what is measured: a tenth of the most frequent one, or more."""
    loop = {op: n for op, n in ((m.sass or {}).get("loop") or {}).items() if not LOOP_CONTROL.match(op)}
    least = 0.1 * max(loop.values(), default=0)
    ordered = sorted(loop.items(), key=lambda item: (-item[1], item[0]))
    return [item for item in ordered if item[1] >= least][:most]


def pipes(m: Measurement, least: float = 0.05) -> list[tuple[str, float]]:
    """(pipe, share of the warp instructions it executed), from CUPTI's counters, largest first; [] without counters.

    The loop's own control is left out of the total, and with it a pipe that did little else. A counter whose name
    continues another's ("fmaheavy" beside "fma") counts a part of that pipe and is left out.
    """
    counts = {match[1]: v for key, v in m.counters.items() if (match := PIPE.fullmatch(key)) and v}
    total = m.counters.get("smsp__inst_executed.sum") or 0
    loop = (m.sass or {}).get("loop") or {}
    control = sum(n for op, n in loop.items() if LOOP_CONTROL.match(op))
    if not counts or not total or sum(loop.values()) <= control:
        return []
    total *= 1 - control / sum(loop.values())
    whole = [p for p in counts if not any(p != q and p.startswith(q) for q in counts)]
    shares = [(pipe, min(1.0, counts[pipe] / total)) for pipe in whole if counts[pipe] >= least * total]
    return sorted(shares, key=lambda item: -item[1])


def sweep(m: Measurement) -> Series | None:
    """The rate over chains and warps, where it was swept."""
    return next((s for s in m.series if [a.name for a in s.axes] == ["chains", "warps"]), None)


def mark(m: Measurement) -> tuple[str, str]:
    """(mark, words) for what was built for a target and not run there."""
    sass = m.sass or {}
    if sass.get("emulated") or "emulated" in m.flags:
        return "e", "built and disassembled, not run: other instructions carry it out"
    words = {True: ("✓", "as asked"), False: ("✗", "not what was asked for")}
    sign, word = words.get(sass.get("verified"), ("·", "not checked"))
    return sign, f"built and disassembled, not run: {word}"


def _pipes(book: Book, name: str) -> list[tuple[str, float]]:
    """The pipes by the counters that speak for the first GPU that has some."""
    for kind in dict.fromkeys(gpu_name(column.run) for column in book.columns):
        speaking = counted(book, kind).get(name)
        if speaking and (found := pipes(speaking[1])):
            return found
    return []


def _numbers(book: Book, name: str, metric: str) -> list[Number | None]:
    row = book.row(name, metric)
    return row.numbers if row else [None] * len(book.columns)


def instructions(book: Book) -> list[Instruction]:
    """Every instruction that was measured or built, in the order of the runs, measured ones first."""
    by_name: dict[str, list[Measurement | None]] = {}
    for column, m in book.measurements:
        timed = any(r in m.metrics for r in RATES) or "latency_cycles" in m.metrics
        if is_instruction(m.name) and timed:
            by_name.setdefault(m.name, [None] * len(book.columns))[column.index] = m
    found = [_measured(book, name, ms) for name, ms in by_name.items()]
    for name, by_target in book.not_run.items():
        if not is_instruction(name):
            continue
        row = next((r for r in found if r.name == name), None) if name in by_name else None
        if row is None:
            some = next(iter(by_target.values()))
            row = Instruction(name, opcodes(some))
            row.latency, row.rate, row.interval = ([None] * len(book.columns) for _ in range(3))
            row.shapes = [""] * len(book.columns)
            found.append(row)
        row.targets = {target: mark(m) for target, m in by_target.items()} | row.targets
    return found


def _measured(book: Book, name: str, ms: list[Measurement | None]) -> Instruction:
    here = [m for m in ms if m]
    rate = next((r for r in RATES if any(r in m.metrics for m in here)), RATES[1])
    row = book.row(name, rate)
    return Instruction(
        name,
        opcodes(here[0]),
        _numbers(book, name, "latency_cycles"),
        _numbers(book, name, rate),
        row.unit if row else "",
        _numbers(book, name, "issue_interval_cycles"),
        [
            f"{m.params['warps']} × {m.params['chains']}" if m and {"warps", "chains"} <= m.params.keys() else ""
            for m in ms
        ],
        _pipes(book, name),
        any((m.sass or {}).get("emulated") or "emulated" in m.flags for m in here),
        next((s for m in here if (s := sweep(m))), None),
        {m.sass["target"]: ("●", "measured") for m in here if m.sass and "target" in m.sass},
    )
