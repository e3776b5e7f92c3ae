# SPDX-License-Identifier: Apache-2.0
"""The machine as a chain of levels and units, each with what was measured of it: what diagram and staircase show. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from . import operands, text
from .headline import KINDS, L2_LATENCIES, number_of
from .mma import best_mma
from .model import BURST, Book, Column, Number
from .roofs import best_l2_read, best_read

RATE, BANDWIDTH, CYCLES, NS = "bytes_per_clock_per_sm", "bandwidth_gb_per_s", "latency_cycles", "latency_ns"


@dataclass
class Level:
    """A place that data comes from: how much of it a second or a clock, how long until the first of it."""

    key: str  # names its colour
    name: str
    bandwidth: Number | None = None  # GB/s, of the whole GPU
    rate: Number | None = None  # B/clk/SM
    latency: Number | None = None  # ns
    cycles: Number | None = None
    far_cycles: Number | None = None  # of the far partition

    def __bool__(self) -> bool:
        return bool(self.bandwidth or self.rate or self.latency or self.cycles)


def levels(book: Book, column: Column) -> list[Level]:
    """From the nearest on, those that were measured."""

    def of(case: str, metric: str) -> Number | None:
        return number_of(book, column, f"memory/{case}", metric)

    def latencies(case: str) -> dict[str, Number | None]:
        return {"latency": of(case, NS), "cycles": of(case, CYCLES)}

    # By address, as all others are chased: by index there is an instruction more in each step.
    shared = latencies("shared/latency/address")
    near = next((case for name in L2_LATENCIES if of(case := name.removeprefix("memory/"), CYCLES)), "l2/latency")
    best = best_read(book, column, BURST)
    read = best[0].name.removeprefix("memory/") if best else "hbm/read"
    l2_row, l2_bandwidth = best_l2_read(book, column) or (None, None)
    l2_rate = number_of(book, column, l2_row.name, RATE) if l2_row else None  # of the same way to read, or none
    found = [
        Level("shared", "shared", of("shared/read", BANDWIDTH), of("shared/read", RATE), **shared),
        Level("l1", "L1", of("l1/read", BANDWIDTH), of("l1/read", RATE), **latencies("l1/latency")),
        Level(
            *("l2", "L2", l2_bandwidth, l2_rate),
            **latencies(near),
            far_cycles=of("l2_far/latency", CYCLES),
        ),
        Level("memory", "memory", of(read, BANDWIDTH), of(read, RATE), **latencies("dram/latency")),
        _link(book, column, "peer", "other GPU", [r"link/peer/(read|write)/\w+"], r"link/peer/latency/load"),
        _link(book, column, "host", "host", HOST_COPIES, r"link/zero_copy/latency"),
    ]
    return [level for level in found if level]


# What the page of links gives for pinned memory: the sweep over sizes, and single sizes where none was swept.
HOST_COPIES = [r"link/(h2d|d2h)/sizes/pinned", r"link/(h2d|d2h)/pinned/\d+"]


def _link(book: Book, column: Column, key: str, name: str, widths: list[str], latency: str) -> Level:
    """The fastest of the copies, one way, of the first kind that was measured."""
    waits = [n for row in book.find(latency, NS) if (n := row.numbers[column.index])]
    kinds = ([n for row in book.find(of, BANDWIDTH) if (n := row.numbers[column.index])] for of in widths)
    best = max(next(filter(None, kinds), []), key=lambda n: n.value, default=None)
    return Level(key, name, best, latency=waits[0] if waits else None)


@dataclass
class Unit:
    """A kind of execution unit of an SM: operations per clock, each line with its type."""

    name: str
    lines: list[tuple[str, Number]]  # (what is counted, rate)
    operands: str = ""  # of which the rate is, where others are slower


UNITS = ("FP32", "INT32", "FP64", "MUFU")
MULTIPLY_ADDS = {"FP32": "FFMA", "FP64": "DFMA"}  # whose rate depends on how operands are read: the best is the unit's
PIPES = {
    "INT32": (
        ("add", ("sass/iadd3/s32", "ops_per_clock_per_sm")),
        ("IMAD", ("sass/imad/s32", "ops_per_clock_per_sm")),
    ),
    "MUFU": (("exp2", ("special_function/ex2/f32", "ops_per_clock_per_sm")),),
}


def units(book: Book, column: Column) -> list[Unit]:
    fastest = best_mma(book, "flop_per_clock_per_sm", column.index)
    found = [Unit("tensor", [(KINDS[kind], fastest[kind][1]) for kind in KINDS if kind in fastest])]
    for name in UNITS:
        if name in MULTIPLY_ADDS:
            best = operands.best(book, column, MULTIPLY_ADDS[name])
            found.append(Unit(name, [("FMA", best[1])] if best else [], best[0] if best else ""))
        else:
            rates = ((what, number_of(book, column, *figure)) for what, figure in PIPES[name])
            found.append(Unit(name, [(what, n) for what, n in rates if n]))
    return [unit for unit in found if unit.lines]


def other_sms(book: Book, column: Column) -> tuple[Number | None, Number | None]:
    """(B/clk/SM, cycles) of the shared memory of another SM, in clusters of two."""

    def of(case: str, metric: str) -> Number | None:
        return number_of(book, column, f"memory/distributed_shared/{case}", f"{metric}_of_2")

    return of("read", RATE), of("load_latency", CYCLES)


def size_of(column: Column, key: str) -> str:
    """ "60 MiB": a size that the environment states; "" where it does not."""
    found = (column.run.gpu or {}).get(key)
    return text.size(found) if found else ""


def size_of_registers(column: Column) -> str:
    found = (column.run.gpu or {}).get("registers_per_sm")
    return text.size(4 * found) if found else ""
