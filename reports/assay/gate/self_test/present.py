# SPDX-License-Identifier: Apache-2.0
"""What a self-test found: as text, which is Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.gate.present import interval, percent
from assay.gate.self_test import figures
from assay.gate.self_test.figures import CHANCE, Share
from assay.gate.self_test.power import Planted
from assay.gate.self_test.trial import Trial


def _share(share: Share) -> dict[str, Any]:
    value, low, high = share.interval
    return {"count": share.count, "trials": share.trials, "share": value, "ci95": [low, high]}


def _percentage(fraction: float | None) -> str:
    return "-" if fraction is None else f"{fraction * 100:.2f}%"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Markdown whose columns are aligned as text as well."""
    rows = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    rule = ["-" * width for width in widths]
    return ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in [rows[0], rule, *rows[1:]]]


def _noise(trials: Sequence[Trial]) -> list[list[str]]:
    """For each case the widest of its trials: what it can detect, and with what chance it finds 1, 2, 3 and 5%."""
    worst: dict[str, tuple[float, Trial]] = {}
    for trial in trials:
        found = figures.detectable(trial.comparison)
        if found is not None and found > worst.get(trial.comparison.name, (-1.0,))[0]:
            worst[trial.comparison.name] = (found, trial)
    rows = []
    for name, (found, trial) in sorted(worst.items(), key=lambda item: -item[1][0]):
        chances = [figures.power(trial.comparison, slowdown) for slowdown in (0.01, 0.02, 0.03, 0.05)]
        rows.append([name, _percentage(found), *("-" if p is None else f"{p:.2f}" for p in chances)])
    return rows


def text(trials: Sequence[Trial], planted_power: Sequence[Planted] = (), seconds: float | None = None) -> str:
    """All figures."""
    lines = []
    if alarms := figures.false_alarms(trials):
        lines += ["False alarms: the same program on both sides called slower.", "", f"- {alarms.words()}", ""]
    planted = [t for t in trials if t.level]
    if planted:
        rows = [
            [l.group, f"{l.level:+d}%", l.found.words(), _percentage(l.median), str(l.faster), str(l.unfit)]
            for l in figures.by_level(planted)
        ]
        header = ["cases", "work", "found slower (95% interval)", "measured, median", "called faster", "unfit"]
        lines += ["Planted work, and what was found.", "", *_table(header, rows), ""]
    if planted_power:
        rows = [[p.change, p.comparison.verdict.value, percent(p.comparison.ratio.value) if p.comparison.ratio else "-",
                 p.comparison.cause or p.comparison.note] for p in planted_power]  # fmt: skip
        lines += ["Cycles against power, at the power limit.", ""]
        lines += [*_table(["planted", "verdict", "slower by", "cause"], rows), ""]
    odd = [t for t in trials if _is_odd(t)]
    if odd:
        rows = [
            [t.comparison.name, f"{t.level:+d}%", t.verdict.value, percent(t.comparison.ratio.value) if t.comparison.ratio else "-",
             interval(t.comparison), "; ".join(s for s in (t.comparison.cause, t.comparison.note) if s)]
            for t in odd
        ]  # fmt: skip
        lines += ["Not as planted, of 2% and more, and unfit ones.", ""]
        lines += [*_table(["case", "work", "verdict", "slower by", "95% interval", "note"], rows), ""]
    if rows := _noise(trials):
        header = ["case", f"detectable, {CHANCE:.0%}", "P(1%)", "P(2%)", "P(3%)", "P(5%)"]
        lines += [
            "Smallest slowdown that a case shows, gated by itself, and the chance to find others, of the noise of its "
            "worst trial.",
            "",
        ]
        lines += [*_table(header, rows), ""]
    if seconds is not None:
        lines += [f"Measured in {seconds:.0f} s.", ""]
    return "\n".join(lines)


def _is_odd(trial: Trial) -> bool:
    if trial.level == 0:
        return trial.verdict.value not in ("equivalent", "inconclusive")
    return trial.level >= 2 and trial.verdict.value != "slower"


def document(
    trials: Sequence[Trial], planted_power: Sequence[Planted], environment: dict[str, Any], seconds: float | None
) -> dict[str, Any]:
    """The record, schema `assay.self-test/1`."""
    alarms = figures.false_alarms(trials)
    return {
        "schema": "assay.self-test/1",
        "environment": environment,
        "seconds": seconds,
        "false_alarms": alarms and _share(alarms),
        "planted": [
            {
                "group": l.group,
                "extra_percent": l.level,
                "found": _share(l.found),
                "called_faster": l.faster,
                "unfit": l.unfit,
                "median_slowdown": l.median,
            }
            for l in figures.by_level([t for t in trials if t.level])
        ],
        "power": [
            {
                "planted": p.change,
                "named": p.is_named,
                "verdict": p.comparison.verdict.value,
                "ratio": p.comparison.ratio and p.comparison.ratio.value,
                "cause": p.comparison.cause,
            }
            for p in planted_power
        ],
        "trials": [
            {
                "case": t.comparison.name,
                "group": t.group,
                "metric": t.comparison.metric,
                "extra_percent": t.level,
                "verdict": t.verdict.value,
                "ratio": t.comparison.ratio and t.comparison.ratio.value,
                "ci95": t.comparison.ratio and [t.comparison.ratio.low, t.comparison.ratio.high],
                "detectable": figures.detectable(t.comparison),
                "cause": t.comparison.cause,
                "note": t.comparison.note,
            }
            for t in trials
        ],
    }
