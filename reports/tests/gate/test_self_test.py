# SPDX-License-Identifier: Apache-2.0
"""The self-test counts right: its machinery on a simulated machine whose error rates are known."""

import json
from pathlib import Path

import machines
import numpy as np
import pytest
from test_ab_simulation import RULES

from assay.gate import main
from assay.gate.ab.campaign import Plan, take_turns
from assay.gate.result import Comparison, Verdict
from assay.gate.self_test import figures, present, record, trial
from assay.statistics import LogRatio, clopper_pearson

GROUP = trial.Group("cases", "^case/")


def measured(levels, seed=1, plan=Plan(), cases=12, **noise):
    machine = machines.Machine(seed, **noise)
    sides = [machines.Side("base", machine, cases=cases)]
    sides += [machines.Side(f"{level:+d}%", machine, level / 100, cases=cases) for level in levels]
    return trial.measure(sides, levels, plan, RULES)


def trials(campaigns):
    found = []
    for m in campaigns:
        found += trial.trials_of(trial.judge(m.runs, m.again, RULES), m.levels, [GROUP])
    return found


@pytest.fixture(scope="module")
def campaigns():
    return [measured((0,), 1), measured((0,), 2), measured((1, 2, 3, 5), 3)]


def test_what_was_planted_is_what_is_counted(campaigns):
    found = trials(campaigns)
    assert figures.false_alarms(found) == figures.Share(0, 24)
    levels = {l.level: l for l in figures.by_level(found)}
    assert [levels[k].found.trials for k in (0, 1, 2, 3, 5)] == [24, 12, 12, 12, 12]
    assert (levels[5].found.count, levels[3].found.count) == (12, 12) and levels[1].found.count == 0
    assert all(l.faster == l.unfit == 0 for l in levels.values())
    assert all(levels[k].median == pytest.approx(k / 100, abs=0.003) for k in levels)


def test_no_alarm_in_so_many_bounds_the_rate():
    assert figures.Share(0, 500).interval.high == pytest.approx(1 - 0.025 ** (1 / 500))
    assert figures.Share(3, 300).interval == clopper_pearson(3, 300)
    assert figures.Share(0, 500).words() == "0 of 500 (0.0% to 0.7%)"


def test_an_unfit_trial_is_no_trial():
    c = Comparison("case/0", "kernel", verdict=Verdict.UNFIT)
    assert figures.false_alarms([trial.Trial("cases", 0, c)]) is None
    (level,) = figures.by_level([trial.Trial("cases", 3, c), trial.Trial("cases", 3, Comparison("case/1", "kernel"))])
    assert (level.found.trials, level.unfit) == (1, 1)


@pytest.mark.parametrize("slowdown", [0.01, 0.015, 0.02, 0.03])
def test_the_power_curve_is_what_happens(slowdown):
    """The chance that the formula gives, against 20,000 draws of eight pairs, twice each for the confirmation."""
    n, sd, draws = 8, 0.006, 20_000
    rng = np.random.default_rng(5)
    passed = np.ones(draws, dtype=bool)
    for _ in range(2):
        logs = rng.normal(np.log1p(slowdown), sd, (draws, n))
        mean, error = logs.mean(1), logs.std(1, ddof=1) / np.sqrt(n)
        from scipy import stats

        passed &= stats.t.sf((mean - np.log1p(0.01)) / error, n - 1) < 0.025
    c = Comparison("case/0", "kernel", threshold=0.01, log_ratio=LogRatio(0.0, sd / np.sqrt(n), n - 1))
    share = clopper_pearson(int(passed.sum()), draws, 0.999)
    assert share.low <= figures.power(c, slowdown) <= share.high


def test_what_is_detectable_is_found_with_that_chance():
    c = Comparison("case/0", "kernel", threshold=0.01, log_ratio=LogRatio(0.0, 0.002, 7))
    found = figures.detectable(c)
    assert figures.power(c, found) == pytest.approx(figures.CHANCE, abs=1e-6)
    assert figures.detectable(c, cases=30) > found > 0.01
    assert figures.detectable(Comparison("case/0", "kernel")) is None


def test_what_was_kept_is_judged_the_same(campaigns, tmp_path, capsys):
    for number, campaign in enumerate(campaigns):
        record.save(tmp_path / "kept" / f"{number}", campaign)
    out = tmp_path / "out"
    out.mkdir()
    assert main(["--self-test", "--from", str(tmp_path / "kept"), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert present.text(trials(campaigns)).splitlines()[:4] == said.splitlines()[:4]
    document = json.loads((out / "self_test.json").read_text())
    assert document["schema"] == "assay.self-test/1" and document["false_alarms"]["trials"] == 24
    assert [p["found"]["count"] for p in document["planted"] if p["group"] == "other"][-2:] == [12, 12]
    assert b"other: noisiest case" in (out / "power.svg").read_bytes()
    assert len(document["trials"]) == 72 and (out / "self_test.md").read_text().strip() == said.strip()
    # By a threshold of 4%, a slowdown of 3% is none.
    main(["--self-test", "--from", str(tmp_path / "kept"), "--threshold", "4"])
    assert "| other | +3%  | 0 of 12" in capsys.readouterr().out


def test_a_gate_that_is_wrong_is_said_by_the_status(tmp_path, capsys):
    kept = measured((0,), 9)
    for m in kept.runs[1].measurements:  # nothing was planted, and yet it is slower
        m.metrics["time_us"].value *= 1.1
        m.metrics["time_us"].ci95 = None
    kept.again = None
    record_all = tmp_path / "kept"
    for m in (m for run in kept.runs for m in run.measurements):
        v = m.metrics["time_us"].value
        m.metrics["time_us"].ci95 = (v, v)
    record.save(record_all / "0", kept)
    assert main(["--self-test", "--from", str(record_all)]) == 1
    assert "12 of 12" in capsys.readouterr().out


def test_the_readme_says_what_was_measured():
    root = Path(__file__).resolve().parents[3]
    said = (root / "README.md").read_text().split("How often is it right?")[1].split("\n## ")[0]
    documents = {}
    for run, where in (
        ("h200/2026-11-22", "on two H200s"),
        ("h200/2026-11-23", "on an H200"),
        ("h100/2026-11-22", "on an H100"),
    ):
        documents[run] = json.loads((root / f"results/{run}-gate-self-test" / "self_test.json").read_text())
        alarms = documents[run]["false_alarms"]
        count = f"{alarms['count']} (at most {alarms['ci95'][1]:.1%}, Clopper-Pearson)"
        assert f"| none, {alarms['trials']} cases {where} | {count} | 0 |" in said
        assert not any(t["verdict"] == "faster" and t["extra_percent"] == 0 for t in documents[run]["trials"])
    document = documents["h200/2026-11-22"]
    for level, words in ((2, "| +2%, 24 cases on an H200 |"), (3, "| +3%, the same |"), (5, "| +5%, the same |")):
        (found,) = [p for p in document["planted"] if p["group"] == "all" and p["extra_percent"] == level]
        share = f"{found['found']['count']} of {found['found']['trials']}"
        assert f"{words} {share} | {found['called_faster']} |" in said
    for run in ("gate-planted", "gate-four-minutes"):
        again = json.loads((root / f"results/h200/2026-11-24-{run}/self_test.json").read_text())
        assert all(p["found"]["count"] == p["found"]["trials"] == 24 for p in again["planted"] if p["group"] == "all")
        assert not any(p["called_faster"] for p in again["planted"])
    assert f"in {again['seconds']:.0f} seconds" in said
    campaigns = [json.loads(path.read_text()) for path in root.glob("results/*/*/self_test.json")]
    for case in ("sass/ffma/f32", "kernels/gemm/bf16/m4096n4096k4096/nt/sustained", "memory/l2/read"):
        found = [[t["detectable"] for t in campaign["trials"] if t["case"] == case] for campaign in campaigns]
        worst = [max(of_one) for of_one in found if of_one]
        assert f"of {min(worst):.2%} to {max(worst):.2%}" in said
    slower, faster = document["power"]
    assert slower["named"] and faster["named"]
    assert f"by {slower['ratio'] - 1:.2%}" in said and "-2.9% cycles" in slower["cause"]


def power_runs(hungry_clock=0.9, watts=0.45):
    limited = {"domain": "power", "throttle": ("sw_power_cap",), "cases": 1}
    machine = machines.Machine(11)
    sides = [
        machines.Side("thrifty", machine, cycles=1.03, watts=watts, **limited),
        machines.Side("hungry", machine, clock=hungry_clock, **limited),
    ]
    return take_turns(sides, Plan())


def test_changes_of_cycles_against_power_are_named(tmp_path, capsys):
    record.save_power(tmp_path / "kept" / "power", power_runs())
    assert main(["--self-test", "--from", str(tmp_path / "kept")]) == 0
    out = capsys.readouterr().out
    assert "fewer cycles but more power, hence slower: " in out and "more cycles but less power, hence faster: " in out
    # Where the power makes no difference, it is only the cycles that do, and the self-test says that it expected more.
    record.save_power(tmp_path / "other" / "power", power_runs(1.0, 1.0))
    assert main(["--self-test", "--from", str(tmp_path / "other")]) == 1


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--from", "/nonexistent"], "no campaign is in it"),
        (["--pairs", "3"], "fewer than 6 pairs"),
        (["--host", "--program", "true", "--aa", "-1"], "--aa -1: a number of campaigns is 0 or more"),
        (["--host", "--program", "true", "--aa", "0", "--levels", ""], "nothing would be measured"),
        (["--group", "latency", "--program", "true", "--aa", "0", "--levels", ""], "nothing would be measured"),
        (
            ["--group", "nothing", "--program", "true"],
            "no such group; there are GEMM, sustained, GEMM, copy in HBM, copy, latency, instruction, power",
        ),
    ],
)
def test_usage(capsys, arguments, words):
    assert main(["--self-test", *arguments]) == 2
    assert words in capsys.readouterr().err


def kept(folder, is_measured):
    """A campaign of one case whose processes all shared the GPU, or of none."""
    campaign = measured((0,), cases=1)
    for run in campaign.runs:
        run.measurements = [m for m in run.measurements if is_measured]
        for m in run.measurements:
            m.flags = ["shared_gpu"]
    record.save(folder / "same-1", campaign)
    return str(folder)


def test_a_self_test_that_says_nothing_is_not_ok(tmp_path, capsys):
    assert main(["--self-test", "--from", kept(tmp_path / "none", False)]) == 2
    assert "no case was measured" in capsys.readouterr().err
    assert main(["--self-test", "--from", kept(tmp_path / "unfit", True)]) == 4
    assert "not one trial could be judged" in capsys.readouterr().err


def test_what_tells_identical_code_is_kept(tmp_path):
    campaign = measured((0,), cases=1)
    launch = [{"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "shared_bytes": 0}]
    code = {"kernel": "k", "target": "sm_90a", "sha256": "a" * 64, "code_sha256": "b" * 64, "verified": True}
    for run in campaign.runs:
        for m in run.measurements:
            m.sass = {**code, "launch": launch, "loop": {"FFMA": 64}}
    record.save(tmp_path / "same-1", campaign)
    (kept_campaign,) = record.load(tmp_path)
    assert all(m.sass == {**code, "launch": launch} for run in kept_campaign.runs for m in run.measurements)
