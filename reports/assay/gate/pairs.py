# SPDX-License-Identifier: Apache-2.0
"""Which pairs of processes may be compared, where repetition k of both sides ran back to back on one GPU.

What held both processes of a pair back alike is a condition of the pair, and its ratio still tells their difference.
What held back one of them would be taken for a difference of the code: the pair is dropped. But a power limit that
one side reaches in every pair, and the other in none, is reached because of that side's own code, for the order of
the processes is random: it is what is to be judged. And a power limit that one side met without another clock held
nothing back: its reason is given as soon as one poll sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.files import Measurement

POWER_CAP = "sw_power_cap"
SAME_CLOCK = 0.01  # less than what counts as slower, and it averages out over the pairs


@dataclass
class Kept:
    """Repetitions to compare, and what is to be said of the others."""

    pairs: list[int]
    dropped: int = 0
    shared: int = 0  # of them, those beside another process on the GPU
    notes: list[str] = field(default_factory=list)


def reasons(m: Measurement, ignored: frozenset[str]) -> frozenset[str]:
    return frozenset(m.conditions.get("throttle") or []) - ignored


def _same_clock(ours: Measurement, theirs: Measurement) -> bool:
    clocks = [m.conditions.get("sm_clock_mhz") for m in (ours, theirs)]
    return all(isinstance(c, (int, float)) and c > 0 for c in clocks) and abs(clocks[1] / clocks[0] - 1) < SAME_CLOCK


def keep(before: dict[int, Measurement], after: dict[int, Measurement], ignored: frozenset[str], is_shared) -> Kept:
    """Pairs that both sides have and that may be compared; `ignored` reasons do not touch what is measured."""
    common = sorted(before.keys() & after.keys())
    kept = Kept([])
    own: set[str] = set()
    for reason in (POWER_CAP,):
        sides = [[reason in reasons(side[k], ignored) for k in common] for side in (before, after)]
        for which, mine, other in (("base", *sides), ("candidate", *reversed(sides))):
            if common and all(mine) and not any(other):
                own.add(reason)
                kept.notes.append(f"only the {which} reaches the power limit")
    both: set[str] = set()
    idle = frozenset({POWER_CAP})
    one_sided: set[str] = set()
    for k in common:
        ours, theirs = (reasons(side[k], ignored) for side in (before, after))
        if is_shared(before[k]) or is_shared(after[k]):
            kept.shared += 1
        elif uneven := (ours ^ theirs) - own - (idle if _same_clock(before[k], after[k]) else frozenset()):
            one_sided |= uneven
        else:
            both |= ours & theirs
            kept.pairs.append(k)
    kept.dropped = len(before.keys() | after.keys()) - len(kept.pairs)
    missing = kept.dropped - kept.shared
    if kept.shared:
        kept.notes.append(f"another process used the GPU in {_pairs(kept.shared)}")
    if one_sided:
        kept.notes.append(f"{_pairs(missing)} dropped: {', '.join(sorted(one_sided))} on one side only")
    elif missing:
        kept.notes.append(f"{_pairs(missing)} dropped: no result on one side")
    if both:
        kept.notes.append(f"both sides under {', '.join(sorted(both))}")
    return kept


def _pairs(count: int) -> str:
    return f"{count} pair{'' if count == 1 else 's'}"
