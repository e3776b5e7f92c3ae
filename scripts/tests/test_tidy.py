# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the harness, each file again only when something it is made of changed."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

import sources

BUILD = sources.ROOT / "build"
CACHE = sources.ROOT / ".cache" / "clang-tidy"
PROGRAM = os.path.join(os.path.dirname(sys.executable), "clang-tidy")


def diagnose(command: dict) -> str:
    """clang-tidy's complaints about one entry of compile_commands.json, empty if there are none."""
    file = pathlib.Path(command["file"])
    digest = hashlib.sha256(command["command"].encode())
    for part in [sources.ROOT / ".clang-tidy", sources.ROOT / "scripts/requirements.txt",
                 *sorted(sources.closure(file))]:
        digest.update(part.read_bytes())
    stamp = CACHE / digest.hexdigest()
    if stamp.exists():
        return ""
    result = subprocess.run([PROGRAM, "--quiet", "-p", str(BUILD), str(file)],
                            capture_output=True, text=True)
    if result.returncode != 0:
        return result.stdout + result.stderr
    CACHE.mkdir(parents=True, exist_ok=True)
    stamp.touch()
    return ""


def test_harness_passes_clang_tidy():
    database = BUILD / "compile_commands.json"
    if not database.exists():
        pytest.skip("nothing is configured in build/")
    harness = set(sources.files("harness/*.cpp")) - set(sources.files("*/tests/*"))
    commands = [c for c in json.loads(database.read_text()) if pathlib.Path(c["file"]) in harness]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(filter(None, pool.map(diagnose, commands)))
    assert not complaints, "\n".join(complaints)
