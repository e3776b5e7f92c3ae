# SPDX-License-Identifier: Apache-2.0
"""What makes two runs less comparable than they look: named, so that nobody finds it out from a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.files import Measurement, Run

FEWER = 0.5  # of the base's samples: what a candidate with less knows is much less sure
CLOCK = 0.05  # by which the medians of the SM clock may differ unsaid
EXAMPLES = 3  # names in a warning
OWN = ("variant",)  # parameters that the code itself chooses: a candidate may choose another

ROWS = 2.0  # times as many calls of a kernel in a row: how many fit into a fixed time varies a little

LIBRARY = "library_build_type"
BUILDS = {"build_type": "build type", LIBRARY: "build type of the benchmark library", "compiler": "compiler", "nvcc": "nvcc"}
DEBUG = {"build_type": "is a debug build", LIBRARY: "uses a debug build of the benchmark library"}

Cases = dict[str, list[Measurement]]


def differences(base: Run, candidate: Run, before: Cases, after: Cases) -> list[str]:
    """A sentence for each; nothing where both are alike."""
    pairs = [(ours, [m for m in after[name] if m.ok]) for name, side in before.items() if name in after
             if (ours := [m for m in side if m.ok])]  # fmt: skip
    pairs = [(ours, theirs) for ours, theirs in pairs if theirs]
    return [
        *_of_builds(base, candidate),
        *_of_options(base, candidate),
        *_listed("published figures, which are not compared", _published_in_both(base, candidate)),
        *_said(pairs, "fewer samples in the candidate", _fewer_samples),
        *_said(pairs, "other inputs (parameters differ)", _other_inputs),
        *_said(pairs, "another seed, so other inputs", _other_seed),
        *_said(pairs, f"SM clocks that differ by more than {CLOCK:.0%}", _other_clock),
    ]


def _published_in_both(base: Run, candidate: Run) -> list[str]:
    ours, theirs = ({m.name for m in run.measurements if m.source is not None} for run in (base, candidate))
    return sorted(ours & theirs)


def other_rows(before: Sequence[Measurement], after: Sequence[Measurement]) -> str:
    """Why the times of a kernel's calls are not of one kind, if they are not.

    In a row, a call may be set up while the one before it ends. Builds of before that was measured called singly.
    """
    calls = [[m.iterations for m in side if m.kind == "kernel"] for side in (before, after)]
    if not all(calls):
        return ""
    base, candidate = (sorted(side)[len(side) // 2] for side in calls)
    if max(base, candidate) <= ROWS * min(base, candidate):
        return ""
    return f"a sample is of {base} calls in a row in the base and of {candidate} in the candidate"


def _of_builds(base: Run, candidate: Run) -> list[str]:
    builds = [{**(run.environment.get("assay") or {}), **_library_type(run)} for run in (base, candidate)]
    said = [
        f"{words} differs: {builds[0][key]} in the base, {builds[1][key]} in the candidate"
        for key, words in BUILDS.items()
        if builds[0].get(key) and builds[1].get(key) and builds[0][key] != builds[1][key]
    ]
    said += [
        f"the {which} {words}"
        for key, words in DEBUG.items()
        for which, b in zip(("base", "candidate"), builds)
        if b.get(key) == "debug"
    ]
    said += [
        f"the {which} was built from a dirty tree: its commit does not say what it is"
        for which, b in zip(("base", "candidate"), builds)
        if b.get("dirty")
    ]
    return said


def _library_type(run: Run) -> dict[str, Any]:
    """What Google Benchmark says of itself, and not of the program: Debian's is a debug build."""
    kind = run.environment.get(LIBRARY)
    return {LIBRARY: kind} if isinstance(kind, str) else {}


def _of_options(base: Run, candidate: Run) -> list[str]:
    options = [((run.extra.get("run") or {}).get("options") or {}) for run in (base, candidate)]
    return [
        f"{words} differs: {options[0][key]} in the base, {options[1][key]} in the candidate"
        for key, words in (("half_width", "--interval"), ("time_cap_s", "--time-cap"), ("counters", "--counters"))
        if key in options[0] and key in options[1] and options[0][key] != options[1][key]
    ]


def _samples(side: Sequence[Measurement]) -> int:
    """Of all its processes."""
    total = 0
    for m in side:
        count = m.conditions.get("sample_count")
        total += count if isinstance(count, int) else len(next(iter(m.samples.values()), []))
    return total


def _fewer_samples(before: Sequence[Measurement], after: Sequence[Measurement]) -> bool:
    # That sampling ended sooner because it knew enough is as it should be.
    if all(m.conditions.get("stop") == "converged" for m in after):
        return len(after) < FEWER * len(before)
    return _samples(after) < FEWER * _samples(before)


def _other_inputs(before: Sequence[Measurement], after: Sequence[Measurement]) -> bool:
    params = [{k: v for k, v in side[0].params.items() if k not in OWN} for side in (before, after)]
    if not (before[0].params and after[0].params):
        return False  # older histories keep none: what is not known does not differ
    return params[0] != params[1]


def _other_seed(before: Sequence[Measurement], after: Sequence[Measurement]) -> bool:
    ours, theirs = ({m.repetition or 0: m.conditions.get("seed") for m in side} for side in (before, after))
    return any(None not in (ours[k], theirs[k]) and ours[k] != theirs[k] for k in ours.keys() & theirs.keys())


def _other_clock(before: Sequence[Measurement], after: Sequence[Measurement]) -> bool:
    clocks = [[m.conditions.get("sm_clock_mhz") for m in side] for side in (before, after)]
    if not all(isinstance(c, (int, float)) and c > 0 for side in clocks for c in side):
        return False
    ours, theirs = (sorted(side)[len(side) // 2] for side in clocks)
    return abs(theirs / ours - 1) > CLOCK


Differs = Callable[[Sequence[Measurement], Sequence[Measurement]], bool]


def _said(pairs: Sequence[tuple[list[Measurement], list[Measurement]]], words: str, differs: Differs) -> list[str]:
    return _listed(words, [before[0].name for before, after in pairs if differs(before, after)])


def _listed(words: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - EXAMPLES} more" if len(names) > EXAMPLES else ""
    return [f"{words}: {', '.join(names[:EXAMPLES])}{more}"]
