# SPDX-License-Identifier: Apache-2.0
"""What is known to make figures differ: the SM clock, the memory, L2, the host, the build that measured. Pure.

A cause is known where a fact of the machines differs by a ratio, and a figure that this fact paces differs by no more
than that ratio lets it. Which clock paces a case its probe says (`clock_domain`); of a latency its name says where it
goes. What is beyond the reach of a cause is not explained by it. Where one build told two things apart and another did
not, their figures are of different things, whatever the machines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..book import identity, roofs, text
from .figures import HOST_PACED, PER_SECOND, PER_WATT, Figure, Value
from .subjects import Subject

SLACK = 0.1  # in logarithms: how far a figure may go beyond the ratio of the fact that paces it
# A working set that fits one cache and not the other differs by the ratio of a hit to a miss, not of the sizes; one that
# fits both, by the ratio of their slices alone.
CAPACITY_REACH = 2.0
WORKING_SET = ("array_bytes", "footprint_bytes", "streamed_bytes")  # parameters that it is the sum of


Fact = Callable[[Subject], float | None]


@dataclass(frozen=True)
class Cause:
    """Why figures differ: a key to group by, its name, and the fact behind it."""

    key: str
    name: str
    fact: str  # a sentence without its full stop, or ""


def _known(subject: Subject, key: str) -> float | None:
    """A fact of its GPU that is a number; other programs may write others."""
    value = subject.gpu.get(key)
    return value if type(value) in (int, float) and 0 < value < math.inf else None


def _pins(subject: Subject) -> float | None:
    return roofs.pins(subject.gpu)


def _l2(subject: Subject) -> float | None:
    return _known(subject, "l2_bytes")


def _fact(subjects: list[Subject], of: Fact, form: Callable[[float], str], what: str) -> str:
    by_value: dict[str, list[str]] = {}
    for subject in subjects:
        if value := of(subject):
            by_value.setdefault(form(value), []).append(subject.short)
    said = [f"{value} on {' and '.join(shorts)}" for value, shorts in by_value.items()]
    return f"{what} {', '.join(said)}"


MEMORY, L2, CLOCK, POWER, HOST, BUILD = "memory", "L2", "clock", "power", "host", "build"
SAYS_MEMORY, SAYS_L2 = (re.compile(rf"(?:^|[/_])(?:{words})(?=$|[/_])") for words in ("dram|hbm", "l2|l15|far|near"))
PATH_OF_MEMORY = ("memory", "tma", "link")


def causes(subjects: list[Subject]) -> dict[str, Cause]:
    """All causes that the machines may differ by, with their facts."""
    bandwidth = _fact(subjects, _pins, lambda v: f"{text.number(round(v))} GB/s", "by bus and clock it moves")
    size = _fact(subjects, _l2, text.size, "it holds")
    return {
        MEMORY: Cause(MEMORY, "the memory", bandwidth),
        L2: Cause(L2, "L2", size),
        CLOCK: Cause(CLOCK, "the SM clock", "figures per clock of these cases agree"),
        POWER: Cause(POWER, "power", "what the same work draws differs with the chip, its memory and its temperature"),
        HOST: Cause(HOST, "the host and its link", "such figures differ from one process to the next as well"),
        BUILD: Cause(BUILD, "another build", ""),
    }


def _ratio(figure: Figure, of: Fact) -> float | None:
    """The logarithm of the fact at the larger figure over that at the smaller one."""
    low, high = (of(v.subject) for v in figure.ends)
    return math.log(high / low) if low and high else None


def _reached(figure: Figure, of: Fact, reach: float = 1.0) -> bool:
    """Whether the fact differs, and by enough; a rate grows with it, a latency may go either way."""
    ratio = _ratio(figure, of)
    if ratio is None or ratio == 0:
        return False
    within = figure.effect <= reach * abs(ratio) + SLACK
    return within and (figure.is_time or ratio > 0)


def _clock_ratio(figure: Figure) -> float | None:
    """What the SM clock alone would make of the figure per second."""
    low, high = (v.clock for v in figure.ends)
    if not low or not high:
        return None
    return math.log(high / low) * (-1 if figure.is_time else 1)


def rest(figure: Figure) -> float:
    """The effect when the SM clock is taken out of a figure per second that it paces."""
    if figure.kind != PER_SECOND or figure.domain in ("dram", *HOST_PACED):
        return figure.effect
    return min(figure.effect, abs(figure.effect - (_clock_ratio(figure) or 0.0)))


def _fits_both(figure: Figure) -> bool:
    """Whether it is known that the working set fits the L2 of either end."""

    def fits(v: Value) -> bool:
        params = v.measurement.params if v.measurement else {}
        sizes = [size for key in WORKING_SET if type(size := params.get(key)) is int]
        return bool(sizes) and sum(sizes) <= (_l2(v.subject) or 0)

    return all(fits(v) for v in figure.ends)


def not_told_apart(figure: Figure) -> tuple[Value, Value, str] | None:
    """(an end, the other, a metric): the one was measured by a build that did not tell the metric from the figure's own, as
    the other's does. "far_latency_cycles" is apart from "latency_cycles"."""
    ends = figure.ends
    commits = {identity.commit_of(v.column.run) for v in ends}
    if len(commits) < 2 or "" in commits:
        return None
    for end, other in (ends, ends[::-1]):
        if end.measurement and other.measurement:
            more = other.measurement.metrics.keys() - end.measurement.metrics.keys()
            apart = sorted(metric for metric in more if metric.endswith(f"_{figure.metric}"))
            if apart:
                return end, other, apart[0]
    return None


def cause_of(figure: Figure) -> str | None:
    """The key of the cause that explains the figure; none is known of what is beyond all their reach."""
    if figure.domain in HOST_PACED or figure.family == "host":
        return HOST
    if not_told_apart(figure):
        return BUILD
    if figure.kind == PER_WATT:
        return POWER
    if figure.family in PATH_OF_MEMORY or figure.domain in ("dram", "l2"):
        said = f"{figure.name}/{figure.metric}"
        if (figure.domain == "dram" or SAYS_MEMORY.search(said)) and _reached(figure, _pins):
            return MEMORY
        reach = 1.0 if _fits_both(figure) else CAPACITY_REACH
        if (figure.domain == "l2" or SAYS_L2.search(said)) and _reached(figure, _l2, reach):
            return L2
    if figure.kind == PER_SECOND and rest(figure) <= max(figure.noise, 0.02):
        return CLOCK
    return None
