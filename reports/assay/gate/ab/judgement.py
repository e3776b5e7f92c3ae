# SPDX-License-Identifier: Apache-2.0
"""The verdict on two sides that took turns: what looks slower must look so again, in processes of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assay.files import Run
from assay.gate import present
from assay.gate.ab.campaign import Keep, Plan, Progress, take_turns
from assay.gate.ab.side import Side
from assay.gate.compare import compare
from assay.gate.result import Result, Rules, Verdict

FRESH_SEED = 10_000  # added to that of the first processes: the confirmation has inputs and an order of its own


def take_fresh(
    sides: Sequence[Side],
    plan: Plan,
    names: Sequence[str],
    fewest: int,
    open_after: Callable[[list[Run]], Sequence[str]],
    progress: Progress = lambda said: None,
    keep: Keep = lambda runs: None,
) -> list[Run]:
    """A run of each side for the confirmation of the cases `names`, at once, while the GPU is warm.

    Most slowdowns show again in the `fewest` pairs that can prove one. Of what is then still open by `open_after`,
    which gets the runs, the rest of the plan's pairs is measured too.
    """
    plan = replace(plan, seed=plan.seed + FRESH_SEED, warm_up=0)
    first = min(plan.rounds, fewest)
    runs = take_turns(sides, replace(plan, rounds=first), names, progress, keep)
    still_open = open_after(runs) if first < plan.rounds else ()
    if not still_open:
        return runs
    progress(f"{len(still_open)} not confirmed yet: {plan.rounds - first} pairs more")
    rest = replace(plan, rounds=plan.rounds - first, seed=plan.seed + first)
    more = take_turns(sides, rest, still_open, progress)
    return [_appended(run, extra, first) for run, extra in zip(runs, more)]


def _appended(run: Run, extra: Run, rounds: int) -> Run:
    later = [replace(m, repetition=m.repetition + rounds) for m in extra.measurements]
    return Run(run.environment, [*run.measurements, *later], extra=run.extra)


@dataclass
class Judged:
    """The verdicts, and the runs they are made from."""

    result: Result
    base: Run
    candidate: Run


def confirm(first: Result, second: Result) -> None:
    """Of what was slower in the first, only that stays slower which is so in the second as well.

    What gave no figure in the second is neither: it may be slower, so nothing can be told.
    """
    again = {key: c for c in second.comparisons for key in ((c.name, ""), (c.name, c.metric))}
    for c in first.of(Verdict.SLOWER):
        other = again.get((c.name, c.metric)) or again.get((c.name, ""))
        if other is None or other.ratio is None:
            c.verdict, c.unconfirmed = Verdict.UNFIT, True
            why = [] if other is None else [other.verdict.value, other.note]
            said = ", ".join(["looked slower, and gave no figure in fresh pairs", *filter(None, why)])
        elif other.verdict is Verdict.SLOWER:
            found = f"{present.change(other)} {present.interval(other)}"
            said = f"confirmed in {other.processes} fresh pairs: {found}"
        else:
            c.verdict = Verdict.INCONCLUSIVE
            found = f"{present.change(other)} {present.interval(other)}"
            said = f"not confirmed in {other.processes} fresh pairs, which found {other.verdict.value}, {found}"
        c.note = f"{c.note}; {said}" if c.note else said
    first.sort()


def judge_sides(
    sides: Sequence[Side],
    plan: Plan,
    rules: Rules,
    confirms: bool = True,
    progress: Progress = lambda said: None,
    keep: Keep = lambda runs: None,
) -> Judged:
    """Base and candidate, measured in turns and compared."""
    base, candidate = take_turns(sides, plan, None, progress, keep)
    keep([base, candidate])
    result = compare(base, candidate, rules)
    names = sorted({c.name for c in result.of(Verdict.SLOWER)})
    if names and confirms:
        progress(f"{len(names)} slower: once more in fresh processes")

        def open_after(again: list[Run]) -> list[str]:
            confirmed = {c.name for c in compare(*again, rules).of(Verdict.SLOWER)}
            return [name for name in names if name not in confirmed]

        again = take_fresh(sides, plan, names, rules.fewest_pairs, open_after, progress)
        confirm(result, compare(*again, rules))
    return Judged(result, base, candidate)
