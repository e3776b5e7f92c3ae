# SPDX-License-Identifier: Apache-2.0
"""Trials with known truth: the same program on both sides, and on one of them more work.

The work is planted by `assay run --extra-work P`: where 100 rounds of a loop, launches or calls are counted, 100 + P
are done. Nothing is computed: the GPU does the work, and the gate does not know. Identical code does not settle a
trial, for it is identical in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import re2

from assay.files import Run
from assay.gate.ab.campaign import Plan, Progress, take_turns
from assay.gate.ab.judgement import confirm, take_fresh
from assay.gate.ab.side import Asked, Kind, Side
from assay.gate.compare import compare
from assay.gate.result import Comparison, Result, Rules, Verdict

LEVELS = (2, 3, 5)  # percent of work planted
EXTRA = "--extra-work"


@dataclass(frozen=True)
class Group:
    """Cases of one sort, reported together: those that are measured, and all that are counted as of this sort."""

    name: str
    pattern: str
    family: str = ""
    by_default: bool = True

    def holds(self, case: str) -> bool:
        return bool(re2.search(self.family or self.pattern, case))


# Planted work is done in hundreds of launches where the harness times launches: a copy in HBM takes two seconds so in
# every process, as long as half of the others together, and is measured only where it is asked for.
GPU_GROUPS = (
    Group("GEMM, sustained", r"^kernels/gemm/bf16/m4096n4096k4096/nt/sustained$", r"^kernels/gemm/.*/sustained$"),
    Group("GEMM", r"^kernels/gemm/bf16/m2048n2048k2048/nt$", r"^kernels/gemm/"),
    Group("copy in HBM", r"^memory/hbm/copy$", r"^memory/hbm/", by_default=False),
    Group("copy", r"^link/memset$|^memory/l2/read$", r"^link/memset$|^memory/l2/read$|^tma/.*bandwidth"),
    Group(
        "latency",
        r"^memory/(shared|l1|l2_near|l2_far|dram)/latency$|^sync/syncthreads/(64|256|1024)$|"
        r"^tma/(bulk_16b|tensor_2d)/latency(/dram)?$",
        r"^memory/.*latency|^sync/|^tma/.*latency",
    ),
    Group(
        "instruction",
        r"^sass/ffma/f32$|^sass/(imad|iadd3)/s32$|^sass/lop3/b32$|^special_function/ex2/f32$|"
        r"^tensor_core/mma_sync/(f16/m16n8k16|s8/m16n8k32)$|^tensor_core/wgmma/bf16/m64n256/ss$",
        r"^sass/|^special_function/|^tensor_core/",
    ),
)
HOST_GROUPS = (Group("host", r"^host/cache_latency/(16384|32768|65536)$|^host/peak_fma/f32/one_thread$"),)


@dataclass(frozen=True)
class Trial:
    """One case at one level: what was planted, and what the gate said."""

    group: str
    level: int
    comparison: Comparison

    @property
    def verdict(self) -> Verdict:
        return self.comparison.verdict


def pattern_of(groups: Sequence[Group]) -> str:
    return "|".join(group.pattern for group in groups)


def sides_of(words: Sequence[str], pattern: str, levels: Sequence[int], options: Sequence[str]) -> list[Side]:
    """The base, with nothing planted, and a side for each level, all of the cases with this in their names.

    Where nothing is planted on any side, they measure as `assay ab` does: launches are not done in hundreds.
    """
    planted = any(levels)

    def side(label: str, level: int) -> Side:
        extra = (EXTRA, str(level)) if planted else ()
        asked = Asked(pattern, options=(*options, "--no-baselines", "--no-sweeps", *extra))
        return Side(label, list(words), Kind.ASSAY, asked)

    return [side("base", 0), *(side(f"{level:+d}%", level) for level in levels)]


def rules_for(base: Rules) -> Rules:
    return replace(base, paired=True, identity=False)


def trials_of(results: Sequence[Result], levels: Sequence[int], groups: Sequence[Group]) -> list[Trial]:
    found = []
    for level, result in zip(levels, results):
        for c in result.comparisons:
            name = next((group.name for group in groups if group.holds(c.name)), "other")
            found.append(Trial(name, level, c))
    return found


def judge(runs: Sequence[Run], again: Sequence[Run] | None, rules: Rules) -> list[Result]:
    """The result of each level against the base, the first of the runs; `again` are those of the confirmation."""
    results = [compare(runs[0], run, rules) for run in runs[1:]]
    if again:
        for result, run in zip(results, again[1:]):
            names = {c.name for c in result.of(Verdict.SLOWER)}
            second = [Run(r.environment, [m for m in r.measurements if m.name in names]) for r in (again[0], run)]
            if names:
                confirm(result, compare(*second, rules))
    return results


def slower_names(results: Sequence[Result]) -> list[str]:
    return sorted({c.name for result in results for c in result.of(Verdict.SLOWER)})


@dataclass
class Measured:
    """What one campaign left: a run for the base and each level, and those of the confirmation."""

    levels: tuple[int, ...]
    runs: list[Run]
    again: list[Run] | None = None


def measure(
    sides: Sequence[Side],
    levels: Sequence[int],
    plan: Plan,
    rules: Rules,
    progress: Progress = lambda said: None,
    keep: Callable[[Measured], None] = lambda measured: None,
) -> Measured:
    """All levels take turns with one base; what is slower at any level runs again in fresh processes.

    `keep` is given what there is after every block.
    """
    runs = take_turns(sides, plan, None, progress, lambda runs: keep(Measured(tuple(levels), runs)))
    keep(Measured(tuple(levels), runs))
    names = slower_names(judge(runs, None, rules))
    again = None
    if names:

        def open_after(again: list[Run]) -> list[str]:
            judged = judge(runs, again, rules)
            return sorted({c.name for result in judged for c in result.of(Verdict.INCONCLUSIVE, Verdict.UNFIT)} & {*names})

        keep_again = lambda again: keep(Measured(tuple(levels), runs, again))
        again = take_fresh(sides, plan, names, rules.fewest_pairs, open_after, progress, keep_again)
    return Measured(tuple(levels), runs, again)
