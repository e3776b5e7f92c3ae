# SPDX-License-Identifier: Apache-2.0
"""The rates of multiply-adds say for which operands they are."""

import re

import pytest
from report_runs import Maker

from assay.report.book import model
from assay.report.family.sass import operands


def said(rates, banks=()):
    make = Maker(1)
    for name, opcode, rate in rates:
        m = make.add(name, opcode=opcode, limit=128, ops_per_clock_per_sm=rate, latency_cycles=4)
        m.metrics["ops_per_clock_per_sm"].value = rate
    for name, rate, words in banks:
        m = make.add(name, ops_per_clock_per_sm=rate, params={"operands": words})
        m.metrics["ops_per_clock_per_sm"].value = rate
    found = model.build([make.run])
    return {
        finding.label.split(",")[0]: [part.replace("\u202f", " ") for part, _ in finding.lines[0][1]]
        for finding in operands.findings(found)
    }


def test_the_best_rate_names_its_operands_and_the_plain_one_what_bounds_it():
    found = said(
        [
            ("sass/dfma/f64", "DFMA", 58.93),
            ("sass/dfma/f64_rz", "DFMA.RZ", 90.0),
            ("sass/dfma/f64_uniform_factor", "DFMA", 64.0),
        ]
    )
    best, plain = found["DFMA"]
    assert best.startswith("64") and best.endswith("with a uniform factor (sass/dfma/f64_uniform_factor)")
    assert re.match(r"58\.9\d* with three registers, two of them common to all \(sass/dfma/f64\), 7\.92 % less: what bounds it is how its", plain)
    assert list(found) == ["DFMA"]


def test_a_plain_rate_as_good_as_the_best_is_bound_by_nothing():
    found = said([("sass/ffma/f32", "FFMA", 126.9), ("sass/ffma/f32_two_registers", "FFMA", 127.0)])
    assert found["FFMA"][1] == "126.90 with three registers, two of them common to all (sass/ffma/f32)"
    found = said([("sass/ffma/f32", "FFMA", 127.0)])
    assert len(found["FFMA"]) == 1 and "with three registers, two of them common to all (sass/ffma/f32)" in found["FFMA"][0]


def test_what_banks_leave_is_said_from_the_cases_that_choose_registers():
    rates = [("sass/ffma/f32", "FFMA", 127.0)]
    banks = [
        ("sass/operands/ffma/two_banks", 82.44, "no reuse"),
        ("sass/operands/ffma/as_compiled", 84.13, "as ptxas chose them"),
        ("sass/operands/ffma/every_second", 56.13, "one parity"),
    ]
    assert said(rates, banks)["FFMA"][-1] == (
        "with other registers 84.1, as ptxas chose them; 56.1, one parity (sass/operands/ffma): their banks bound it"
    )


@pytest.mark.parametrize("rates", [[], [("sass/ffma/f32_rz", "FFMA.RZ", 127.0)], [("sass/ffma/f32x2", "FFMA", 1.0)]])
def test_without_the_plain_case_nothing_is_said(rates):
    assert said(rates) == {}
