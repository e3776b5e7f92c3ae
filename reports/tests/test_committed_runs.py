# SPDX-License-Identifier: Apache-2.0
"""What is asked of each run in results/."""

import pytest
from committed import RESULTS

LARGEST = 4_000_000  # bytes of a run with its table, so that a clone stays small
RUNS = sorted(file.parent for gpu in ("h100", "h200") for file in (RESULTS / gpu).glob("*/run.json"))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.parent.name}/{run.name}")
def test_a_committed_run_is_small(run):
    size = sum(file.stat().st_size for file in run.rglob("*") if file.is_file())
    assert size <= LARGEST
