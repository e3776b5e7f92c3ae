# SPDX-License-Identifier: Apache-2.0
"""A gate result for people and for machines: terminal, Markdown, JSON, JUnit XML, GitHub annotations."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections import Counter
from typing import Any
from xml.etree import ElementTree

from assay.gate.result import Comparison, Result, Rules, Verdict
from assay.plain_text import CUT, one_line, printable
from assay.plain_text import markdown as escaped
from assay.statistics import Interval

COLOURS = {
    **{Verdict.SLOWER: 31, Verdict.MISSING: 31, Verdict.UNKNOWN: 35, Verdict.UNFIT: 35},
    **{Verdict.INCONCLUSIVE: 33, Verdict.FASTER: 32},
}
QUIET = (Verdict.EQUIVALENT, Verdict.UNCHANGED)
# GitHub shows ten annotations per step, and of a step's summary 1 MiB.
ANNOTATIONS = 10
LARGEST_SUMMARY = 1_000_000  # bytes


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}" if abs(value) < 1e5 else f"{value:.0f}"


def percent(ratio: float) -> str:
    change = (ratio - 1) * 100
    return "?" if not math.isfinite(change) else f"{change:+.2f}%" if abs(change) < 1000 else f"{ratio:.3g}x"


def change(c: Comparison) -> str:
    """How much slower, in cost: +3.1% takes 3.1% longer."""
    return percent(c.ratio.value) if c.ratio else "-"


def interval(c: Comparison) -> str:
    return f"[{percent(c.ratio.low)}, {percent(c.ratio.high)}]" if c.ratio else "-"


def remark(c: Comparison) -> str:
    return "; ".join(([] if c.gated else ["not gated"]) + [said for said in (c.cause, c.note) if said])


def detectable(c: Comparison) -> str:
    return "-" if c.smallest_detectable is None else percent(1 + c.smallest_detectable)


def _row(c: Comparison) -> list[str]:
    name, metric, note = (one_line(said, CUT) for said in (c.name, c.metric, remark(c)))
    return [
        c.verdict.value,
        name,
        metric,
        _number(c.base),
        _number(c.candidate),
        change(c),
        interval(c),
        detectable(c),
        note,
    ]


HEADER = ["verdict", "case", "metric", "base", "candidate", "slower by", "95% interval", "detectable", "note"]
RIGHT = {3, 4, 5, 6, 7}


def summary(result: Result, outcome: str) -> str:
    """The one line that says it all."""
    counts = Counter(c.verdict for c in result.comparisons if c.gated)
    parts = [f"{counts[v]} {v.value}" for v in Verdict if counts[v]]
    quiet = len(result.comparisons) - sum(counts.values())
    parts += [f"{quiet} not gated"] if quiet else []
    parts += [f"{len(result.new)} new"] if result.new else []
    return f"{outcome} ({', '.join(parts) or 'no cases'})"


def terminal(result: Result, everything: bool, colour: bool) -> str:
    """An aligned table, worst first. Cases that did not change are only counted unless `everything`."""
    shown = [c for c in result.comparisons if everything or c.verdict not in QUIET]
    lines = [f"note: {one_line(warning, CUT)}" for warning in result.warnings]
    if shown:
        rows = [HEADER, *map(_row, shown)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
        for row, c in zip(rows, [None, *shown]):
            cells = [cell.rjust(w) if i in RIGHT else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths))]
            if c and colour and c.verdict in COLOURS:
                cells[0] = f"\x1b[{COLOURS[c.verdict]}m{cells[0]}\x1b[0m"
            lines.append("  ".join(cells).rstrip())
    if len(shown) < len(result.comparisons):
        lines.append(f"{len(result.comparisons) - len(shown)} more did not change (--all lists them)")
    single = sum(c.method == "single process" for c in result.comparisons)
    if single:
        lines.append(
            f"note: {single} of {len(result.comparisons)} compared from a single process per side; their intervals "
            "are widened by the process floor. Repetitions in fresh processes decide better."
        )
    least = sorted(d for c in result.comparisons if (d := c.smallest_detectable) is not None)
    if least:
        lines.append(
            f"note: smallest slowdown this data could prove (detectable): median {statistics.median(least):.1%}, "
            f"worst case {least[-1]:.1%}"
        )
    return "\n".join(lines)


def markdown(result: Result, headline: str) -> str:
    """For a pull request or $GITHUB_STEP_SUMMARY (which takes 1 MiB): worst first, the quiet ones folded."""

    def table(cases: list[Comparison]) -> list[str]:
        rule = ["---" if i not in RIGHT else "---:" for i in range(len(HEADER))]
        rows = [HEADER, rule, *(list(map(escaped, _row(c))) for c in cases)]
        return ["| " + " | ".join(row) + " |" for row in rows]

    loud = [c for c in result.comparisons if c.verdict not in QUIET]
    quiet = [c for c in result.comparisons if c.verdict in QUIET]
    warnings = [f"- {escaped(one_line(warning, CUT))}" for warning in result.warnings]
    lines = [f"**assay gate: {escaped(headline)}**", "", *warnings, ""]
    left = LARGEST_SUMMARY - len("\n".join(lines).encode()) - 1000  # for what closes the tables
    for cases, title in ((loud, ""), (quiet, f"{len(quiet)} did not change")):
        if not cases:
            continue
        lines += [f"<details><summary>{title}</summary>", ""] if title else []
        shown = []
        for row in table(cases):
            left -= len(row.encode()) + 1
            if left < 0:
                break
            shown.append(row)
        lines += shown
        more = len(cases) - max(len(shown) - 2, 0)
        lines += [f"and {more} more"] if more else []
        lines += ["", "</details>"] if title else []
        lines += [""]
    return "\n".join(lines) + "\n"


def document(result: Result, rules: Rules, outcome: str, code: int, **facts: Any) -> dict[str, Any]:
    """The authoritative record, schema `assay.gate/1`. Ratios are costs: above 1 is slower."""

    def finite(value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    def interval(i: Interval | None) -> dict[str, Any] | None:
        return i and {"value": finite(i.value), "ci95": [finite(i.low), finite(i.high)]}

    cases = []
    intervals = ("ratio", "cycles", "joules", "watts", "clock")
    for c in result.comparisons:
        case = {k: finite(v) for k, v in vars(c).items() if not k.endswith("log_ratio")}
        case |= {k: interval(getattr(c, k)) for k in intervals}
        case["verdict"] = c.verdict.value
        case["smallest_detectable"] = c.smallest_detectable
        cases.append(case)
    return {
        "schema": "assay.gate/1",
        **facts,
        "outcome": outcome,
        "exit_code": code,
        "rules": dataclasses.asdict(rules),
        "warnings": result.warnings,
        "new": result.new,
        "cases": cases,
    }


def junit(result: Result) -> bytes:
    """One test case per gated comparison: slower fails, missing is an error, what cannot be told is skipped."""
    tags = {
        Verdict.SLOWER: "failure",
        Verdict.MISSING: "error",
        Verdict.UNKNOWN: "error",
        Verdict.UNFIT: "skipped",
        Verdict.INCONCLUSIVE: "skipped",
    }
    gated = [c for c in result.comparisons if c.gated]
    counts = Counter(tags.get(c.verdict) for c in gated)
    suite = ElementTree.Element(
        "testsuite",
        name="assay-gate",
        tests=str(len(gated)),
        failures=str(counts["failure"]),
        errors=str(counts["error"]),
        skipped=str(counts["skipped"]),
    )
    for c in gated:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=printable(c.name.rpartition("/")[0].replace("/", ".")),
            name=printable(f"{c.name} {c.metric}".strip()),
        )
        if tag := tags.get(c.verdict):
            ElementTree.SubElement(case, tag, message=printable(sentence(c)))
    return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)


def sentence(c: Comparison) -> str:
    """One comparison in words."""
    text = f"{c.verdict.value}"
    if c.ratio:
        text += f" by {change(c)} {interval(c)}: {c.metric} {_number(c.base)} -> {_number(c.candidate)} {c.unit}"
        text += f", threshold {c.threshold:.1%}"
    return f"{text}; {remark(c)}" if remark(c) else text


def annotations(result: Result) -> list[str]:
    """GitHub workflow commands for the worst cases."""

    def value(text: str) -> str:
        return one_line(text, CUT).replace("%", "%25")

    return [
        f"::error title={value(c.name).replace(':', '%3A').replace(',', '%2C')}::{value(sentence(c))}"
        for c in result.of(Verdict.SLOWER, Verdict.MISSING)[:ANNOTATIONS]
    ]
