# SPDX-License-Identifier: Apache-2.0
"""loops.txt.gz: each loop once beside the run, without addresses that follow, and nothing lost."""

import gzip
import os

import pytest
import runs

from assay import files
from assay.files import RunFileError, compact, loop_text

LOOP = "0130  FRND.F64 R12, -R12\n0140  BRA 0x130"
OTHER = "0130  NOP"


def with_loops(*texts):
    """A run whose cases have these loops inline."""
    sass = {"sha256": runs.SHA, "verified": True}
    return runs.run(*(runs.measurement(f"a/{i}", sass={**sass, "text": text}) for i, text in enumerate(texts)))


def packed(tmp_path, *texts):
    """The same as `save` writes it."""
    (tmp_path / "old").mkdir()
    files.save(files.load(runs.write(tmp_path / "old" / "x.json", with_loops(*texts))), tmp_path / "run.json")
    return tmp_path / "run.json"


def test_each_loop_is_written_once_beside_the_run(tmp_path):
    path = packed(tmp_path, LOOP, OTHER, LOOP + "\n", "")  # older files end the last line, or have an empty text
    text = path.read_text()
    assert "FRND" not in text and text.count(loop_text.sha256(LOOP)) == 2
    with gzip.open(tmp_path / "loops.txt.gz", "rt") as file:
        found = {loop_text.sha256(LOOP): LOOP, loop_text.sha256(OTHER): OTHER}
        short = LOOP.replace("0140  ", "")
        assert file.read() == "".join(f"== {name}\n{found[name]}\n" for name in sorted(found)).replace(LOOP, short)
    assert (tmp_path / "loops.txt.gz").read_bytes()[4:8] == bytes(4)  # no time: the same loops are the same file
    assert [m.loop_text for m in files.load(tmp_path).measurements] == [LOOP, OTHER, LOOP, None]


def test_loops_of_older_files_have_every_address(tmp_path):
    path = packed(tmp_path, LOOP)
    whole = f"== {loop_text.sha256(LOOP)}\n{LOOP}\n"
    (tmp_path / "loops.txt.gz").write_bytes(gzip.compress(whole.encode()))
    assert files.load(path).measurements[0].loop_text == LOOP


@pytest.mark.parametrize(
    "text, short",
    [
        ("0130  NOP\n0140  BRA 0x130\n0160  EXIT\n0170  NOP", "0130  NOP\nBRA 0x130\n0160  EXIT\nNOP"),
        ("fff0  NOP\n10000  NOP\n10010  NOP", "fff0  NOP\nNOP\nNOP"),
        ("0130  NOP\nno address", "0130  NOP\nno address"),
        ("0130  NOP\n0130  NOP\n0120  NOP", "0130  NOP\n0130  NOP\n0120  NOP"),
        ("", ""),
    ],
)
def test_addresses_that_follow_are_left_out(text, short):
    """harness/run/tests/loop_texts_test.cpp has the same."""
    assert loop_text.shortened(text) == short
    assert text in (short, loop_text.lengthened(short))


def test_loops_are_read_when_they_are_asked_for_and_may_be_missing(tmp_path):
    path = packed(tmp_path, LOOP)
    (tmp_path / "loops.txt.gz").rename(tmp_path / "elsewhere")
    (m,) = files.load(path).measurements
    assert m.loop_text is None and m.lacks_loops_file
    (tmp_path / "loops.txt.gz").write_bytes(b"damaged")
    (m,) = files.load(path).measurements
    assert not m.lacks_loops_file
    with pytest.raises(RunFileError, match=r"loops.txt.gz: not a whole gzip file"):
        m.loop_text


@pytest.mark.parametrize(
    "content, expected",
    [
        (gzip.compress(b"0130  NOP\n"), r"line 1: is no line"),
        (gzip.compress(b"== " + b"0" * 64 + b"\n0130  NOP\n"), r"loop 000000000000...: its text has another sha256"),
        (gzip.compress(b"x" * 100)[:-9], r"not a whole gzip file"),
        (gzip.compress(b""), r"has no loop [0-9a-f]{12}..., which the run beside it names"),
        (gzip.compress(bytes(loop_text.LARGEST + 1)), r"unpacks to more than 64 MiB"),
    ],
    ids=["no heading", "another text", "cut short", "empty", "too large"],
)
def test_damaged_loops_are_named_in_one_line(tmp_path, content, expected):
    path = packed(tmp_path, LOOP)
    (tmp_path / "loops.txt.gz").write_bytes(content)
    with pytest.raises(RunFileError, match=r"^[^\n]*/loops.txt.gz: " + expected + r"[^\n]*$"):
        files.load(path).measurements[0].loop_text


def test_a_file_of_another_name_keeps_its_loops_inside(tmp_path):
    run = files.load(packed(tmp_path, LOOP))
    (tmp_path / "others").mkdir()
    files.save(run, tmp_path / "others" / "mine.json")
    assert os.listdir(tmp_path / "others") == ["mine.json"]
    assert [m.loop_text for m in files.load(tmp_path / "others" / "mine.json").measurements] == [LOOP]


def test_a_run_is_made_compact_and_loses_nothing(tmp_path, capsys):
    document = with_loops(LOOP, OTHER, LOOP)
    document["note"], document["metrics"] = {"kept": [1, 2.5]}, {"time_us": "Time of one launch."}
    document["measurements"][0]["samples"] = {"time_ns": [1 / 3, 100000.0, 12345678.9]}
    document["measurements"][0]["params"] = {"third": 1 / 3, "large": 1 << 40}
    path = runs.write(tmp_path / "run.json", document)
    before = files.load(path)
    texts = [m.loop_text for m in before.measurements]
    assert compact.main([str(tmp_path)]) == 0 and "bytes" in capsys.readouterr().out
    after = files.load(path)
    assert [m.loop_text for m in after.measurements] == texts
    assert after.metrics == {"time_us": "Time of one launch."} and after.extra == {"note": {"kept": [1, 2.5]}}
    assert after.measurements[0].samples == {"time_ns": [0.333333, 100000, 12345700]}
    assert after.measurements[0].params == {"third": 0.3333333, "large": 1 << 40}
    for m in (*before.measurements, *after.measurements):
        m.sass, m.samples, m.params, m.loops = None, {}, {}, None
    assert after.measurements == before.measurements
    again = path.read_bytes(), (tmp_path / "loops.txt.gz").read_bytes()
    assert compact.main([str(tmp_path)]) == 0
    assert (path.read_bytes(), (tmp_path / "loops.txt.gz").read_bytes()) == again
    assert len(path.read_text().splitlines()) == 1 + len(before.measurements) + 4 + 1  # a line for each measurement


def test_what_cannot_be_made_compact_is_named(tmp_path, capsys):
    assert compact.main([str(tmp_path)]) == 2
    assert "run.json: no such file" in capsys.readouterr().err
