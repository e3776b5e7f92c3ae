# SPDX-License-Identifier: Apache-2.0
"""`assay-gate BASE CANDIDATE`: the command line and the exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assay import __version__
from assay.files import Run, RunFileError, history
from assay.gate import foreign, recorded
from assay.gate.compare import compare
from assay.gate.outcome import add_outputs, add_rules, conclude, expression, outputs_of, percentage, refuse, rules_of
from assay.gate.result import Rules
from assay.gate.self_test import command as self_test
from assay.gate.sides import IncomparableRuns
from assay.program import Exit, check_outputs, command, complain, file_name

PROGRAM = "assay-gate"
DESCRIPTION = """\
Did anything get slower? Compares two runs of `assay run` on the same GPU, case by case.

A case is slower when its 95% interval, corrected for the number of cases, lies wholly beyond the threshold. What is
compared is the headline metric in the clock domain of the case: per clock for what the SM clock drives, per second for
DRAM, L2, links and the host. Power-limited figures and baselines are listed, not gated. Where base and candidate ran
the same kernel, machine code and recorded launch configuration with the same parameters the verdict is "unchanged",
whatever the clock said; a file without launch configurations is judged by its figures.
"""

EPILOG = """\
verdicts, worst first:
  slower        surely slower than the threshold allows
  missing       the base has this case, the candidate has no result for it, or failed or was not run in one of its
                repetitions
  unknown       it failed in the base, so there is nothing to compare with
  unfit         throttled, another process used the GPU, a different memory clock, or a kernel called singly on one
                side and in rows on the other: no judgement
  inconclusive  the interval reaches across the threshold: measure longer, or in more processes
  faster        surely faster than the threshold
  equivalent    surely within the threshold, either way
  unchanged     identical code and launch configuration

exit codes:
  0  nothing is slower (inconclusive cases included, unless --strict)
  1  at least one case is slower
  2  usage, unreadable or contradictory file, unknown case or metric, or a case missing in the candidate
     (see --allow-missing)
  3  cannot tell: not a single case could be compared, one failed in the base, or one that is not called slower may
     hide a slowdown of 10% (or twice its threshold, if that is more); with --strict, any case is inconclusive or unfit
  4  unfit to judge: different GPUs, more than 20% of the gated cases throttled, or another process used the GPU
     (flag shared_gpu) while a gated case was measured
  5  an output could not be written
  70  a defect of the gate itself: please report it

how many processes: one process says little about the next, whose memory lands elsewhere. Measurements of one name with
different "repetition" count as one value per process, paired by repetition (so run base and candidate in turns). A
single process per side is accepted; its interval is then widened by --process-floor.

how good it is: `assay gate --self-test` measures on your GPU how often it is wrong, and what it can detect;
`assay gate --self-test --help`. Better than two stored runs are two builds that take turns: `assay ab --help`.

a policy (--policy) is a TOML file; the last rule that matches a case and a metric holds, a note names those that none does:
  [default]
  threshold_percent = 2
  [[rule]]
  case = "kernels/gemm/*"          # globs over the whole name
  metric = "*"                     # as in the table of the gate
  threshold_percent = 1.5
  [[rule]]
  case = "host/*"
  gated = false                    # listed, and never red

examples:
  assay-gate before/run.json after/run.json
  assay-gate main/ branch/ --filter '^kernels/gemm' --threshold 3
  assay-gate main/ branch/ --metric bandwidth --strict --json gate.json --junit gate.xml
"""


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        PROGRAM, description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    d = Rules()
    p.add_argument(
        "base",
        metavar="BASE",
        type=file_name,
        help="what was: run.json, journal.jsonl, a folder with one, JSON of Google Benchmark or nvbench, or a history",
    )
    p.add_argument("candidate", metavar="CANDIDATE", type=file_name, help="the same of what is")
    p.add_argument("--filter", metavar="REGEX", type=expression, help="only cases whose name matches")
    p.add_argument(
        "--metric",
        metavar="REGEX",
        type=expression,
        help="compare every metric whose name matches, instead of the headline of each case",
    )
    add_rules(p, d)
    p.add_argument(
        "--process-floor",
        metavar="PERCENT",
        type=percentage,
        default=d.process_floor,
        help="95%% of identical runs differ by less than this from process to process (default 0.5); "
        "used where there is a single process",
    )
    p.add_argument(
        "--allow-other-gpu",
        action="store_true",
        help="compare two GPUs of one name; every interval is widened by what two such may differ by: 0.5%% where cycles "
        "decide, 3%% at the power limit, 3.5%% in L2, 5.5%% in DRAM",
    )
    add_outputs(p)
    p.add_argument("--version", action="version", version=f"assay-gate {__version__}")
    return p


def _base(path: str) -> Run:
    """What was: a run, or the baseline of a history. Raises RunFileError."""
    if not (path.endswith(".jsonl") and history.is_one(Path(path))):
        return foreign.load(path)
    accepted = history.baseline(history.read(Path(path)))
    if accepted is None:
        raise RunFileError(f"{path}: no run of this history was accepted; `assay baseline accept --reason` accepts one")
    return recorded.run_of(accepted, Path(path))


def _parts(path: str) -> list[Path]:
    """The files that a run is read from."""
    folder = Path(path)
    names = ("run.json", "journal.jsonl", "loops.txt.gz")
    return [folder / name for name in names] if os.path.isdir(path) else [folder]


@command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the gate; argparse exits with 2 by itself."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if self_test.OPTION in given:
        given.remove(self_test.OPTION)
        return self_test.main(given)
    options = parser().parse_args(given)
    read = [part for path in (options.base, options.candidate) for part in _parts(path)]
    check_outputs(outputs_of(options), [*read, options.policy])
    rules = rules_of(
        options,
        process_floor=options.process_floor,
        name=options.filter,
        metric=options.metric,
        allow_other_gpu=options.allow_other_gpu,
    )
    base, candidate = _base(options.base), foreign.load(options.candidate)
    try:
        result = compare(base, candidate, rules)
    except IncomparableRuns as error:
        said = f"unfit to judge: {error}"
        return refuse(PROGRAM, said, rules, options, base=options.base, candidate=options.candidate)
    if not result.comparisons:
        said = "the base has no case to compare; give a run in which a case was measured"
        if rules.name or rules.metric:
            said = "no case of the base matches --filter and --metric; `assay list` shows the names"
        return complain(PROGRAM, f"{options.base}: measurements: {said}", Exit.USAGE)
    return conclude(result, rules, options, base=options.base, candidate=options.candidate)
