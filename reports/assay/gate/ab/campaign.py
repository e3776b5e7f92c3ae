# SPDX-License-Identifier: Apache-2.0
"""Sides that take turns, process by process.

The process is the unit: what differs from one to the next, such as where its memory lies, is not seen inside of one.
Every two rounds are a block: all sides in an order that is drawn, and then once more in the reverse order. Of two
sides that is ABBA or BAAB, in which each stands early and late equally often, so that what changes slowly, such as
temperature, clock and power, is the same for both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.files import Run, RunFileError
from assay.gate import foreign
from assay.gate.ab.side import CannotMeasure, Side
from assay.gate.result import Rules
from assay.gate.sides import check_machines, is_shared

Progress = Callable[[str], None]
Keep = Callable[[list[Run]], None]  # gets the runs as far as they are, after every block


@dataclass(frozen=True)
class Plan:
    """How many processes, in what order."""

    rounds: int = 8  # processes of each side
    warm_up: int = 1  # rounds before them, whose figures are not used; more while the GPU still gets warmer
    seed: int = 1


def turns(sides: int, rounds: int, seed: int) -> list[list[int]]:
    """For each round the order of the sides."""
    draw = random.Random(seed)
    orders: list[list[int]] = []
    while len(orders) < rounds:
        order = draw.sample(range(sides), sides)
        orders += [order, order[::-1]]
    return orders[:rounds]


MOST_WARM_UP = 4  # rounds more than were asked for
STEADY = 2.0  # degrees that a GPU may get warmer from round to round
SHARED = Rules().unfit_share  # of the rounds: beside another process in more of them, nothing could be judged


def _temperature(runs: Sequence[Run]) -> float | None:
    found = [m.conditions.get("temperature_c") for run in runs for m in run.measurements]
    return max((t for t in found if isinstance(t, (int, float))), default=None)


def _is_beside_another(runs: Sequence[Run]) -> bool:
    """Whether all that was measured was so beside another process."""
    measured = [m for run in runs for m in run.measurements if m.ok]
    return bool(measured) and all(is_shared(m) for m in measured)


def _warm_up(sides: Sequence[Side], plan: Plan, names: Sequence[str] | None, progress: Progress) -> None:
    """Rounds that count for nothing, until the GPU is as warm as it gets: those that were asked for of all programs,
    which are on disk and in caches then, further ones of one side each. Raises CannotMeasure beside another process."""
    programs = [side for i, side in enumerate(sides) if side.words not in [before.words for before in sides[:i]]]
    before: float | None = None
    for round_ in range(plan.warm_up + MOST_WARM_UP if plan.warm_up else 0):
        progress(f"warm-up, round {round_ + 1}")
        warming = programs if round_ < plan.warm_up else [sides[round_ % len(sides)]]
        runs = [side.process(plan.seed + round_, names) for side in warming]
        if _is_beside_another(runs):
            raise CannotMeasure("another process computes on this GPU; end it, or wait for its end, and start again")
        now = _temperature(runs)
        steady = now is None or (before is not None and now - before <= STEADY)
        if round_ + 1 >= plan.warm_up and steady:
            return
        before = now


def take_turns(
    sides: Sequence[Side],
    plan: Plan,
    names: Sequence[str] | None = None,
    progress: Progress = lambda said: None,
    keep: Keep = lambda runs: None,
) -> list[Run]:
    """A run of each side, with a repetition for each process. Both processes of a round get the same seed.

    `keep` is given what there is after every block, so that a campaign that is ended loses at most one.
    """
    _warm_up(sides, plan, names, progress)
    processes: list[list[Run]] = [[] for _ in sides]
    disturbed = 0
    for round_, order in enumerate(turns(len(sides), plan.rounds, plan.seed)):
        for index in order:
            where = f"round {round_ + 1} of {plan.rounds}"
            progress(f"{where}: {sides[index].label}")
            try:
                run = sides[index].process(plan.seed + round_, names)
            except RunFileError as error:
                raise RunFileError(f"{where}: {error}") from None
            if not run.measurements:
                raise RunFileError(
                    f"the {sides[index].label} measured no case that was asked for; see its list of cases"
                )
            check_machines(processes[0][0] if processes[0] else run, run)
            processes[index].append(run)
        disturbed += any(_is_beside_another([runs[-1]]) for runs in processes)
        if disturbed > SHARED * plan.rounds:
            said = f"another process computed on this GPU in {disturbed} of {round_ + 1} rounds"
            raise CannotMeasure(f"{said}; end it, or wait for its end, and start again")
        if round_ % 2:
            keep([foreign.joined(runs) for runs in processes])
    return [foreign.joined(runs) for runs in processes]
