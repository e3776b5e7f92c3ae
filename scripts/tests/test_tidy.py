# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over all C++ files but tests, each again only when something it is made of changed.

.cu files are left out: clang 16 asks for headers of textures that CUDA 12 has taken away, also with
--cuda-host-only. The headers they share with .cpp files are checked through those.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import pytest

import sources

PROGRAM = os.path.join(os.path.dirname(sys.executable), "clang-tidy")
SETTINGS = ".clang-tidy", "scripts/requirements.txt"  # which checks, and by which version


def diagnose(command: dict, database: pathlib.Path) -> str:
    """clang-tidy's complaints about one entry of the compile_commands.json in `database`, empty if there are none."""
    file = pathlib.Path(command["file"])

    def run() -> str:
        result = subprocess.run([PROGRAM, "--quiet", "-p", str(database), str(file)],
                                capture_output=True, text=True)
        return result.stdout + result.stderr if result.returncode != 0 else ""

    how = command["command"] + "".join((sources.ROOT / name).read_text() for name in SETTINGS)
    return sources.complaint_once("clang-tidy", how, file, run)


def test_passes_clang_tidy(tmp_path):
    wanted = set(sources.files("harness/*.cpp", "probes/*.cpp", "kernels/*.cpp"))
    wanted -= set(sources.files("*/tests/*"))
    commands = [c for c in sources.compile_commands() if pathlib.Path(c["file"]) in wanted]
    if not commands:
        pytest.skip("nothing is configured in build/")
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(filter(None, pool.map(lambda command: diagnose(command, tmp_path), commands)))
    assert not complaints, "\n".join(complaints)
