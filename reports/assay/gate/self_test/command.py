# SPDX-License-Identifier: Apache-2.0
"""`assay gate --self-test`: the command line."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from assay.files import Run, RunFileError
from assay.gate.ab.campaign import Plan, take_turns
from assay.gate.ab.command import FEWEST, PAIRED, THRESHOLD, report_progress
from assay.gate.ab.side import CannotMeasure, words_of
from assay.gate.outcome import add_rules, rules_of
from assay.gate.result import Rules, Verdict
from assay.gate.self_test import curve, figures, power, present, record, trial
from assay.gate.sides import IncomparableRuns
from assay.program import Exit, complain, file_path, make_folder, say, write_file

PROGRAM = "assay-gate"
OPTION = "--self-test"
POWER = "power"  # a group of its own: two changes that cost power and save cycles, and the other way round

DESCRIPTION = """\
How often is the gate right, on this machine? Takes turns with one program as `assay ab` does, with itself and with
more work planted: for every 100 rounds, launches or calls that are counted, 2, 3 or 5 more are done. That is real
work of the GPU; no number is scaled. Cases are GEMM, copies, latencies and instructions; with --host, of the CPU.

Says how many of the identical sides were called slower, with the exact (Clopper-Pearson) interval, how many of the
planted slowdowns were found, and what each case can detect.
"""

EPILOG = """\
exit codes: 0 measured; 1 more false alarms than 2.5% can explain, a planted slowdown called faster, or a change of
power named as another; 2 usage, or nothing was measured; 4 no GPU, or no trial could be judged; 5 not written

examples:
  assay gate --self-test --out self-test                 A/A and planted work: about ten minutes
  assay gate --self-test --group GEMM --levels 2,5       less of it
  assay gate --self-test --host --levels 5 --program build/assay
  assay gate --self-test --from self-test --threshold 2  judge what was measured, by another threshold
"""


def _levels(text: str) -> tuple[int, ...]:
    levels = tuple(int(word) for word in text.split(",") if word)
    if not all(0 < level <= 100 for level in levels):
        raise ValueError
    return levels


_levels.__name__ = "list of percentages, such as 1,2,5"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        f"{PROGRAM} {OPTION}",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("--program", metavar="SIDE", help="folder or program (default: the assay that was called)")
    p.add_argument(
        "--host", action="store_true", help="cases of the CPU: needs no GPU, and tells of this machine's CPU"
    )
    p.add_argument("--group", action="append", metavar="NAME", help="only these groups of cases; repeatable")
    p.add_argument("--levels", type=_levels, default=trial.LEVELS, help="percent of work planted (default 2,3,5; 1 is the threshold)")
    p.add_argument("--aa", type=int, default=2, metavar="N", help="campaigns with nothing planted (default 2)")
    p.add_argument(
        "--aa-cases", metavar="REGEX", help="cases of those campaigns, of the full suite (default: those of the groups)"
    )
    p.add_argument("--pairs", type=int, default=8, help="processes of each side in a campaign (default 8)")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument(
        "--time-cap", default="0.01", metavar="SECONDS", help="of sampling a case in a process (default 0.01)"
    )
    p.add_argument(
        "--out", type=file_path, metavar="FOLDER", help="keep every run, self_test.json, self_test.md and power.svg"
    )
    p.add_argument(
        "--from", dest="source", type=file_path, metavar="FOLDER", help="measure nothing: judge what is kept there"
    )
    p.add_argument(
        "--fewest-pairs",
        type=int,
        default=FEWEST,
        metavar="N",
        help=f"with --from: judge campaigns that were cut short, of N pairs and more (default {FEWEST}, as assay ab)",
    )
    add_rules(p, Rules(threshold=THRESHOLD, **PAIRED))
    return p


def _words(options: argparse.Namespace) -> list[str]:
    # harness/commands/external.cpp says which program was called.
    program = options.program or os.environ.get("ASSAY_PROGRAM") or shutil.which("assay")
    if not program:
        raise RunFileError("--program: no `assay` is on the PATH; say which program is to be measured")
    return words_of(program)


def _measure_power(options: argparse.Namespace) -> list[list[Run]]:
    sides = power.sides(_words(options), ("--time-cap", options.time_cap))
    found = [take_turns(sides, Plan(options.pairs, seed=options.seed), None, report_progress)]
    if options.out:
        record.save_power(options.out / "power", found[0])
    return found


def _measure(options: argparse.Namespace, groups: Sequence[trial.Group], rules: Rules) -> list[trial.Measured]:
    words = _words(options)
    given = ("--time-cap", options.time_cap)
    found = []
    for number in range(options.aa + 1):
        levels = (0,) if number < options.aa else options.levels
        if not levels:
            continue
        pattern = options.aa_cases if levels == (0,) and options.aa_cases else trial.pattern_of(groups)
        sides = trial.sides_of(words, pattern, levels, given)
        plan = Plan(options.pairs, seed=options.seed + 100 * number)
        name = f"same-{number + 1}" if levels == (0,) else "planted"
        keep = partial(record.save, options.out / name) if options.out else lambda measured: None
        found.append(trial.measure(sides, levels, plan, rules, report_progress, keep))
        if found[-1].again:
            keep(found[-1])
    return found


def main(arguments: Sequence[str]) -> int:
    """What comes after --self-test."""
    options = parser().parse_args(arguments)
    if options.pairs < FEWEST:
        return complain(PROGRAM, f"--pairs {options.pairs}: fewer than {FEWEST} pairs can prove nothing", Exit.USAGE)
    if options.aa < 0:
        return complain(PROGRAM, f"--aa {options.aa}: a number of campaigns is 0 or more", Exit.USAGE)
    groups = trial.HOST_GROUPS if options.host else trial.GPU_GROUPS
    with_power = not options.host and (not options.group or POWER in options.group)
    if options.group:
        names = [*(g.name for g in groups), *([] if options.host else [POWER])]
        unknown = set(options.group) - set(names)
        if unknown:
            raise RunFileError(f"--group {min(unknown)}: no such group; there are {', '.join(names)}")
    groups = [g for g in groups if (g.name in options.group if options.group else g.by_default)]
    if not options.source and not with_power and not options.aa and not options.levels:
        said = "--aa 0 and no --levels: nothing would be measured; give a level, such as --levels 5, or leave out --aa"
        return complain(PROGRAM, said, Exit.USAGE)
    rules = trial.rules_for(rules_of(options, **PAIRED, fewest_pairs=options.fewest_pairs))
    if options.out:
        make_folder(options.out)
    begin = time.monotonic()
    try:
        if options.source:
            campaigns, power_runs = record.load(options.source), record.load_power(options.source)
        else:
            campaigns = _measure(options, groups, rules) if groups else []
            power_runs = _measure_power(options) if with_power else []
    except (CannotMeasure, IncomparableRuns) as error:
        return complain(PROGRAM, f"unfit to measure: {error}", Exit.UNFIT)
    finally:
        report_progress("")
    seconds = None if options.source else time.monotonic() - begin
    trials: list[trial.Trial] = []
    for campaign in campaigns:
        results = trial.judge(campaign.runs, campaign.again, rules)
        trials += trial.trials_of(results, campaign.levels, (*trial.GPU_GROUPS, *trial.HOST_GROUPS))
    planted_power = [p for runs in power_runs for p in power.judge(*runs, rules)]
    if not trials and not planted_power:
        said = "no case was measured, so it is not known how often the gate is right; see --group and --aa-cases"
        return complain(PROGRAM, said, Exit.USAGE)
    text = present.text(trials, planted_power, seconds)
    say(text)
    if options.out:
        environment = (campaigns[0].runs if campaigns else power_runs[0])[0].environment
        document = present.document(trials, planted_power, environment, seconds)
        write_file(options.out / "self_test.json", (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
        write_file(options.out / "self_test.md", text.encode())
        if picture := curve.svg(trials):
            write_file(options.out / "power.svg", picture)
    alarms = figures.false_alarms(trials)
    wrong = any(t.level > 0 and t.verdict is Verdict.FASTER for t in trials) or any(
        not p.is_named and p.comparison.verdict is not Verdict.UNFIT for p in planted_power
    )
    if wrong or (alarms and alarms.interval.low > 0.025):
        return Exit.FAILED
    verdicts = [t.verdict for t in trials] + [p.comparison.verdict for p in planted_power]
    if all(verdict is Verdict.UNFIT for verdict in verdicts):
        return complain(PROGRAM, "unfit to measure: not one trial could be judged", Exit.UNFIT)
    return Exit.OK
