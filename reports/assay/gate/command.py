# SPDX-License-Identifier: Apache-2.0
"""`assay-gate BASE CANDIDATE`: the command line and the exit code."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from assay import __version__, files
from assay.gate import present
from assay.gate.compare import IncomparableRuns, Result, Rules, Verdict, compare


class Exit(IntEnum):
    OK = 0
    SLOWER = 1
    USAGE = 2
    CANNOT_TELL = 3
    UNFIT = 4


DESCRIPTION = """\
Did anything get slower? Compares two runs of `assay run` on the same GPU, case by case.

A case is slower when its 95% interval, corrected for the number of cases, lies wholly beyond the threshold. What is
compared is the headline metric in the clock domain of the case: per clock for what the SM clock drives, per second for
DRAM, L2, links and the host. Power-limited figures and baselines are listed, not gated. Where base and candidate ran
the same machine code with the same parameters the verdict is "unchanged", whatever the clock said.
"""

EPILOG = """\
verdicts, worst first:
  slower        surely slower than the threshold allows
  missing       the base has this case, the candidate has no result for it
  unfit         throttled, or a different memory clock: no judgement
  inconclusive  the interval reaches across the threshold: measure longer, or in more processes
  faster        surely faster than the threshold
  equivalent    surely within the threshold, either way
  unchanged     identical code

exit codes:
  0  nothing is slower (inconclusive cases included, unless --strict)
  1  at least one case is slower
  2  usage, unreadable file, unknown case or metric, or a case missing in the candidate (see --allow-missing)
  3  cannot tell: not a single case could be compared; with --strict, any case is inconclusive or unfit
  4  unfit to judge: different GPUs, or more than 20% of the gated cases throttled

how many processes: one process says little about the next, whose memory lands elsewhere. Measurements of one name with
different "repetition" count as one value per process, paired by repetition (so run base and candidate in turns). A
single process per side is accepted; its interval is then widened by --process-floor.

examples:
  assay-gate before/run.json after/run.json
  assay-gate main/ branch/ --filter '^kernels/gemm' --threshold 3
  assay-gate main/ branch/ --metric bandwidth --strict --json gate.json --junit gate.xml
"""


def _percentage(text: str) -> float:
    value = float(text.rstrip("%")) / 100
    if not 0 <= value < 10:
        raise ValueError
    return value


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from None
    return text


_percentage.__name__ = "percentage"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        "assay-gate", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    d = Rules()
    p.add_argument("base", metavar="BASE", help="run.json, journal.jsonl, or a folder with one: what was")
    p.add_argument("candidate", metavar="CANDIDATE", help="the same of what is")
    p.add_argument("--filter", metavar="REGEX", type=_expression, help="only cases whose name matches")
    p.add_argument(
        "--metric",
        metavar="REGEX",
        type=_expression,
        help="compare every metric whose name matches, instead of the headline of each case",
    )
    p.add_argument(
        "--threshold",
        metavar="PERCENT",
        type=_percentage,
        default=d.threshold,
        help="smallest slowdown that counts (default 2)",
    )
    p.add_argument(
        "--latency-threshold",
        metavar="PERCENT",
        type=_percentage,
        default=d.latency_threshold,
        help="the same for metrics named latency (default 1; never less than one cycle)",
    )
    p.add_argument(
        "--process-floor",
        metavar="PERCENT",
        type=_percentage,
        default=d.process_floor,
        help="95%% of identical runs differ by less than this from process to process (default 0.5); "
        "used where there is a single process",
    )
    p.add_argument(
        "--correction",
        choices=("holm", "bh", "none"),
        default=d.correction,
        help="for many cases: holm bounds the chance of any false alarm (default), bh their share",
    )
    p.add_argument("--allow-missing", action="store_true", help="cases missing in the candidate are listed, no error")
    p.add_argument("--strict", action="store_true", help="exit 3 if any case is inconclusive or unfit")
    p.add_argument("--all", action="store_true", help="list unchanged and equivalent cases too")
    p.add_argument("--json", metavar="FILE", type=Path, help="write every verdict and number as JSON")
    p.add_argument("--junit", metavar="FILE", type=Path, help="write JUnit XML")
    p.add_argument(
        "--markdown",
        metavar="FILE",
        type=Path,
        help="write Markdown; appended to $GITHUB_STEP_SUMMARY by itself where that is set",
    )
    p.add_argument("--version", action="version", version=f"assay-gate {__version__}")
    return p


def judge(result: Result, rules: Rules, strict: bool = False, allow_missing: bool = False) -> tuple[Exit, str]:
    """The exit code and its meaning in a few words."""
    missing, slower = result.of(Verdict.MISSING), result.of(Verdict.SLOWER)
    unfit, inconclusive = result.of(Verdict.UNFIT), result.of(Verdict.INCONCLUSIVE)
    if missing and not allow_missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return (
            Exit.USAGE,
            f"missing in the candidate: {missing[0].name}{more}; measure again, or allow with --allow-missing",
        )
    if result.machine_unfit(rules.unfit_share):
        return (
            Exit.UNFIT,
            f"unfit to judge: {len(unfit)} of {len(result.compared)} cases, first {unfit[0].name}: {unfit[0].note}",
        )
    if slower:
        return Exit.SLOWER, f"slower: {slower[0].name} by {present.change(slower[0])}" + (
            f" and {len(slower) - 1} more" if len(slower) > 1 else ""
        )
    if not any(c.ratio or c.verdict is Verdict.UNCHANGED for c in result.compared):
        return Exit.CANNOT_TELL, "cannot tell: nothing could be compared"
    if strict and (inconclusive or unfit):
        return Exit.CANNOT_TELL, f"cannot tell about {(inconclusive + unfit)[0].name}: measure in more processes"
    return Exit.OK, "nothing is slower"


def _fail(code: Exit, message: str) -> Exit:
    print(f"assay-gate: {message}", file=sys.stderr)
    if os.environ.get("GITHUB_ACTIONS"):
        print(f"::error title=assay-gate::{message}")
    return code


def _write(path: Path, content: bytes, append: bool = False) -> None:
    with open(path, "ab" if append else "wb") as file:
        file.write(content)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the gate; argparse exits with 2 by itself."""
    options = parser().parse_args(arguments)
    rules = Rules(
        threshold=options.threshold,
        latency_threshold=options.latency_threshold,
        process_floor=options.process_floor,
        correction=options.correction,
        name=options.filter,
        metric=options.metric,
    )
    try:
        base, candidate = files.load(options.base), files.load(options.candidate)
        result = compare(base, candidate, rules)
    except (files.RunFileError, ValueError) as error:
        return _fail(Exit.USAGE, str(error))
    except IncomparableRuns as error:
        return _fail(Exit.UNFIT, f"unfit to judge: {error}")
    if not result.comparisons and (rules.name or rules.metric):
        return _fail(Exit.USAGE, "no case of the base matches --filter and --metric; `assay list` shows the names")

    code, outcome = judge(result, rules, options.strict, options.allow_missing)
    headline = present.summary(result, outcome)
    markdown = present.markdown(result, headline).encode()
    try:
        if options.json:
            record = present.document(result, rules, outcome, code, options.base, options.candidate)
            _write(options.json, (json.dumps(record, indent=1, allow_nan=False) + "\n").encode())
        if options.junit:
            _write(options.junit, present.junit(result))
        if options.markdown:
            _write(options.markdown, markdown)
        if step_summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            _write(Path(step_summary), markdown, append=True)
    except OSError as error:
        return _fail(Exit.USAGE, f"{error.filename}: cannot be written: {error.strerror}")
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    if text := present.terminal(result, options.all, colour):
        print(text)
    if os.environ.get("GITHUB_ACTIONS"):
        print("\n".join(present.annotations(result)))
    print(headline)
    return code
