# SPDX-License-Identifier: Apache-2.0
from assay.files import Baseline, Estimate, Measurement, Run
from assay.report.book.join import in_order, joined

H200 = {"gpu": {"name": "NVIDIA H200", "architecture": "sm_90", "id": "0123456789abcdef"}, "driver": "580"}


def run_of(*names, environment=H200, **fields):
    return Run(environment, [Measurement(name, "probe", **fields) for name in names])


def names(run):
    return [m.name for m in run.measurements]


def test_numbers_in_names_are_ordered_by_value():
    mixed = [Measurement(n, "probe") for n in ("a/1024", "a/32", "a/256/x", "a/256")]
    assert [m.name for m in in_order(mixed)] == ["a/32", "a/256", "a/256/x", "a/1024"]


def test_runs_that_measured_different_cases_are_one():
    first, second = run_of("b", "a"), run_of("c")
    first.measurements.append(Measurement("c", "collective", status="skipped", reason="one GPU"))
    (together,) = joined([first, second])
    assert names(together) == ["a", "b", "c"]
    assert together.measurements[2].ok


def test_runs_that_measured_the_same_case_or_another_gpu_stay_apart():
    other = {**H200, "gpu": {**H200["gpu"], "id": "fedcba9876543210"}}
    assert len(joined([run_of("a", "b"), run_of("b")])) == 2
    assert len(joined([run_of("a"), run_of("b", environment=other)])) == 2


def test_other_baselines_of_a_kernel_join_it():
    def kernel(baseline):
        return run_of("k", baselines=[Baseline(baseline, Estimate(1.0, (0.9, 1.1)))])

    (together,) = joined([kernel("cublaslt_best16"), kernel("torch_matmul")])
    assert [b.name for b in together.measurements[0].baselines] == ["cublaslt_best16", "torch_matmul"]
    assert len(joined([kernel("torch_matmul"), kernel("torch_matmul")])) == 2


def test_a_column_of_several_builds_names_the_commits_of_all():
    def at(commit, *cases):
        return run_of(*cases, environment={**H200, "assay": {"version": "0.1.0", "commit": commit}})

    (together,) = joined([at("a" * 40, "x"), at("b" * 40, "y"), at("a" * 40, "z")])
    assert together.environment["assay"] == {"version": "0.1.0", "commit": "a" * 12 + ", " + "b" * 12}
    (alone,) = joined([at("a" * 40, "x")])
    assert alone.environment["assay"]["commit"] == "a" * 40
