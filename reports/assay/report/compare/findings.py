# SPDX-License-Identifier: Apache-2.0
"""Many figures of one cause as one finding, and the order of findings. Pure.

The rule. A figure differs if it does so by more than 0.5 % and by more than its noise. Of a case only figures of one
kind count: per clock where the SM clock paces it, else per second; the others say the same times a clock. What a known
cause explains is one finding a cause. Of the rest, each family's figures that move alike are one: alike in ratio, or by
as many cycles, since what makes a fence longer makes a barrier longer that holds one. A finding is told by the figure
that most others move like. Findings rank by the effect that known causes leave, beyond what stored runs are apart
anyway: per clock first, since figures per second and per watt follow the clock and the chip; those that a cause explains
come behind. Those whose figures have no interval come last: they may be noise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from . import causes
from .figures import AMOUNT, HOST_PACED, KINDS, PER_CLOCK, PER_SECOND, PER_WATT, Figure

SAME_RATIO = 0.03  # logarithms of effects this close move alike
SAME_CYCLES = 0.15  # and cycles more or fewer, as a share of each other
WEIGHTS = {PER_CLOCK: 1.0, PER_SECOND: 0.5, PER_WATT: 0.25, AMOUNT: 0.1}
EXPLAINED = 0.2  # what is left of the weight of a finding with a known cause
NOT_OF_GPU = 0.02  # and where the cause is the host, or another build: it says nothing of the GPU
ALONE = 0.5  # and of a case that no other moves like: it may be an accident of its process
NOT_BY_SM = ("dram", *HOST_PACED)  # domains of cases that SM clocks do not pace


@dataclass(eq=False)
class Finding:
    """Figures that differ for one cause, known or not: `lead` tells it, those `alike` move as it does."""

    cause: str | None
    lead: Figure
    alike: list[Figure]
    figures: list[Figure]

    @property
    def kind(self) -> str:
        return self.lead.kind

    @cached_property
    def score(self) -> float:
        known = NOT_OF_GPU if self.cause in (causes.HOST, causes.BUILD) else EXPLAINED
        left = causes.rest(self.lead) - self.lead.swing if self.cause is None else self.lead.effect * known
        alone = len({figure.name for figure in self.figures}) == 1
        return left * WEIGHTS[self.kind] * (ALONE if alone else 1)

    @cached_property
    def families(self) -> list[str]:
        return list(dict.fromkeys(figure.family for figure in self.figures))


def _moves_like(a: Figure, b: Figure) -> bool:
    if not a.sides_with(b):
        return False
    if abs(a.effect - b.effect) <= SAME_RATIO:
        return True
    if not (a.unit == b.unit == "cycle"):
        return False
    more, other = (f.ends[1].number.value - f.ends[0].number.value for f in (a, b))
    return abs(more - other) <= SAME_CYCLES * max(more, other)


def _near(figures: list[Figure], lead: Figure) -> list[Figure]:
    return [f for f in figures if f.sides_with(lead) and abs(f.effect - lead.effect) <= SAME_RATIO / 3]


def _lead(figures: list[Figure]) -> Figure:
    """Of those that most others have the ratio of, weighed by how large it is: the headline of a case with an interval
    and a short name."""
    sure = [f for f in figures if f.sure] or figures
    middle = max(sure, key=lambda f: len(_near(sure, f)) * f.effect)
    return min(_near(sure, middle), key=lambda f: (not f.primary, f.name.count("/"), len(f.name), f.name))


def _finding(cause: str | None, figures: list[Figure]) -> Finding:
    lead = _lead(figures)
    return Finding(cause, lead, [f for f in _near(figures, lead) if f.kind == lead.kind], figures)


def _unexplained(figures: list[Figure]) -> Iterable[Finding]:
    """One finding after another: the lead, what moves like it, and the rest of their probes."""
    left = figures
    while left:
        lead = _lead(left)
        probes = {f.probe for f in left if f is lead or _moves_like(f, lead)}
        taken = [f for f in left if f.probe in probes and f.sides_with(lead)]
        yield _finding(None, taken)
        left = [f for f in left if f not in taken]


def of_one_kind(figures: list[Figure]) -> list[Figure]:
    """Those that differ, without what others of their case say already, in another unit."""
    per_second = {(f.name, f.state) for f in figures if f.kind == PER_SECOND}
    per_clock = {(f.name, f.state) for f in figures if f.kind == PER_CLOCK and f.differs}

    def said_otherwise(f: Figure) -> bool:
        if f.domain in NOT_BY_SM:
            return f.kind == PER_CLOCK and (f.name, f.state) in per_second
        return f.kind == PER_SECOND and (f.name, f.state) in per_clock

    return [f for f in figures if f.differs and not said_otherwise(f)]


def findings(figures: list[Figure]) -> list[Finding]:
    """All findings, the most telling first."""
    explained: dict[str, list[Figure]] = {}
    unexplained: dict[tuple[str, str], list[Figure]] = {}
    for figure in of_one_kind(figures):
        if cause := causes.cause_of(figure):
            explained.setdefault(cause, []).append(figure)
        else:
            unexplained.setdefault((figure.kind, figure.family), []).append(figure)
    found = [_finding(cause, of_cause) for cause, of_cause in explained.items()]
    for of_family in unexplained.values():
        found += _unexplained(of_family)
    return sorted(found, key=lambda f: (not f.lead.sure, -f.score, KINDS.index(f.kind), f.lead.name))
