# SPDX-License-Identifier: Apache-2.0
"""What a case swings by itself is no difference, nor is what another build measured; and a cache explains what it can."""

import re

import pytest
from test_compare import RESULTS, case, compared, machine

from assay.files import Metric, load
from assay.report.compare import causes, subjects, words
from assay.report.compare.pages import Comparison
from assay.report.compare.stored import Stored

PARTIALS = "memory/reduction/partials"


def with_sum(rate, *, array_bytes=12 << 20, seed=1, name="NVIDIA H200", gpu=None):
    run = machine(name, seed=seed, gpu=gpu)
    run.measurements.append(case(PARTIALS, per_clock=rate, domain="l2", array_bytes=array_bytes))
    return run


def beside_stored(compared_runs, others):
    made = subjects.subjects([[run] for run in [*compared_runs, *others]])
    return Comparison(made[: len(compared_runs)], lambda v: "x.html", stored=Stored(made))


@pytest.mark.parametrize("others, differs", [((), True), ((9.8, 7.0), False), ((9.8, 9.7), True), ((9.8,), True)])
def test_what_stored_runs_of_one_name_are_apart_is_no_difference(others, differs):
    pair = [with_sum(9.1), with_sum(9.7, seed=2)]
    found = beside_stored(pair, [with_sum(rate, seed=3 + i) for i, rate in enumerate(others)])
    assert (PARTIALS in {f.name for finding in found.found for f in finding.figures}) == differs


def test_stored_runs_that_measured_something_else_say_nothing():
    pair = [with_sum(9.1), with_sum(9.7, seed=2)]
    other = with_sum(7.0, seed=4, array_bytes=1 << 20)
    longer = with_sum(7.0, seed=5)
    longer.measurements[-1].metrics["far_ops"] = Metric("op", 1.0, (1.0, 1.0))
    of_another = with_sum(7.0, seed=6, name="NVIDIA H100")
    found = beside_stored(pair, [with_sum(9.8, seed=3), other, longer, of_another])
    assert any(f.lead.name == PARTIALS for f in found.found)


def test_a_finding_says_how_far_stored_runs_are_apart_and_ranks_by_what_is_beyond():
    pair = [machine("NVIDIA H100", fence=1.12), with_sum(9.8, seed=2)]
    pair[0].measurements.append(case(PARTIALS, per_clock=6.0, domain="l2", array_bytes=12 << 20))
    alone = compared(*pair).found
    assert [f.lead.name for f in alone][0] == PARTIALS
    found = beside_stored(pair, [with_sum(rate, seed=3 + i) for i, rate in enumerate((9.8, 7.0))])
    assert [f.lead.probe for f in found.found] == ["sync/fence", "memory/reduction"]
    assert words.why(found.found[1], found.causes).endswith("In other stored runs GPUs of one name are 40\u202f% apart.")
    assert "stored" not in words.why(found.found[0], found.causes)


@pytest.mark.parametrize("size, cause", [(12 << 20, None), (55 << 20, causes.L2), (100 << 20, causes.L2)])
def test_the_size_of_l2_explains_little_of_what_fits_either(size, cause):
    smaller = with_sum(7.0, array_bytes=size)
    larger = with_sum(9.8, array_bytes=size, seed=2, name="NVIDIA H100", gpu={"l2_bytes": 60 << 20})
    (finding,) = compared(smaller, larger).found
    assert finding.lead.name == PARTIALS and finding.cause == cause


def test_what_fits_either_may_differ_as_their_sizes_do():
    """They have slices in proportion, each of which serves so much."""
    larger = with_sum(8.3, seed=2, name="NVIDIA H100", gpu={"l2_bytes": 60 << 20})
    (finding,) = compared(with_sum(7.0), larger).found
    assert finding.cause == causes.L2


def of_build(commit, cycles, far=None, name="NVIDIA two"):
    run = machine(name)
    run.environment["assay"] = {"commit": commit * 12}
    run.measurements.append(case("memory/atomics/global/add_u32", cycles))
    if far:
        run.measurements[-1].metrics["far_latency_cycles"] = Metric("cycle", far, (far, far), "lower")
    return run


def test_what_another_build_did_not_tell_apart_is_said_and_does_not_lead():
    old, new = of_build("a", 538.0, name="NVIDIA two"), of_build("b", 273.0, 490.0, name="NVIDIA one")
    (finding,) = compared(new, old).found
    assert finding.cause == causes.BUILD and finding.score < 0.02
    assert words.why(finding, {}) == (
        "two was measured by a build that does not tell “far latency” apart, as that of one does: the two figures may be of "
        "different things."
    )
    for alike in (of_build("b", 538.0), of_build("a", 538.0, 490.0)):  # one build; the same metrics
        (finding,) = compared(new, alike).found
        assert finding.cause is None


def test_a_sum_that_swings_on_one_gpu_leads_no_comparison_of_real_runs():
    """It took half as long again in the second of two runs within an hour."""
    names = ("complete", "full", "before-again", "after-again")
    runs = [load(RESULTS / f"h200/2026-11-22-{name}") for name in names]
    found = beside_stored(runs[:2], runs[2:])
    assert PARTIALS not in {f.name for finding in found.found for f in finding.figures}
    assert any(re.match("memory|tma", finding.lead.name) for finding in found.found)  # others remain
