# SPDX-License-Identifier: Apache-2.0
"""What ends a command while it reads its modules is one line and a status that says no verdict."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay import start

ENDINGS = {
    "raise KeyboardInterrupt": (130, "interrupted"),
    "raise MemoryError": (4, "the memory of this machine is too small"),
    "import nowhere_to_be_found": (4, "cannot start: No module named 'nowhere_to_be_found'; run scripts/setup.sh"),
}
COMMANDS = dict(re.findall(r'^(assay-[\w-]+) = "assay\.start:(\w+)"', (Path(__file__).parents[1] / "pyproject.toml").read_text(), re.M))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("command", COMMANDS.values())
def test_a_command_that_ends_before_it_began(tmp_path, command, ending):
    (tmp_path / "numpy.py").write_text(ending + "\n")
    code = f"import sys; from assay import start; sys.exit(start.{command}())"
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"],
        text=True,
        capture_output=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    status, words = ENDINGS[ending]
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == 1 and words in done.stderr


@pytest.mark.parametrize("name", ["x" * 300, "y/" * 3000])
def test_a_name_that_no_file_can_have(name, capsys):
    from assay.gate import main as gate
    from assay.report.__main__ import main as report

    for command in (lambda: gate(["/tmp/" + name, "/tmp/" + name]), lambda: report(["/tmp/" + name])):
        assert command() == 2
        assert "File name too long" in capsys.readouterr().err


def test_every_command_is_started_so():
    assert len(COMMANDS) == 6 and all(callable(getattr(start, function)) for function in COMMANDS.values())
