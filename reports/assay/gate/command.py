# SPDX-License-Identifier: Apache-2.0
"""`assay-gate BASE CANDIDATE`: the command line and the exit code."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import re2

from assay import __version__, files
from assay.gate import present
from assay.gate.compare import Result, Rules, Verdict, compare
from assay.gate.sides import IncomparableRuns
from assay.plain_text import CUT, one_line
from assay.program import Exit, command, complain, say, write_file


PROGRAM = "assay-gate"
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
  missing       the base has this case, the candidate has no result for it, or failed in one of its repetitions
  unknown       it failed in the base, so there is nothing to compare with
  unfit         throttled, another process used the GPU, or a different memory clock: no judgement
  inconclusive  the interval reaches across the threshold: measure longer, or in more processes
  faster        surely faster than the threshold
  equivalent    surely within the threshold, either way
  unchanged     identical code

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
    """RE2 takes time in proportion to the text, whatever the expression is; Python's own engine may take for ever."""
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text, options)
    except (re2.error, UnicodeError) as error:
        why = error.args[0]
        why = why.decode(errors="replace") if isinstance(why, bytes) else "it is not UTF-8"
        raise argparse.ArgumentTypeError(
            f"{one_line(repr(text), CUT)} is not a regular expression: {one_line(why, CUT)}; write it in RE2's syntax, as `assay run` takes it, "
            "without look-around and backreferences"
        ) from None
    return text


_percentage.__name__ = "percentage"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        PROGRAM, description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
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
    missing, slower, unknown = (result.of(v) for v in (Verdict.MISSING, Verdict.SLOWER, Verdict.UNKNOWN))
    unfit, inconclusive = result.of(Verdict.UNFIT), result.of(Verdict.INCONCLUSIVE)
    if missing and not allow_missing:
        said = f"{missing[0].name}{_more(missing)}; measure again, or allow with --allow-missing"
        return Exit.USAGE, f"missing in the candidate: {said}"
    if shared := [c for c in unfit if c.shared]:
        said = "another process used the GPU meanwhile; measure again with the GPU to yourself"
        return Exit.UNFIT, f"unfit to judge: {shared[0].name}{_more(shared)}: {said}"
    if result.machine_unfit(rules.unfit_share):
        said = f"{len(unfit)} of {len(result.compared)} cases, first {unfit[0].name}: {unfit[0].note}"
        return Exit.UNFIT, f"unfit to judge: {said}"
    if slower:
        return Exit.SLOWER, f"slower: {slower[0].name} by {present.change(slower[0])}{_more(slower)}"
    if unknown and not allow_missing:
        said = f"{unknown[0].name}{_more(unknown)}: {unknown[0].note}; measure the base again"
        return Exit.CANNOT_TELL, f"cannot tell about {said}, or allow with --allow-missing"
    if not any(c.ratio or c.verdict in (Verdict.UNCHANGED, Verdict.EQUIVALENT) for c in result.compared):
        return Exit.CANNOT_TELL, "cannot tell: nothing could be compared"
    if hiding := sorted((c for c in result.compared if c.may_hide), key=lambda c: -c.may_hide):
        said = f"{hiding[0].name}{_more(hiding)}: it may be slower by {present.percent(1 + hiding[0].may_hide)}"
        return Exit.CANNOT_TELL, f"cannot tell about {said}; measure longer, or in more processes"
    if strict and (inconclusive or unfit):
        return Exit.CANNOT_TELL, f"cannot tell about {(inconclusive + unfit)[0].name}: measure in more processes"
    return Exit.OK, "nothing is slower"


def _more(cases: list) -> str:
    return f" and {len(cases) - 1} more" if len(cases) > 1 else ""


@command(PROGRAM)
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
    base, candidate = files.load(options.base), files.load(options.candidate)
    try:
        result = compare(base, candidate, rules)
    except IncomparableRuns as error:
        return complain(PROGRAM, f"unfit to judge: {error}", Exit.UNFIT)
    if not result.comparisons and (rules.name or rules.metric):
        said = "no case of the base matches --filter and --metric; `assay list` shows the names"
        return complain(PROGRAM, said, Exit.USAGE)

    code, outcome = judge(result, rules, options.strict, options.allow_missing)
    headline = one_line(present.summary(result, outcome))
    markdown = present.markdown(result, headline).encode()
    if options.json:
        record = present.document(result, rules, outcome, code, options.base, options.candidate)
        write_file(options.json, (json.dumps(record, indent=1, allow_nan=False) + "\n").encode())
    if options.junit:
        write_file(options.junit, present.junit(result))
    if options.markdown:
        write_file(options.markdown, markdown)
    if step_summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        write_file(Path(step_summary), markdown, append=True)
    colour = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    if text := present.terminal(result, options.all, colour):
        say(text)
    if os.environ.get("GITHUB_ACTIONS"):
        say("\n".join(present.annotations(result)))
    say(headline)
    return code
