# SPDX-License-Identifier: Apache-2.0
"""Sides that are real processes and behave oddly: they crash late, print few places, are many, or are to end at once."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from assay.gate.ab.command import main
from assay.gate.ab.side import step_of
from assay.program import Exit

QUICK = ["--warm-up", "0", "--pairs", "6"]
METRIC = ["--metric", r"takes (\S+) ms", "--unit", "ms"]


def script(path: Path, text: str) -> str:
    path.write_text(text)
    return f"{sys.executable} {path}"


def test_a_side_that_ends_late_names_the_round(tmp_path, capsys):
    counts = f"""import os, pathlib
turns = pathlib.Path({str(tmp_path)!r}) / "turns"
turns.open("a").write(".")
if turns.stat().st_size == 5:
    os.abort()
print("takes 3.00 ms")
"""
    candidate = script(tmp_path / "a.py", counts)
    assert main(["--base", "echo takes 3.00 ms", "--candidate", candidate, *METRIC, *QUICK]) == Exit.USAGE
    err = capsys.readouterr().err
    assert "round 5 of 6: the candidate" in err and "was ended by SIGABRT" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "text, rounded, step",
    [("12.5", True, 0.1), ("12.5", False, 0.1), ("12", True, 1), ("12", False, 0), ("1.20e-6", True, 1e-8), ("1e3", True, 1e3)],
)
def test_the_last_place_of_a_number_is_a_step(text, rounded, step):
    assert step_of(text, rounded) == pytest.approx(step)


@pytest.mark.parametrize(
    "before, after, code, verdict",
    [
        ("12", "12", 0, "inconclusive"),  # may be 11.6 and 12.4
        ("12", "13", 3, "inconclusive"),  # may be 12.49 and 12.51, and 11.5 and 13.5
        ("12", "18", 1, "slower"),
        ("12.000", "12.000", 0, "equivalent"),
        ("12.000", "12.300", 1, "slower"),
        ("0.00", "0.00", 3, "inconclusive"),  # may be 0.001 and 0.004
    ],
)
def test_what_is_printed_in_few_places_proves_little(tmp_path, capsys, before, after, code, verdict):
    record = tmp_path / "gate.json"
    given = ["--base", f"echo takes {before} ms", "--candidate", f"echo takes {after} ms", "--json", str(record)]
    assert main([*given, *METRIC, *QUICK]) == code
    (case,) = json.loads(record.read_text())["cases"]
    assert case["verdict"] == verdict and ("printed in few places" in case["note"]) == (len(before) == 2)


def test_a_count_of_none_is_exact(capsys):
    given = ["--metric", "(\\d+) failures", *QUICK, "--all"]
    assert main(["--base", "echo 0 failures", "--candidate", "echo 0 failures", *given]) == 0
    assert "the same on both sides" in capsys.readouterr().out


def test_whole_numbers_without_a_unit_are_counts(capsys):
    given = ["--metric", "(\\d+) allocations", *QUICK, "--all"]
    assert main(["--base", "echo 12 allocations", "--candidate", "echo 12 allocations", *given]) == 0
    assert "equivalent" in capsys.readouterr().out
    assert main(["--base", "echo 12 allocations", "--candidate", "echo 13 allocations", *given]) == Exit.SLOWER


def test_noise_of_a_step_needs_no_more_places(tmp_path, capsys):
    noisy = f"""import pathlib, random
turns = pathlib.Path({str(tmp_path / "turns")!r})
with turns.open("a") as file:
    file.write(".")
random.seed(turns.stat().st_size)
print(*(f"takes {{random.gauss(100.4, 1.5):.0f}} ms" for _ in range(999)), sep="\\n")
"""
    # The median of so many lies on a step, as each of them does: what 999 samples would tell, whole numbers do not.
    side = script(tmp_path / "a.py", noisy)
    assert main(["--base", side, "--candidate", side, *METRIC, *QUICK, "--all"]) == 0
    assert "printed in few places" in capsys.readouterr().out
    side = script(tmp_path / "b.py", noisy.replace("range(999)", "range(1)"))
    assert main(["--base", side, "--candidate", side, *METRIC, *QUICK, "--all"]) in (0, 3)
    assert "printed in few places" not in capsys.readouterr().out


# As a build of assay does, it refuses an expression of more than 10,000 characters.
MANY = """#!/usr/bin/env python3
# assay.run/1
import json, pathlib, re, sys
if "--help" in sys.argv:
    sys.exit()
asked = sys.argv[2] if not sys.argv[2].startswith("--") else ""
if len(asked) > 10_000:
    sys.exit("too long")
def case(i):
    value = TIME * (1 + i * 1e-6)
    metric = dict(unit="us", value=value, ci95=[value, value], better="lower")
    return dict(name=f"kernels/of_a_long_name/{i:04}", kind="kernel", primary="time_us", params={}, sass=None,
                metrics=dict(time_us=metric), conditions=dict(clock_domain="dram", throttle=[]), repetition=0, status="ok")
cases = [c for c in map(case, range(600)) if re.search(asked, c["name"])]
gpu = dict(name="NVIDIA H200", architecture="sm_90", sm_count=132, id="0123456789abcdef")
environment = dict(gpu=gpu, driver="580.65.06", cuda="13.0", host=dict(cpu="x86"), assay=dict(version="0.1.0"))
folder = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
folder.mkdir()
(folder / "run.json").write_text(json.dumps(dict(schema="assay.run/1", environment=environment, measurements=cases)))
"""


def test_more_slower_cases_than_an_expression_may_name_are_confirmed(tmp_path, capsys):
    sides = []
    for name, value in (("base", 100), ("candidate", 105)):
        program = tmp_path / name
        program.write_text(MANY.replace("TIME", str(value)))
        program.chmod(0o755)
        sides += [f"--{name}", str(program)]
    record = tmp_path / "gate.json"
    assert main([*sides, "^kernels/", *QUICK, "--json", str(record)]) == Exit.SLOWER
    cases = json.loads(record.read_text())["cases"]
    assert len(cases) == 600
    assert all(c["verdict"] == "slower" and "confirmed in 6 fresh pairs" in c["note"] for c in cases)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_gate_that_is_to_end_takes_along_what_it_started(tmp_path, number):
    """A runner that cancels a job asks by SIGTERM; what goes on measuring would disturb the next job."""
    told = tmp_path / "pid"
    side = script(tmp_path / "a.py", f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    words = [sys.executable, "-m", "assay.gate.ab", "--base", side, "--candidate", side, *METRIC]
    as_from_a_shell = partial(signal.signal, number, signal.SIG_DFL)  # nohup, say, leaves SIGHUP ignored
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=as_from_a_shell)
    for _ in range(1200):  # a minute
        if told.exists() and told.read_text():
            break
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED and err == "assay-ab: interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_where_nothing_can_be_judged_the_files_say_so(tmp_path, capsys, monkeypatch):
    smi = tmp_path / "nvidia-smi"
    smi.write_text('#!/bin/sh\ncase "$*" in *compute-apps*) echo 1 ;; esac\n')  # a process that is not ours
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    files = [str(tmp_path / name) for name in ("gate.json", "gate.xml")]
    given = ["--base", "echo takes 3.00 ms", "--candidate", "echo takes 3.00 ms", *METRIC, "--pairs", "6"]
    assert main([*given, "--json", files[0], "--junit", files[1]]) == Exit.UNFIT
    assert "another process computes on this GPU" in capsys.readouterr().err
    document = json.loads(Path(files[0]).read_text())
    assert document["exit_code"] == 4 and document["cases"] == [] and "another process" in document["outcome"]
    assert "another process" in summary.read_text() and 'tests="0"' in Path(files[1]).read_text()
