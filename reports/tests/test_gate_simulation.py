# SPDX-License-Identifier: Apache-2.0
"""How often the gate is right, on simulated runs with known truth.

Each process has its own level (0.3%, memory placement and clocks), shares a drift with its partner (0.6%), and its
samples have 0.4% jitter and a slow tail. The seed is fixed, so the counts are too.
"""

import numpy as np
import pytest
import runs

from assay.files import Measurement, Metric, Run
from assay.gate.compare import Rules, Verdict, compare
from assay.statistics import clopper_pearson, median_interval

CASES = 400
PAIRS = 8
ENVIRONMENT = runs.run()["environment"]


def process(rng, level, name, repetition, process_sd=0.003):
    jitter = rng.normal(0, 0.004, 24) + np.where(rng.random(24) < 0.1, rng.exponential(0.03, 24), 0)
    value, low, high = median_interval(level * (1 + rng.normal(0, process_sd)) * (1 + jitter))
    return Measurement(
        name,
        "probe",
        primary="time_us",
        repetition=repetition,
        conditions={"clock_domain": "dram"},
        metrics={"time_us": Metric("us", value, (low, high), "lower")},
    )


def simulate(seed, slowdown, rules=Rules(correction="none"), pairs=PAIRS, cases=CASES, process_sd=0.003):
    """The comparisons of `cases` cases that all got slower by `slowdown`."""
    rng = np.random.default_rng(seed)
    sides = [], []
    for case in range(cases):
        for repetition in range(pairs):
            level = 100 * (1 + (rng.normal(0, 0.006) if pairs > 1 else 0))
            for side, factor in zip(sides, (1, 1 + slowdown)):
                side.append(process(rng, level * factor, f"case/{case}", repetition, process_sd))
    return compare(*(Run(ENVIRONMENT, side) for side in sides), rules).comparisons


def count(*arguments, **options):
    """Verdict -> how many of the simulated cases got it."""
    found = simulate(*arguments, **options)
    return {verdict: sum(c.verdict is verdict for c in found) for verdict in Verdict}


def test_identical_programs_raise_no_alarm():
    counts = count(1, 0.0)
    # Not one alarm, of which so many cases let us say that fewer than 1% are false.
    assert clopper_pearson(counts[Verdict.SLOWER] + counts[Verdict.FASTER], CASES).high < 0.01
    assert counts[Verdict.EQUIVALENT] > 0.95 * CASES


@pytest.mark.parametrize("slowdown", [0.0, 0.02])
def test_the_interval_holds_the_truth_as_often_as_it_says(slowdown):
    missed = sum(not c.ratio.low <= 1 + slowdown <= c.ratio.high for c in simulate(2, slowdown))
    _, low, high = clopper_pearson(missed, CASES)
    assert low <= 0.05 <= high


@pytest.mark.parametrize(
    "slowdown, least, most",
    [
        (0.01, 0.0, 0.01),  # below the threshold: no alarm
        (0.02, 0.0, 0.05),  # on the threshold: the error rate of one side
        (0.03, 0.90, 1.0),
        (0.05, 1.0, 1.0),
    ],
)
def test_slowdowns_are_found_as_the_threshold_promises(slowdown, least, most):
    counts = count(3, slowdown)
    assert least <= counts[Verdict.SLOWER] / CASES <= most
    assert counts[Verdict.FASTER] == 0


@pytest.mark.parametrize("slowdown", [0.03, 0.05])
def test_faster_is_found_as_often_as_slower(slowdown):
    slower, faster = count(4, slowdown), count(5, 1 / (1 + slowdown) - 1)
    assert faster[Verdict.SLOWER] == slower[Verdict.FASTER] == 0
    assert abs(slower[Verdict.SLOWER] - faster[Verdict.FASTER]) <= 0.03 * CASES


def test_a_single_process_is_careful():
    # The default floor holds where 95% of A/A ratios lie within 0.5%: a standard deviation of 0.18% per process.
    counts = {slowdown: count(6, slowdown, pairs=1, process_sd=0.0018) for slowdown in (0.0, 0.02, 0.05)}
    assert counts[0.0][Verdict.SLOWER] == 0
    assert counts[0.02][Verdict.SLOWER] <= 0.05 * CASES
    assert counts[0.05][Verdict.SLOWER] == CASES


def test_holm_bounds_the_chance_of_any_false_alarm_on_the_threshold():
    alarms = sum(count(100 + i, 0.02, Rules(), cases=40)[Verdict.SLOWER] > 0 for i in range(40))
    assert clopper_pearson(alarms, 40).low <= 0.025
