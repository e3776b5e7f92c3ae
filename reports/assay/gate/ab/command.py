# SPDX-License-Identifier: Apache-2.0
"""`assay-ab --base X --candidate Y`: the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from assay import __version__, files
from assay.gate.ab.campaign import Plan
from assay.gate.ab.judgement import judge_sides
from assay.gate.ab.side import Asked, CannotMeasure, Kind, Printed, sides
from assay.gate.outcome import add_outputs, add_rules, conclude, expression, outputs_of, refuse, rules_of
from assay.gate.result import Rules
from assay.gate.sides import IncomparableRuns
from assay.plain_text import one_line
from assay.program import Exit, check_outputs, command, complain, file_path, make_folder

PROGRAM = "assay-ab"
THRESHOLD = 0.01  # processes in turns tell 2% surely; a stored run does not
# That a latency may differ by a cycle unsaid is for single processes. Here the noise of each case is measured, and of
# most latencies in cycles it is nearly none.
PAIRED = {"paired": True, "latency_cycles": 0.0}
NAMES = ("base.json", "candidate.json")  # of what is kept
FEWEST = 6  # rounds, of which a sign test can reach 5%

DESCRIPTION = """\
Did anything get slower? Runs two builds in turns on one GPU, process by process, and compares what they measured.

A side is a folder with a build of assay, a program, or a command line in quotes. It may speak assay (any program made
with assay), Google Benchmark or nvbench, which is seen in its file without running it; or it prints a number that
--metric finds.
"""

EPILOG = """\
how it decides:
  1. Both sides warm the GPU up, until its temperature is steady. Then come blocks of four processes, ABBA or BAAB as is drawn, so that temperature,
     clock and power drift hit both sides alike. Both processes of a pair get the same seed, so the same inputs.
  2. The process is the unit: each gives one value for a case, the median of its samples, and each pair one logarithm
     of a ratio. More samples in one process do not tell what the next process finds, so they are not counted as more.
  3. A case is slower when the 95% interval of the ratio, corrected by Holm for the number of cases, lies beyond the
     threshold, and the sign test does not object. Then it runs again, in six pairs of fresh processes, and what is
     not slower in them in as many as the first time: only what is slower there as well is called slower.
  4. A slowdown that a power limit had a part in says which: cycles, power, or neither.
       slower per clock                       the code needs more cycles; seen in cycles too, where the limit's clock
                                              hides it in time and nothing says that the clocks differ
       same cycles but more power             the code draws more, so the limit lowers the clock
       slower clock, cause outside            neither: no verdict on the code, unfit
  5. What held back both processes of a pair is a condition; what held back one drops the pair and is said. Fewer than
     six pairs left, or another process on the GPU: unfit. Beside one in more than a fifth of the rounds the
     measuring ends at once.
  6. A printed number is known to its last place: 12 ms may be 11.5 or 12.5. Where the noise is smaller than half a
     step, the interval is widened by a step. A whole number without --unit is taken for a count, and exact.
  detectable, a column, is the smallest slowdown that the noise of this case could have proven, had no other case been
  slower: it grows with the number of cases.

exit codes: as those of `assay gate`:
  0  nothing is slower      1  slower, and confirmed      2  usage, or a side that does not run or match
  3  cannot tell            4  unfit to judge             5  an output could not be written
  70  a defect of the gate itself: please report it

examples:
  assay ab --base main/build --candidate branch/build '^kernels/gemm'
  assay ab --base old/bench --candidate new/bench 'BM_Sort.*'            Google Benchmark, or nvbench
  assay ab --base 'python old.py' --candidate 'python new.py' --metric 'time: ([0-9.]+) ms' --unit ms
  assay ab --base ... --candidate ... --metric '(?P<case>\\S+) takes (?P<value>[0-9.]+) us' --unit us
  assay ab --base ... --candidate ... --policy gate.toml --junit gate.xml --markdown summary.md
"""


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise ValueError
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 1000:
        raise ValueError
    return value


_positive.__name__, _count.__name__ = "positive number", "count"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        PROGRAM, description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--base", required=True, metavar="SIDE", help="what was: folder, program or command line")
    p.add_argument("--candidate", required=True, metavar="SIDE", help="what is")
    p.add_argument(
        "filter", nargs="?", default="", metavar="FILTER", type=expression, help="cases, by regular expression"
    )
    p.add_argument(
        "--format",
        choices=[k.value for k in Kind],
        help="what both sides speak, if it is not to be seen in their files; `command`: they print a number",
    )
    p.add_argument(
        "--metric",
        metavar="REGEX",
        type=expression,
        help="of commands: finds the number that they print, in its first group or in (?P<value>...); (?P<case>...) names "
        "several, and of more numbers of one name the median counts. Of programs that speak a format: compare every "
        "metric whose name matches, instead of the headline of each case",
    )
    p.add_argument("--unit", default="", help="of what --metric finds")
    p.add_argument(
        "--better", choices=("lower", "higher"), help="which of these numbers are better (default lower)"
    )
    p.add_argument("--pairs", type=_count, default=8, help="processes of each side (default 8, at least 6)")
    p.add_argument(
        "--warm-up",
        type=_count,
        default=1,
        help="processes of each side before them (default 1; then up to 4 more in all while the GPU gets warmer)",
    )
    p.add_argument(
        "--seed", type=_count, default=1, help="for the order of processes, of cases, and for data (default 1)"
    )
    p.add_argument("--suite", help="of assay: full, quick or host (default: full with a FILTER, else quick)")
    p.add_argument(
        "--option", action="append", default=[], metavar="WORD", help="for both programs, as it is; repeatable"
    )
    p.add_argument("--timeout", type=_positive, default=600.0, metavar="SECONDS", help="for one process (default 600)")
    p.add_argument("--no-confirm", action="store_true", help="call slower what is so in the first processes alone")
    p.add_argument("--out", metavar="FOLDER", type=file_path, help="keep base.json and candidate.json of assay's own sides, after every block")
    add_rules(p, Rules(threshold=THRESHOLD, **PAIRED))
    add_outputs(p)
    p.add_argument("--version", action="version", version=f"assay-ab {__version__}")
    return p


def report_progress(said: str) -> None:
    """A line that the next one replaces, where somebody looks."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r\x1b[K{one_line(said, 100)}", end="", file=sys.stderr, flush=True)


def _keep(folder: Path, runs: Sequence[files.Run]) -> None:
    for name, run in zip(NAMES, runs):
        files.save(run, folder / name)


@command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs both sides; argparse exits with 2 by itself."""
    options = parser().parse_args(arguments)
    if options.pairs < FEWEST:
        return complain(PROGRAM, f"--pairs {options.pairs}: fewer than {FEWEST} pairs can prove nothing", Exit.USAGE)
    printed = Printed(options.metric, options.unit, options.better or "lower") if options.metric else None
    suite = options.suite or ("full" if options.filter else "quick")
    asked = Asked(options.filter, suite, options.timeout, tuple(options.option), printed)
    rules = rules_of(options, **PAIRED)
    kind = Kind(options.format) if options.format else None
    both = sides({"base": options.base, "candidate": options.candidate}, kind, asked)
    if both[0].kind is not Kind.COMMAND:
        if options.unit or options.better:
            said = f"--unit and --better are of commands that print a number; {both[0].kind.value} says both itself"
            return complain(PROGRAM, f"{said}; leave them out", Exit.USAGE)
        rules = replace(rules, metric=options.metric)
        for side in both:
            side.asked = replace(asked, metric=options.metric)
    keeps = options.out and both[0].kind is Kind.ASSAY
    outputs = outputs_of(options)
    if keeps:
        make_folder(options.out)
        outputs += [("--out", options.out / name) for name in NAMES]
    check_outputs(outputs, [*(word for side in both for word in side.words), options.policy])
    plan = Plan(options.pairs, options.warm_up, options.seed)
    facts = {"base": options.base, "candidate": options.candidate, "pairs": plan.rounds, "seed": plan.seed}
    keep = partial(_keep, options.out) if keeps else lambda runs: None
    try:
        judged = judge_sides(both, plan, rules, not options.no_confirm, report_progress, keep)
    except (CannotMeasure, IncomparableRuns) as error:
        return refuse(PROGRAM, f"unfit to judge: {error}", rules, options, **facts)
    finally:
        report_progress("")
    if not judged.result.comparisons:
        return complain(PROGRAM, "no case of the base has a figure that FILTER and --metric choose", Exit.USAGE)
    return conclude(judged.result, rules, options, **facts)
