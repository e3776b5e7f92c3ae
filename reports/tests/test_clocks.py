# SPDX-License-Identifier: Apache-2.0
"""A low clock is never beside "throttled: never"."""

import pytest
import report_runs

from assay.files import Measurement, Metric, Run
from assay.report import site
from assay.report.book import model
from assay.report.page import clocks, environment


def case(name, clock, *reasons, watts=280.0, **conditions):
    m = Measurement(name, "probe", primary="x", metrics={"x": Metric("cycle", 1.0, (1.0, 1.0))})
    m.conditions = {"sm_clock_mhz": clock, "power_w": watts, "throttle": list(reasons), **conditions}
    return m


def book(*measurements):
    return model.build([Run(report_runs.gpu(), list(measurements))])


@pytest.mark.parametrize(
    ("measurement", "said"),
    [
        (case("a/b/c", 1975.0), "never"),
        (case("a/b/c", 1523.0, "sw_power_cap"), "power limit (1 case)"),
        (case("a/b/c", 1523.0), "1 case more than 2\u202f% below 1980\u202fMHz, no reason reported"),
        (
            case("a/b/c", 1975.0, sm_clock_min_mhz=1400.0),
            "1 case more than 2\u202f% below 1980\u202fMHz, no reason reported",
        ),
        (case("a/b/c", None), "never"),
    ],
    ids=["full", "reason", "silent", "for a while", "unknown"],
)
def test_a_low_clock_has_a_reason_or_says_that_none_was_reported(measurement, said):
    made = book(measurement)
    assert clocks.summary(made, made.columns[0]) == said


def test_a_clock_above_the_drivers_highest_is_said():
    made = book(case("a/b/c", 2010.0), case("a/b/d", 1981.0), case("a/b/e", None))
    said = dict(environment.conditions(made, made.columns[0]))
    assert said["above the highest SM clock"].startswith("1 case, up to 2010\u202fMHz by what the SMs counted, ")
    made = book(case("a/b/d", 1981.0))
    assert "above the highest SM clock" not in dict(environment.conditions(made, made.columns[0]))


def test_slow_cases_are_grouped_by_probe_and_reason():
    made = book(
        case("tensor_core/wgmma/a", 1500.0, watts=305.0),
        case("tensor_core/wgmma/b", 1600.0, watts=280.0),
        case("tensor_core/wgmma/c", 1700.0, "sw_power_cap", watts=695.0),
        case("sass/ffma/f32", 1980.0),
    )
    found = [[cell.said for cell in row] for row in clocks.table(made, made.columns[0]).rows]
    assert found == [
        ["tensor_core/wgmma", "2", "1500 to 1600", "280 to 305", "no reason reported", "a"],
        ["tensor_core/wgmma", "1", "1700", "695", "power limit", "c"],
    ]


def test_it_is_said_of_the_run_and_beside_the_case(tmp_path):
    site.write(book(case("a/b/c", 1523.0)), tmp_path)
    machine, cases = ((tmp_path / name).read_text().replace("\u202f", " ") for name in ("host.html", "family-a-cases.html"))
    assert "never" not in machine and "Cases at a lower clock, with their power and reasons" in machine
    assert "clock 1523 MHz below 1980 MHz, no reason reported" in cases
