# SPDX-License-Identifier: Apache-2.0
"""Of three GPUs of one name the one that lies apart is named, with what it is furthest off in; of equals none is."""

import pytest
from test_compare import RESULTS, compared, machine

from assay.files import load
from assay.report.compare import outlier, subjects
from assay.report.compare.figures import figures


def said(*runs):
    found = compared(*runs)
    return [one.replace("\u202f", " ") for one in outlier.sentences(found.subjects, found.figures)]


def three(**of_last):
    ids = [{"id": f"{n}" * 16} for n in (1, 2, 3)]
    return [machine(seed=n, gpu=ids[n], **(of_last if n == 2 else {})) for n in range(3)]


def test_the_one_that_lies_apart_is_named_with_what_it_is_furthest_off_in():
    (sentence,) = said(*three(sync__syncthreads=1.3, sass__op3__=1.1))
    assert sentence == (
        "Of the 3 H200s, H200 333333 is farthest from the others: it lies apart in 6 of 154 figures per clock, H200 111111 in 0 "
        "and H200 222222 in 0. It is furthest off in “syncthreads, w1, latency”, by 30 %."
    )


def test_of_equals_none_is_named_nor_of_two():
    (sentence,) = said(*three())
    assert sentence.startswith("None of the 3 H200s is clearly farthest from the others: of 154 figures per clock, H200 111111 lies")
    assert said(*three(sync__syncthreads=1.3)[1:]) == []
    assert said(*three(sync__syncthreads=1.3)[1:], machine("NVIDIA H100", seed=5)) == []  # nor of three of two names


def test_builds_that_differ_are_said():
    runs = three(sync__syncthreads=1.3)
    for run, commit in zip(runs, "abc"):
        run.environment["assay"] = {"commit": commit * 12}
    assert said(*runs)[0].endswith("”, by 30 %. Their builds differ, too.")


@pytest.mark.parametrize("apart, distance", [((1.0, 1.001, 1.2), True), ((1.0, 1.1, 1.2), False), ((1.0, 1.001, 1.002), False)])
def test_one_lies_apart_where_the_others_lie_together(apart, distance):
    runs = three()
    for run, factor in zip(runs, apart):
        for m in run.measurements:
            if m.name == "sass/op3/b32":
                metric = m.metrics["latency_cycles"]
                metric.value, metric.ci95 = 7.0 * factor, (7.0 * factor, 7.0 * factor)
    found = figures(subjects.subjects([[run] for run in runs]))
    (figure,) = (f for f in found if (f.name, f.metric) == ("sass/op3/b32", "latency_cycles"))
    found = outlier.alone(figure)
    assert (found is not None) == distance and (not found or found[0].subject.index == 2)


def test_of_three_h100s_one_is_farthest():
    runs = [load(RESULTS / f"h100/2026-11-22-{name}") for name in ("complete", "full", "most")]
    (sentence,) = said(*runs)
    assert sentence.startswith("Of the 3 H100s, H100 305aab is farthest from the others: it lies apart in ")
    assert "“descriptor of a TMA copy, latency, map in DRAM”, by 13 %." in sentence
