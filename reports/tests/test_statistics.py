# SPDX-License-Identifier: Apache-2.0
"""Statistics against exact tables, published examples and scipy."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from assay import statistics

# k of the 95% interval [x_(k), x_(n+1-k)] of the median, from the tables of the binomial distribution
# (Dixon and Massey, Introduction to Statistical Analysis, table A-25).
ORDER = {6: 1, 8: 1, 9: 2, 10: 2, 12: 3, 15: 4, 20: 6, 25: 8, 30: 10, 50: 18, 100: 40}


@pytest.mark.parametrize("n, k", ORDER.items())
def test_median_interval_uses_the_tabulated_order_statistics(n, k):
    samples = np.random.default_rng(1).permutation(np.arange(1, n + 1))
    assert statistics.median_interval(samples) == ((n + 1) / 2, k, n + 1 - k)


def test_median_interval_of_few_samples_is_infinite():
    assert statistics.median_interval([1, 2, 3, 4, 5]) == (3, -math.inf, math.inf)
    with pytest.raises(ValueError):
        statistics.median_interval([])


def test_median_interval_covers_the_median_of_skewed_data():
    draws = np.random.default_rng(2).exponential(size=(2000, 25))
    hits = sum(low <= math.log(2) <= high for _, low, high in map(statistics.median_interval, draws))
    exact = 1 - 2 * stats.binom.cdf(7, 25, 0.5)
    assert abs(hits / 2000 - exact) < 4 * math.sqrt(exact * (1 - exact) / 2000)


def test_paired_ratio_ignores_what_both_sides_share():
    rng = np.random.default_rng(3)
    drift = 1 + rng.random(40)
    interval = statistics.paired_ratio_interval(2 * drift, drift)
    assert interval == pytest.approx((2, 2, 2))
    with pytest.raises(ValueError):
        statistics.paired_ratio_interval([1, 2], [1])


@pytest.mark.parametrize(
    "signs, p",
    [
        ([1] * 8, 2 / 256),
        ([1] * 7 + [-1], 18 / 256),
        ([1] * 5, 2 / 32),
        ([1, -1], 1.0),
        ([0, 0], 1.0),
        ([1] * 6 + [0], 2 / 64),
    ],
)
def test_sign_test_is_exact(signs, p):
    assert statistics.sign_test(signs) == pytest.approx(p, rel=1e-12)


def test_sign_test_agrees_with_scipy():
    differences = np.random.default_rng(4).normal(0.3, 1, 31)
    assert statistics.sign_test(differences) == pytest.approx(
        stats.binomtest(int(np.sum(differences > 0)), 31).pvalue, rel=1e-9
    )


def test_paired_log_ratio_is_the_paired_t_test():
    rng = np.random.default_rng(5)
    base, candidate = rng.lognormal(1, 0.1, 8), rng.lognormal(1.05, 0.1, 8)
    ours = statistics.paired_log_ratio(base, candidate)
    theirs = stats.ttest_rel(np.log(candidate), np.log(base), alternative="greater")
    assert ours.p_above(1) == pytest.approx(theirs.pvalue, rel=1e-9)
    two_sided = stats.ttest_rel(np.log(candidate), np.log(base)).confidence_interval()
    assert ours.interval()[1:] == pytest.approx((math.exp(two_sided.low), math.exp(two_sided.high)))


def test_welch_log_ratio_is_welch():
    rng = np.random.default_rng(6)
    base, candidate = rng.lognormal(1, 0.1, 8), rng.lognormal(1.05, 0.3, 12)
    ours = statistics.welch_log_ratio(base, candidate)
    for alternative, p in (("greater", ours.p_above(1)), ("less", ours.p_below(1))):
        theirs = stats.ttest_ind(np.log(candidate), np.log(base), equal_var=False, alternative=alternative)
        assert p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_log_ratio_of_exact_values_has_no_width():
    for exact in (statistics.paired_log_ratio([2, 2, 2], [3, 3, 3]), statistics.welch_log_ratio([2, 2], [3, 3])):
        assert exact.interval() == pytest.approx((1.5, 1.5, 1.5))
        assert (exact.p_above(1.4), exact.p_above(1.6), exact.p_below(1.6)) == pytest.approx((0, 1, 0))


def test_intervals_add_in_quadrature_and_the_floor_with_them():
    def around(value, half):
        return statistics.Interval(value, value * math.exp(-half), value * math.exp(half))

    ratio = statistics.log_ratio_of_intervals(around(10, 0.03), around(11, 0.04))
    assert ratio.interval() == pytest.approx((1.1, 1.1 * math.exp(-0.05), 1.1 * math.exp(0.05)))
    exact = statistics.log_ratio_of_intervals(around(10, 0), around(10, 0), floor=0.005)
    assert exact.interval()[1:] == pytest.approx((1 / 1.005, 1.005))
    unknown = statistics.log_ratio_of_intervals(statistics.Interval(1, -1, 3), around(1, 0))
    assert unknown.interval()[1:] == (0, math.inf)


def test_holm_on_the_textbook_example():
    # p = 0.01, 0.04, 0.03, 0.005: 4 x 0.005, 3 x 0.01, 2 x 0.03, then no smaller than the one before.
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([]) == []
    assert statistics.holm([0.9, 0.8]) == [1.0, 1.0]


def test_benjamini_hochberg_on_the_example_of_its_paper():
    # The 15 p-values of Benjamini and Hochberg 1995, section 3.2: four rejected at q = 0.05, Holm rejects three.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert sum(q <= 0.05 for q in statistics.benjamini_hochberg(p)) == 4
    assert sum(q <= 0.05 for q in statistics.holm(p)) == 3


def test_benjamini_hochberg_by_definition():
    p = np.random.default_rng(7).random(20)
    ours = statistics.benjamini_hochberg(p)
    ranks = stats.rankdata(p)
    for value, adjusted in zip(p, ours):
        assert adjusted == pytest.approx(min(1, min(q * 20 / r for q, r in zip(p, ranks) if q >= value)))


@pytest.mark.parametrize("k, n", [(0, 300), (3, 20), (20, 20), (7, 100)])
def test_clopper_pearson_agrees_with_scipy(k, n):
    theirs = stats.binomtest(k, n).proportion_ci(method="exact")
    assert statistics.clopper_pearson(k, n) == pytest.approx((k / n, theirs.low, theirs.high))


def test_clopper_pearson_meets_the_rule_of_three():
    assert statistics.clopper_pearson(0, 300, 0.90).high == pytest.approx(3 / 300, rel=0.01)
    with pytest.raises(ValueError):
        statistics.clopper_pearson(2, 1)


@pytest.mark.parametrize("degrees", [1, 3.7, 9, 1e3, math.inf])
def test_students_t_agrees_with_scipy(degrees):
    for probability, ratio in ((0.6, 1.01), (0.975, 1.2), (1 - 1e-9, 3.0)):
        theirs = stats.t.ppf(probability, degrees)
        assert statistics.LogRatio(0.0, 0.1, degrees).quantile(probability) == pytest.approx(theirs, rel=1e-9)
        theirs = stats.t.sf(math.log(ratio) / 0.1, degrees)
        assert statistics.LogRatio(math.log(ratio), 0.1, degrees).p_above(1) == pytest.approx(theirs, rel=1e-9)


def test_order_statistics_and_adjusted_p_values_agree_with_scipy():
    for count in range(1, 200):
        theirs = stats.quantile_test(np.arange(count), q=(count - 1) / 2, p=0.5).confidence_interval(0.95)
        ours = statistics.median_interval(np.arange(count))
        assert theirs == (ours.low, ours.high) if math.isfinite(ours.low) else all(map(math.isnan, theirs)), count
    p = np.random.default_rng(9).random(40)
    assert statistics.benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p), rel=1e-12)


def test_a_gate_does_not_load_what_takes_as_long_as_itself():
    code = "import sys, assay.gate.command; print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == "False\n"
