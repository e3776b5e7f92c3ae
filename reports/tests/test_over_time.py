# SPDX-License-Identifier: Apache-2.0
"""Clock and power over time: the words come from the series, whatever they hold."""

import re

import label_boxes
import machine_runs
import pytest
from report_runs import Maker
from test_page import whole

from assay.report import site
from assay.report.block import over_time
from assay.report.book import model
from assay.report.page import clocks

REASONS = ["sw_power_cap", "hw_slowdown"]
TIMES = [10, 20, 30, 40, 50, 60]


def watched(make, counted, reported, watts, given, name="bf16/zeros"):
    """A load from 20 ms on; `given` is by reason."""
    m = make.add("tensor_core/power_over_time/" + name, clock=1970, settled_clock_mhz=1700)
    flags = [v for reason in REASONS for v in given.get(reason, [0] * len(TIMES))]
    m.series = [
        machine_runs.series("sm_clock_mhz", counted, "MHz", time_ms=TIMES),
        machine_runs.series("reported_clock_mhz", reported, "MHz", time_ms=TIMES),
        machine_runs.series("power_w", watts, "W", time_ms=TIMES),
        machine_runs.series("reason_given", flags, "", reason=REASONS, time_ms=TIMES),
    ]
    return m


def book_of(make):
    return model.build([make.run])


LOW = [None, None, 1760, 1700, 1694, None], [1980, 1980, 1980, 1980, 1880, 1950], [134, 134, 134, 298, 286, 134]


def words(counted, reported, watts, **given):
    make = Maker(1)
    watched(make, counted, reported, watts, given)
    found = book_of(make)
    (load,) = over_time.loads(found, found.columns[0])
    return [line.replace("\u202f", " ") for line in over_time.in_words(load, found.columns[0])]


def test_what_the_sms_count_stands_beside_what_the_driver_reports():
    said = words(*LOW, sw_power_cap=[0, 0, 0, 0, 1, 1])
    assert said == [
        "1697 MHz counted by the SMs where the driver reports 1930, 12.1 % below, at 292 W of 700 allowed",
        "in the first 10 ms 1760 MHz counted by the SMs where the driver reports 1980, 11.1 % below",
        "the only reason given: power limit, first 30 ms after the load began",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "the driver gave no reason"),
        ({"sw_power_cap": [1, 1, 0, 0, 0, 1]}, "the driver gave no reason"),  # before and after the load only
        (
            {"sw_power_cap": [0, 0, 0, 1, 1, 1], "hw_slowdown": [0, 0, 1, 0, 0, 0]},
            "the reasons given: slowdown by the hardware, first 10 ms after the load began and power limit, first 20 ms after the "
            "load began",
        ),
    ],
    ids=["none", "outside", "two"],
)
def test_reasons_are_those_of_the_load(given, said):
    assert words(*LOW, **given)[-1] == said


def test_clocks_that_agree_are_not_said_to_differ():
    said = words([None, 1965, 1966, 1965, 1965, None], [1965] * 6, [None] * 6)
    assert said[0] == "1965 MHz counted by the SMs, as the driver reports"
    said = words([None, 1980, 1980, 1980, 1980, None], [1800] * 6, [None] * 6)
    assert said[0] == "1980 MHz counted by the SMs where the driver reports 1800, 10.0 % above"


def test_a_gemm_comes_first_under_its_name():
    make = Maker(1)
    watched(make, *LOW, {})
    m = watched(make, *LOW, {}, "bf16/normal")
    m.name = "kernels/gemm_over_time/bf16/m8192n8192k8192/nt"
    found = book_of(make)
    named = [load.called for load in over_time.loads(found, found.columns[0])]
    assert named == ["a GEMM in bf16, 8192×8192×8192", "matrix math (bf16, zeros data)"]
    for prefix, heading in ((over_time.GEMMS, "bf16 GEMM"), (over_time.LOOPS, "bf16, zeros")):
        drawn = over_time.picture(found, found.columns[0], prefix)
        words = [label.words for label in label_boxes.labels(drawn.svg)[1]]
        assert heading in words and label_boxes.overlaps(drawn.svg) == []
        assert drawn.note.startswith("GEMM of 8192×8192×8192. Above") is (prefix == over_time.GEMMS)


def test_a_run_of_a_gemm_over_time_alone_shows_and_says_it(tmp_path):
    make = Maker(1)
    m = watched(make, *LOW, {"sw_power_cap": [0, 0, 0, 1, 1, 1]})
    m.name = "kernels/gemm_over_time/e4m3/m8192n8192k8192/nt"
    site.write(book_of(make), tmp_path)
    page = (tmp_path / "kernels.html").read_text()
    assert "Clock and power while a GEMM lasts" in page
    said = re.sub("<[^>]*>", "", page).split("What clock does the GPU hold under a GEMM that lasts?")[1].replace("\u202f", " ")
    assert said.lstrip().startswith("Under a GEMM in e4m3 that lasts, the SMs count 1 697 MHz, where the driver reports 1 930, at 292 W.")


@pytest.mark.parametrize("lost", ["sm_clock_mhz", "reported_clock_mhz", "power_w", "reason_given"])
def test_a_case_that_lacks_a_series_breaks_nothing(lost):
    make = Maker(1)
    m = watched(make, *LOW, {})
    m.series = [s for s in m.series if s.name != lost]
    found = book_of(make)
    assert bool(over_time.loads(found, found.columns[0])) is (lost in ("power_w", "reason_given"))
    assert bool(over_time.picture(found, found.columns[0])) is (lost in ("power_w", "reason_given"))


def test_the_page_shows_it_beside_the_question_and_where_clocks_were_low(tmp_path):
    make = Maker(1)
    watched(make, *LOW, {"sw_power_cap": [0, 0, 0, 0, 1, 1]})
    watched(make, *LOW, {}, "bf16/normal")
    slow = make.add("tensor_core/wgmma/bf16/m64n256/ss", flop_per_clock_per_sm=4096, clock=1523)
    found = book_of(make)
    (_, finding) = over_time.findings(found, over_time.LOOPS)
    assert finding.label == "clock under load, bf16, zeros"
    notes = clocks.table(found, found.columns[0]).notes
    assert "bf16, zeros: 1697" in notes[-1] and notes[-1].endswith(
        "first reason came 30\u202fms or more after a load began: a case may be over before."
    )
    slow.conditions["throttle"] = ["sw_power_cap"]
    reasoned = book_of(make)
    assert "watched from their beginning" not in "".join(clocks.table(reasoned, reasoned.columns[0]).notes)
    site.write(found, tmp_path)
    html = whole(tmp_path)
    assert html.count("Clock and power while matrix math lasts") >= 1 and "clock under load, bf16, zeros" in html


def test_the_panel_of_power_holds_the_load_that_draws_most():
    make = Maker(1)
    watched(make, *LOW, {})
    watched(make, LOW[0], LOW[1], [134, 134, 134, 932, 700, 134], {}, "e4m3/normal")
    found = book_of(make)
    drawn = over_time.picture(found, found.columns[0])
    words = {label.words for label in label_boxes.labels(drawn.svg)[1]}
    assert "750" in words or "800" in words  # a tick above what the first load draws at most, 298 W
    lines = re.findall(r'<path d="([^"]*)" clip-path[^>]*stroke: var\(--series2\)', drawn.svg)
    frames = [float(y) for y in re.findall(r'<rect x="[^"]*" y="([^"]*)"', drawn.svg)]
    assert len(lines) == 2 and min(float(y) for y in re.findall(r"[ML] \S+ (\S+)", lines[1])) > max(frames)
