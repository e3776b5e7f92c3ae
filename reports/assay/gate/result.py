# SPDX-License-Identifier: Apache-2.0
"""What the gate finds: rules, verdicts, comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

from assay.gate.policy import Policy
from assay.statistics import Interval, LogRatio

# One-sided level: a two-sided 95% interval leaves 2.5% on each side.
ALPHA = 0.025
# What a run has no figure of though it should, in words. What it skipped it never could measure.
LOST = {"failed": "failed", "not_run": "was not run"}
LARGEST_LOG = 700.0  # of a ratio that a double holds


class Verdict(str, Enum):
    """Worst first; the order of every listing."""

    SLOWER = "slower"
    MISSING = "missing"
    UNKNOWN = "unknown"
    UNFIT = "unfit"
    INCONCLUSIVE = "inconclusive"
    FASTER = "faster"
    EQUIVALENT = "equivalent"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Rules:
    """What counts as slower. Fractions, not percent."""

    threshold: float = 0.02
    latency_threshold: float = 0.01
    latency_cycles: float = 1.0
    process_floor: float = 0.005
    unfit_share: float = 0.20
    unseen: float = 0.10
    correction: str = "holm"
    name: str | None = None
    metric: str | None = None
    policy: Policy = Policy()  # thresholds by case and metric, before those above
    paired: bool = False  # repetition k of both sides ran back to back on one GPU (`assay ab`)
    identity: bool = True  # identical code is unchanged, whatever was measured
    allow_other_gpu: bool = False
    fewest_pairs: int = 6  # of a paired comparison: fewer cannot reach 5% in a sign test


@dataclass
class Comparison:
    """One metric of one case, in both runs."""

    name: str
    kind: str
    metric: str = ""
    unit: str = ""
    better: str = "lower"
    clock_domain: str = ""
    base: float | None = None
    candidate: float | None = None
    ratio: Interval | None = None
    log_ratio: LogRatio | None = None  # what it is made from
    threshold: float = 0.0
    unseen: float = 0.0  # a slowdown that may not stay unseen, as a fraction
    shared: bool = False  # another process used the GPU
    method: str = ""
    processes: int = 0
    p_slower: float | None = None
    p_faster: float | None = None
    level: float = ALPHA  # one-sided, that its p-value has to pass if it alone of all cases is slower
    gated: bool = True
    # Of paired comparisons where they are known: candidate over base, of one unit of work.
    cycles: Interval | None = None
    joules: Interval | None = None
    cycles_log_ratio: LogRatio | None = None  # where cycles had a say beside time
    watts: Interval | None = None
    clock: Interval | None = None  # the SM clock
    limited: bool = False  # the power limit held the slower side back
    cause: str = ""  # of a change, in a sentence
    dropped: int = 0  # pairs
    unconfirmed: bool = False  # slower at first, and without a figure in the confirmation
    verdict: Verdict = Verdict.INCONCLUSIVE
    note: str = ""

    @property
    def smallest_detectable(self) -> float | None:
        """The slowdown (a fraction) that this noise could still have proven, if only this case were slower.

        By the level that all cases together leave to the first of them, so it grows with their number.
        """
        heard = [r for r in (self.log_ratio, self.cycles_log_ratio) if r is not None]
        least = min((r.quantile(1 - self.level / len(heard)) * r.standard_error for r in heard), default=math.inf)
        return (1 + self.threshold) * math.exp(least) - 1 if least < LARGEST_LOG else None

    @property
    def may_hide(self) -> float:
        """The slowdown (a fraction) that this case may have without being called slower, if it is more than `unseen`.

        A wide interval, and a figure that is not judged at all, must not pass for "nothing is slower".
        """
        if self.verdict not in (Verdict.UNFIT, Verdict.INCONCLUSIVE, Verdict.EQUIVALENT):
            return 0.0
        highest = math.inf if self.verdict is Verdict.INCONCLUSIVE else 0.0
        if self.ratio is not None:
            highest = self.ratio.high
        elif self.base and self.candidate and min(self.base, self.candidate) > 0:
            cost = self.candidate / self.base
            highest = cost if self.better == "lower" else 1 / cost
        return highest - 1 if self.unconfirmed or highest > 1 + self.unseen else 0.0


@dataclass
class Result:
    """All verdicts, worst first, and what they mean together."""

    comparisons: list[Comparison]
    new: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def sort(self) -> None:
        """Worst first."""
        order = list(Verdict)
        self.comparisons.sort(
            key=lambda c: (not c.gated, order.index(c.verdict), -(c.ratio.value if c.ratio else 0), c.name)
        )

    def of(self, *verdicts: Verdict) -> list[Comparison]:
        return [c for c in self.comparisons if c.gated and c.verdict in verdicts]

    @property
    def compared(self) -> list[Comparison]:
        """Gated cases that have a result on both sides."""
        return [c for c in self.comparisons if c.gated and c.verdict not in (Verdict.MISSING, Verdict.UNKNOWN)]

    def machine_unfit(self, share: float) -> bool:
        return len(self.of(Verdict.UNFIT)) > share * len(self.compared)
