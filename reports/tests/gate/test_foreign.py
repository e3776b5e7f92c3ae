# SPDX-License-Identifier: Apache-2.0
"""Runs of other benchmark programs, as a gate reads them."""

import copy
import json

import pytest
import runs

from assay.files import RunFileError
from assay.gate import foreign, main


def google(path, times, **entry):
    entries = [
        {
            "name": "BM_Copy/8",
            "run_name": "BM_Copy/8",
            "run_type": "iteration",
            "real_time": t,
            "time_unit": "ns",
            **entry,
        }
        for t in times
    ]
    context = {"num_cpus": 4, "mhz_per_cpu": 2000, "library_build_type": "release"}
    path.write_text(json.dumps({"context": context, "benchmarks": entries}))
    return path


def test_repetitions_of_one_process_are_samples_and_not_processes(tmp_path):
    run = foreign.load(google(tmp_path / "a.json", [10.0, 11.0, 12.0, 11.0, 10.5, 11.5, 11.2]))
    (m,) = run.measurements
    assert (m.name, m.metrics["time"].value, m.metrics["time"].unit) == ("BM_Copy/8", 11.0, "ns")
    assert m.metrics["time"].ci95 is not None and m.repetition is None


def test_only_a_median_is_taken_of_aggregates(tmp_path):
    path = google(tmp_path / "a.json", [5.0], run_type="aggregate", aggregate_name="median")
    assert foreign.load(path).measurements[0].metrics["time"].value == 5.0
    with pytest.raises(RunFileError, match="benchmarks: holds no case"):
        foreign.load(google(path, [5.0], run_type="aggregate", aggregate_name="stddev"))


def test_what_failed_there_has_failed(tmp_path):
    run = foreign.load(google(tmp_path / "a.json", [1.0], error_occurred=True, error_message="out of memory"))
    assert (run.measurements[0].status, run.measurements[0].reason) == ("failed", "out of memory")


def test_one_process_of_a_cpu_cannot_tell(tmp_path, capsys):
    base, after = (google(tmp_path / f"{t}.json", [t + i / 10 for i in range(9)]) for t in (100, 150))
    assert main([str(base), str(after), "--all"]) == 3
    assert "one process cannot tell" in capsys.readouterr().out


def test_the_same_file_is_equivalent_or_cannot_tell(tmp_path, capsys):
    base = google(tmp_path / "a.json", [100 + i / 1000 for i in range(9)])
    assert main([str(base), str(base)]) == 0


def test_another_build_type_is_named(tmp_path, capsys):
    base, after = (google(tmp_path / f"{t}.json", [100.0] * 9) for t in "ab")
    after.write_text(after.read_text().replace("release", "debug"))
    main([str(base), str(after)])
    out = capsys.readouterr().out
    assert "build type of the benchmark library differs: release in the base, debug in the candidate" in out
    assert "the candidate uses a debug build of the benchmark library" in out


NVBENCH = {
    "devices": [{"id": 0, "name": "NVIDIA H200", "sm_version": 900, "number_of_sms": 132}],
    "benchmarks": [
        {
            "name": "copy",
            "states": [
                {
                    "device": 0,
                    "axis_values": [{"name": "N", "type": "int64", "value": "8"}],
                    "is_skipped": False,
                    "summaries": [
                        {
                            "tag": "nv/cold/time/gpu/mean",
                            "data": [{"name": "value", "type": "float64", "value": "2e-6"}],
                        }
                    ],
                },
                {"device": 0, "axis_values": None, "is_skipped": True, "skip_reason": "too large", "summaries": None},
                {"device": 0, "axis_values": None, "is_skipped": False, "summaries": None},
            ],
        }
    ],
}


def test_nvbench(tmp_path):
    path = runs.write(tmp_path / "n.json", NVBENCH)
    run = foreign.load(path)
    assert run.gpu == {"name": "NVIDIA H200", "architecture": "sm_90", "sm_count": 132}
    first, skipped, failed = run.measurements
    assert (first.name, first.metrics["time"].value) == ("copy/N=8", pytest.approx(2.0))
    assert (skipped.status, skipped.reason, failed.status) == ("skipped", "too large", "failed")


def nvbench(value="2e-6", **changes):
    """A document of one case, with changes of its state."""
    document = copy.deepcopy(NVBENCH)
    state = document["benchmarks"][0]["states"][0]
    document["benchmarks"][0]["states"] = [state]
    state["summaries"] = [{"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64", "value": value}]}]
    state.update(changes)
    return document


TWICE = nvbench()["benchmarks"][0]["states"][0]["summaries"] * 2


@pytest.mark.parametrize(
    ("document", "said"),
    [
        *((nvbench(value), f"benchmarks: copy/N=8: nv/cold/time/gpu/mean: {value!r} is no number") for value in
          ("nan", "inf", "fast", "", "0x1p-20", "1e309", " 1e-6 ", "1_0e-6", "\u0661")),
        *((nvbench(value), "benchmarks[0].states[0].summaries[0].data[0].value: ") for value in (None, True, [1e-6], {})),
        (nvbench(summaries=TWICE), "benchmarks: copy/N=8: nv/cold/time/gpu/mean: has 2 values, where one is wanted"),
        (nvbench(summaries=[{"tag": "nv/cold/time/gpu/mean"}]), "benchmarks: copy/N=8: nv/cold/time/gpu/mean: has no value"),
        (nvbench(device=7), "benchmarks: copy/N=8: device: 7 is none of those in devices: 0"),
        ({"devices": [], "benchmarks": [{"name": "copy", "states": None}]}, "benchmarks: holds no case"),
        ({"devices": None, "benchmarks": []}, "benchmarks: holds no case"),
        ({"context": {}, "benchmarks": []}, "benchmarks: holds no case"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_case_and_field(tmp_path, document, said):
    path = runs.write(tmp_path / "x.json", document)
    with pytest.raises(RunFileError) as caught:
        foreign.load(path)
    assert str(caught.value).startswith(f"{path}: {said}") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "document",
    [
        {"benchmarks": [1]},
        {"benchmarks": [{}]},
        {"benchmarks": [{"name": "a", "real_time": "x"}]},
        {"benchmarks": [{"name": 3, "real_time": None}]},
        {"benchmarks": [{"name": "a", "states": [{"axis_values": [1]}]}], "devices": [{"id": 0, "name": "x"}]},
        {"benchmarks": [1], "devices": []},
        {"benchmarks": [], "devices": [{}]},
        {"benchmarks": [], "devices": 3},
    ],
)
def test_rubbish_is_refused_in_one_line(tmp_path, document):
    path = runs.write(tmp_path / "x.json", document)
    with pytest.raises(RunFileError) as caught:
        foreign.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_our_own_are_read_as_ever(tmp_path):
    path = runs.write(tmp_path / "run.json", runs.run(runs.measurement()))
    assert foreign.load(path).measurements[0].name == foreign.load(tmp_path).measurements[0].name == "memory/hbm/copy"
