# SPDX-License-Identifier: Apache-2.0
"""Mutated files against every Python reader. CONTRIBUTING says how to let many more of them loose."""

import json
import os
import random
import re
import time
from pathlib import Path
from unittest import mock

import pytest
import readers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.gate import outcome
from assay.program import Exit
from assay.report.page import guard

SLOWEST, LARGEST = 20.0, 1 << 30  # seconds for one file, bytes more of this process
FILES = {"gate": 700, "report": 150, "loops": 500, "isa_page": 500, "sass_timeline": 500, "foreign": 500}
FILES |= {"history": 200, "journal": 400, "policy": 500}


def memory(field: str) -> int:
    """Bytes of this process, by a field of proc(5)'s status."""
    return int(re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


@pytest.fixture(autouse=True, scope="module")
def no_github():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    with mock.patch.dict(os.environ, kept, clear=True):
        yield


@pytest.mark.parametrize("name", readers.READERS)
def test_a_mutated_file_is_read_or_refused_in_one_line(name):
    @settings(
        derandomize=True,
        database=None,
        deadline=SLOWEST * 1000,
        max_examples=FILES[name],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def read(rng):
        readers.run_once(name, rng)

    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of the tests before: proc(5)
    held = memory("VmRSS")  # of what those keep
    read()
    assert memory("VmHWM") - held < LARGEST


def test_the_readers_would_notice(tmp_path, monkeypatch):
    """A gate that says "nothing is slower" whatever it reads is found, and so is a page that breaks."""
    monkeypatch.setattr(outcome, "judge", lambda *_: (outcome.Exit.OK, "nothing is slower"))
    with pytest.raises(readers.Broken, match="hidden slowdown"):
        for seed in range(200):
            readers.gate(random.Random(seed), tmp_path)
    monkeypatch.setattr(guard, "made", lambda *_: 1 / 0)
    with pytest.raises(readers.Broken, match="a defect of assay"):
        for seed in range(200):
            readers.report(random.Random(seed), tmp_path)


@pytest.mark.parametrize("made", [readers._google, readers._nvbench])
def test_what_is_damaged_was_whole(tmp_path, made):
    """What is refused undamaged tells nothing of the damage. One process of a CPU, and one value, cannot tell."""
    paths = [tmp_path / "base.json", tmp_path / "candidate.json"]
    for path, factor in zip(paths, (1, 1.2)):
        path.write_text(json.dumps(made(factor)))
    assert readers.called(readers.gate_main, *paths)[0] == Exit.CANNOT_TELL


@pytest.mark.quiet
def test_a_large_file_of_little_is_refused_soon(tmp_path):
    """What unpacks to gigabytes of Python objects is refused by its size, before it is read as JSON."""
    begin, held = time.monotonic(), memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    many, deep = b"[" + b"[]," * 20_000_000 + b"0]", b'{"a":' * 10_000_000
    for content in (many, deep, b" " * (65 << 20), b'["' + b"x" * (63 << 20)):
        path = tmp_path / "run.json"
        path.write_bytes(content)
        status, _, err = readers.called(readers.gate_main, path, path)
        readers.check_refusal(status, err, path)
        assert status == 2
    assert time.monotonic() - begin < SLOWEST
    assert memory("VmHWM") - held < LARGEST
