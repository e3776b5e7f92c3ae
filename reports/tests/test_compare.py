# SPDX-License-Identifier: Apache-2.0
"""What differs between runs leads, ranked by what no known cause explains: planted differences, and those of real runs."""

import copy
import random
import re
from pathlib import Path

import label_boxes
import pytest

import assay
from assay.files import Measurement, Metric, Run, load
from assay.report.compare import causes, figures, findings, pictures, subjects, words
from assay.report.compare.pages import Comparison

RESULTS = Path(assay.__file__).parents[2] / "results"
H100, H200 = RESULTS / "h100/2026-11-22-most", RESULTS / "h200/2026-11-22-full"
GPU = {
    "name": "NVIDIA H200",
    "architecture": "sm_90",
    "sm_count": 132,
    "l2_bytes": 50 << 20,
    "memory_bus_bits": 5120,
    "memory_clock_max_mhz": 2600,
}


def case(name, cycles=None, rate=None, *, domain="sm", clock=1980.0, per_clock=None, half=2e-4, **params):
    """Cycles with their time, or a bandwidth with what it is per clock."""
    metrics = {}
    for key, unit, value, better in (
        ("latency_cycles", "cycle", cycles, "lower"),
        ("latency_ns", "ns", cycles and cycles / clock * 1e3, "lower"),
        ("bandwidth_gb_per_s", "GB/s", rate, "higher"),
        ("bytes_per_clock_per_sm", "B/clk/SM", rate and rate / 132 / clock * 1e3, "higher"),
        ("ops_per_clock_per_sm", "op/clk/SM", per_clock, "higher"),
        ("gops", "Gop/s", per_clock and per_clock * 132 * clock / 1e3, "higher"),
    ):
        if value is not None:
            metrics[key] = Metric(unit, value, (value * (1 - half), value * (1 + half)), better)
    conditions = {"clock_domain": domain, "sm_clock_mhz": clock}
    primary = next(iter(metrics))
    return Measurement(name, "probe", params=params, primary=primary, metrics=metrics, conditions=conditions)


def machine(name="NVIDIA H200", *, clock=1980.0, fence=1.0, dram=1.0, l2=1.0, seed=1, gpu=None, **factors):
    """A run of 90 cases; a factor is of the time of the cases that begin with its name."""
    noise = random.Random(seed)
    cases = [("sync/fence/sc/gpu", 267.0), ("sync/fence/acq_rel/gpu", 268.0), ("sync/fence/sc/cluster", 266.0)]
    made = []
    for case_name, cycles in cases:
        _, _, order, scope = case_name.split("/")
        made.append(case(case_name, cycles * fence * noise.gauss(1, 5e-4), clock=clock, order=order, scope=scope))
    # A barrier that holds a fence takes as many cycles more as the fence.
    made.append(case("sync/cluster/release_acquire/1", (331 + 267 * (fence - 1)) * noise.gauss(1, 5e-4), clock=clock))
    made += [case(f"sync/syncthreads/w{n}", 20.0 + n, clock=clock) for n in (1, 2, 4, 8)]
    made += [case(f"sass/op{n}/b32", 4.0 + n % 7, per_clock=64.0, clock=clock) for n in range(70)]
    made += [
        case(f"memory/hbm/{way}", rate=3000.0 * dram, domain="dram", clock=clock) for way in ("read", "write", "copy")
    ]
    made += [case(f"tma/bulk/bandwidth/{n}", rate=2900.0 * dram, domain="dram", clock=clock) for n in (1, 2)]
    made += [case("memory/l2/read", per_clock=30.0 * l2, domain="l2", clock=clock)]
    for m in made:
        for start, factor in factors.items():
            if m.name.startswith(start.replace("__", "/")):
                for metric in m.metrics.values():
                    times = factor if metric.better == "lower" else 1 / factor
                    metric.value *= times
                    metric.ci95 = tuple(end * times for end in metric.ci95)
    return Run({"gpu": {**GPU, "name": name, **(gpu or {})}, "driver": "580"}, made, path=Path(f"/{seed}/run.json"))


def compared(*runs):
    made = subjects.subjects([[run] for run in runs])
    return Comparison(made, lambda v: f"{v.subject.folder}/x.html#{v.number.anchor}")


def titles(comparison):
    return [words.title(found) for found in comparison.found]


def test_equal_machines_differ_in_nothing():
    found = compared(machine(), machine(seed=2))
    assert found.found == [] and [page.name for page in found.pages()] == ["index.html"]
    assert words.agreement(found.figures).startswith("154 of 154 figures per clock agree within 0.5\u202f%")
    said = words.summary(found.subjects, found.figures, found.found)
    assert said.endswith("No figure differs by more than that and its noise.")


def test_many_cases_of_one_cause_are_one_finding_and_lead():
    found = compared(machine("NVIDIA H100 80GB HBM3", fence=2.5, sass__op3__=1.02), machine(sync__syncthreads__w8=1.3))
    first, *others = found.found
    assert {f.name for f in first.figures} == {
        *("sync/fence/sc/gpu", "sync/fence/acq_rel/gpu", "sync/fence/sc/cluster", "sync/cluster/release_acquire/1")
    }
    said = titles(found)
    fences = "fence, acquire-release and sequentially consistent, scope cluster and GPU"
    assert re.search(rf"^H100 takes [\d.]+ times as many cycles as H200 for “{fences}”$", said[0])
    values = words.values(first.lead).replace("\u202f", " ")
    assert re.fullmatch(r"It is 66\d\.?\d? cycles on H100 and 26\d\.?\d? cycles on H200\. ", values)
    assert [f.lead.name for f in others] == ["sync/syncthreads/w8", "sass/op3/b32"]  # each for itself, by its size
    assert all(f.cause is None for f in found.found)


def test_a_slower_clock_is_one_finding_behind_all_others():
    found = compared(machine(clock=1980.0, sass__op3__=1.06), machine(clock=1700.0, seed=2))
    assert [(f.cause, f.kind) for f in found.found] == [(None, figures.PER_CLOCK), (causes.CLOCK, figures.PER_SECOND)]
    clock = found.found[1]
    assert len({f.name for f in clock.figures}) > 70 and clock.lead.effect == pytest.approx(0.152, abs=0.01)
    agree, of = figures.counted(found.figures, lambda f: f.kind == figures.PER_CLOCK)
    assert of - agree <= 7  # rates per clock of what the memory paces, and the planted one


def kernels(iterations, times, seed):
    """A machine with a kernel under lasting load, so many calls a sample, and the same in a burst."""
    run = machine(seed=seed)
    for state, calls in (("", 1), ("/sustained", iterations)):
        made = case(f"kernels/gemm/bf16/m256n256k256/nt{state}", rate=100.0 * times)
        made.kind, made.conditions["iterations"] = "kernel", calls
        run.measurements.append(made)
    return run


def test_a_row_of_calls_is_not_compared_with_single_ones():
    """Of lasting load alone: a burst is single calls in either run."""
    name = "kernels/gemm/bf16/m256n256k256/nt"
    for calls, apart in (((1, 4), 1), ((3, 4), 0), ((1, 1), 0)):
        comparison = compared(kernels(calls[0], 1.0, 1), kernels(calls[1], 2.0, 2))
        names = {f.name for f in comparison.figures}
        assert comparison.apart == apart
        assert name in names and (f"{name}/sustained" in names) != bool(apart)
        said = repr(comparison.pages()[-1])
        assert ("1 sustained case of a kernel is not compared" in said) == bool(apart)


def test_what_the_memory_explains_ranks_behind_what_nothing_does():
    wider = {"memory_clock_max_mhz": 3200, "l2_bytes": 60 << 20}
    found = compared(
        machine(sync__grid=1, sass__op3__=1.1), machine("NVIDIA H100", dram=1.22, l2=1.15, gpu=wider, seed=2)
    )
    by_cause = {f.cause: f for f in found.found}
    assert set(by_cause) == {None, causes.MEMORY, causes.L2} and found.found[0].cause is None
    assert {f.family for f in by_cause[causes.MEMORY].figures} == {"memory", "tma"}
    said = words.why(by_cause[causes.MEMORY], found.causes).replace("\u202f", " ")
    assert said == "It is in line with the memory: by bus and clock it moves 3 328 GB/s on H200, 4 096 GB/s on H100."
    said = words.why(by_cause[causes.L2], found.causes).replace("\u202f", " ")
    assert said == "It is in line with L2: it holds 50 MiB on H200, 60 MiB on H100."


def test_what_is_beyond_the_reach_of_a_cause_is_not_explained_by_it():
    wider = {"memory_clock_max_mhz": 3200}
    found = compared(machine(), machine("NVIDIA H100", dram=2.0, gpu=wider, seed=2))
    assert [f.cause for f in found.found] == [None, None]  # memory and tma, a family each
    found = compared(machine(), machine("NVIDIA H100", dram=0.8, gpu=wider, seed=2))
    assert {f.cause for f in found.found} == {None}  # a wider memory makes nothing slower


def test_noise_is_no_difference():
    noisy = machine(seed=2)
    for m in noisy.measurements:
        if m.name == "sass/op3/b32":
            m.metrics["latency_cycles"] = Metric("cycle", 8.0, (6.0, 10.0), "lower")
    assert compared(machine(), noisy).found == []


def test_figures_without_an_interval_come_behind_those_with_one():
    exact = machine(seed=2, sass__op3__=1.05)
    twin = machine()
    for run, value in ((twin, 2.0), (exact, 40.0)):
        run.measurements.append(
            Measurement("memory/tlb", "probe", primary="x", metrics={"x": Metric("cycle", value, (value, value))})
        )
    found = compared(twin, exact).found
    assert [f.lead.name for f in found] == ["memory/tlb", "sass/op3/b32"] or found[0].lead.sure
    unsure = next(f for f in found if f.lead.name == "memory/tlb")
    assert "so that they may be noise" in words.why(unsure, {})


def test_more_than_four_runs_are_a_distribution():
    runs = [machine(f"NVIDIA H{n}", seed=n, fence=2.5 if n == 3 else 1.0) for n in range(6)]
    found = compared(*runs)
    assert found.title == "6 runs compared" and len(found.found) == 1
    assert titles(found)[0].startswith("H3 takes 2.5 times as many cycles as H0 for") or "H3 takes" in titles(found)[0]
    said = words.values(found.found[0].lead).replace("\u202f", " ")
    assert re.search(r"26\d\.?\d? cycles \(H\d\) to 66\d\.?\d? cycles \(H3\) over 6 runs, median 26\d", said)
    page = found.pages()[-1]
    heads = [table.head for section in page.sections for table in section.blocks if getattr(table, "head", None)]
    assert ["Finding", "least", "median", "most"] in [head[:4] for head in heads]
    assert any(getattr(b, "figures", None) for section in page.sections for b in section.blocks)


PHONE = 358  # pixels that a picture has on a phone of 390


def test_the_picture_of_many_runs_tells_kinds_of_gpus_and_small_differences_apart():
    """Whole names above their dots, one colour for the GPUs of a name, and room however far one figure is off."""
    names = ["NVIDIA H100", "NVIDIA H100", "NVIDIA H200", "NVIDIA H200", "NVIDIA H200"]
    runs = [machine(name, seed=i, fence=2.5 if "H100" in name else 1.0) for i, name in enumerate(names)]
    runs[0].measurements = [m for m in runs[0].measurements if m.name != "memory/l2/read"]
    runs[0].measurements.append(case("memory/l2/read", per_clock=3e4, domain="l2"))
    comparison = compared(*runs)
    figure = pictures.distributions(comparison.subjects, comparison.found)
    shown = {label.words for label in label_boxes.labels(figure.svg)[1]}
    assert {words.name(found) for found in comparison.found} <= shown and len(comparison.found) > 1
    assert label_boxes.overlaps(figure.svg) == [] and label_boxes.outside(figure.svg) == []
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', figure.svg)[1])
    sizes = [float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", figure.svg)]
    assert sizes and min(sizes) * PHONE / width >= 7, "letters are as high as those of other pictures"
    assert "--series1" in figure.svg and "--series2" in figure.svg and "--series3" not in figure.svg


def test_three_machines_of_two_kinds_have_one_finding():
    two = [machine("NVIDIA H100", seed=n, fence=2.5, gpu={"id": f"{n}" * 16}) for n in (1, 2)]
    found = compared(*two, machine(seed=3))
    assert [f.lead.probe for f in found.found] == ["sync/fence"]
    assert [s.short for s in found.subjects] == ["H100 111111", "H100 222222", "H200"]
    assert words.values(found.found[0].lead).count(" on H100") == 2


def test_runs_of_other_cases_stand_in_one_report():
    one, other = machine(), machine(seed=2)
    links = Run(copy.deepcopy(one.environment), [case("link/h2d/pinned/1", rate=55.0)])
    built = Run({"gpu": None}, [Measurement("tmem/load", "probe", status="not_run")])
    assert [len(group) for group in subjects.split([one, links])] == [2]
    assert [len(group) for group in subjects.split([one, links, other, built])] == [3, 2]
    assert [len(group) for group in subjects.split([built])] == [1]
    links.environment["gpu"]["name"] = "NVIDIA H100"
    assert len(subjects.split([one, links])) == 2


@pytest.fixture(scope="module")
def real():
    made = subjects.subjects(subjects.split([load(H100), load(H200)]))
    return Comparison(made, lambda v: "x.html")


def test_of_an_h100_and_an_h200_the_fences_are_among_the_first_five(real):
    first = titles(real)[:5]
    fence = next(said for said in first if "“fence" in said).replace("\u202f", " ")
    assert "scope cluster and GPU" in fence and fence.startswith("H100 takes 2.47 times as many cycles as H200 for “")
    (finding,) = [f for f in real.found[:5] if f.lead.probe == "sync/fence"]
    assert words.values(finding.lead).replace("\u202f", " ") == "It is 660.6 cycles on H100 and 267 cycles on H200. "
    assert {"sync/fence", "sync/cluster", "sync/mbarrier_remote"} == {f.probe for f in finding.figures}
    unexplained = [f for f in real.found if f.cause is None and "sync/fence" in {g.probe for g in f.figures}]
    assert unexplained == [finding]


def test_sentences_about_an_h100_and_an_h200(real):
    said = {words.name(f): f for f in real.found}
    memory, l2 = (next(f for f in real.found if f.cause == key) for key in (causes.MEMORY, causes.L2))
    assert words.why(memory, real.causes).replace("\u202f", " ") == (
        "It is in line with the memory: by bus and clock it moves 3 352 GB/s on H100, 4 814 GB/s on H200."
    )
    assert words.why(l2, real.causes).replace("\u202f", " ") == (
        "It is in line with L2: it holds 50 MiB on H100, 60 MiB on H200."
    )
    assert (
        words.agreement(real.figures)
        .replace("\u202f", " ")
        .startswith("2 289 of 2 502 figures per clock agree within 0.5 %")
    )
    assert len(said) == len(real.found)  # no two findings of one name
    assert all("_" not in words.name(f) for f in real.found)


def test_two_builds_on_one_gpu_agree():
    made = subjects.subjects(
        subjects.split([load(RESULTS / f"h200/2026-11-22-{n}-again") for n in ("before", "after")])
    )
    found = Comparison(made, lambda v: "x.html")
    assert [s.short for s in made] == ["2026-11-22-before-again", "2026-11-22-after-again"]
    cycles = [f for f in found.figures if f.unit == "cycle"]
    assert sum(f.agrees for f in cycles) / len(cycles) > 0.98
    assert words.agreement(found.figures).replace("\u202f", " ").startswith("2 550 of 2 590 figures per clock agree")
    telling = [f for f in found.found if f.score > 0.02]
    assert [f.lead.name for f in telling] == ["memory/reduction/partials"]
    assert findings.ALONE < 1 and words.support(telling[0]) == "No other case moves like it."


def test_counts_of_a_page_add_up():
    """What the summary says comes down to findings is what their figures add up to."""
    found = compared(machine("NVIDIA H100", fence=2.5, dram=1.3), machine(seed=2))
    told = sum(len(finding.figures) for finding in found.found)
    differ = sum(figure.differs for figure in found.figures)
    assert 0 < told < differ
    said = words.summary(found.subjects, found.figures, found.found)
    assert f"{differ} figures of all kinds differ" in said and f"{told} of them, one kind of each case, come down to" in said
    (section,) = (section for section in found.pages()[-1].sections if section.anchor == "differences")
    assert section.title.startswith(f"{told} figures that differ, one kind of each case, come down to ")
