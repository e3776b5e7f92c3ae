# SPDX-License-Identifier: Apache-2.0
"""Rooflines, where the peak went, and GEMM against libraries: what is sustained beside what is sustained."""

import itertools

import committed
import label_boxes
import pytest
import report_runs

from assay.files import Baseline, Estimate, Measurement, Metric, Run
from assay.report.book import model, roofs
from assay.report.book.model import BURST, LASTING
from assay.report.page import overview, roofline
from assay.report.page.answers import answers
from assay.report.said import tensor_core as said

SHEET = 989.4


def sheet():
    metrics = {"tflops": Metric("TFLOP/s", SHEET)}
    of = {"name": "NVIDIA H200", "architecture": "sm_90"}
    m = Measurement("tensor_core/wgmma/bf16/dense", "probe", params={"basis": "datasheet"}, metrics=metrics)
    return Run({"gpu": of}, [m])


class Exact(report_runs.Maker):
    """A maker whose figures the tests can name."""

    def metric(self, name, value, limit=None, width=0.0):
        return super().metric(name, value, limit, width)


def run():
    """Burst and sustained figures that no reader could take for each other."""
    make = Exact(1)
    loop = "tensor_core/wgmma/bf16/m64n256/ss"
    make.add(loop, limit=4096, clock=1700.0, flop_per_clock_per_sm=4096, tflops=919.0)
    make.add(f"{loop}/sustained", limit=4096, clock=1560.0, flop_per_clock_per_sm=4096, tflops=843.0)
    for name, rate, lasting in (("read", 4700, 4600), ("copy", 4900, 4900)):  # a copy that seems faster than reads
        make.add(f"memory/hbm/{name}", bandwidth_gb_per_s=rate)
        make.add(f"memory/hbm/{name}/sustained", bandwidth_gb_per_s=lasting)
    for shape, burst, lasting in (
        ("m4096n4096k4096", (760, 1.06, 1.17), (614, 1.002, 0.990)),
        ("m1000n5000k3000", (460, 1.12, 0.70), (392, 0.65, 0.66)),
    ):
        for state, (rate, best16, first) in (("", burst), ("/sustained", lasting)):
            m = make.add(f"kernels/gemm/bf16/{shape}/nt{state}", kind="kernel", tflops=rate)
            m.baselines = [
                Baseline("best16", Estimate(best16, (best16, best16))),
                Baseline("first", Estimate(first, (first, first))),
            ]
    return make.run


@pytest.fixture
def book():
    return model.build([run()], [sheet()])


def labels(steps):
    return {step.label: step.tflops for step in steps}


def test_the_peak_goes_down_step_by_step_in_one_state(book):
    sustained = roofs.waterfall(book, book.columns[0], LASTING)
    assert [s.label for s in sustained] == [
        "limit at the highest clock, 1980 MHz",
        "datasheet, at its boost clock",
        "limit at the loop's 1560 MHz",
        "best MMA loop",
        "library GEMM, 4096×4096×4096",
        "our GEMM, 4096×4096×4096",
    ]
    assert [s.calculated for s in sustained] == [True] * 3 + [False] * 3
    assert sustained[0].tflops == pytest.approx(4096 * 132 * 1980e-6) and sustained[1].tflops == SHEET
    found = {state: labels(roofs.waterfall(book, book.columns[0], state)) for state in (BURST, LASTING)}
    assert found[LASTING]["best MMA loop"] == 843.0 and found[BURST]["best MMA loop"] == 919.0
    assert found[LASTING]["our GEMM, 4096×4096×4096"] == pytest.approx(614, rel=0.01)
    assert found[BURST]["our GEMM, 4096×4096×4096"] == pytest.approx(760, rel=0.01)
    assert found[LASTING]["library GEMM, 4096×4096×4096"] > found[LASTING]["our GEMM, 4096×4096×4096"]


def test_the_limit_of_a_loop_is_at_the_clock_that_was_counted():
    """Not at the one that its throughput needs, of which it would be 100 % whatever it did."""
    for clock, share in ((1600.0, 0.974), (1530.0, 1.019)):
        changed = run()
        for m in changed.measurements:
            if m.name.endswith("ss/sustained"):
                m.conditions.update(sm_clock_mhz=clock, sm_clock_min_mhz=clock - 10, sm_clock_max_mhz=clock + 5)
        book = model.build([changed], [sheet()])
        steps = roofs.waterfall(book, book.columns[0], LASTING)
        at_clock, loop = next((a, b) for a, b in itertools.pairwise(steps) if b.label == "best MMA loop")
        assert at_clock.label == f"limit at the loop's {clock:.0f} MHz" and loop.clocks == (clock, clock - 10, clock + 5)
        assert loop.tflops / at_clock.tflops == pytest.approx(share, abs=1e-3)
        _, why = ("".join(piece for piece, _ in sentence) for sentence in said.peak(book, book.columns[0]))
        clocks = "At the 1\u202f520 to 1\u202f535 MHz counted" if share > 1 else "At the 1\u202f600 MHz counted"
        assert why.startswith(f"{clocks}, the loop does {100 * share:.1f}\u202f% of its limit")
        assert ("probably an error of the clock" in why) == (share > 1)


def test_a_roofline_is_of_one_state_and_its_memory_roof_of_reads(book):
    for state, loop, reads, gemm in ((BURST, 919.0, 4700, 760), (LASTING, 843.0, 4600, 614)):
        found = roofs.roofline(book, book.columns[0], state)
        assert found.roofs[0].tflops == loop
        assert found.bandwidth == pytest.approx(reads, rel=0.01) and found.bandwidth_name == "memory/hbm/read"
        assert max(p.tflops for p in found.points) == pytest.approx(gemm, rel=0.01)


def test_a_run_of_bursts_alone_has_no_sustained_roofline():
    burst = run()
    burst.measurements = [m for m in burst.measurements if not m.name.endswith("/sustained")]
    book = model.build([burst])
    assert roofs.roofline(book, book.columns[0], LASTING) is None
    assert roofs.waterfall(book, book.columns[0], LASTING) == []


def test_both_peaks_are_named_with_what_they_are(book):
    for state in (BURST, LASTING):
        figure = overview.roofline(book, book.columns[0], state)
        assert state in figure.title and state in figure.note
        assert "datasheet, at its boost clock, bf16 989.4" in figure.note
        assert "132 SMs at the highest clock, 1980 MHz, bf16 1\u202f071" in figure.note


def test_gemm_is_compared_over_every_shape_with_the_fastest_baseline(book):
    answer = next(a for _, part in answers(book) for a in part if a.question.number == 22)
    said = {f.label: [part for part, _ in f.lines[0][1]] for f in answer.findings}
    assert set(said) == {"bf16 GEMM, in a burst", "bf16 GEMM, sustained"}
    burst, sustained = said["bf16 GEMM, in a burst"], said["bf16 GEMM, sustained"]
    assert burst[0].startswith("760") and sustained[0].startswith("614")
    assert "0.880 × the fastest baseline, median of 2 shapes" in burst
    assert burst[2].startswith("worst 0.7") and burst[2].endswith("first at 1000×5000×3000")
    assert sustained[2].startswith("worst 0.65") and sustained[2].endswith("best of 16 at 1000×5000×3000")
    assert sustained[3].startswith("best 0.99") and sustained[3].endswith("first at 4096×4096×4096")


@pytest.mark.parametrize("gpu", ["newest H200", "newest H100"])
@pytest.mark.parametrize("state", model.STATES)
def test_every_dot_is_named_where_no_name_lies_on_another(gpu, state):
    book = committed.book(gpu)
    figure = roofline.roofline(book, book.columns[0], state)
    data = roofs.roofline(book, book.columns[0], state)
    found = {label.words: label.box for label in label_boxes.labels(figure.svg)[1]}
    assert len(data.points) > roofline.FEW and {p.shape for p in data.points} <= found.keys()
    left_to_right = [p.shape for p in sorted(data.points, key=lambda p: (p.intensity, p.tflops))]
    assert sorted(left_to_right, key=lambda shape: found[shape][0]) == left_to_right
    assert label_boxes.overlaps(figure.svg) == [] and label_boxes.outside(figure.svg) == []


def test_pictures_with_our_kernels_say_of_which_commit_and_day_they_are():
    """Kernels get faster from one commit to the next, and a report's pictures show its own."""
    measured = run()
    measured.environment["assay"] = {"commit": "0123456789ab"}
    measured.extra["run"] = {"started": "2026-12-01T08:00:00Z"}
    book = model.build([measured])
    said = "Measured on 2026-12-01 with our kernels of commit 0123456789ab."
    drawn = overview.overview(book)
    assert len(drawn) >= 4 and all(figure.note.endswith(said) for figure in drawn)
    measured.measurements = [m for m in measured.measurements if not m.name.startswith("kernels/")]
    assert not any("our kernels" in figure.note for figure in overview.overview(model.build([measured])))
