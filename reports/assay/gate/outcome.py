# SPDX-License-Identifier: Apache-2.0
"""What every gate has in common: the options of its rules, the exit status, and all that is written."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import re2

from assay.files import NotWritten
from assay.gate import policy, present
from assay.gate.policy import Policy
from assay.gate.result import Result, Rules, Verdict
from assay.gate.sanity import EXAMPLES
from assay.plain_text import CUT, one_line
from assay.program import Exit, complain, file_path, say, write_file


def percentage(text: str) -> float:
    value = float(text.rstrip("%")) / 100
    if not 0 <= value < 10:
        raise ValueError
    return value


# What `assay run` takes too: harness/run/selection.cpp.
LONGEST_EXPRESSION = 10_000  # characters
LARGEST_EXPRESSION = 1 << 20  # bytes, compiled: (((a{9}){9}){9}){9} is short and large


def expression(text: str) -> str:
    """RE2 takes time in proportion to the text, whatever the expression is; Python's own engine may take for ever."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = LARGEST_EXPRESSION
    if len(text) > LONGEST_EXPRESSION:
        raise argparse.ArgumentTypeError(
            f"{one_line(repr(text), CUT)} has {len(text):,} characters, {LONGEST_EXPRESSION:,} are the most; name fewer "
            "cases, or what their names have in common"
        )
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


percentage.__name__ = "percentage"


def add_rules(p: argparse.ArgumentParser, d: Rules) -> None:
    """Options of what counts as slower; `d` has the defaults."""
    p.add_argument(
        "--threshold",
        metavar="PERCENT",
        type=percentage,
        default=d.threshold,
        help=f"smallest slowdown that counts (default {d.threshold * 100:g})",
    )
    p.add_argument(
        "--latency-threshold",
        metavar="PERCENT",
        type=percentage,
        default=d.latency_threshold,
        help="the same for metrics named latency (default 1"
        + ("; never less than one cycle, or 1000 if that is less)" if d.latency_cycles else ")"),
    )
    p.add_argument(
        "--policy", metavar="FILE", type=file_path, help="thresholds by case and metric, as TOML; they go before the above"
    )
    p.add_argument(
        "--correction",
        choices=("holm", "bh", "none"),
        default=d.correction,
        help="for many cases: holm bounds the chance of any false alarm (default), bh their share",
    )
    p.add_argument("--allow-missing", action="store_true", help="cases missing in the candidate are listed, no error")
    p.add_argument("--strict", action="store_true", help="exit 3 if any case is inconclusive or unfit")


def add_outputs(p: argparse.ArgumentParser) -> None:
    """Options of what is written."""
    p.add_argument("--all", action="store_true", help="list unchanged and equivalent cases too")
    p.add_argument("--json", metavar="FILE", type=file_path, help="write every verdict and number as JSON")
    p.add_argument("--junit", metavar="FILE", type=file_path, help="write JUnit XML")
    p.add_argument(
        "--markdown",
        metavar="FILE",
        type=file_path,
        help="write Markdown; appended to $GITHUB_STEP_SUMMARY by itself where that is set",
    )


def outputs_of(options: argparse.Namespace) -> list[tuple[str, Path | None]]:
    """What the options of `add_outputs` name."""
    return [("--json", options.json), ("--junit", options.junit), ("--markdown", options.markdown)]


def rules_of(options: argparse.Namespace, **fields: Any) -> Rules:
    """The rules that the options of `add_rules` say. Raises RunFileError."""
    return Rules(
        threshold=options.threshold,
        latency_threshold=options.latency_threshold,
        correction=options.correction,
        policy=policy.load(options.policy) if options.policy else Policy(),
        **fields,
    )


def conclude(result: Result, rules: Rules, options: argparse.Namespace, **facts: Any) -> int:
    """Says the outcome, writes all that was asked for, and gives the exit status. `facts` go into the JSON.

    What cannot be written or said keeps nothing else from being so.
    """
    if not (rules.name or rules.metric):  # which leave out cases that rules are for
        result.warnings += _idle_rules(result, rules, options.policy)
    code, outcome = judge(result, rules, options.strict, options.allow_missing)
    headline = one_line(present.summary(result, outcome))
    colour = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    try:
        if text := present.terminal(result, options.all, colour):
            say(text)
        if os.environ.get("GITHUB_ACTIONS"):
            say("\n".join(present.annotations(result)))
        say(headline)
    finally:
        _write(result, rules, outcome, code, headline, options, facts)
    return code


def _idle_rules(result: Result, rules: Rules, path: Path | None) -> list[str]:
    """Of a policy's rules: a glob that is spelt wrong leaves its cases to other rules, and nobody would know."""
    idle = rules.policy.idle([(c.name, c.metric) for c in result.comparisons] + [(name, "") for name in result.new])
    if not idle:
        return []
    more = f" and {len(idle) - EXAMPLES} more" if len(idle) > EXAMPLES else ""
    return [f"{path}: {', '.join(idle[:EXAMPLES])}{more}: no case and metric here match; mend case and metric if they should"]


def refuse(program: str, said: str, rules: Rules, options: argparse.Namespace, **facts: Any) -> int:
    """Where nothing can be judged the reason is said, and all is written that was asked for, without cases."""
    said = one_line(said)
    status = complain(program, said, Exit.UNFIT)
    _write(Result([]), rules, said, Exit.UNFIT, said, options, facts)
    return status


def _write(
    result: Result, rules: Rules, outcome: str, code: Exit, headline: str, options: argparse.Namespace, facts: dict
) -> None:
    """The files, all that can be. Raises NotWritten, of the first that cannot."""
    wanted: list[tuple[Path, bytes, bool]] = []  # and whether it is appended
    markdown = present.markdown(result, headline).encode()
    if options.json:
        record = present.document(result, rules, outcome, code, **facts)
        wanted.append((options.json, (json.dumps(record, indent=1, allow_nan=False) + "\n").encode(), False))
    if options.junit:
        wanted.append((options.junit, present.junit(result), False))
    if options.markdown:
        wanted.append((options.markdown, markdown, False))
    if step_summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        wanted.append((Path(step_summary), markdown, True))
    failed = []
    for path, content, append in wanted:
        try:
            write_file(path, content, append)
        except NotWritten as error:
            failed.append(error)
    if failed:
        raise failed[0]


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
        most = hiding[0].may_hide
        how = f"it may be slower by {present.percent(1 + most)}" if math.isfinite(most) else "nothing bounds its slowdown"
        said = f"{hiding[0].name}{_more(hiding)}: {how}"
        return Exit.CANNOT_TELL, f"cannot tell about {said}; measure longer, or in more processes"
    if strict and (inconclusive or unfit):
        return Exit.CANNOT_TELL, f"cannot tell about {(inconclusive + unfit)[0].name}: measure in more processes"
    return Exit.OK, "nothing is slower"


def _more(cases: list) -> str:
    return f" and {len(cases) - 1} more" if len(cases) > 1 else ""
