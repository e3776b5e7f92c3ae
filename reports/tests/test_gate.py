# SPDX-License-Identifier: Apache-2.0
"""The gate's rules, one by one."""

import pytest
import runs
from runs import measurement

from assay.files import Run, RunFileError
from assay.files.document import measurement_of
from assay.gate.outcome import judge
from assay.gate.compare import Rules, Verdict, compare
from assay.gate.sides import IncomparableRuns
from assay.program import Exit


def load(document):
    return Run(document["environment"], [measurement_of(m) for m in document["measurements"]])


def result(base, candidate, rules=Rules(), **environment):
    return compare(load(runs.run(*base)), load(runs.run(*candidate, **environment)), rules)


def only(base, candidate, rules=Rules(), **environment):
    (comparison,) = result([base], [candidate], rules, **environment).comparisons
    return comparison


def processes(values, **fields):
    return [measurement(value=v, repetition=i, **fields) for i, v in enumerate(values)]


# --- one process a side ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, verdict",
    [
        (100, "equivalent"),
        (101, "equivalent"),
        (102, "inconclusive"),
        (103, "slower"),
        (97, "faster"),
        (98, "inconclusive"),
    ],
)
def test_verdicts_of_a_time(value, verdict):
    assert only(measurement(), measurement(value=value)).verdict == verdict


@pytest.mark.parametrize("better, worse", [("lower", 105), ("higher", 100 / 1.05)])
def test_slower_is_slower_whichever_way_the_metric_points(better, worse):
    fields = {"metric": "m", "unit": "GB/s", "better": better}
    slower = only(measurement(**fields), measurement(value=worse, **fields))
    faster = only(measurement(value=worse, **fields), measurement(**fields))
    assert (slower.verdict, faster.verdict) == ("slower", "faster")
    assert slower.ratio.value == pytest.approx(1.05) and faster.ratio.value == pytest.approx(1 / 1.05)
    assert slower.ratio.low == pytest.approx(1 / faster.ratio.high)


def test_a_single_process_is_never_surer_than_the_floor():
    exact = only(measurement(half=0), measurement(half=0))
    assert exact.method == "single process"
    assert exact.ratio[1:] == pytest.approx((1 / 1.005, 1.005))
    floor = only(measurement(half=0), measurement(value=105, half=0), Rules(process_floor=0.05))
    assert floor.verdict == "inconclusive"
    assert exact.smallest_detectable == pytest.approx(1.02 * 1.005 - 1)


def test_a_wide_interval_decides_nothing():
    assert only(measurement(half=0.1), measurement(value=110, half=0.1)).verdict == "inconclusive"


@pytest.mark.parametrize(
    "cycles, after, verdict",
    [
        (30, 30.5, "equivalent"),
        (30, 31, "inconclusive"),
        (30, 31.5, "slower"),
        (700, 703, "equivalent"),
        (700, 715, "slower"),
    ],
)
def test_latencies_have_their_own_threshold_and_never_less_than_a_cycle(cycles, after, verdict):
    fields = {"metric": "latency_cycles", "unit": "cycle", "domain": "sm", "half": 0}
    assert only(measurement(value=cycles, **fields), measurement(value=after, **fields)).verdict == verdict


def test_zero_has_no_ratio():
    comparison = only(measurement(), measurement(value=0))
    assert (comparison.verdict, comparison.ratio) == ("inconclusive", None)


# --- which number ---------------------------------------------------------------------------------------------------


def with_metrics(domain, per_clock, per_second, **fields):
    m = measurement("x/y", per_second, metric="tflops", unit="TFLOP/s", better="higher", domain=domain, **fields)
    m["metrics"]["flop_per_clock_per_sm"] = {
        "unit": "FLOP/clk/SM",
        "value": per_clock,
        "better": "higher",
        "ci95": [per_clock, per_clock],
    }
    return m


@pytest.mark.parametrize("domain, metric", [("sm", "flop_per_clock_per_sm"), ("dram", "tflops"), ("host", "tflops")])
def test_the_clock_domain_chooses_the_metric(domain, metric):
    assert only(with_metrics(domain, 4096, 900), with_metrics(domain, 4096, 900)).metric == metric


def test_another_sm_clock_is_no_regression_where_cycles_decide():
    assert only(with_metrics("sm", 4096, 900), with_metrics("sm", 4096, 800)).verdict == "equivalent"


def test_a_time_is_compared_at_one_sm_clock():
    at = [measurement(value=v, domain="sm", conditions={"sm_clock_mhz": mhz}) for v, mhz in ((100, 1980), (110, 1800))]
    assert only(*at).verdict == "equivalent"
    assert only(*at, Rules(metric="time_us")).verdict == "slower"
    rates = [
        measurement(
            value=v, metric="tflops", unit="TFLOP/s", better="higher", domain="sm", conditions={"sm_clock_mhz": mhz}
        )
        for v, mhz in ((660, 1980), (600, 1800))
    ]
    assert only(*rates).verdict == "equivalent"


def test_metric_compares_every_match():
    found = result([with_metrics("sm", 4096, 900)], [with_metrics("sm", 4096, 800)], Rules(metric="flop"))
    assert {c.metric: c.verdict for c in found.comparisons} == {
        "tflops": "slower",
        "flop_per_clock_per_sm": "equivalent",
    }


def test_published_figures_are_not_compared():
    published = {"name": "p", "kind": "probe", "metrics": {"m": {"unit": "x", "value": 1}}, "source": {"title": "t"}}
    assert [c.name for c in result([measurement("a"), published], [measurement("a")]).comparisons] == ["a"]
    found = result([measurement("a"), published], [measurement("a"), published])
    assert [c.name for c in found.comparisons] == ["a"] and found.warnings == [
        "published figures, which are not compared: p"
    ]


@pytest.mark.parametrize("fields", [{"domain": "power"}, {"kind": "baseline"}])
def test_power_limited_figures_and_baselines_are_listed_not_gated(fields):
    found = result([measurement(**fields), measurement("b")], [measurement(value=200, **fields), measurement("b")])
    assert [(c.verdict, c.gated) for c in found.comparisons] == [("equivalent", True), ("slower", False)]
    assert judge(found, Rules())[0] is Exit.OK


# --- identical code -------------------------------------------------------------------------------------------------


LAUNCH = [{"kernel": "fast", "grid": [132, 1, 1], "block": [256, 1, 1], "shared_bytes": 0}]


def coded(value, sha=runs.SHA, domain="sm", params=None, kernel="fast", launch=LAUNCH, **further):
    sass = {"sha256": sha, "verified": True, "kernel": kernel, **({"launch": launch} if launch else {}), **further}
    return measurement(value=value, domain=domain, params=params or {}, sass=sass)


def test_identical_code_never_fails():
    comparison = only(coded(100), coded(150))
    assert (comparison.verdict, comparison.note) == ("unchanged", "identical code")


@pytest.mark.parametrize(
    "other",
    [
        coded(150, "f" * 64),
        coded(150, params={"block": 128}),
        coded(150, kernel="slow"),  # of the same image
        coded(150, launch=[{**LAUNCH[0], "grid": [264, 1, 1]}]),
        coded(150, launch=LAUNCH * 2),
        coded(150, launch=None),
        coded(150, code_sha256="a" * 64),
        measurement(value=150, domain="sm"),
    ],
)
def test_other_code_or_parameters_are_judged(other):
    assert only(coded(100), other).verdict == "slower"


def test_the_hash_of_the_instructions_decides_where_both_have_it():
    one, other = "a" * 64, "b" * 64
    assert only(coded(100, code_sha256=one), coded(150, "f" * 64, code_sha256=one)).verdict == "unchanged"
    assert only(coded(100, code_sha256=one), coded(150, code_sha256=other)).verdict == "slower"


def test_without_a_launch_configuration_nothing_is_identical():
    assert only(coded(100, launch=None), coded(150, launch=None)).verdict == "slower"


def test_the_same_kernel_does_not_excuse_the_host_or_the_driver():
    assert only(coded(100, domain="link"), coded(150, domain="link")).verdict == "slower"
    assert only(coded(100), coded(150), driver="590.10").verdict == "slower"


def test_one_process_cannot_tell_on_a_cpu():
    one = only(coded(100, domain="host"), coded(150, domain="host"))
    assert (one.verdict, one.note) == ("inconclusive", "one process cannot tell on a CPU: use --repetitions")


def test_links_do_not_mind_the_power_cap():
    def link(value, reason):
        return measurement(value=value, domain="link", conditions={"throttle": [reason], "memory_clock_mhz": 3201})

    assert only(link(100, "sw_power_cap"), link(100, "sw_power_cap")).verdict == "equivalent"
    assert only(link(100, "hw_slowdown"), link(100, "hw_slowdown")).verdict == "unfit"


# --- several processes ----------------------------------------------------------------------------------------------

BASE = [100.0, 100.4, 99.7, 100.1, 99.9, 100.2, 99.8, 100.0]


def test_repetitions_are_paired_one_value_each():
    drift = [1, 1.1, 1.2, 1.3, 1.2, 1.1, 1, 0.9]
    base = [b * d for b, d in zip(BASE, drift)]
    (comparison,) = result(processes(base, half=0.5), processes([b * 1.5 for b in base], half=0.5)).comparisons
    assert (comparison.verdict, comparison.method, comparison.processes) == ("slower", "process pairs", 8)
    assert comparison.ratio == pytest.approx((1.5, 1.5, 1.5))


def test_unequal_repetitions_are_compared_as_groups():
    (comparison,) = result(processes(BASE), processes([b * 1.05 for b in BASE[:6]])).comparisons
    assert (comparison.verdict, comparison.method, comparison.processes) == ("slower", "processes", 6)


def test_two_processes_prove_little():
    (comparison,) = result(processes([100, 101]), processes([104, 107])).comparisons
    assert comparison.verdict == "inconclusive"


def test_the_threshold_is_never_below_the_noise_between_processes():
    noisy = [100, 104, 96, 101, 99, 103, 97, 100]
    (comparison,) = result(processes(noisy), processes([v * 1.04 for v in noisy])).comparisons
    assert comparison.threshold > 0.04 and comparison.verdict != "slower"


def test_the_sign_test_has_a_say():
    # Six pairs, one of them the other way: t is sure of it, the sign test (p = 0.22) is not.
    after = [1.10, 1.10, 1.10, 1.10, 1.10, 0.9999]
    (comparison,) = result(
        processes(BASE[:6]), processes([b * f for b, f in zip(BASE, after)]), Rules(threshold=0.001)
    ).comparisons
    assert comparison.verdict == "inconclusive" and "sign test" in comparison.note


def test_repetitions_must_be_numbered():
    with pytest.raises(RunFileError, match="memory/hbm/copy occurs twice with repetition 0"):
        result([measurement(), measurement()], [measurement()])


def test_many_cases_are_held_to_a_stricter_standard():
    base = [measurement(f"case/{i}") for i in range(200)]
    after = [measurement(f"case/{i}", 102.7 if i == 7 else 100) for i in range(200)]
    verdicts = {
        c: [x.verdict for x in result(base, after, Rules(correction=c)).comparisons if x.name == "case/7"]
        for c in ("none", "holm")
    }
    assert verdicts == {"none": ["slower"], "holm": ["inconclusive"]}


# --- the machine ----------------------------------------------------------------------------------------------------


def throttled(i, *reasons, **fields):
    return measurement(f"case/{i}", conditions={"throttle": list(reasons)}, **fields)


@pytest.mark.parametrize(
    "bad, worse, code", [(0, 0, Exit.OK), (2, 5, Exit.OK), (2, 50, Exit.CANNOT_TELL), (3, 5, Exit.UNFIT)]
)
def test_a_throttled_machine_is_unfit(bad, worse, code):
    base = [throttled(i) for i in range(10)]
    after = [throttled(i, *["hw_thermal_slowdown"] * (i < bad), value=100 + worse * (i < bad)) for i in range(10)]
    found = result(base, after)
    assert (len(found.of(Verdict.UNFIT)), judge(found, Rules())[0]) == (bad, code)
    if bad:
        assert judge(found, Rules(), strict=True)[0] is (Exit.UNFIT if code is Exit.UNFIT else Exit.CANNOT_TELL)


def test_the_power_cap_does_not_mark_what_is_counted_in_cycles():
    cycles = [
        measurement(metric="latency_cycles", unit="cycle", domain="sm", conditions={"throttle": ["sw_power_cap"]})
    ] * 2
    times = [measurement(conditions={"throttle": ["sw_power_cap"]})] * 2
    assert (only(*cycles).verdict, only(*times).verdict) == ("equivalent", "unfit")


def test_a_throttled_repetition_takes_its_partner_along():
    after = processes([b * 1.05 for b in BASE])
    after[3]["conditions"]["throttle"] = ["hw_slowdown"]
    (comparison,) = result(processes(BASE), after).comparisons
    assert (comparison.method, comparison.processes, comparison.verdict) == ("process pairs", 7, "slower")
    for m in after[:2]:
        m["conditions"]["throttle"] = ["hw_slowdown"]
    assert result(processes(BASE), after).comparisons[0].verdict == "unfit"


def test_another_memory_clock_is_unfit():
    clocks = [measurement(conditions={"memory_clock_mhz": mhz}) for mhz in (3201, 2619)]
    assert only(*clocks).verdict == "unfit"


@pytest.mark.parametrize(
    "gpu",
    [
        {"name": "NVIDIA H100", "architecture": "sm_90", "sm_count": 132},
        {"name": "NVIDIA H200", "architecture": "sm_90", "sm_count": 60},
        None,
    ],
)
def test_different_machines_are_refused(gpu):
    with pytest.raises(IncomparableRuns, match="measure both on one machine"):
        result([measurement()], [measurement()], gpu=gpu)


def test_another_power_limit_is_another_machine():
    gpu = runs.run()["environment"]["gpu"]
    with pytest.raises(IncomparableRuns, match="power_limit_w differs: 700.0 in the base, 600.0 in the candidate"):
        compare(
            load(runs.run(gpu={**gpu, "power_limit_w": 700.0})), load(runs.run(gpu={**gpu, "power_limit_w": 600.0}))
        )


def test_a_shared_gpu_is_said():
    gpu = {**runs.run()["environment"]["gpu"], "other_processes": 2}
    assert result([measurement()], [measurement()], gpu=gpu).warnings == [
        "other processes used the GPU of the candidate"
    ]


def test_another_driver_is_said():
    assert result([measurement()], [measurement()], driver="590.1").warnings == [
        "driver differs: 580.65.06 in the base, 590.1 in the candidate"
    ]
