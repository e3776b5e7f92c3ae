# SPDX-License-Identifier: Apache-2.0
"""Who is who: runs are of one GPU where their files say so, and nothing is concluded from a name."""

from pathlib import Path

import pytest
import report_runs

from assay.files import Measurement, Metric, Run, RunFileError, validate
from assay.report.book import identity, model

ONE, OTHER = "0123456789abcdef", "fedcba9876543210"


def run(folder=None, gpu_id=None, name="NVIDIA H200", **figures):
    environment = report_runs.gpu(name)
    if gpu_id:
        environment["gpu"]["id"] = gpu_id
    measurements = []
    for case, value in (figures or {"x": 1.0}).items():
        metrics = {"latency_cycles": Metric("cycle", value, (value, value), "lower")}
        measurements.append(Measurement(f"a/{case}", "probe", primary="latency_cycles", metrics=metrics))
    path = Path(folder) / "run.json" if folder else None
    return Run(environment, measurements, path)


def labels(*runs):
    return [column.label for column in model.build(list(runs)).columns]


def test_files_without_an_id_are_each_a_column_by_their_run():
    runs = [run("h200/2026-11-22-full", x=1.0), run("h200/2026-11-21-links", y=2.0)]
    assert labels(*runs) == ["NVIDIA H200, run 2026-11-22-full", "NVIDIA H200, run 2026-11-21-links"]
    assert identity.title(runs) == "NVIDIA H200, 2 runs"
    assert labels(runs[0]) == ["NVIDIA H200"] and identity.title(runs[:1]) == "NVIDIA H200"


def test_equal_ids_are_one_gpu_and_others_are_not():
    assert labels(run("full", ONE, x=1.0), run("links", ONE, y=1.0)) == ["NVIDIA H200"]
    assert labels(run("full", ONE, x=1.0), run("links", OTHER, y=1.0)) == ["NVIDIA H200 012345", "NVIDIA H200 fedcba"]
    again = [run("full", ONE, x=1.0), run("again", ONE, x=1.0)]
    assert labels(*again) == ["NVIDIA H200, run full", "NVIDIA H200, run again"]
    assert identity.title(again) == "NVIDIA H200, 2 runs"
    assert identity.title([*again, run("x", OTHER)]) == "2 × NVIDIA H200, 3 runs"
    assert identity.title([run("a", ONE), run("b", OTHER), run("c", name="X")]) == "2 × NVIDIA H200 · X"


def test_a_known_gpu_is_not_joined_with_one_that_is_not_known():
    assert labels(run("full", ONE, x=1.0), run("old", y=1.0)) == ["NVIDIA H200 012345", "NVIDIA H200, run old"]


def test_what_is_still_alike_is_numbered():
    assert labels(run(x=1.0), run(x=1.0)) == ["NVIDIA H200 #1", "NVIDIA H200 #2"]


@pytest.mark.parametrize("bad", ["GPU-01234567-0123", "0123", "0123456789ABCDEF", 5])
def test_an_id_is_a_hash_and_nothing_else(bad):
    environment = report_runs.gpu()
    environment["gpu"]["id"] = bad
    with pytest.raises(RunFileError, match="environment.gpu.id"):
        validate({"schema": "assay.run/1", "environment": environment, "measurements": []})
