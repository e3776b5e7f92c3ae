# SPDX-License-Identifier: Apache-2.0
"""The gate over what cannot be true, cannot be compared or was made to deceive: never "nothing is slower"."""

import copy
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import runs
from runs import measurement

from assay.gate import main
from assay.program import Exit

PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}


@pytest.fixture(autouse=True)
def no_github(monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def judged(tmp_path, capsys, base, candidate, *options):
    """Exit code, output and errors of the gate on two documents, or on what the files hold as bytes."""
    paths = []
    for name, content in (("base.json", base), ("candidate.json", candidate)):
        paths.append(tmp_path / name)
        paths[-1].write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return (main([*map(str, paths), *options]), *capsys.readouterr())


def rate(value, **fields):
    return measurement(value=value, metric="bandwidth_gb_per_s", unit="GB/s", better="higher", **fields)


def changed(path, value, document=None):
    """A run of one case with something else in one place of its measurement."""
    document = copy.deepcopy(document or runs.run(measurement()))
    *steps, last = path.split(".")
    place = document["measurements"][0]
    for step in steps:
        place = place[step]
    place[last] = value
    return document


# --- what no file may say -------------------------------------------------------------------------------------------

NEGATIVE = runs.run(rate(100.0))
for_metric = "metrics.bandwidth_gb_per_s"
NEGATIVE = changed(for_metric, {"unit": "GB/s", "value": -5, "ci95": [-6, -4], "better": "higher"}, NEGATIVE)
ZERO = changed(for_metric, {"unit": "GB/s", "value": 0, "ci95": [0, 0], "better": "higher"}, NEGATIVE)


@pytest.mark.parametrize(
    "rubbish, words",
    [
        (NEGATIVE, "metrics.bandwidth_gb_per_s.value (memory/hbm/copy): -5 GB/s is no rate; measure again"),
        (ZERO, "metrics.bandwidth_gb_per_s.value (memory/hbm/copy): 0 GB/s is no rate"),
        (runs.run(measurement(value=-1, half=-0.1)), "metrics.time_us.value (memory/hbm/copy): -1 us is no time"),
        (changed("metrics.time_us.ci95", [101, 102]), "time_us.ci95 (memory/hbm/copy): [101, 102] does not hold"),
        (changed("primary", ["time_us"]), 'primary (memory/hbm/copy): ["time_us"] is not of type "string"'),
        (changed("metrics.time_us.value", 10**30), "metrics.time_us.value: an integer beyond 64 bits"),
        (changed("metrics.time_us.value", float("nan")), "metrics.time_us.value: NaN and infinity"),
        (changed("name", "a/\x1b[31mred"), 'measurements[0].name'),
        (changed("flags", ["\ud800"]), "measurements[0].flags[0]: half of a surrogate pair"),
        (changed("params", {"a\nb": 1}), 'measurements[0].params["a\\x0ab"]: no name of a field'),
        (changed("repetition", -1), "measurements[0].repetition"),
        (runs.run(measurement(), gpu={"name": "x", "architecture": "sm_90", "id": "UUID"}), "environment.gpu.id"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
@pytest.mark.parametrize("side", ["base", "candidate"])
def test_what_cannot_be_true_is_refused_on_either_side(tmp_path, capsys, rubbish, words, side):
    good = runs.run(measurement())
    pair = (rubbish, good) if side == "base" else (good, rubbish)
    code, out, err = judged(tmp_path, capsys, *pair)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("assay-gate: ") and f"{side}.json: " in err and words in err


def of_one_state(value, per_clock, limit):
    """GB/s and B/clk/SM of a case, which at 1980 MHz on 132 SMs are one times 261."""
    m = rate(value, conditions={"sm_clock_mhz": 1980})
    m["metrics"]["bandwidth_gb_per_s"]["limit"] = limit
    ends = [per_clock, per_clock]
    m["metrics"]["bytes_per_clock_per_sm"] = {"unit": "B/clk/SM", "value": per_clock, "ci95": ends, "better": "higher"}
    return runs.run(m)


@pytest.mark.parametrize(
    "rubbish, words",
    [
        (of_one_state(5000, 19.1, 4814), "5000 GB/s: above the limit: no more than 4814 is possible; measure again"),
        (of_one_state(4000, 54, 33454), "4000 GB/s: contradicts itself: 54 B/clk/SM on 132 SMs at 1980 MHz are 14113 GB/s"),
        (of_one_state(4000, 1, 33454), "4000 GB/s: contradicts itself: 1 B/clk/SM on 132 SMs at 1980 MHz are 261.36"),
    ],
    ids=["above its limit", "per clock more", "per clock less"],
)
@pytest.mark.parametrize("side", ["base", "candidate"])
def test_a_figure_above_its_limit_or_of_two_states_is_no_gain(tmp_path, capsys, rubbish, words, side):
    good = of_one_state(4000, 15.3, 4814)
    code, out, err = judged(tmp_path, capsys, *((rubbish, good) if side == "base" else (good, rubbish)))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{side}.json: memory/hbm/copy: metrics.bandwidth_gb_per_s: {words}" in err
    assert judged(tmp_path, capsys, good, good)[0] == 0


TEXT = json.dumps(runs.run(measurement()))


@pytest.mark.parametrize(
    "content, words",
    [
        (TEXT.replace('"kind":', '"kind": "baseline", "kind":'), "measurements[0].kind: stands twice in one object"),
        (TEXT.replace('"value": 100.0', '"value": 1e999'), "metrics.time_us.value: NaN and infinity"),
        (TEXT.replace('"value": 100.0', '"value": ' + "9" * 5000), "metrics.time_us.value: an integer beyond 64 bits"),
        (TEXT.replace('"params": {}', '"params": {"x": ' + "[" * 100 + "]" * 100 + "}"), "nested too deeply"),
        ("[" * 50_000, "nested too deeply"),
        (TEXT.replace("assay.run/1", "assay.run/" + "1" * 5000), "is not an assay run"),
        ("[" + "0," * 4_000_001 + "0]", "more than 4,000,000 values"),
        (TEXT[:200], "line 1, column"),
        (TEXT.encode() + b"\xff", "byte"),
    ],
    ids=range(9),
)
def test_json_that_no_reader_should_take_is_refused(tmp_path, capsys, content, words):
    content = content if isinstance(content, bytes) else content.encode()
    code, out, err = judged(tmp_path, capsys, runs.run(measurement()), content)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "candidate.json: " in err and words in err


def test_what_is_no_file_is_not_read(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", "/dev/zero", f"{tmp_path}/a\0b"):
        assert main([str(path), str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


# --- sides that contradict each other -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path, value, field",
    [
        ("kind", "kernel", "kind"),
        ("kind", "baseline", "kind"),
        ("conditions.clock_domain", "power", "conditions.clock_domain"),
        ("conditions", {}, "conditions.clock_domain"),
        ("metrics.time_us.unit", "ms", "metrics.time_us.unit"),
        ("source", {"title": "A paper"}, "source"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--allow-missing"]])
def test_sides_that_contradict_each_other_are_refused(tmp_path, capsys, path, value, field, options):
    domain = "dram" if value else "power"
    pair = [runs.run(measurement(domain=domain)), changed(path, value, runs.run(measurement(domain=domain)))]
    for base, candidate in (pair, pair[::-1]):
        code, out, err = judged(tmp_path, capsys, base, candidate, *options)
        assert (code, out) == (2, "")
        assert f"candidate.json: memory/hbm/copy: {field}: " in err


def test_sides_that_disagree_on_what_is_better_are_refused(tmp_path, capsys):
    saved = measurement(metric="saved_us")  # a gap that is saved: either way can be better
    pair = runs.run(saved), changed("metrics.saved_us.better", "higher", runs.run(saved))
    for base, candidate in (pair, pair[::-1]):
        code, _, err = judged(tmp_path, capsys, base, candidate)
        assert code == 2 and "candidate.json: memory/hbm/copy: metrics.saved_us.better: " in err


@pytest.mark.parametrize(
    "case, better, words",
    [
        (measurement(), "higher", "'higher' of time_us in us; only lower can be better"),
        (rate(100.0), "lower", "'lower' of bandwidth_gb_per_s in GB/s; only higher can be better"),
    ],
)
def test_both_sides_cannot_agree_that_slower_is_better(tmp_path, capsys, case, better, words):
    metric = case["primary"]
    both = changed(f"metrics.{metric}.better", better, runs.run(case))
    code, _, err = judged(tmp_path, capsys, both, both)
    assert code == 2 and f"metrics.{metric}.better (memory/hbm/copy): {words}" in err


def test_an_expression_has_a_length_and_a_size(tmp_path, capsys):
    for text, words in (
        ("a" * 50_000, "has 50,000 characters, 10,000 are the most"),
        ("(((a{30}){30}){30}){30}", "is not a regular"),
    ):
        with pytest.raises(SystemExit) as stopped:
            judged(tmp_path, capsys, runs.run(measurement()), runs.run(measurement()), "--filter", text)
        err = capsys.readouterr().err
        assert stopped.value.code == 2 and words in err.splitlines()[-1] and len(err.splitlines()[-1]) < 600


def test_another_headline_is_a_contradiction_unless_a_metric_is_asked_for(tmp_path, capsys):
    both = measurement()
    both["metrics"]["time_ns"] = {**both["metrics"]["time_us"], "unit": "ns"}
    pair = runs.run(both), runs.run({**both, "primary": "time_ns"})
    code, _, err = judged(tmp_path, capsys, *pair)
    assert code == 2 and "memory/hbm/copy: primary: 'time_ns' contradicts 'time_us'" in err
    assert judged(tmp_path, capsys, *pair, "--metric", "time_us")[0] == 0


# --- what is lost, unfit or too uncertain ---------------------------------------------------------------------------

OTHERS = [measurement(f"other/{i}") for i in range(20)]


def one_of_many(m):
    return runs.run(*OTHERS, m)


def test_one_case_that_failed_is_not_drowned_by_those_that_did_not(tmp_path, capsys):
    failed = {**measurement("a/b"), "status": "failed", "reason": "wrong result"}
    good = one_of_many(measurement("a/b"))
    code, out, _ = judged(tmp_path, capsys, one_of_many(failed), good)
    assert code == 3 and "cannot tell about a/b: failed in the base: wrong result; measure the base again" in out
    code, out, _ = judged(tmp_path, capsys, good, one_of_many(failed))
    assert code == 2 and "missing in the candidate: a/b" in out
    # Also where other processes of it were good.
    code, out, _ = judged(tmp_path, capsys, good, runs.run(*good["measurements"], {**failed, "repetition": 1}))
    assert code == 2 and "repetition 1 failed: wrong result" in out
    lost = {**failed, "repetition": 1, "status": "not_run", "reason": "the run was interrupted"}
    code, out, _ = judged(tmp_path, capsys, good, runs.run(*good["measurements"], lost))
    assert code == 2 and "repetition 1 was not run: the run was interrupted" in out


def test_a_case_that_the_base_did_not_come_to_is_not_new(tmp_path, capsys):
    not_run = {**measurement("a/b"), "status": "not_run", "reason": "the run was interrupted"}
    good = one_of_many(measurement("a/b"))
    code, out, _ = judged(tmp_path, capsys, one_of_many(not_run), good)
    assert code == 3 and "cannot tell about a/b: was not run in the base: the run was interrupted" in out
    code, out, _ = judged(
        tmp_path, capsys, runs.run(*good["measurements"], {**not_run, "repetition": 1}), good, "--all"
    )
    assert "repetition 1 was not run in the base" in out


def test_a_case_that_was_skipped_in_the_base_is_new(tmp_path, capsys):
    skipped = {"name": "a/b", "kind": "probe", "status": "skipped", "reason": "needs sm_100a"}
    code, out, _ = judged(tmp_path, capsys, one_of_many(skipped), one_of_many(measurement("a/b")))
    assert code == 0 and "1 new" in out
    assert judged(tmp_path, capsys, one_of_many(skipped), one_of_many(skipped))[0] == 0


@pytest.mark.parametrize("how", [{"flags": ["shared_gpu"]}, {"conditions": {"other_processes": 1}}])
def test_a_figure_of_a_shared_gpu_is_not_judged(tmp_path, capsys, how):
    good = one_of_many(measurement("a/b"))
    for pair in ((good, one_of_many(measurement("a/b", **how))), (one_of_many(measurement("a/b", **how)), good)):
        code, out, _ = judged(tmp_path, capsys, *pair)
        assert code == 4 and "unfit to judge: a/b: another process used the GPU meanwhile" in out
        assert judged(tmp_path, capsys, *pair, "--filter", "other/")[0] == 0


def test_one_shared_process_of_many_is_left_out(tmp_path, capsys):
    def processes(**fields):
        return runs.run(*(measurement(repetition=i, **(fields if i == 3 else {})) for i in range(8)))

    code, out, _ = judged(tmp_path, capsys, processes(), processes(flags=["shared_gpu"]), "--all")
    assert code == 0 and "another process used the GPU" in out


def test_a_wide_interval_is_no_nothing(tmp_path, capsys):
    code, out, _ = judged(tmp_path, capsys, runs.run(measurement()), runs.run(measurement(value=120, half=0.5)))
    assert code == 3 and "cannot tell about memory/hbm/copy: it may be slower by" in out


def test_a_noisy_base_makes_no_slowdown_equivalent(tmp_path, capsys):
    """Its noise raises the threshold beyond what a person would call the same."""
    base = [measurement(value=v, repetition=i) for i, v in enumerate([100, 100, 100, 1000, 100, 100, 100, 100])]
    after = [measurement(value=120, repetition=i) for i in range(8)]
    code, out, _ = judged(tmp_path, capsys, runs.run(*base), runs.run(*after), "--all")
    assert code == 3 and "1 equivalent" in out


def test_zero_is_the_same_as_zero_and_nothing_else(tmp_path, capsys):
    def of(value):
        return runs.run(measurement(value=value, metric="conflicts", unit=""))

    assert [judged(tmp_path, capsys, of(a), of(b))[0] for a, b in ((0, 0), (0, 3), (3, 0))] == [0, 3, 3]


# Of a latency in cycles, one cycle is the smallest threshold: more than a double holds, of the smallest there are.
@pytest.mark.parametrize("fields", [{}, {"metric": "latency_cycles", "unit": "cycle", "domain": "sm"}])
def test_extreme_numbers_have_a_ratio_all_the_same(tmp_path, capsys, fields):
    values = [5e-324, 1e-300, 1e300, 1.7e308]
    for a in values:
        for b in values:
            sides = [runs.run(measurement(value=value, **fields)) for value in (a, b)]
            code, _, err = judged(tmp_path, capsys, *sides)
            assert code == (0 if b == a else 1 if b > a else 0) or code == 3, (a, b, err)


def test_one_cycle_hides_no_slowdown_of_a_latency_far_below_one(tmp_path, capsys):
    """0.001 cycles to 0.1 is no "equivalent", though it is less than a cycle more."""
    fields = {"metric": "latency_cycles", "unit": "cycle", "domain": "sm", "half": 0}
    sides = [runs.run(measurement(value=value, **fields)) for value in (0.001, 0.1)]
    assert judged(tmp_path, capsys, *sides)[0] in (1, 3)


# --- one GPU, or another --------------------------------------------------------------------------------------------


def with_id(value):
    gpu = {key: v for key, v in runs.run()["environment"]["gpu"].items() if key != "id"}
    return runs.run(measurement(), gpu={**gpu, **({"id": value} if value else {})})


def test_two_gpus_of_one_name_are_not_compared(tmp_path, capsys):
    code, _, err = judged(tmp_path, capsys, with_id("0" * 16), with_id("1" * 16))
    assert code == 4 and "environment.gpu.id differs" in err and "measure both on one GPU" in err
    code, out, _ = judged(tmp_path, capsys, with_id("0" * 16), with_id("0" * 16))
    assert code == 0 and "one GPU" not in out


@pytest.mark.parametrize("ids, lacking", [(("0" * 16, None), "candidate"), ((None, None), "base and the candidate")])
def test_whether_it_is_one_gpu_may_not_be_known(tmp_path, capsys, ids, lacking):
    code, out, _ = judged(tmp_path, capsys, *map(with_id, ids))
    assert code == 0
    assert f"note: whether both are of one GPU is not known: no environment.gpu.id in the {lacking}\n" in out


# --- what names may do ----------------------------------------------------------------------------------------------


def test_no_name_gives_commands_to_a_terminal_or_a_runner(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    evil = "x\n::error title=forged::done\x1b[2J##[error]\u202e"
    base = measurement(metric="time_us", unit=evil)
    failed = {"name": "a/##[error]b", "kind": "probe", "status": "failed", "reason": evil}
    documents = (
        runs.run(measurement("a/##[error]b"), base, driver=evil),
        runs.run(failed, {**base, "metrics": {"time_us": {**base["metrics"]["time_us"], "value": 100.05}}}),
    )
    for options in ([], ["--all"]):
        code, out, err = judged(tmp_path, capsys, *documents, *options)
        assert code == 2
        for line in (out + err).splitlines():
            assert not line.startswith("::") or line.startswith("::error title=a/## [error]b::missing; "), line
            assert "\x1b" not in line and "##[" not in line and "\u202e" not in line


def test_xml_and_markdown_hold_no_character_or_markup_of_a_name(tmp_path, capsys):
    strange = "a\0\x1b\ufffe<script>alert(1)</script>|[x](javascript:y)`"
    failed = {"name": "a/b", "kind": "probe", "status": "failed", "reason": strange}
    junit, page = tmp_path / "gate.xml", tmp_path / "gate.md"
    options = ["--junit", str(junit), "--markdown", str(page)]
    assert judged(tmp_path, capsys, runs.run(measurement("a/b")), runs.run(failed), *options)[0] == 2
    (error,) = ElementTree.parse(junit).getroot().iter("error")
    assert r"a\x00\x1b\ufffe<script>" in error.get("message")
    assert r"\<script>alert(1)\</script>\|\[x\](javascript:y)\`" in page.read_text()


# --- output that fails ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("redirect", [">/dev/full", ">&-", "| true", ">/dev/full 2>&1", ">&- 2>&-"])
def test_output_that_cannot_be_written_is_no_verdict(tmp_path, redirect):
    path = runs.write(tmp_path / "run.json", runs.run(*(measurement(f"a/{i}") for i in range(300))))
    command = f"set -o pipefail; {sys.executable} -m assay.gate --all {path} {path} {redirect}"
    # `true` ends before the gate writes.
    command = command.replace(f"{sys.executable}", f"sleep 0.2; {sys.executable}") if "|" in redirect else command
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=PLAIN)
    assert done.returncode == Exit.NOT_WRITTEN, done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") <= 1
