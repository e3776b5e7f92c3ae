# SPDX-License-Identifier: Apache-2.0
"""The examples for CI services do what they say: their steps are run here as they are written, on a small project."""

import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

import sources

BUILD = sources.ROOT / "build"
CI = sources.ROOT / "scripts/ci"
# Speaks Google Benchmark's JSON; what it "measures" stands in the source, so a commit can make it slower.
# The factor `noise` puts it up and down, process by process.
BENCH = """#!/usr/bin/env python3
import json, pathlib, sys
turns = pathlib.Path(sys.argv[0] + ".turns")
with turns.open("a") as file:
    file.write(".")
TIME = {time} * {noise} ** (-1) ** turns.stat().st_size
flags = dict(a.removeprefix("--").split("=", 1) for a in sys.argv[1:])
assert flags["benchmark_out_format"] == "json"
entries = [dict(name="BM_Sort/8", run_name="BM_Sort/8", run_type="iteration", real_time=TIME + i * 1e-3, cpu_time=1,
                time_unit="us", iterations=9) for i in range(9)]
context = dict(num_cpus=2, library_build_type="release")
json.dump(dict(context=context, benchmarks=entries), open(flags["benchmark_out"], "w"))
"""
# Speaks nvbench's JSON, and holds the tag of its times that tells so.
NVBENCH = """#!/usr/bin/env python3
import json, sys
seconds = dict(name="value", type="float64", value="1e-4")
summaries = [dict(tag="nv/cold/time/gpu/mean", data=[seconds])]
device = dict(id=0, name="NVIDIA H200", sm_version=900, number_of_sms=132)
benchmarks = [dict(name=name, states=[dict(device=0, axis_values=[], is_skipped=False, summaries=summaries)])
              for name in ("BM_Sort", "BM_Other")]
assert sys.argv[1] == "--json"
json.dump(dict(devices=[device], benchmarks=benchmarks), open(sys.argv[2], "w"))
"""
# Speaks as a build of assay does.
ASSAY = """#!/usr/bin/env python3
import json, pathlib, sys
if "--help" in sys.argv:
    sys.exit()
assert sys.argv[1:3] == ["run", "^kernels/mine"]
metric = dict(unit="us", value=100, ci95=[99.9, 100.1], better="lower")
case = dict(name="kernels/mine", kind="kernel", primary="time_us", params={}, metrics=dict(time_us=metric), sass=None,
            conditions=dict(clock_domain="dram", throttle=[]), repetition=0, status="ok")
gpu = dict(name="NVIDIA H200", architecture="sm_90", sm_count=132, id="0123456789abcdef")
environment = dict(gpu=gpu, driver="580.65.06", cuda="13.0", host=dict(cpu="x86"), assay=dict(version="0.1.0"))
folder = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
folder.mkdir()
(folder / "run.json").write_text(json.dumps(dict(schema="assay.run/1", environment=environment, measurements=[case])))
"""


def git(folder, *words) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path):
    """A checkout whose newest commit is as slow as asked; gives it and the commit before."""
    if not (BUILD / "assay").exists():
        pytest.skip(f"{BUILD / 'assay'} is not built")

    def make(before, after, noise=1):
        folder = tmp_path / "project"
        folder.mkdir()
        git(folder, "init", "-q")
        (folder / "Makefile").write_text("bench: bench.py\n\tcp bench.py bench && chmod +x bench\n")
        (folder / "gate.toml").write_text('[default]\nthreshold_percent = 1\n[[rule]]\ncase = "BM_Noisy*"\ngated = false\n')
        for i, time in enumerate((before, after)):
            (folder / "bench.py").write_text(BENCH.format(time=time, noise=noise if i else 1) + f"# {i}\n")
            printed = f"print('softmax 64x1024 takes', {time} + i / 1000, 'us')"
            (folder / "time_kernel.py").write_text(f"# {i}\nfor i in range(9): {printed}\n")
            git(folder, "add", ".")
            git(folder, "commit", "-qm", str(time))
        return folder, git(folder, "rev-parse", "HEAD~1")

    return make


def run(steps, folder, **environment) -> subprocess.CompletedProcess:
    """The steps in turn, as a runner does; ends at the first that fails."""
    path = f"{BUILD}:{sources.ROOT}/.venv/bin:{os.environ['PATH']}"
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI_"))}
    out = ""
    for step in steps:
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step], cwd=folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**clean, "PATH": path, **environment})
        out += done.stdout
        if done.returncode:
            break
    return subprocess.CompletedProcess(steps, done.returncode, out)


def github_steps(name="gate") -> list[str]:
    job = yaml.safe_load((CI / "github.yml").read_text())["jobs"][name]
    return [step["run"] for step in job["steps"] if "run" in step]


def gitlab_script(name) -> list[str]:
    return yaml.safe_load((CI / "gitlab.yml").read_text())[name]["script"]


@pytest.mark.parametrize("after, code, words", [(100, 0, "nothing is slower"), (106, 1, "slower: BM_Sort/8 by +6.0")])
def test_github_actions(project, tmp_path, after, code, words):
    folder, base = project(100, after)
    summary = tmp_path / "summary.md"
    done = run(github_steps(), folder, BASE=base, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == code and words in done.stdout, done.stdout
    assert ("::error title=BM_Sort/8::slower by +6.0" in done.stdout) == (code == 1)
    assert words in summary.read_text().replace("\\", "")
    assert json.loads((folder / "gate.json").read_text())["exit_code"] == code
    suite = ElementTree.parse(folder / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", str(code))


def test_github_actions_warn_where_nothing_can_be_told(project):
    folder, base = project(100, 100, noise=1.3)
    done = run(github_steps(), folder, BASE=base, GITHUB_ACTIONS="true")
    assert done.returncode == 0 and "::warning title=gate::not judged (status 3)" in done.stdout, done.stdout
    assert json.loads((folder / "gate.json").read_text())["exit_code"] == 3


@pytest.mark.parametrize("after, code, words", [(100, 0, "nothing is slower"), (106, 1, "slower: softmax 64x1024 by +6.0")])
def test_a_kernel_that_torch_calls(project, after, code, words):
    """The jobs that gate two commands of Python."""
    folder, base = project(100, after)
    done = run(github_steps("kernel"), folder, BASE=base, GITHUB_ACTIONS="true")
    assert done.returncode == code and words in done.stdout, done.stdout
    assert json.loads((folder / "kernel.json").read_text())["exit_code"] == code
    job = yaml.safe_load((CI / "gitlab.yml").read_text())["kernel"]
    git(folder, "worktree", "remove", "base")
    done = run(job["script"], folder, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert done.returncode == code and words in done.stdout, done.stdout
    assert job["extends"] == "gate" and (folder / "gate.md").exists() and (folder / "gate.xml").exists()


@pytest.mark.parametrize("after, code", [(100, 0), (106, 1)])
def test_gitlab(project, after, code):
    folder, base = project(100, after)
    job = yaml.safe_load((CI / "gitlab.yml").read_text())["gate"]
    done = run(job["script"], folder, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert done.returncode == code, done.stdout
    assert (folder / "gate.md").read_text().startswith("**assay gate: ")
    for path in [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]:
        assert (folder / path).exists()
    assert job["allow_failure"]["exit_codes"] == [3, 4]


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_a_history_grows_from_night_to_night(project, tmp_path, service):
    """Each night begins with a fresh checkout, so the lines of the nights before must be where it finds them."""
    folder, _ = project(100, 100)
    git(tmp_path, "init", "-q", "--bare", "remote")
    steps = github_steps("history") if service == "github" else gitlab_script("history")
    for commit in ("aaaa", "bbbb", "cccc"):
        git(folder, "clean", "-fdq")
        done = run(steps, folder, COMMIT=commit, CI_COMMIT_SHORT_SHA=commit, HISTORY_REMOTE=str(tmp_path / "remote"))
        assert done.returncode == 0, done.stdout
    git(tmp_path, "clone", "-q", "--branch", "gate-history", "remote", "kept")
    assert len((tmp_path / "kept/h200.jsonl").read_text().splitlines()) == 3
    assert "BM_Sort/8" in (tmp_path / "kept/h200.html").read_text()


def commands_of_the_readme() -> list[str]:
    section = (sources.ROOT / "README.md").read_text().split("## Gate your own kernel")[1].split("\n## ")[0]
    return [line.strip() for line in section.splitlines() if line.startswith("    assay ab --base")]


# What each command of the README compares: files of a side, from the words of the command.
@pytest.mark.parametrize(
    "which, sides, program",
    [
        (0, ("main/build/assay", "branch/build/assay"), ASSAY),
        (1, ("old/bench", "new/bench"), BENCH.format(time=100, noise=1)),
        (1, ("old/bench", "new/bench"), NVBENCH),
        (2, ("old.py", "new.py"), "for i in range(9): print(f'sort takes {100 + i / 1000} us')\n"),
    ],
)
def test_the_commands_of_the_readme(tmp_path, which, sides, program):
    """Word for word, where one side is as fast as the other."""
    if not (BUILD / "assay").exists():
        pytest.skip(f"{BUILD / 'assay'} is not built")
    commands = commands_of_the_readme()
    assert len(commands) == 3
    for side in sides:
        (tmp_path / side).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / side).write_text(program)
        (tmp_path / side).chmod(0o755)
    done = run([commands[which]], tmp_path)
    assert done.returncode == 0 and "nothing is slower (1 equivalent)" in done.stdout, done.stdout
    assert (tmp_path / "gate.xml").exists() == ("--junit" in commands[which])


def test_two_python_commands(tmp_path):
    """The example that gates a kernel of torch runs as its own words say it; without a GPU it times numpy."""
    text = (sources.ROOT / "examples/gate_python/time_softmax.py").read_text()
    lines = text.split("\n    assay ab ")[1].split("\n\n")[0]
    command = "assay ab " + lines.replace("\\\n", " ")
    for option in ("--metric", "--base", "--candidate", "--unit us"):
        assert option in command
    folder = sources.ROOT / "examples/gate_python"
    if not (BUILD / "assay").exists():
        pytest.skip(f"{BUILD / 'assay'} is not built")
    record = tmp_path / "gate.json"
    done = run([f"{command} --pairs 6 --warm-up 0 --no-confirm --json {record}"], folder, CUDA_VISIBLE_DEVICES="")
    assert done.returncode in (0, 1, 3), done.stdout  # which is faster here is the machine's to say
    (case,) = json.loads(record.read_text())["cases"]
    assert (case["name"], case["unit"], case["processes"]) == ("softmax 64x1024", "us", 6)


def test_two_python_commands_with_torch(tmp_path):
    """The same with torch itself: Triton's kernel takes less time than three of torch's in turn."""
    if not (BUILD / "assay").exists():
        pytest.skip(f"{BUILD / 'assay'} is not built")
    python = shutil.which("python3") or "python3"
    has = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    if subprocess.run([python, "-c", has], capture_output=True).returncode:
        pytest.skip("needs torch and a GPU")
    record = tmp_path / "gate.json"
    side = f"{python} {sources.ROOT}/examples/gate_python/time_softmax.py"
    command = f"assay ab --base '{side} eager' --candidate '{side} fused' --pairs 6 --unit us --json {record} "
    done = run([command + r"--metric '(?P<case>softmax \S+) takes (?P<value>[0-9.]+) us'"], tmp_path)
    assert done.returncode == 0, done.stdout
    (case,) = json.loads(record.read_text())["cases"]
    assert (case["name"], case["verdict"]) == ("softmax 4096x4096", "faster"), done.stdout


@pytest.mark.quiet  # what runs beside it on a core's other thread takes as much as what is planted
def test_a_real_google_benchmark_program(tmp_path):
    """Two programs linked with libbenchmark: what they speak is seen, and twice the work is found."""
    if not (BUILD / "assay").exists():
        pytest.skip(f"{BUILD / 'assay'} is not built")
    for name, repeats in (("base", 1), ("candidate", 2)):
        source = tmp_path / f"{name}.cpp"
        source.write_text(f"""#include <benchmark/benchmark.h>
#include <ctime>
static double cpu_seconds() {{  // not of others that take the core
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}}
static void BM_Chain(benchmark::State& state) {{
  for (auto _ : state) {{
    const double begin = cpu_seconds();
    double x = 1;
    for (int i = 0; i < 20000 * {repeats}; ++i) benchmark::DoNotOptimize(x = 1 + 1 / x);
    state.SetIterationTime(cpu_seconds() - begin);
  }}
}}
BENCHMARK(BM_Chain)->UseManualTime()->MinTime(0.02);
BENCHMARK_MAIN();
""")
        built = subprocess.run(["g++", "-O1", source, "-o", tmp_path / name, "-lbenchmark", "-lpthread"], text=True,
                               capture_output=True)
        if built.returncode and "benchmark" in built.stderr:
            pytest.skip("Google Benchmark is not installed")
        assert built.returncode == 0, built.stderr
    done = run([f"assay ab --base {tmp_path}/base --candidate {tmp_path}/candidate BM_ --pairs 6"], tmp_path)
    assert done.returncode == 1 and "slower: BM_Chain" in done.stdout, done.stdout
