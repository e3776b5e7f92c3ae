# SPDX-License-Identifier: Apache-2.0
"""What is asked of each run in results/."""

import gzip
import json
import subprocess

import pytest
from committed import RESULTS

from assay.files import RunFileError, load
from assay.files.refused import refusals

LARGEST = 4_000_000  # bytes of a run with its table, so that a clone stays small
RUNS = sorted(file.parent for gpu in ("h100", "h200") for file in (RESULTS / gpu).glob("*/run.json"))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.parent.name}/{run.name}")
def test_a_committed_run_is_small(run):
    size = sum(file.stat().st_size for file in run.rglob("*") if file.is_file())
    assert size <= LARGEST


# The newest runs of all cases, and of all but the kernels, of each kind of GPU.
NEWEST = ["h200/2026-11-22-complete", "h100/2026-11-22-complete", "h200/2026-11-24-probes", "h100/2026-11-24-probes"]


@pytest.mark.parametrize("name", NEWEST)
def test_no_figure_of_the_newest_full_runs_is_above_its_limit_or_contradicts_itself(name, tmp_path):
    run = RESULTS / name
    if not (run / "run.json").exists():
        with pytest.raises(RunFileError, match="neither run.json nor journal.jsonl; unpack its run.json.gz with gunzip"):
            load(run)
        (tmp_path / "run.json").write_bytes(gzip.decompress((run / "run.json.gz").read_bytes()))
        run = tmp_path
    found = load(run)
    assert sum(m.ok for m in found.measurements) > 1300
    assert [str(refusal) for refusal in refusals(found)] == []


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=RESULTS, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.parent.name}/{run.name}")
def test_what_measured_a_run_is_in_the_history_or_the_readme_says_that_it_is_not(run):
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history is not here")
    commit = json.loads((run / "run.json").read_text())["environment"]["assay"]["commit"]
    lacks = git("merge-base", "--is-ancestor", commit, "HEAD").returncode != 0
    assert (commit in (RESULTS / "README.md").read_text().split("Two runs name")[1].split("\n\n")[0]) == lacks
