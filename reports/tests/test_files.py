# SPDX-License-Identifier: Apache-2.0
"""Reading and writing assay.run/1: nothing lost, nothing wrong let in, every error one clear line."""

import copy
import json
import math
import os
import re
import subprocess
import sys

import jsonschema_rs
import numpy as np
import pytest
import runs

from assay import files
from assay.files import RunFileError, json_text

FULL = runs.run(
    {
        **runs.measurement(),
        "probe": "memory/hbm",
        "params": {"bytes": 1 << 30, "state": "burst"},
        "samples": {"time_ns": [99000.5, 100000.0, 101000], "ratio": [1.0]},
        "series": [
            {
                "name": "rate",
                "unit": "",
                "axes": [{"name": "chains", "points": [1, 2]}, {"name": "side", "points": ["a", "b", "c"]}],
                "values": [1, 2.5, None, 4, 5, 6],
                "ci95": [[0.5, 1.5], None, None, [4, 4], [4.5, 5], None],
            },
            {"name": "curve", "unit": "us", "axes": [{"name": "n", "points": [8, 16]}], "values": [None, 3]},
            {"name": "empty", "unit": "us", "axes": [{"name": "n", "points": []}], "values": []},
        ],
        "sass": {
            "sha256": runs.SHA,
            "kernel": "copy",
            "target": "sm_90a",
            "loop": {"LDG.E.128": 8},
            "verified": True,
            "emulated": False,
            "text": "LDG.E.128 ...",
        },
        "baselines": [
            {
                "name": "memcpy",
                "speedup": {"value": 1.04, "ci95": [1.03, 1.05]},
                "time_us": {"value": 104.0, "ci95": [103, 105], "unit": "us"},
            }
        ],
        "source": None,
        "flags": ["first"],
        "duration_s": 1.5,
        "command": "assay run memory/hbm/copy",
        "counters": {"dram__bytes.sum": 1e9},
    },
    {"name": "tmem/load", "kind": "probe", "status": "not_run", "reason": "needs sm_100a"},
    {
        "name": "paper/figure",
        "kind": "probe",
        "metrics": {"tflops": {"unit": "TFLOP/s", "value": 660}},
        "source": {"title": "A paper", "url": "https://example.org"},
    },
)


def problem(document, tmp_path):
    """The error that loading `document` gives: one line that begins with the file."""
    path = runs.write(tmp_path / "run.json", document)
    with pytest.raises(RunFileError) as error:
        files.load(path)
    line = str(error.value)
    assert "\n" not in line and line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


def test_a_file_of_the_kernels_that_waits_is_not_waited_for():
    """/proc/kmsg calls itself a regular file; who has read all of it waits for the next message."""
    code = "from pathlib import Path; from assay.files.json_text import read_text; read_text(Path('/proc/kmsg'), 'x')"
    subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=20)


def test_the_schema_is_a_schema():
    assert jsonschema_rs.meta.is_valid(json.loads(files.SCHEMA_PATH.read_text()))


def test_load_reads_what_is_there(tmp_path):
    run = files.load(runs.write(tmp_path / "run.json", FULL))
    ours, absent, published = run.measurements
    assert (run.gpu["name"], run.path) == ("NVIDIA H200", tmp_path / "run.json")
    assert (ours.headline.value, ours.headline.better) == (100.0, "lower")
    assert ours.metrics["time_us"].ci95 == pytest.approx((99.9, 100.1))
    assert (ours.baselines[0].speedup.ci95, ours.baselines[0].time_us.extra) == ((1.03, 1.05), {"unit": "us"})
    assert (ours.counters, ours.extra) == ({"dram__bytes.sum": 1e9}, {})
    assert (ours.value("time_us"), ours.value("tflops")) == (100.0, None)
    rate, curve, empty = ours.series
    assert rate.shape == (2, 3) and rate.grid[1].tolist() == [4, 5, 6] and math.isnan(rate.grid[0, 2])
    assert rate.ci95 == [(0.5, 1.5), None, None, (4, 4), (4.5, 5), None] and curve.ci95 is None
    assert rate.intervals.shape == (2, 3, 2) and rate.intervals[1, 1].tolist() == [4.5, 5]
    assert np.isnan(rate.intervals[0, 1]).all() and np.isnan(curve.intervals).all() and empty.intervals.size == 0
    assert rate.curve == [] and curve.curve == [(16, 3)] and empty.curve == []
    assert ours.series_named("curve") is curve and ours.series_named("time") is None
    assert (absent.ok, absent.reason, absent.headline) == (False, "needs sm_100a", None)
    assert (published.headline.value, published.headline.ci95) == (660, None)
    assert [m.name for m in run.find("^tmem/")] == ["tmem/load"]


def test_save_loses_nothing(tmp_path):
    first = files.load(runs.write(tmp_path / "run.json", {**FULL, "note": "kept"}))
    files.save(first, tmp_path / "again.json")
    second = files.load(tmp_path / "again.json")
    second.path = first.path
    assert second == first
    assert json.loads((tmp_path / "again.json").read_text())["note"] == "kept"
    assert sorted(os.listdir(tmp_path)) == ["again.json", "run.json"]


def test_save_refuses_what_load_would(tmp_path):
    run = files.load(runs.write(tmp_path / "run.json", FULL))
    run.measurements[0].metrics["time_us"].ci95 = None
    with pytest.raises(RunFileError, match="no measurement without an interval"):
        files.save(run, tmp_path / "again.json")
    assert not (tmp_path / "again.json").exists()


def test_save_says_why_it_cannot_write(tmp_path):
    run = files.load(runs.write(tmp_path / "run.json", FULL))
    with pytest.raises(RunFileError, match="absent/loops.txt.gz: cannot be written: No such file or directory"):
        files.save(run, tmp_path / "absent" / "run.json")


def test_a_folder_stands_for_its_run(tmp_path):
    runs.write(tmp_path / "run.json", FULL)
    assert files.load(tmp_path).path == tmp_path / "run.json"
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunFileError, match="holds neither run.json nor journal.jsonl"):
        files.load(tmp_path / "empty")


def journal(folder, *measurements, end="\n"):
    head = {k: FULL[k] for k in ("schema", "environment")}
    lines = [json.dumps(entry) for entry in (head, *({"measurement": m} for m in measurements))]
    (folder / "journal.jsonl").write_text("\n".join(lines) + end)


def test_a_journal_is_a_run(tmp_path):
    journal(
        tmp_path,
        {"name": "a/b", "kind": "probe", "status": "failed", "reason": "timeout"},
        runs.measurement("a/b", 3.0),
        runs.measurement("a/b", 4.0, repetition=1),
    )
    assert [m.headline.value for m in files.load(tmp_path).measurements] == [3.0, 4.0]


def test_a_journal_may_end_in_half_a_line(tmp_path):
    journal(tmp_path, runs.measurement("a/b"), end='\n{"measurement": {"na')
    assert len(files.load(tmp_path).measurements) == 1


def test_a_journal_damaged_in_the_middle_is_refused(tmp_path):
    journal(tmp_path, runs.measurement("a/b"), end='\n{"measurement": {"na\n{}\n')
    with pytest.raises(RunFileError, match=r"journal.jsonl: line 3, column \d+: not valid JSON"):
        files.load(tmp_path)
    (tmp_path / "journal.jsonl").write_text("[]\n")
    with pytest.raises(RunFileError, match="line 1: not an assay journal"):
        files.load(tmp_path)


def test_a_byte_order_mark_says_nothing(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbf[7]")
    assert json_text.parse(json_text.read_text(path, "mend it"), path, "mend it") == [7]


@pytest.mark.parametrize(
    "content, expected",
    [
        (b'{"schema": "assay.run/1",\n "environment": }', r"line 2, column 17: not valid JSON"),
        (b"", r"line 1, column 1: not valid JSON"),
        (b"\xff\xfe\x00", r"not text"),
        (b"\x1f\x8b\x08\x00", r"the document is packed by gzip; unpack it with gunzip"),
        (b"[" * 100000, r"nested too deeply"),
        (b"[1]", r"not an assay run file"),
        (b'{"benchmarks": []}', r"not an assay run file: no \"schema\" field"),
        (b'{"schema": "assay.gate/1"}', r"schema: 'assay.gate/1' is not an assay run"),
        (b'{"schema": "assay.run/2"}', r"schema: assay.run/2 is not readable here.* upgrade assay"),
        (b'{"schema": "assay.run/1"}', r"environment: missing"),
        (b'{"schema": "assay.run/1", "environment": {}}', r"measurements: missing"),
    ],
)
def test_what_is_not_a_run_file_is_named(tmp_path, content, expected):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(RunFileError, match=f"{re.escape(str(path))}: {expected}"):
        files.load(path)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(RunFileError, match="run.json: no such file; give"):
        files.load(tmp_path / "run.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_is_named(tmp_path):
    runs.write(tmp_path / "run.json", FULL).chmod(0)
    with pytest.raises(RunFileError, match="cannot be read: Permission denied"):
        files.load(tmp_path)


@pytest.mark.parametrize(
    "path, value, expected",
    [
        ("metrics.time_us.ci95", None, r"metrics.time_us.ci95 \(memory/hbm/copy\): no measurement without an interval"),
        ("metrics.time_us.ci95", [2, 1], r"metrics.time_us.ci95 \(memory/hbm/copy\): low 2 is above high 1"),
        ("metrics.time_us.value", "fast", r"metrics.time_us.value .*: \"fast\" is not of type \"number\""),
        (
            "metrics.time_us.better",
            "faster",
            r"metrics.time_us.better .*: \"faster\" is not one of \"higher\" or \"lower\"",
        ),
        (
            "metrics.time_us",
            {"unit": "us", "value": 1, "better": "lower"},
            r"metrics.time_us .*: no measurement without",
        ),
        ("metrics", {}, r"metrics .*: {} has less than 1 property"),
        ("primary", "tflops", r"primary .*: 'tflops' is none of the metrics: time_us"),
        ("samples", {"time_ns": [1, "x"]}, r"samples.time_ns\[1\] .*: \"x\" is not of type \"number\""),
        ("series", {}, r"series .*: {} is not of type \"array\""),
        ("series", [{"name": "s"}], r"series\[0\] .*: \"unit\" is a required property \(and 2 more\)"),
        ("series.0.axes", [{"name": "n"}], r"series\[0\].axes\[0\] .*: \"points\" is a required property"),
        ("series.0.axes.0.points", [1, None], r"series\[0\].axes\[0\].points\[1\] .*: null is not of types"),
        ("series.0.values", [1, 2, 3], r"series\[0\] 'rate' .*: 3 values for 6 places \(2 x 3\); give as many"),
        ("series.1.values", ["x", 1], r"series\[1\].values\[0\] .*: \"x\" is not of types \"null\", \"number\""),
        ("series.0.ci95", [[1, 1]], r"series\[0\].ci95 'rate' .*: 1 intervals for 6 values; give one or null for each"),
        ("series.0.ci95", [1] * 6, r"series\[0\].ci95\[0\] .*: 1 is not "),
        ("series.0.ci95", [[2, 0], *[None] * 5], r"series\[0\].ci95\[0\] 'rate' .*: low 2 is above high 0"),
        (
            "series.0.ci95",
            [None, [3, 4], *[None] * 4],
            r"series\[0\].ci95\[1\] 'rate' .*: \[3, 4\] does not hold the value 2.5; measure",
        ),
        (
            "series.0.ci95",
            [None, None, [3, 4], *[None] * 3],
            r"series\[0\].ci95\[2\] 'rate' .*: an interval of no value; give null",
        ),
        ("series.2.name", "rate", r"series\[2\] 'rate' .*: another series has this name"),
        ("counters", [1], r"counters .*: \[1\] is not of type \"object\""),
        ("counters.x", "many", r"counters.x .*: \"many\" is not of types"),
        ("status", "failed", r" .*: \"reason\" is a required property"),
        ("name", None, r"name: null is not of type \"string\""),
    ],
)
def test_broken_essentials_are_found_and_named(tmp_path, path, value, expected):
    assert re.match(r"measurements\[0\]\.?" + expected, problem(changed(path, value), tmp_path))


def changed(path, value):
    document = copy.deepcopy(FULL)
    *steps, last = path.split(".")
    place = document["measurements"][0]
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    place[last] = value
    return document


@pytest.mark.parametrize(
    "path, value",
    [
        ("kind", "test"),
        ("sass.sha256", "abc"),
        ("sass.loop", {"HGMMA": -1}),
        ("conditions.clock_domain", "memory"),
        ("conditions.throttle", "none"),
        ("status", "fine"),
        ("name", "has space"),
        ("repetition", -1),
        ("baselines", [{"name": "x", "speedup": {"value": 1.0}}]),
    ],
)
def test_the_schema_is_strict_about_what_it_promises(tmp_path, path, value):
    assert f"measurements[0].{path}" in problem(changed(path, value), tmp_path)


@pytest.mark.parametrize(
    "field, value", [("sm_clock_max_mhz", [1980]), ("power_limit_w", "700"), ("ecc", 1), ("l2_bytes", -1), ("vbios", {})]
)
def test_what_a_gpu_is_has_its_type(tmp_path, field, value):
    document = copy.deepcopy(FULL)
    document["environment"]["gpu"][field] = value
    assert problem(document, tmp_path).startswith(f"environment.gpu.{field}: ")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinity_are_no_results(tmp_path, value):
    assert "measurements[0].samples.time_ns[1]: NaN and infinity" in problem(
        changed("samples", {"time_ns": [1.0, value]}), tmp_path
    )


@pytest.mark.parametrize(
    "key",
    [
        "uuid",
        "gpu_uuid",
        "serial",
        "serial_number",
        "board_serial",
        "serialNumber",
        "hostname",
        "host_name",
        "UserName",
    ],
)
def test_a_file_that_names_a_machine_or_person_is_refused(tmp_path, key):
    document = copy.deepcopy(FULL)
    document["environment"]["host"]["nested"] = [{key: "x"}]
    assert "may identify a machine or person" in problem(document, tmp_path)
    assert "may identify" in problem(changed("params", {key: 1}), tmp_path)


def test_a_gpu_uuid_in_any_string_is_refused(tmp_path):
    assert "may identify" in problem(
        changed("command", "assay run --gpu GPU-8f3c1b2a-11aa-22bb-33cc-445566778899"), tmp_path
    )


def test_serialization_is_no_serial_number(tmp_path):
    files.load(runs.write(tmp_path / "run.json", changed("params", {"serialized": True, "serial_chain": 4, "user": 1})))


def test_a_case_that_occurs_twice_is_refused(tmp_path):
    """Two of one process would look as if two processes agreed."""
    document = runs.run(runs.measurement(), runs.measurement())
    (tmp_path / "run.json").write_text(json.dumps(document))
    with pytest.raises(RunFileError, match=r"measurements\[1\]\.repetition: .* occurs twice with repetition 0"):
        files.load(tmp_path / "run.json")
    document["measurements"][1]["repetition"] = 1
    (tmp_path / "run.json").write_text(json.dumps(document))
    assert len(files.load(tmp_path / "run.json").measurements) == 2
