# SPDX-License-Identifier: Apache-2.0
"""What `assay sass` says of kernels it was not made with, against what a GPU measured."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "results/h200/2026-11-22-foreign-kernels"
sys.path.insert(0, str(Path(__file__).parent / "foreign"))

import compare  # noqa: E402


@pytest.fixture(scope="module")
def rows():
    return compare.compare(ROOT / "build/assay", FOLDER)


def test_at_least_is_a_bound(rows):
    assert len(rows) >= 20
    assert [row.name for row in rows if row.at_least > row.measured] == []


def test_median_error(rows):
    assert compare.median_error(rows) <= 0.15


def test_page_is_of_this_build(rows):
    assert (ROOT / "docs/predictions.md").read_text() == compare.page(rows, FOLDER)


def test_reasons_lead_to_what_was_measured(rows):
    given = [row for row in rows if compare.explanation(row) not in ("", "not explained")]
    assert {row.name for row in given} == {"conv_3x3", "saxpy", "transpose"}
    for row in given:
        assert compare.reason(row.name, row.warps).cycles == pytest.approx(row.measured, rel=0.05), row.name


def test_a_reason_of_other_cycles_explains_nothing():
    def loop(name, measured):
        return compare.Comparison(name, 64, measured, measured / 2, 1, "lsu")

    assert "1152" in compare.explanation(loop("conv_3x3", 1152))
    assert compare.explanation(loop("conv_3x3", 2000)) == "not explained"
    assert compare.explanation(loop("rms_norm", 2000)) == "not explained"


def test_words_of_one_bank_come_one_after_the_other():
    assert compare.shared_cycles(list(range(32))) == 1
    assert compare.shared_cycles([7] * 32) == 1
    assert compare.shared_cycles([32 * lane for lane in range(32)]) == 32
