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
