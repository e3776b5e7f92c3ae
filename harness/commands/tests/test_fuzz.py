# SPDX-License-Identifier: Apache-2.0
"""Every fuzzer of a reader runs some seconds; scripts/fuzz.sh builds them and runs them longer."""

import subprocess

import pytest

from command_line import ROOT, built

CORPUS = ROOT / "harness/commands/tests/fuzz/corpus"
SECONDS = 5


@pytest.mark.parametrize("reader", sorted(path.name for path in CORPUS.iterdir()))
def test_mutated_inputs_are_survived(reader, tmp_path):
    done = subprocess.run([built(f"fuzz_{reader}"), str(SECONDS), CORPUS / reader], cwd=tmp_path, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "inputs, the slowest took" in done.stdout


def test_every_reader_has_a_corpus():
    fuzzers = {path.stem for path in CORPUS.parent.glob("*.cpp")} - {"driver"}
    assert fuzzers == {path.name for path in CORPUS.iterdir()}
    assert all(any((CORPUS / name).iterdir()) for name in fuzzers)
