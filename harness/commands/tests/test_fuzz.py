# SPDX-License-Identifier: Apache-2.0
"""Every reader of what comes from outside survives mutated inputs, the same ones each time; scripts/fuzz.sh gives it a
minute of libFuzzer's, under the sanitizers."""

import subprocess

import pytest

from command_line import ROOT, built

CORPUS = ROOT / "harness/commands/tests/fuzz/corpus"
INPUTS = {"device_code": 50_000, "journal": 6000, "listing": 200, "model": 10_000, "ptx": 100_000, "run_file": 6000}


def fuzz(folder, reader, count, corpus, *seed):
    return subprocess.run([built("assay_fuzz"), reader, str(count), CORPUS / corpus, *seed], cwd=folder, text=True,
                          capture_output=True, timeout=120)


@pytest.mark.parametrize("reader", sorted(INPUTS))
def test_mutated_inputs_are_survived(reader, tmp_path):
    done = fuzz(tmp_path, reader, INPUTS[reader], reader)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith(f"{INPUTS[reader]} inputs, the slowest took")


@pytest.mark.parametrize("reader, said", [("planted_crash", "Aborted"), ("planted_words", "status 2: two\nlines\n")])
def test_a_reader_with_a_bug_is_found(reader, said, tmp_path):
    """One that crashes, and one that refuses its input in other than one line."""
    done = fuzz(tmp_path, reader, 2000, "ptx")
    assert done.returncode == 1
    assert said in done.stderr
    assert b"[[[[" in (tmp_path / "crash-input").read_bytes()
    again = fuzz(tmp_path, reader, 2000, "ptx")
    assert (again.stderr, again.stdout) == (done.stderr, done.stdout), "the same inputs each time"


def test_every_reader_has_a_corpus_and_a_number_of_inputs():
    readers = {path.stem for path in CORPUS.parent.glob("*.cpp")} - {"driver", "libfuzzer", "planted"}
    assert readers == {path.name for path in CORPUS.iterdir()} == set(INPUTS)
    assert all(any((CORPUS / name).iterdir()) for name in readers)
