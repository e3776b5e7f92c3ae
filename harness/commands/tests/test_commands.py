# SPDX-License-Identifier: Apache-2.0
"""Every command's answers to mistakes: one line that says what, where and how to mend it."""

import json
import os
import resource
import shlex
import subprocess
import time

import pytest

from command_line import ROOT, built


def one_line(assay, *arguments, code: int) -> str:
    """The command must fail with `code` and one line on stderr, and leave nothing behind."""
    before = sorted(assay.folder.iterdir())
    done = assay.run(*arguments, code=code)
    assert sorted(assay.folder.iterdir()) == before
    assert done.stdout == ""
    lines = done.stderr.strip().split("\n")
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("assay: ")
    return lines[0].removeprefix("assay: ")


def test_unknown_filter_names_the_nearest(assay):
    said = one_line(assay, "run", "good/stedy/1", code=2)
    assert said.startswith("no case matches 'good/stedy/1'; the nearest are good/steady/1, ")
    assert one_line(assay, "list", "good/stedy/1", code=2) == said
    assert one_line(assay, "run", "--benchmark_filter=good/stedy/1", code=2) == said
    assert "is not a regular expression" in one_line(assay, "run", "good(", code=2)


def test_without_a_gpu_its_cases_say_why(assay):
    said = one_line(assay, "run", "^gpu/", code=4)
    assert "driver" in said or "GPU" in said
    assert one_line(assay, "run", "--profile", "gpu/only", code=4) == said


@pytest.mark.parametrize("arguments", [
    ["run", "--suite", "qick"],
    ["run", "--nonsense"],
    ["run", "--benchmark_nonsense=1"],
    ["run", "--benchmark_list_tests=maybe"],
    ["run", "--benchmark_list_tests="],
    ["run", "--benchmark_format=xml"],
    ["run", "--benchmark_out_format=xml"],
    ["run", "--benchmark_time_unit=days"],
    ["run", "good", "bad"],
])
def test_mistakes_of_usage_in_one_line(assay, arguments):
    one_line(assay, *arguments, code=2)


@pytest.mark.parametrize("arguments", [
    [],
    ["ruin"],
    ["list", "--json", "--markdown"],
    ["run", "--interval", "2"],
    ["run", "--repetitions", "0"],
    ["run", "--device", "-1"],
    ["run", "--deadline", "soon"],
    ["run", "--resume", "out", "--out", "other"],
    ["run", "good", "--resume", "out"],
])
def test_mistakes_of_usage(assay, arguments):
    done = assay.run(*arguments, code=2)
    assert done.stdout == "" and "--help" in done.stderr


@pytest.mark.parametrize("command", ["", "info", "list", "run", "sass"])
def test_help_teaches(assay, command):
    said = assay.run(*command.split(), "--help").stdout
    assert "--help" in said
    if command in ("list", "run", "sass"):
        assert "Examples:" in said
    if command == "":
        for name in ("info", "list", "run", "sass", "report", "gate"):
            assert name in said
        assert "worker" not in said


def test_a_leading_dash_leaves_out(assay):
    assay.run("run", "-steady/[12]", "--out", "out")
    assert list(assay.results()) == ["good/steady/0"]
    listed = assay.run("list", "-steady/[12]").stdout
    assert "good/steady/0" in listed and "good/steady/1" not in listed
    assert assay.run("list", "--", "-steady/[12]").stdout == listed
    assert one_line(assay, "list", "good", "-steady", code=2) == (
        "'-steady' is no option of `assay list`: see `assay list --help`")


def test_a_filter_that_begins_like_help(assay):
    """-heats leaves out the cases whose name has "heats", and is no -h."""
    listed = assay.run("list", "-heats|steady").stdout
    assert "bad/hang" in listed and "heats" not in listed and "steady" not in listed
    assert assay.run("list", "--", "-heats|steady").stdout == listed
    assay.run("run", "-hang|heats|good/steady/[12]", "--out", "out")
    assert list(assay.results()) == ["good/steady/0"]
    for word in "-h", "-help":
        assert "Examples:" in assay.run("run", word).stdout


def test_list(assay):
    listed = json.loads(assay.run("list", "--json").stdout)
    by_name = {case["name"]: case for case in listed}
    assert by_name["good/steady/2"] == {
        "name": "good/steady/2", "probe": "good/steady", "kind": "probe",
        "question": "Does a steady clock stay steady?", "params": {"number": 2},
        "source": "harness/commands/tests/programs/test_probes.cpp", "metrics": {},
        "targets": ["host"], "suite": "quick", "runs_here": True}
    assert by_name["gpu/only"]["runs_here"] is False
    text = assay.run("list", "good").stdout
    assert "good/steady: Does a steady clock stay steady?" in text and "* good/steady/2" in text
    assert "3 cases" in assay.run("list", "--suite", "quick", "good").stdout


def test_the_page_of_probes(assay):
    page = subprocess.run([assay.path, "list", "good", "--markdown"], cwd=ROOT, text=True, check=True,
                          capture_output=True).stdout
    assert "### `good/steady`\n\n**Does a steady clock stay steady?**\n\n`assay` with probes that behave well, badly" in page
    assert "Source: [harness/commands/tests/programs/test_probes.cpp](../harness/commands/" in page
    assert "- `good/steady/<number>`; number: 0, 1, 2 (3 cases, quick; host)\n" in page
    elsewhere = one_line(assay, "list", "good", "--markdown", code=2)
    assert elsewhere.endswith("make this page in the root of the sources")


@pytest.mark.quiet
@pytest.mark.parametrize("command", ["list", "info"])
def test_answers_within_a_third_of_a_second(command):
    """Of the whole suite. The best of five, so that what else runs here does not count."""
    program, best = built("assay"), 1e9
    for _ in range(5):
        begin = time.monotonic()
        subprocess.run([program, command], check=True, capture_output=True)
        best = min(best, time.monotonic() - begin)
    assert best < 0.3


def test_a_run_that_is_there_is_not_written_over(assay):
    assay.run("run", "good/steady/1", "--out", "out")
    before = assay.journal()
    said = one_line(assay, "run", "good", "--out", "out", code=2)
    assert said == ("out holds a run already: go on with --resume out, or choose another folder "
                    "with --out")
    assert assay.journal() == before


def test_nothing_to_resume(assay):
    assert one_line(assay, "run", "--resume", "none", code=2) == (
        "none holds no run to resume: there is no journal.jsonl in it")
    for header, said in (
        ('{"schema": "assay.run/7"}', "schema 'assay.run/7' is not the 'assay.run/1' this program"),
        ('{"schema": "assay.run/1"}', "line 1: field 'environment' is missing: "),
        ('{"schema": "assay.run/1", "environment": {}}', "was not made by `assay run`"),
        ('{"schema": "assay.run/1", "environment": {}, "run": {}}', "line 1: field 'run.filter' is missing: "),
        ("[1, 2", "line 1 is not valid JSON at column 6: "),
    ):
        (assay.folder / "odd").mkdir(exist_ok=True)
        (assay.folder / "odd/journal.jsonl").write_text(header + "\n")
        assert said in one_line(assay, "run", "--resume", "odd", code=2)


@pytest.mark.parametrize(("place", "value", "said"), [
    (["gpu"], {"name": "Another GPU", "id": "00112233aabbccdd"}, 'another GPU (name: "Another GPU", here null)'),
    (["assay", "commit"], "0123456789ab", 'another build of assay (commit: "0123456789ab", here '),
    (["host", "logical_cores"], 1000, "another host (logical_cores: 1000, here "),
])
def test_another_gpu_build_or_host_is_refused(assay, place, value, said):
    assay.run("run", "good", "--out", "out")
    journal = assay.folder / "out/journal.jsonl"
    lines = journal.read_text().split("\n")
    header = json.loads(lines[0])
    inner = header["environment"]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    journal.write_text("\n".join([json.dumps(header), *lines[1:]]))
    before = journal.read_text()
    refused = one_line(assay, "run", "--resume", "out", code=4)
    assert refused.startswith(f"out was started on {said}")
    assert refused.endswith("resume it there, or add --or-new for a new run")
    done = assay.run("run", "--resume", "out", "--or-new")
    assert journal.read_text() == before
    assert list(assay.results(done.stdout.strip().removesuffix("/run.json"))) == [
        json.loads(line)["measurement"]["name"] for line in lines[1:-1]]


@pytest.mark.parametrize("ignored", [
    ["--seed", "2"], ["--interval", "0.1"], ["--time-cap", "1"], ["--counters"], ["--suite", "full"],
    ["--repetitions", "2"], ["--device", "1"], ["--profile", "good/steady/0"], ["-steady/0"],
    ["--benchmark_repetitions=2"], ["--benchmark_list_tests"],
])
def test_resume_refuses_options_that_it_would_ignore(assay, ignored):
    assay.run("run", "good/steady/0", "--out", "out")
    before = assay.journal()
    assay.run("run", "--resume", "out", *ignored, code=2)
    assert assay.journal() == before


def test_an_edited_journal_names_line_and_field(assay):
    assay.run("run", "good", "--out", "out")
    journal = assay.folder / "out/journal.jsonl"
    lines = journal.read_text().split("\n")
    measurement = json.loads(lines[2])
    measurement["measurement"]["samples"]["time_ns"] = []
    journal.write_text("\n".join([*lines[:2], json.dumps(measurement), *lines[3:]]))
    assert one_line(assay, "run", "--resume", "out", code=2) == (
        "out/journal.jsonl: line 3: field 'measurement.samples.time_ns' holds no sample: restore the file or delete "
        "that line, then --resume again")
    journal.write_text("\n".join([*lines[:2], lines[1], *lines[2:]]))
    said = one_line(assay, "run", "--resume", "out", code=2)
    assert said.startswith("out/journal.jsonl: line 3: field 'measurement' is 'good/steady/")
    assert "again, which line 2 holds" in said
    measurement = json.loads(lines[2])
    measurement["measurement"]["name"] = "good/nosuch"
    journal.write_text("\n".join([*lines[:2], json.dumps(measurement), *lines[3:]]))
    assert one_line(assay, "run", "--resume", "out", code=2).startswith(
        "out/journal.jsonl: line 3: field 'measurement.name' is 'good/nosuch', no case of this run: ")
    header = json.loads(lines[0])
    header["run"]["options"]["time_cap_s"] = 1e300
    journal.write_text("\n".join([json.dumps(header), *lines[1:]]))
    assert one_line(assay, "run", "--resume", "out", code=2).startswith(
        "out/journal.jsonl: line 1: field 'run.options.time_cap_s' is 1e+300, not ")


def test_a_check_writes_over_no_run(tmp_path):
    check = [built("assay"), "sass", "--check", "^sass/ffma/f32$", "--target", "sm_90a", "--out", "out"]
    run = ["run", "^host/", "--out", "out"]

    def call(*command):
        return subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, timeout=120)

    for _ in range(2):  # the second writes over the first
        assert call(*check).returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["journal.jsonl", "run.json"]
    assert call(built("assay"), *run).returncode == 2
    for name in ("journal.jsonl", "run.json"):
        (tmp_path / "out" / name).unlink()
    (tmp_path / "out/run.json").write_bytes((ROOT / "results/h200/2026-11-21-torch/run.json").read_bytes())
    before = (tmp_path / "out/run.json").read_bytes()
    done = call(*check)
    assert done.returncode == 2 and "out holds a run already" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run.json"]
    assert (tmp_path / "out/run.json").read_bytes() == before
    assert call(built("assay"), "sass", "^sass/ffma/f32$", "--out", "elsewhere").returncode == 2


def test_the_help_of_sass_shows_a_kernel_that_there_is(tmp_path):
    """One of a few of those that the library has of that name, with a picture."""
    said = subprocess.run([built("assay"), "sass", "--help"], text=True, check=True, capture_output=True).stdout
    example = next(line for line in said.splitlines() if "libassay_kernels.so:" in line)
    words = shlex.split(example.replace("build/libassay_kernels.so", str(built("libassay_kernels.so"))))[1:]
    done = subprocess.run([built("assay"), *words, "--brief"], cwd=tmp_path, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "gemm_sm90<0, 0, 0, 128, 256, " in done.stdout and (tmp_path / "gemm.svg").exists()


def test_a_check_that_cannot_be_written_leaves_what_was_there(tmp_path):
    def check(out, **options):
        return subprocess.run([built("assay"), "sass", "--check", "^sass/ffma/f32$", "--target", "sm_90a", "--out", out],
                              cwd=tmp_path, text=True, capture_output=True, timeout=120, **options,
                              env=os.environ | {"ASSAY_CACHE_DIR": str(tmp_path / "cache")})

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    assert check("out").returncode == 0  # what it disassembles is in the cache from here on
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for out in "out", "other":
        done = check(out, preexec_fn=limited)
        assert done.returncode == 5 and ": File too large: " in done.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("out", ["/proc/none/run", "/dev/full/run"])
def test_a_place_that_cannot_be_written(assay, out):
    said = one_line(assay, "run", "good", "--out", out, code=5)
    assert said.startswith(f"cannot write {out}/journal.jsonl: ")
    assert said.endswith("choose a folder you may write to with --out")


@pytest.mark.parametrize(("out", "why"), [("none/gb.json", "No such file or directory"), (".", "Is a directory"),
                                          ("assay/gb.json", "Not a directory")])
def test_a_file_of_google_benchmark_that_cannot_be_written(assay, out, why):
    said = one_line(assay, "run", "good", f"--benchmark_out={out}", "--out", "out", code=5)
    assert said == f"cannot write {out}: {why}: choose a file that you may write with --benchmark_out"


@pytest.mark.parametrize("command", ["report", "gate", "torch"])
def test_the_python_side_may_be_missing(assay, command):
    assert one_line(assay, command, "run.json", code=4) == (
        f"cannot start assay-{command}: run scripts/setup.sh, which installs it into .venv, or put "
        "it on PATH")


def stand_in(folder, name: str):
    folder.mkdir()
    (folder / name).write_text('#!/bin/sh\necho "$0 $*"\nexit 3\n')
    (folder / name).chmod(0o755)


def test_other_commands_are_found_as_git_finds_them(assay):
    stand_in(assay.folder / "bin", "assay-hello")
    assay.environment["PATH"] = f"{assay.folder}/bin:/usr/bin:/bin"
    done = assay.run("hello", "--you", "there", code=3)
    assert done.stdout == f"{assay.folder}/bin/assay-hello --you there\n"


def test_own_commands_are_not_replaced(assay):
    stand_in(assay.folder / "bin", "assay-list")
    assay.environment["PATH"] = f"{assay.folder}/bin:/usr/bin:/bin"
    assert "good/steady" in assay.run("list").stdout


def test_the_projects_own_environment_is_found(assay):
    (assay.folder / ".venv").mkdir()
    stand_in(assay.folder / ".venv/bin", "assay-gate")
    assert "a b" in assay.run("gate", "a", "b", code=3).stdout


def test_version(assay):
    assert assay.run("--version").stdout.startswith("assay 0.")
