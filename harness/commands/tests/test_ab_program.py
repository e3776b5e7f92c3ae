# SPDX-License-Identifier: Apache-2.0
"""`assay ab` and the self-test with the real program, on cases of the CPU: planted work is done, and found."""

import json
import os
import subprocess
import sys

import pytest

from assay.gate.ab.campaign import Plan
from assay.gate.result import Rules
from assay.gate.self_test import trial
from command_line import ROOT, built

CASE = "host/peak_fma/f32/one_thread"
GROUP = trial.Group("host", "^host/cache_latency/16384$")
QUICK = ("--time-cap", "0.02")


def call(*arguments) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}"}
    environment = {k: v for k, v in environment.items() if not k.startswith("GITHUB_")}
    return subprocess.run([built("assay"), *map(str, arguments)], text=True, capture_output=True, timeout=300,
                          env=environment)


@pytest.mark.quiet  # what runs beside it on a core's other thread takes as much as what is planted
def test_planted_work_is_done_and_found():
    """Twice the work takes twice the time; with nothing planted no side is called slower."""
    rules = trial.rules_for(Rules(threshold=0.05))
    sides = trial.sides_of([str(built("assay"))], trial.pattern_of([GROUP]), (0, 100), QUICK)
    measured = trial.measure(sides, (0, 100), Plan(12, warm_up=0), rules)
    assert [run.measurements[0].params["extra_percent"] for run in measured.runs] == [0, 0, 100]
    same, twice = trial.trials_of(trial.judge(measured.runs, measured.again, rules), (0, 100), [GROUP])
    assert same.verdict != "slower" and twice.verdict == "slower", (same, twice)
    assert twice.comparison.ratio.low < 2.0 < twice.comparison.ratio.high or 1.7 < twice.comparison.ratio.value < 2.3


def test_extra_work_is_not_listed():
    said = call("run", "--help").stdout
    assert "--extra-work" not in said and "--no-baselines" in said and "--no-sweeps" in said


def test_two_builds_in_turns(tmp_path):
    program = built("assay")
    out = tmp_path / "out"
    done = call("ab", "--base", program.parent, "--candidate", program, f"^{CASE}$", "--pairs", 6, "--warm-up", 0,
                "--threshold", 60, "--option=--time-cap", "--option=0.02", "--out", out, "--json", tmp_path / "gate.json")
    assert done.returncode == 0, done.stdout + done.stderr
    (case,) = json.loads((tmp_path / "gate.json").read_text())["cases"]
    assert (case["name"], case["processes"], case["method"]) == (CASE, 6, "process pairs")
    for side in ("base", "candidate"):
        run = json.loads((out / f"{side}.json").read_text())
        assert sorted(m["repetition"] for m in run["measurements"]) == list(range(6))
        assert len({m["conditions"]["seed"] for m in run["measurements"]}) == 6


@pytest.mark.parametrize(
    "filter, code, words",
    [("^no/such/case$", 2, "no case matches"), ("^memory/hbm/copy$", 4, "unfit to judge: the base")],
)
def test_what_cannot_be_measured(filter, code, words):
    done = call("ab", "--base", built("assay"), "--candidate", built("assay"), filter)
    if code == 4 and done.returncode == 0:
        pytest.skip("there is a GPU here")
    assert done.returncode == code and words in done.stderr, done.stderr


def test_a_noisy_neighbour_makes_nothing_red():
    """The same program on both sides, while others take the cores from it every now and then."""
    burn = "import time\nwhile True:\n    end = time.time() + 0.7\n    while time.time() < end: pass\n    time.sleep(0.9)\n"
    neighbours = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(os.cpu_count() or 1)]
    try:
        done = call("ab", "--base", built("assay"), "--candidate", built("assay"), f"^{CASE}$|^host/cache_latency/16384$",
                    "--option=--time-cap", "--option=0.02")
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    assert done.returncode in (0, 3, 4), done.stdout


def test_the_self_test_measures_the_program_that_was_called(tmp_path, monkeypatch):
    """Also from a folder that has no build, with another assay on the PATH."""
    other = tmp_path / "assay"
    other.write_text("#!/bin/sh\necho another assay >&2; exit 2\n")
    other.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = call("gate", "--self-test", "--host", "--aa", "0", "--levels", "5", "--pairs", "6", "--time-cap", "nothing")
    assert said.returncode == 2 and str(built("assay")) in said.stderr and "another assay" not in said.stderr, said
