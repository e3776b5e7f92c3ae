# SPDX-License-Identifier: Apache-2.0
"""The figures that several subjects measured, and which of them differ beyond noise. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from assay.files import Measurement

from ..book import model
from ..book.model import STATES, SUSTAINED, Column, Number, Row
from .stored import Stored
from .subjects import Subject

PER_CLOCK, PER_SECOND, PER_WATT, AMOUNT = "per clock", "per second", "per watt", "counts and shares"
KINDS = (PER_CLOCK, PER_SECOND, PER_WATT, AMOUNT)
SECONDS = ("s", "ms", "us", "ns", "1/s", "1/us", "MHz", "Gop/s", "TFLOP/s", "TOP/s", "GB/s", "GB/s/SM")
TIMES = ("cycle", "cycles", "s", "ms", "us", "ns")
ALIKE = 0.005  # figures this close, in logarithms, agree

# How far two processes on one GPU are apart that measure the same: half of what nine figures of ten stay within, over
# the six processes of results/h200/2026-11-22-quick-processes. A difference below it says nothing.
FLOORS = {PER_CLOCK: 0.0025, PER_SECOND: 0.006, PER_WATT: 0.026, AMOUNT: 0.06}
HOST_FLOOR = 0.15  # the same of what the host paces: launches, links, the CPU itself
BYTES_FLOOR = 0.4  # and of sizes that are read off a curve
HOST_PACED = ("host", "link")  # clock domains


def kind_of(unit: str) -> str:
    if "cycle" in unit or "/clk" in unit:
        return PER_CLOCK
    if unit in SECONDS:
        return PER_SECOND
    return PER_WATT if unit.startswith("pJ") or unit == "W" else AMOUNT


@dataclass(frozen=True)
class Value:
    """What one subject found: the number, and the measurement with its conditions."""

    subject: Subject
    column: Column
    number: Number
    measurement: Measurement | None

    @property
    def clock(self) -> float | None:
        return (self.measurement.conditions if self.measurement else {}).get("sm_clock_mhz")


@dataclass(eq=False)
class Figure:
    """One metric of one case in one state, in every subject that measured it."""

    name: str
    metric: str
    unit: str
    state: str
    primary: bool
    values: list[Value]
    swing: float = 0.0  # in logarithms: how far other stored runs of the GPUs' names are apart

    @cached_property
    def kind(self) -> str:
        return kind_of(self.unit)

    @property
    def family(self) -> str:
        return self.name.split("/")[0]

    @property
    def probe(self) -> str:
        return "/".join(self.name.split("/")[:2])

    @property
    def is_time(self) -> bool:
        return self.unit in TIMES or self.unit.startswith("pJ")

    @cached_property
    def domain(self) -> str:
        """The clock that paces the case, as its probe says."""
        found = (v.measurement.conditions.get("clock_domain") for v in self.values if v.measurement)
        return next((domain for domain in found if domain), "")

    @cached_property
    def ends(self) -> tuple[Value, Value]:
        """The subjects with the smallest and the largest value."""
        order = sorted(self.values, key=lambda v: v.number.value)
        return order[0], order[-1]

    @cached_property
    def effect(self) -> float:
        """The logarithm of the largest value over the smallest."""
        low, high = self.ends
        return math.log(high.number.value) - math.log(low.number.value)

    @cached_property
    def sides(self) -> tuple[frozenset[int], frozenset[int]]:
        """(the subjects nearer to the best value, those nearer to the worst one)."""
        low, high = self.ends
        middle = math.sqrt(low.number.value) * math.sqrt(high.number.value)
        below = frozenset(v.subject.index for v in self.values if v.number.value < middle)
        above = frozenset(v.subject.index for v in self.values) - below
        return (below, above) if self.is_time else (above, below)

    def sides_with(self, other: Figure) -> bool:
        """Whether no subject is among the better ones here and among the worse ones there."""
        return not (self.sides[0] & other.sides[1] or self.sides[1] & other.sides[0])

    @cached_property
    def noise(self) -> float:
        """Half the width of the 95% interval of `effect`: of both figures, and of one process against another; at least
        what other stored runs are apart."""
        host = self.domain in HOST_PACED or (self.kind == PER_SECOND and self.family in ("launch", "collective"))
        floor = HOST_FLOOR if host else BYTES_FLOOR if self.unit in ("B", "byte") else FLOORS[self.kind]
        known = [0.0 if v.number.processes else floor for v in self.values]
        return max(self.swing, math.hypot(*(_half(v.number) for v in self.ends), *sorted(known)[-2:]))

    @property
    def sure(self) -> bool:
        """Whether both ends have an interval: what was counted, or read off a curve, has none of its own."""
        return all(v.number.low is not None and v.number.low < v.number.high for v in self.ends)

    @property
    def agrees(self) -> bool:
        return self.effect <= ALIKE

    @property
    def differs(self) -> bool:
        return self.effect > max(ALIKE, self.noise)


def ratio(effect: float) -> float:
    """Of a logarithm; beyond the largest double some number as large."""
    return math.exp(min(effect, 700))


def _half(n: Number) -> float:
    """The longer side of the interval in logarithms; infinite where it holds nothing."""
    if n.low is None or n.high is None:
        return 0.0
    return (
        math.inf if n.low <= 0 else max(math.log(n.high) - math.log(n.value), math.log(n.value) - math.log(n.low), 0.0)
    )


# A metric that says nothing without another: beyond the TLB's reach alone are there misses. Older files have it anyway.
NEEDS = {"tlb_miss_cycles": "tlb_reach_bytes"}


def _comparable(number: Number, metric: str, measured: Measurement | None) -> bool:
    if (needed := NEEDS.get(metric)) and not (measured and needed in measured.metrics):
        return False
    return 0 < number.value < math.inf and model.SHARED not in number.flags


def calls(measured: Measurement | None) -> str:
    """How a kernel was called under lasting load: of a row, each call may begin while the one before it ends. Where no clock or
    power was read, the load is another one."""
    if measured is None or measured.kind != "kernel" or not measured.name.endswith(SUSTAINED):
        return ""
    called = "in a row" if measured.iterations > 1 else "one by one"
    return called if model.watched(measured) else f"{called}, clock and power not read"


def figures(subjects: list[Subject]) -> list[Figure]:
    """All that at least two subjects measured, and alike, in the order of the first one's book."""
    return parted(subjects)[0]


def parted(subjects: list[Subject], stored: Stored | None = None) -> tuple[list[Figure], int]:
    """The figures, and how many cases are not compared: kernels under lasting load that some called in a row, some not."""
    alike: list[Figure] = []
    apart: set[str] = set()
    compared = {subject.index for subject in subjects}
    for figure in _shared(subjects):
        if len({calls(v.measurement) for v in figure.values}) == 1:
            figure.swing = _swing(figure, stored, compared) if stored else 0.0
            alike.append(figure)
        else:
            apart.add(figure.name)
    return alike, len(apart)


def _swing(figure: Figure, stored: Stored, compared: set[int]) -> float:
    """How far stored runs that are not compared are apart, on GPUs of one name."""
    measured = next((v.measurement for v in figure.values if v.measurement), None)
    return stored.swing(measured, figure.metric, figure.state, compared) if measured else 0.0


def _shared(subjects: list[Subject]) -> list[Figure]:
    order: dict[tuple[str, str], Row] = {}
    for subject in subjects:
        for row in subject.book.rows:
            order.setdefault((row.name, row.metric), row)
    found = []
    for (name, metric), row in order.items():
        rows = [subject.book.row(name, metric) for subject in subjects]
        for state in STATES:
            measured = model.name_in(row, state)
            values = []
            for subject, own in zip(subjects, rows):
                if own and own.unit == row.unit and (at := subject.number(own, state)):
                    of_case = subject.book.measurement(at[0], measured)
                    if _comparable(at[1], metric, of_case):
                        values.append(Value(subject, *at, of_case))
            if len(values) > 1:
                found.append(Figure(measured, metric, row.unit, state, row.primary, values))
    return found


def only_in(subjects: list[Subject]) -> list[int]:
    """How many cases each subject measured that no other did."""
    names = [{m.name for _, m in subject.book.measurements} for subject in subjects]
    return [len(own - set().union(*(other for j, other in enumerate(names) if j != i))) for i, own in enumerate(names)]


def counted(figures: list[Figure], of: Callable[[Figure], bool]) -> tuple[int, int]:
    """(how many of them agree, how many there are)."""
    chosen = [figure for figure in figures if of(figure)]
    return sum(figure.agrees for figure in chosen), len(chosen)


def counted_by_family(figures: list[Figure]) -> dict[tuple[str, str], tuple[int, int]]:
    """The same by kind and family."""
    agreeing: Counter[tuple[str, str]] = Counter()
    every: Counter[tuple[str, str]] = Counter()
    for figure in figures:
        every[figure.kind, figure.family] += 1
        agreeing[figure.kind, figure.family] += figure.agrees
    return {of: (agreeing[of], count) for of, count in every.items()}
