# SPDX-License-Identifier: Apache-2.0
"""`assay model --then`: launches of a file's kernels one after the other, begun early or not."""

import subprocess

import pytest
from command_line import ROOT, built

FIRST = ["harness/commands/tests/programs/chain.cu", "--kernel", "first", "--grid", "2", "--block", "64", "--seeds", "3",
         "--arg", "f32[128]", "--arg", "f32[128]=none", "--arg", "f32[128]=none"]


def model(*options):
    return subprocess.run([built("assay"), "model", *FIRST, *options], cwd=ROOT, capture_output=True, text=True)


# Neither has more than two parameters: what the second is given is told by its place.
FORMS = [("waits(1, 2), early, grid=1, block=128", 0), ("does_not(1, 2), early, grid=1, block=128", 1),
         ("does_not(1, 2), grid=1, block=128", 0)]


@pytest.mark.parametrize(("then", "status"), FORMS)
def test_a_grid_that_begins_early_has_to_wait(then, status):
    found = model("--then", "first(0, 1)", "--then", then)
    assert found.returncode == status, found.stdout + found.stderr
    assert ("grid.before_wait" in found.stdout) == (status == 1)
    assert status == 0 or "chain.cu:17" in found.stdout and "of the kernel 'first'" in found.stdout


@pytest.mark.parametrize("then", ["none_such", "waits(1, 9)", "waits, grid=axb", "waits, sooner", ", early", "waits(1",
                                  "waits, grid=1x2x3x4", "waits, block=-1", "waits(1, 2), block=99999999999",
                                  "waits(0, 1, 2)", "waits(0, 1)"])
def test_what_is_no_launch_is_refused_in_a_line(then):
    found = model("--then", then)
    assert found.returncode == 2 and found.stderr.count("\n") == 1, found.stderr
