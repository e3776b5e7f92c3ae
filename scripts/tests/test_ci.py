# SPDX-License-Identifier: Apache-2.0
"""The examples for CI services do what they say: their steps are run here as they are written, on a small project."""

import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

import sources

BUILD = sources.ROOT / "build"
CI = sources.ROOT / "scripts/ci"
# Speaks Google Benchmark's JSON; what it "measures" stands in the source, so a commit can make it slower.
BENCH = """#!/usr/bin/env python3
import json, sys
TIME = {time}
flags = dict(a.removeprefix("--").split("=", 1) for a in sys.argv[1:])
assert flags["benchmark_out_format"] == "json"
entries = [dict(name="BM_Sort/8", run_name="BM_Sort/8", run_type="iteration", real_time=TIME + i * 1e-3, cpu_time=1,
                time_unit="us", iterations=9) for i in range(9)]
context = dict(num_cpus=2, library_build_type="release")
json.dump(dict(context=context, benchmarks=entries), open(flags["benchmark_out"], "w"))
"""


def git(folder, *words) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path):
    """A checkout whose newest commit is as slow as asked; gives it and the commit before."""
    if not (BUILD / "assay").exists():
        pytest.skip(f"{BUILD / 'assay'} is not built")

    def make(before, after):
        folder = tmp_path / "project"
        folder.mkdir()
        git(folder, "init", "-q")
        (folder / "Makefile").write_text("bench: bench.py\n\tcp bench.py bench && chmod +x bench\n")
        (folder / "gate.toml").write_text('[default]\nthreshold_percent = 1\n[[rule]]\ncase = "BM_Noisy*"\ngated = false\n')
        for i, time in enumerate((before, after)):
            (folder / "bench.py").write_text(BENCH.format(time=time) + f"# {i}\n")
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


def github_steps() -> list[str]:
    job = yaml.safe_load((CI / "github.yml").read_text())["jobs"]["gate"]
    return [step["run"] for step in job["steps"] if "run" in step]


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


def test_gitlab_history(project):
    folder, _ = project(100, 100)
    job = yaml.safe_load((CI / "gitlab.yml").read_text())["history"]
    for commit in ("aaaa", "bbbb"):
        done = run(job["script"], folder, CI_COMMIT_SHORT_SHA=commit)
        assert done.returncode == 0, done.stdout
    assert len((folder / "history/h200.jsonl").read_text().splitlines()) == 2
    assert "BM_Sort/8" in (folder / "history/h200.html").read_text()


def test_the_commands_of_the_readme(tmp_path):
    """Those for programs of others, word for word, where `old` is as fast as `new`."""
    if not (BUILD / "assay").exists():
        pytest.skip(f"{BUILD / 'assay'} is not built")
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "bench").write_text(BENCH.format(time=100))
        (tmp_path / side / "bench").chmod(0o755)
        (tmp_path / f"{side}.py").write_text("for i in range(9): print(f'sort takes {100 + i / 1000} us')\n")
    section = (sources.ROOT / "README.md").read_text().split("## Gate your own kernel")[1].split("\n## ")[0]
    commands = [line.strip() for line in section.splitlines() if line.startswith("    assay ab --base") and "old" in line]
    assert len(commands) == 2
    for command in commands:
        done = run([command], tmp_path)
        assert done.returncode == 0 and "nothing is slower (1 equivalent)" in done.stdout, done.stdout


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
    assert (case["name"], case["unit"], case["processes"]) == ("softmax 4096x4096", "us", 6)


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
