# SPDX-License-Identifier: Apache-2.0
"""What makes two runs less comparable is named; two GPUs are compared only when asked, and less surely."""

import copy

import pytest
import runs
from runs import measurement
from test_gate import load

from assay.gate.compare import OTHER_GPU, compare
from assay.gate.result import Rules, Verdict
from assay.gate.sides import IncomparableRuns


def warnings(base, candidate, ours=None, theirs=None):
    documents = [runs.run(base), runs.run(candidate)]
    for document, change in zip(documents, (ours, theirs)):
        document["environment"]["assay"].update((change or {}).get("assay", {}))
    sides = [load(d) for d in documents]
    for side, change in zip(sides, (ours, theirs)):
        side.extra = (change or {}).get("extra", {})
    return compare(*sides).warnings


def with_conditions(**conditions):
    return measurement(conditions=conditions)


@pytest.mark.parametrize(
    "base, candidate, words",
    [
        (
            with_conditions(sample_count=40),
            with_conditions(sample_count=15),
            "fewer samples in the candidate: memory/hbm/copy",
        ),
        (with_conditions(sample_count=40), with_conditions(sample_count=15, stop="converged"), None),
        (with_conditions(seed=1), with_conditions(seed=2), "another seed, so other inputs: memory/hbm/copy"),
        (
            measurement(params={"n": 1}),
            measurement(params={"n": 2}),
            "other inputs (parameters differ): memory/hbm/copy",
        ),
        (measurement(params={"variant": "a"}), measurement(params={"variant": "b"}), None),
        (
            with_conditions(sm_clock_mhz=1980),
            with_conditions(sm_clock_mhz=1700),
            "SM clocks that differ by more than 5%",
        ),
        (with_conditions(sm_clock_mhz=1980), with_conditions(sm_clock_mhz=1950), None),
    ],
)
def test_cases_that_differ_are_named(base, candidate, words):
    found = warnings(base, candidate)
    assert len(found) == (words is not None) and all(words in said for said in found)


@pytest.mark.parametrize(
    "ours, theirs, words",
    [
        (
            {"build_type": "release"},
            {"build_type": "debug"},
            "build type differs: release in the base, debug in the candidate",
        ),
        ({}, {"dirty": True}, "the candidate was built from a dirty tree"),
        ({"compiler": "GNU 12"}, {"compiler": "GNU 13"}, "compiler differs"),
    ],
)
def test_builds_that_differ_are_named(ours, theirs, words):
    assert any(words in said for said in warnings(measurement(), measurement(), {"assay": ours}, {"assay": theirs}))


def test_options_that_differ_are_named():
    options = [{"extra": {"run": {"options": {"time_cap_s": cap}}}} for cap in (2, 0.25)]
    assert warnings(measurement(), measurement(), *options) == [
        "--time-cap differs: 2 in the base, 0.25 in the candidate"
    ]


@pytest.mark.parametrize("kind, calls, unfit", [("kernel", 12, True), ("kernel", 2, False), ("probe", 12, False)])
def test_single_calls_of_a_kernel_are_not_compared_with_rows_of_them(kind, calls, unfit):
    sides = [measurement(kind=kind, value=v, conditions={"iterations": n}) for v, n in ((100.0, 1), (300.0, calls))]
    (c,) = compare(*(load(runs.run(side)) for side in sides)).comparisons
    assert (c.verdict is Verdict.UNFIT) == unfit
    if unfit:
        assert c.note == "a sample is of 1 calls in a row in the base and of 12 in the candidate"


def test_many_names_are_cut():
    documents = [runs.run(*(measurement(f"case/{i}", conditions={"seed": s}) for i in range(9))) for s in (1, 2)]
    (said,) = compare(*map(load, documents)).warnings
    assert said == "another seed, so other inputs: case/0, case/1, case/2 and 6 more"


def two_gpus(value=100.0, domain="dram"):
    base, candidate = runs.run(measurement(domain=domain)), runs.run(measurement(value=value, domain=domain))
    candidate = copy.deepcopy(candidate)
    candidate["environment"]["gpu"]["id"] = "f" * 16
    return load(base), load(candidate)


def test_two_gpus_are_refused_unless_asked():
    with pytest.raises(IncomparableRuns, match="allow with --allow-other-gpu, which makes every interval wider"):
        compare(*two_gpus())


@pytest.mark.parametrize("domain", ["dram", "power", "sm"])
def test_two_gpus_cost_certainty(domain):
    one = compare(load(runs.run(measurement(domain=domain))), load(runs.run(measurement(domain=domain))))
    two = compare(*two_gpus(domain=domain), Rules(allow_other_gpu=True))
    assert "two GPUs of one name" in two.warnings[0]
    c = two.comparisons[0]
    assert c.ratio.high > one.comparisons[0].ratio.high and c.ratio.high >= 1 + OTHER_GPU[domain]
    assert f"widened by {OTHER_GPU[domain]:.1%}" in c.note
    assert compare(*two_gpus(104, "dram"), Rules(allow_other_gpu=True)).comparisons[0].verdict == "inconclusive"
    assert compare(*two_gpus(120, "dram"), Rules(allow_other_gpu=True)).comparisons[0].verdict == "slower"
