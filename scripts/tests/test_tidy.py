# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over all C++ files but tests, each again only when something it is made of changed.

.cu files are left out. The headers they share with .cpp files are checked through those.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import sources

PROGRAM = os.path.join(os.path.dirname(sys.executable), "clang-tidy")
SETTINGS = ".clang-tidy", "scripts/requirements.txt"  # which checks, and by which version


def commands() -> dict[str, dict]:
    """How each of the files is compiled, by its path from the root."""
    wanted = set(sources.files("harness/*.cpp", "probes/*.cpp", "kernels/*.cpp"))
    wanted -= set(sources.files("*/tests/*"))
    return {str(pathlib.Path(c["file"]).relative_to(sources.ROOT)): c
            for c in sources.compile_commands() if pathlib.Path(c["file"]) in wanted}


COMMANDS = commands()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_passes_clang_tidy(name, tmp_path):
    command = COMMANDS[name]
    (tmp_path / "compile_commands.json").write_text(json.dumps([command]))

    def run() -> str:
        result = subprocess.run([PROGRAM, "--quiet", "-p", str(tmp_path), command["file"]],
                                capture_output=True, text=True)
        return result.stdout + result.stderr if result.returncode != 0 else ""

    how = command["command"] + "".join((sources.ROOT / name).read_text() for name in SETTINGS)
    complaint = sources.complaint_once("clang-tidy", how, pathlib.Path(command["file"]), run)
    assert not complaint, complaint
