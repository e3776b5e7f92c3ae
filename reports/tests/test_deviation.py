# SPDX-License-Identifier: Apache-2.0
"""A reason for a deviation follows from the page's own figures, or there is none."""

import re
from pathlib import Path

import committed
import pytest
import report_runs

from assay.files import Measurement, Metric, Run, load
from assay.report.__main__ import default_published, load_published
from assay.report.answer import surprises
from assay.report.book import deviation, model, published
from assay.report.family.memory import levels

RESULTS = Path(__file__).parents[2] / "results"
FULL = RESULTS / "h200" / "2026-11-22-full"


@pytest.fixture(scope="module")
def book():
    return model.build([load(FULL)], load_published(default_published()))


def deviations(book):
    """(row, number, published) of all that the page may compare."""
    for row in book.rows:
        for p in published.figures(book, row):
            for column, n in zip(book.columns, row.numbers):
                if n and p.unit == row.unit and published.comparable(p, column):
                    yield column, row, n, p


@pytest.mark.parametrize("run", ["H200", "newest H200", "newest H100"])
def test_every_reason_over_all_published_figures_holds_by_its_own_calculation(run):
    book = committed.book(run)
    compared = list(deviations(book))
    assert len(compared) > 50 and {p.datasheet for *_, p in compared} == {True, False}
    given = 0
    for column, row, n, p in compared:
        found = list(deviation.checks(book, column, row, n, p))
        said = deviation.reason(book, column, row, n, p)
        given += bool(said)
        for check in found:
            assert (check.said in said) == (abs(check.left) <= deviation.NOTABLE), (row.name, check)
        assert p.note == "" or p.note.rstrip(".") not in said
    assert given > 5


def why(book, name, metric, gpu, value=None):
    row = book.row(name, metric)
    p = next(p for p in row.published if p.gpu == gpu and (value is None or p.value == value))
    return deviation.reason(book, book.columns[0], row, row.numbers[0], p)


@pytest.mark.parametrize(
    ("name", "metric", "gpu", "value"),
    [
        ("memory/l2/read_chunks/20mib", "bandwidth_gb_per_s", "NVIDIA H200", None),
        ("memory/l2/read_chunks/20mib", "bytes_per_clock_per_sm", "NVIDIA H100 PCIe", None),
        ("memory/l2/read_chunks/8mib", "bytes_per_clock_per_sm", "NVIDIA H100 PCIe", None),
        ("memory/l1/latency", "latency_cycles", "NVIDIA H800 PCIe", 32.0),
        ("memory/dram/latency", "latency_ns", "NVIDIA H100 PCIe", None),
        ("memory/dram/latency", "latency_cycles", "NVIDIA H100 PCIe", None),
    ],
)
def test_reasons_that_do_not_hold_are_withdrawn(book, name, metric, gpu, value):
    assert why(book, name, metric, gpu, value) == ""


def test_reasons_that_hold_are_given_with_their_calculation(book):
    said = why(book, "memory/l2_far/latency", "latency_cycles", "NVIDIA H800 PCIe")
    pattern = r"ratio of cycles 1\.12, of clocks 1\.13; in ns 23\d\.\d at 19\d\d MHz, 236 at their 1755"
    assert any(re.search(pattern, one) for one in ([said] if isinstance(said, str) else said))
    said = why(book, "memory/l1/latency", "latency_cycles", "NVIDIA H100 80GB HBM3", 41.118)
    assert ". Or: 1024 of their 32768 loads miss; with as many from L2 here 41.7" in said
    said = why(book, "memory/l2/read", "bytes_per_clock_per_sm", "NVIDIA H800 PCIe")
    assert said == "" or "132 and 114 SMs" in said  # L2s of two GPUs are alike within 5%, or are not


def test_the_page_says_not_explained(book):
    rows = [[cell.said for cell in row] for row in levels.levels(book).rows]
    notable = [row for row in rows if row[-2] and row[-2][0] in "+−" and abs(float(row[-2][1:].split("\u202f")[0])) > 5]
    assert notable and all(row[-1] for row in notable)
    assert any(row[-1] == "not explained" for row in notable)


def number(value, better="lower"):
    return model.Number(value, None, None, None, None, better, "")


def of_a_datasheet(value, beside=None, unit="GB/s", **more):
    """The reason for `value` beside 100 of a datasheet, on two SMs; `beside` is what another case of the probe finds."""

    def case(name, figure):
        metrics = {"x": Metric(unit, figure, (figure, figure), "higher"), **more.get("metrics", {})}
        return Measurement(name, "probe", primary="x", metrics=metrics, conditions=more.get("conditions", {}))

    ours = [case("a/b/c", value)] + ([case("a/b/d", beside)] if beside else [])
    sheet = Measurement("a/b/c", "probe", params={"basis": "datasheet"}, metrics={"x": Metric(unit, 100.0)})
    made = model.build([Run(report_runs.gpu(sms=2), ours)], [Run({"gpu": {"name": "NVIDIA H200"}}, [sheet])])
    row = made.row("a/b/c", "x")
    return deviation.reason(made, made.columns[0], row, row.first, row.published[0])


def test_what_its_note_calls_no_latency_differs_for_that_and_surprises_nobody():
    book = committed.book("newest H200")
    for name, metric in (
        ("memory/texture/latency", "latency_cycles"),
        ("memory/timed_loads/constant", "mean_cycles"),
        ("memory/timed_loads/constant", "median_cycles"),
    ):
        assert why(book, name, metric, "NVIDIA H100 NVL") == deviation.NO_LATENCY_SAID
    said = " ".join(surprise.said for surprise in surprises.unlike_published(book, book.columns[0]))
    assert said and "texture" not in said and "timed load" not in said
    assert why(book, "memory/constant/latency", "constant_l15_latency_cycles", "NVIDIA H100 NVL") == ""


def test_a_datasheet_alone_is_no_reason():
    assert of_a_datasheet(80.0) == of_a_datasheet(120.0) == ""


def test_what_a_datasheet_promises_may_be_reached_by_another_case():
    assert of_a_datasheet(80.0, 97.0) == "b d reaches 97 (\u22123.0\u202f%)"
    assert of_a_datasheet(80.0, 90.0) == of_a_datasheet(120.0, 99.0) == ""


def test_a_datasheet_counts_on_a_clock():
    """100 TFLOP/s of two SMs with 50,000 FLOP per clock each are those of 1000 MHz."""
    per_clock = {"flop_per_clock_per_sm": Metric("FLOP/clk/SM", 50_000.0, (50_000.0, 50_000.0), "higher", 50_000.0)}

    def at(clock, value):
        return of_a_datasheet(value, None, "TFLOP/s", metrics=per_clock, conditions={"sm_clock_mhz": clock})

    assert "datasheet's figure at 1000 MHz; the SMs ran at 900 (+0.0\u202f%)" in at(900.0, 90.0)
    assert at(900.0, 80.0) == "" and at(1000.0, 80.0) == ""
