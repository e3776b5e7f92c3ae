# SPDX-License-Identifier: Apache-2.0
"""`assay run` as a process: what it leaves, whatever its cases do and whoever ends it."""

import json
import os
import random
import resource
import shutil
import signal
import time

import pytest

SLOW = [f"slow/steady/{i}" for i in range(12)]


def test_measures_and_writes_a_valid_file(assay):
    done = assay.run("run", "--out", "out")
    assert done.stdout == "out/run.json\n", "what probes print must not reach stdout"
    assert "3 measured, 0 failed, 0 skipped" in done.stderr
    assert "1 of 4 cases are left out: " in done.stderr
    results = assay.results()
    assert sorted(results) == [f"good/steady/{i}" for i in range(3)]
    for m in results.values():
        assert m["status"] == "ok" and m["kind"] == "probe" and m["primary"] == "bandwidth_gb_per_s"
        bandwidth = m["metrics"]["bandwidth_gb_per_s"]
        low, high = bandwidth["ci95"]
        assert low <= bandwidth["value"] == 2000 <= high
        assert bandwidth["limit"] == 4000 and bandwidth["limit_source"] == "made up"
        assert m["conditions"]["clock_domain"] == "host" and m["conditions"]["stop"] == "converged"
        assert len(m["samples"]["time_ns"]) == m["conditions"]["sample_count"] >= 11
    run = json.loads((assay.folder / "out/run.json").read_text())
    assert run["environment"]["gpu"] is None and run["environment"]["no_gpu"]
    assert run["run"]["suite"] == "quick" and run["run"]["options"]["seed"] == 1
    assert run["metrics"]["bandwidth_gb_per_s"] == "Bytes moved in a second by all that take part."


def test_the_seed_makes_the_order(assay):
    orders = []
    for out, seed in ("a", 1), ("b", 1), ("c", 2):
        assay.run("run", "slow", "--suite", "full", "--out", out, "--seed", seed)
        orders.append([json.loads(line)["measurement"]["name"] for line in assay.journal(out)[1:]])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_what_heats_the_gpu_comes_last(assay):
    orders = []
    for out, seed in ("a", 1), ("b", 2):
        assay.run("run", "heats", "--suite", "full", "--out", out, "--seed", seed)
        done = [json.loads(line)["measurement"] for line in assay.journal(out)[1:]]
        assert [m["params"]["state"] for m in done] == 6 * ["burst"] + 6 * ["sustained"]
        orders.append([m["name"] for m in done])
    assert orders[0][:6] != orders[1][:6] and orders[0][6:] != orders[1][6:]


def test_the_seed_reaches_the_data_of_every_case(assay):
    seeds = []
    for out, seed in ("a", 1), ("b", 1), ("c", 2):
        assay.run("run", "good", "--out", out, "--seed", seed)
        of_cases = [json.loads(line)["measurement"] for line in assay.journal(out)[1:]]
        seeds.append({m["name"]: m["params"]["data_seed"] for m in of_cases})
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0].values()) | set(seeds[2].values())) == 6


def test_bad_cases_are_recorded_and_the_run_goes_on(assay):
    done = assay.run("run", "bad|good", "--suite", "full", "--deadline", 0.5, "--out", "out", code=1)
    assert "3 measured, 6 failed, 1 skipped" in done.stderr
    reasons = {name: (m["status"], m.get("reason", "")) for name, m in assay.results().items()}
    assert reasons["bad/hang"] == ("failed", "timeout: no answer within 0.5 s")
    assert reasons["bad/crash"] == ("failed", "the measuring process died: Aborted")
    assert reasons["bad/throw"] == ("failed", "it threw \ufffd at us")
    assert reasons["bad/wrong"] == ("failed", "wrong result: 2 + 2 must be 5")
    assert reasons["bad/skip"] == ("skipped", "it needs two of everything")
    assert reasons["bad/nothing"][0] == "failed" and "measured nothing" in reasons["bad/nothing"][1]
    assert reasons["bad/infinite"][0] == "failed" and "is not a number" in reasons["bad/infinite"][1]
    assert all(reasons[f"good/steady/{i}"] == ("ok", "") for i in range(3))
    assay.wait_for_no_process()


def test_each_repetition_has_a_process_of_its_own(assay):
    for out, option in ("out", ["--repetitions", 3]), ("same", ["--benchmark_repetitions=3"]):
        assay.run("run", *option, "--out", out)
        results = assay.results(out)
        processes = {}
        for m in results.values():
            processes.setdefault(m["repetition"], set()).add(m["params"]["process"])
        assert len(results) == 9 and sorted(processes) == [0, 1, 2]
        assert all(len(p) == 1 for p in processes.values()), "one process for all of a repetition"
        assert len(set.union(*processes.values())) == 3


def whole(assay, before: list[str], names: list[str]):
    """Nothing of `before` is lost or measured again, and all of `names` is there once."""
    assert assay.journal()[:len(before)] == before
    assert sorted(assay.results()) == sorted(names)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_is_valid_and_resumable(assay, which):
    process = assay.start("run", "slow", "--suite", "full", "--out", "out")
    assay.wait_for_lines(4)
    process.send_signal(which)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted; go on with: assay run --resume out" in error
    before = assay.journal()
    assert 3 <= len(assay.results()) < 12
    assay.wait_for_no_process()
    assert assay.run("run", "--resume", "out").stdout == "out/run.json\n"
    whole(assay, before, SLOW)


def test_what_to_type_is_quoted(assay):
    process = assay.start("run", "hang", "--suite", "full", "--out", "my run")
    while not (assay.folder / "my run/journal.jsonl").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert "interrupted; go on with: assay run --resume 'my run'\n" in error


def test_nohup_is_heeded(assay):
    process = assay.start("run", "slow", "--suite", "full", "--out", "out",
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assay.wait_for_lines(2)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0 and sorted(assay.results()) == sorted(SLOW)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_ends_a_hang(assay, which):
    """As a terminal sends it: to the measuring process as well."""
    process = assay.start("run", "good|hang", "--suite", "full", "--out", "out",
                          start_new_session=True)
    assay.wait_for_lines(2)
    time.sleep(0.1)
    os.killpg(process.pid, which)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert "bad/hang" not in assay.results(), "what was interrupted is no result"
    assay.wait_for_no_process()


def test_kill_9_at_ten_random_moments(assay):
    """Each kill hits the same run, resumed: sooner or later after none or one more is finished."""
    moments = random.Random(20)
    for _ in range(10):
        before = assay.journal()
        if not before:  # nothing yet, or killed before the header was whole
            shutil.rmtree(assay.folder / "out", ignore_errors=True)
        how = ["--resume", "out"] if before else ["slow", "--suite", "full", "--out", "out"]
        process = assay.start("run", *how)
        assay.wait_for_lines(min(len(before) + moments.randint(0, 1), len(SLOW) + 1))
        time.sleep(moments.uniform(0.0, 0.03))
        process.kill()
        process.communicate()
        assay.wait_for_no_process()
        after = assay.journal()
        assert after[:len(before)] == before
        for line in after:
            json.loads(line)
        if (assay.folder / "out/run.json").exists():
            assay.results()
    before = assay.journal()
    assay.run("run", "--resume", "out")
    whole(assay, before, SLOW)


def test_kill_9_between_repetitions(assay):
    process = assay.start("run", "good/steady|slow/steady/[01]$", "--suite", "full",
                          "--repetitions", 2, "--out", "out")
    assay.wait_for_lines(4)
    process.kill()
    process.communicate()
    before = assay.journal()
    assay.wait_for_no_process()
    assay.run("run", "--resume", "out")
    names = [f"good/steady/{i}" for i in range(3)] + SLOW[:2]
    whole(assay, before, names + [name + "#1" for name in names])


def test_a_finished_run_resumes_to_itself(assay):
    assay.run("run", "--out", "out")
    before = assay.journal(), (assay.folder / "out/run.json").read_bytes()
    assay.run("run", "--resume", "out")
    assert before == (assay.journal(), (assay.folder / "out/run.json").read_bytes())


def test_a_disk_that_fills_up(assay):
    """A file-size limit stands for it; the tests of the journal meet a full disk proper."""
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    done = assay.run("run", "slow", "--suite", "full", "--out", "out", code=5, preexec_fn=limited)
    last = done.stderr.strip().split("\n")[-1]
    assert last.startswith("assay: cannot write out/journal.jsonl: File too large: free some space")
    before = assay.journal()
    assert 2 <= len(before) < 13
    assay.wait_for_no_process()
    assay.run("run", "--resume", "out")
    whole(assay, before, SLOW)


def test_a_folder_deleted_while_measuring_is_made_again(assay):
    process = assay.start("run", "slow", "--suite", "full", "--out", "out")
    assay.wait_for_lines(4)
    shutil.rmtree(assay.folder / "out")
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "out/journal.jsonl was deleted: it is made again with the " in error
    assert sorted(assay.results()) == sorted(SLOW)
    assert len(assay.journal()) == 1 + len(SLOW)


def test_google_benchmarks_own_flags(assay):
    """compare.py reads these fields of each benchmark of run_type "iteration"."""
    assay.run("run", "--benchmark_filter=good", "--benchmark_out=gb.json",
              "--benchmark_out_format=json", "--benchmark_repetitions=2", "--out", "out")
    assert len(assay.results()) == 6
    written = json.loads((assay.folder / "gb.json").read_text())
    assert written["context"]["executable"] == "assay"
    iterations = [b for b in written["benchmarks"] if b["run_type"] == "iteration"]
    assert len(iterations) == 6
    for b in iterations:
        assert b["name"].startswith("good/steady/") and b["run_name"] == b["name"]
        assert b["time_unit"] == "us" and b["real_time"] == pytest.approx(1.0)
        assert isinstance(b["cpu_time"], float) and b["bandwidth_gb_per_s"] == 2000
    assert {b["aggregate_name"] for b in written["benchmarks"] if "aggregate_name" in b} >= {
        "mean", "median", "stddev"}


def test_google_benchmarks_own_output_is_all_there_is_on_stdout(assay):
    done = assay.run("run", "good", "--benchmark_format=json", "--out", "out")
    assert len(json.loads(done.stdout)["benchmarks"]) == 3


def test_google_benchmarks_own_errors(assay):
    assay.run("run", "bad/wrong", "--benchmark_out=gb.json", "--out", "out", code=1)
    (b,) = json.loads((assay.folder / "gb.json").read_text())["benchmarks"]
    assert b["error_occurred"] and b["error_message"] == "wrong result: 2 + 2 must be 5"


def test_listing_as_google_benchmark_does(assay):
    listed = assay.run("run", "--benchmark_list_tests", "--benchmark_filter=good").stdout.split()
    assert [name.split("/iterations")[0] for name in listed] == [
        f"good/steady/{i}" for i in range(3)]
    assert [path.name for path in assay.folder.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("flag", ["--benchmark_list_tests=true", "--benchmark_list_tests=1"])
def test_listing_by_a_value(assay, flag):
    assert len(assay.run("run", "good", flag, "--out", "out", "--benchmark_out=gb.json").stdout.split()) == 3
    assert sorted(path.name for path in assay.folder.iterdir()) == sorted(assay.own_files)


def test_no_listing_measures(assay):
    done = assay.run("run", "good", "--benchmark_list_tests=false", "--out", "out")
    assert done.stdout == "out/run.json\n" and len(assay.results()) == 3


def test_google_benchmarks_environment_decides_nothing(assay):
    assay.environment |= {"BENCHMARK_LIST_TESTS": "1", "BENCHMARK_FORMAT": "xml", "BENCHMARK_FILTER": "nosuch",
                          "BENCHMARK_REPETITIONS": "2", "BENCHMARK_OUT": "gb.json"}
    assay.run("run", "good", "--out", "out")
    assert len(assay.results()) == 3 and not (assay.folder / "gb.json").exists()


@pytest.mark.parametrize("out_format", ["console", "csv"])
def test_google_benchmarks_other_formats(assay, out_format):
    assay.run("run", "good/steady/1", f"--benchmark_out_format={out_format}", "--benchmark_out=gb", "--out", "out")
    assert "good/steady/1" in (assay.folder / "gb").read_text()


@pytest.mark.parametrize("flags", [["--benchmark_out=/dev/full"], ["--benchmark_out=/dev/full", "--benchmark_format=json"]])
def test_a_file_of_google_benchmark_that_is_full(assay, flags):
    done = assay.run("run", "good", *flags, "--out", "out", code=5)
    assert done.stderr.strip().split("\n")[-1].startswith("assay: cannot write /dev/full: No space left on device: ")
    assert len(assay.results()) == 3, "what was measured is whole"


def test_profile_launches_once_in_this_process(assay):
    done = assay.run("run", "--profile", "good/steady/1")
    assert "good/steady/1: launched once for the profiler; nothing was timed" in done.stderr
    assert [path.name for path in assay.folder.iterdir() if path.is_dir()] == []
    assay.run("run", "--profile", "bad/wrong", code=1)
    assert "the nearest are good/steady" in assay.run("run", "--profile", "god/steady",
                                                      code=2).stderr
