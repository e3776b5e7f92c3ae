# SPDX-License-Identifier: Apache-2.0
"""Sides that are real processes: what they speak is seen, what they print is read, and what goes wrong is said."""

import json
import os
import resource
import shlex
import sys
import time

import pytest

from assay.files import RunFileError
from assay.gate.ab import side, watch
from assay.gate.ab.command import main
from assay.gate.ab.side import Asked, Kind, Printed, detect, program_of, sides, words_of
from assay.program import Exit

PYTHON = sys.executable
QUICK = ["--warm-up", "0", "--pairs", "6"]


def script(path, text):
    path.write_text(text)
    return f"{PYTHON} {path}"


def timer(path, milliseconds):
    """A command whose figure is known: it prints what it is told, with jitter from how often it ran."""
    return script(
        path,
        f"""import pathlib
count = pathlib.Path({str(path)!r} + ".count")
n = int(count.read_text()) if count.exists() else 0
count.write_text(str(n + 1))
for repeat in range(3):
    print(f"sort takes {{{milliseconds} * (1 + 0.001 * ((n * 7 + repeat) % 5)):.6f}} ms")
print(f"scan takes {{5 * (1 + 0.001 * (n % 3)):.6f}} ms")
""",
    )


METRIC = ["--metric", r"(?P<case>\w+) takes (?P<value>[0-9.]+) ms", "--unit", "ms"]


@pytest.mark.parametrize(
    "after, code, words", [(10, 0, "nothing is slower"), (10.5, 1, "slower: sort by +5."), (9, 0, "1 faster")]
)
def test_two_commands(tmp_path, capsys, after, code, words):
    base, candidate = timer(tmp_path / "a.py", 10), timer(tmp_path / "b.py", after)
    assert main(["--base", base, "--candidate", candidate, *METRIC, *QUICK]) == code
    out = capsys.readouterr().out
    assert words in out and ("confirmed in 6 fresh pairs: +5." in out) == (code == 1)


def test_the_filter_chooses_and_higher_may_be_better(tmp_path, capsys):
    base, candidate = timer(tmp_path / "a.py", 10), timer(tmp_path / "b.py", 10.5)
    given = ["--base", base, "--candidate", candidate, *METRIC, *QUICK, "--all"]
    assert main([*given, "scan"]) == 0 and "sort" not in capsys.readouterr().out
    assert main([*given, "--better", "higher"]) == 0
    assert main([*given, "nothing"]) == Exit.USAGE
    assert "measured no case that was asked for" in capsys.readouterr().err


GOOGLE = """import json, sys
out = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("--benchmark_out="))
entries = [{"name": "BM_Sort/8", "run_name": "BM_Sort/8", "run_type": "iteration", "repetition_index": i,
            "real_time": TIME + i * 0.01, "cpu_time": 1, "time_unit": "us", "iterations": 9} for i in range(5)]
entries.append({"name": "BM_Sort/8_mean", "run_name": "BM_Sort/8", "run_type": "aggregate", "aggregate_name": "mean",
                "real_time": 1e9, "cpu_time": 1, "time_unit": "us"})
json.dump({"context": {"num_cpus": 2, "library_build_type": "release"}, "benchmarks": entries}, open(out, "w"))
"""
NVBENCH = """import json, sys
out = sys.argv[sys.argv.index("--json") + 1]
value = {"name": "value", "type": "float64", "value": str(TIME * 1e-6)}
clock = {"name": "value", "type": "float64", "value": "1.7e9"}
state = {"name": "Device=0 N=8", "device": 0, "axis_values": [{"name": "N", "type": "int64", "value": "8"}],
         "is_skipped": False, "summaries": [{"tag": "nv/cold/time/gpu/mean", "name": "GPU Time", "data": [value]},
                                            {"tag": "nv/cold/sm_clock_rate/mean", "name": "Clock", "data": [clock]}]}
json.dump({"devices": [{"id": 0, "name": "NVIDIA H200", "sm_version": 900, "number_of_sms": 132}],
           "benchmarks": [{"name": "copy", "index": 0, "states": [state]}]}, open(out, "w"))
"""


@pytest.mark.parametrize("speaks, text, case", [("gbench", GOOGLE, "BM_Sort/8"), ("nvbench", NVBENCH, "copy/N=8")])
def test_programs_of_other_benchmarks(tmp_path, capsys, speaks, text, case):
    base, candidate = (script(tmp_path / f"{n}.py", f"TIME = {n}\n{text}") for n in (100, 106))
    record = tmp_path / "gate.json"
    given = ["--base", base, "--candidate", candidate, "--format", speaks, *QUICK, "--json", str(record)]
    assert main(given) == Exit.SLOWER
    (found,) = json.loads(record.read_text())["cases"]
    assert (found["name"], found["verdict"], found["unit"]) == (case, "slower", "us")
    assert found["ratio"]["value"] == pytest.approx(1.06, rel=1e-3)


def test_of_a_program_that_speaks_a_format_metric_chooses(tmp_path, capsys):
    base = script(tmp_path / "a.py", f"TIME = 100\n{GOOGLE}")
    given = ["--base", base, "--candidate", base, "--format", "gbench", *QUICK, "--all"]
    assert main([*given, "--metric", "^time$"]) == 0 and "BM_Sort/8" in capsys.readouterr().out
    assert main([*given, "--metric", "joules"]) == Exit.USAGE
    assert "round 1 of 6: no metric of the base matches --metric joules; there are time" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, words",
    [
        (["--base", "/nonexistent/program", "--candidate", "true"], "no such program"),
        (["--base", "true", "--candidate", "true"], "what it speaks is not known; give --metric"),
        (["--base", "'", "--candidate", "true"], "not a command line"),
        (["--base", "true", "--candidate", "true", "--metric", "([0-9]+)"], "--metric matches nothing"),
        (["--base", "echo x", "--candidate", "true", "--metric", "(x)"], "which is no number"),
        (["--base", "echo nan", "--candidate", "echo 3", "--metric", "(.+)"], "'nan', which is no number"),
        (["--base", "echo 3", "--candidate", "echo inf", "--metric", "(.+)"], "'inf', which is no number"),
        (["--base", "echo 3", "--candidate", "echo 3", "--metric", "[0-9]+"], "it has no group; put the number in"),
        (["--base", "false", "--candidate", "true", "--metric", "([0-9]+)"], "ended with status 1"),
        (["--base", "sleep 60", "--candidate", "true", "--metric", "([0-9]+)", "--timeout", "0.2"], "see --timeout"),
        (["--base", "echo -3", "--candidate", "echo 3", "--metric", "(.+)"], "'-3', and what is below zero has no ratio"),
        (["--base", "sh -c 'kill -11 $$'", "--candidate", "true", "--metric", "(x)"], "was ended by SIGSEGV"),
        (["--base", "yes takes 3 us", "--candidate", "true", "--metric", "([0-9]+)", "--timeout", "20"], "printed more than 64 MiB; let it print"),
        (["--base", "true", "--candidate", "true", "--format", "nvbench", "--better", "higher"], "leave them out"),
        (["--base", "true", "--candidate", "true", "--format", "gbench", "--unit", "us"], "gbench says both itself"),
        (["--base", "true", "--candidate", "true", "--pairs", "5"], "fewer than 6 pairs can prove nothing"),
        (["--base", "true", "--candidate", "true", "--policy", "/nonexistent.toml"], "no such file"),
    ],
)
def test_what_cannot_be_measured_names_the_side_and_the_mend(capsys, options, words):
    assert main(options) == Exit.USAGE
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1 and err.startswith("assay-ab: ")


@pytest.mark.parametrize("output", ["--json={0}/none/ab.json", "--markdown={0}/a.py", "--junit={0}"])
def test_where_nothing_can_be_written_nothing_is_measured(tmp_path, capsys, output):
    side = timer(tmp_path / "a.py", 10)
    given = ["--base", side, "--candidate", side, *METRIC, *QUICK, output.format(tmp_path)]
    assert main(given) in (Exit.USAGE, Exit.NOT_WRITTEN)
    assert not (tmp_path / "a.py.count").exists() and "import pathlib" in (tmp_path / "a.py").read_text()
    assert capsys.readouterr().err.count("\n") == 1


def test_what_is_kept_is_no_other_output(tmp_path, capsys):
    program = tmp_path / "assay"
    program.write_text("#!/bin/sh\n# assay.run/1\n[ \"$2\" = --help ]")
    program.chmod(0o755)
    given = ["--base", str(program), "--candidate", str(program), "--out", str(tmp_path / "o"), "--json", f"{tmp_path}/o/base.json"]
    assert main(given) == Exit.USAGE
    assert "base.json: is what --json writes, too" in capsys.readouterr().err


def test_what_a_side_prints_is_kept_within_bounds(tmp_path, monkeypatch):
    """Of what it says of errors, the end; and what prints more goes on no longer."""
    monkeypatch.setattr(side, "MOST_PRINTED", 1 << 20)
    asked = Asked(printed=Printed(r"takes (\d+)"))
    text = "yes said of it >&2 & sleep 1; kill $!; echo takes 7 us; yes | head -c 1000000"
    (made,) = sides({"base": shlex.join(["sh", "-c", text])}, None, asked)
    (m,) = made.process(1).measurements
    assert m.headline.value == 7
    (made,) = sides({"base": f"sh -c 'echo $$ > {tmp_path}/pid; exec yes'"}, None, asked)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RunFileError, match="printed more than 1 MiB"):
        made.process(1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_folder_is_the_build_in_it(tmp_path, capsys):
    assert main(["--base", str(tmp_path), "--candidate", "true"]) == Exit.USAGE
    assert "no program `assay` is in this folder" in capsys.readouterr().err
    program = tmp_path / "build" / "assay"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n# assay.run/1\n")
    program.chmod(0o755)
    assert words_of(str(tmp_path)) == [str(program)] and detect([str(program)]) is Kind.ASSAY


def test_env_and_what_it_sets_are_no_program():
    assert program_of(["env", "A=1", "B=/x/y", PYTHON, "x.py"]) == PYTHON


def test_the_seed_of_a_pair_is_the_same_on_both_sides(tmp_path):
    from assay.gate.ab.campaign import Plan, take_turns
    from machines import Machine, Side

    class Seeds(Side):
        def process(self, seed, names=None):
            seen.append((self.label, seed))
            return super().process(seed, names)

    seen = []
    machine = Machine()
    take_turns([Seeds("a", machine, cases=1), Seeds("b", machine, cases=1)], Plan(6, warm_up=0, seed=7))
    assert sorted(seen) == [(side, seed) for side in "ab" for seed in range(7, 13)]


def test_what_nvidia_smi_says_while_the_gpu_is_busy_counts():
    text = """0, 345, 3201, 81.27, 41, 0x0000000000000001
99, 1500, 3201, 690.1, 55, 0x0000000000000004
97, 1510, 3201, 694.1, 56, 0x0000000000000005
98, 1505, 3201, [N/A], 57, 0x0000000000000000
garbage
"""
    assert watch.conditions_of(text) == {
        "sm_clock_mhz": 1505,
        "memory_clock_mhz": 3201,
        "power_w": pytest.approx(692.1),
        "temperature_c": 56,
        "throttle": ["sw_power_cap"],
    }
    assert watch.conditions_of("") == {}


def test_the_watch_asks_nvidia_smi(tmp_path):
    program = tmp_path / "nvidia-smi"
    program.write_text(
        "#!/bin/sh\ncase \"$*\" in *compute-apps*) echo 4711;; *) echo '99, 1500, 3201, 690, 55, 0x4'; exec sleep 60;; esac\n"
    )
    program.chmod(0o755)
    w = watch.Watch(str(program))
    with w:
        time.sleep(0.3)
    assert w.others == 1
    assert w.conditions["throttle"] == ["sw_power_cap"] and w.conditions["power_w"] == 690
    with watch.Watch(None) as none:
        pass
    assert none.conditions == {} and none.others == 0


@pytest.fixture
def fake_smi(tmp_path, monkeypatch):
    """An nvidia-smi that names as processes of the GPU what stands in the file it gives."""
    (tmp_path / "bin").mkdir()
    program, pids = tmp_path / "bin/nvidia-smi", tmp_path / "pids"
    program.write_text(f"#!/bin/sh\ncase \"$*\" in *compute-apps*) cat {pids};; *) exec sleep 60;; esac\n")
    program.chmod(0o755)
    pids.write_text("")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return pids


@pytest.mark.parametrize(
    "users, flags",
    [
        ("echo $$ > PIDS", []),  # the shell itself
        ("sh -c 'echo $$ > PIDS; sleep 1.2'", []),  # a process that it starts
        ("(echo $$; echo 1) > PIDS", ["shared_gpu"]),  # and process 1, which is not ours
    ],
)
def test_a_process_that_comes_while_a_command_runs_is_seen(fake_smi, users, flags):
    text = f"{users}; sleep 1.2; : > PIDS; echo takes 7 us".replace("PIDS", str(fake_smi))
    asked = Asked(printed=Printed(r"takes (\d+)"))
    (made,) = sides({"base": shlex.join(["sh", "-c", text])}, None, asked)
    (m,) = made.process(1).measurements
    assert m.flags == flags


def test_numbers_of_another_namespace_may_be_ours_once():
    gone = 2**22 + 1  # above what Linux gives
    assert [watch.others_among(pids) for pids in ([], [gone], [gone, gone + 1], [os.getpid(), gone], [1])] == [0, 0, 1, 1, 1]
