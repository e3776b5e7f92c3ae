# SPDX-License-Identifier: Apache-2.0
"""Two changes that save one thing and cost another, planted at the power limit: each must be named as what it is.

The same loop of matrix products draws twice the power on normal random numbers that it draws on ones. With 3% more
work planted on the ones, going from them to the random numbers saves cycles and costs power, and is slower; going back
costs cycles and saves power, and is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.files import Run
from assay.gate.ab.side import Asked, Kind, Side
from assay.gate.compare import compare
from assay.gate.result import Comparison, Rules, Verdict
from assay.gate.self_test.trial import EXTRA

NAME = "tensor_core/power/bf16"  # what both are called when they are compared
THRIFTY, HUNGRY = (f"{NAME}/ones", 3), (f"{NAME}/normal", 0)


@dataclass(frozen=True)
class Planted:
    """What was planted, and what the gate said of it."""

    change: str
    verdict: Verdict
    cause: str  # how it must begin
    comparison: Comparison

    @property
    def is_named(self) -> bool:
        return self.comparison.verdict is self.verdict and self.comparison.cause.startswith(self.cause)


def sides(words: Sequence[str], options: Sequence[str]) -> list[Side]:
    """The thrifty one and the hungry one."""
    made = []
    for label, (case, extra) in (("thrifty", THRIFTY), ("hungry", HUNGRY)):
        asked = Asked(f"^{case}$", options=(*options, EXTRA, str(extra)))
        made.append(Side(label, list(words), Kind.ASSAY, asked, renamed={case: NAME}))
    return made


def judge(thrifty: Run, hungry: Run, rules: Rules) -> list[Planted]:
    """Both directions."""
    directions = (
        ("fewer cycles, more power", Verdict.SLOWER, "fewer cycles but more power, hence slower", thrifty, hungry),
        ("more cycles, less power", Verdict.FASTER, "more cycles but less power, hence faster", hungry, thrifty),
    )
    return [
        Planted(change, verdict, cause, c)
        for change, verdict, cause, base, candidate in directions
        for c in compare(base, candidate, rules).comparisons
    ]
