# SPDX-License-Identifier: Apache-2.0
"""What was recorded of golden forms goes into the file of all, and no other form changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "record_golden.py"


def merge(left: Path, known: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(left), "--merge", str(known)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_forms_keep_their_places(tmp_path: Path) -> None:
    known, left = tmp_path / "silicon.txt", tmp_path / "left.txt"
    known.write_text("# of an H200\nadd.u32 1 2\nex2 3\nex2 = ab0*9.\nxor 4\n")
    left.write_text("ex2 5\nex2 = c\nnew 6\nxor failed\n")
    assert merge(left, known).returncode == 0
    assert known.read_text() == "# of an H200\nadd.u32 1 2\nex2 5\nex2 = c\nxor 4\nnew 6\n"


def test_the_tree_s_own_file_merges_with_itself(tmp_path: Path) -> None:
    silicon = SCRIPT.parents[1] / "harness/model/tests/golden/silicon.txt"
    known = tmp_path / "silicon.txt"
    known.write_text(silicon.read_text())
    assert merge(silicon, known).returncode == 0
    assert known.read_text() == silicon.read_text()


def test_a_file_that_is_not_there_is_a_line(tmp_path: Path) -> None:
    done = merge(tmp_path / "none.txt", tmp_path / "silicon.txt")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and ".txt" in done.stderr
