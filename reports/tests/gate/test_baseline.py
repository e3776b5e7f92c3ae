# SPDX-License-Identifier: Apache-2.0
"""Histories: what is kept, who moves the baseline, which steps are found, and what the page shows."""

import itertools
import json
import re
import resource
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
import numpy as np
import pytest
import runs
from runs import measurement

from test_page import Document

from assay import change_points
from assay.baseline import main
from assay.files import RunFileError, history, json_text
from assay.gate import main as gate
from assay.program import Exit
from assay.report import documents

GPU = {"name": "NVIDIA H200", "architecture": "sm_90", "sm_count": 132, "id": "0123456789abcdef", "power_limit_w": 700}


def write_run(path, value, commit, processes=3, **environment):
    document = runs.run(*(measurement(value=value * (1 + 0.0005 * i), repetition=i) for i in range(processes)))
    document["environment"] |= {"gpu": GPU, **environment}
    document["environment"]["assay"]["commit"] = commit
    return str(runs.write(path, document))


@pytest.fixture
def recorded(tmp_path):
    """A history of twelve runs, slower by 10% from the eighth on."""
    for i in range(12):
        run = write_run(tmp_path / "run.json", 100 * (1.1 if i >= 7 else 1) * (1 + 0.001 * (i % 3)), f"c{i:02d}")
        given = ["record", run, "--history", str(tmp_path / "h"), "--time", f"2026-01-{i + 1:02d}T00:00:00Z"]
        assert main(given) == 0
    (path,) = (tmp_path / "h").iterdir()
    return path


def test_a_file_for_each_kind_of_machine(tmp_path):
    for i, environment in enumerate(
        [{}, {"driver": "590.10"}, {"cuda": "13.1"}, {"gpu": {**GPU, "power_limit_w": 600}}, {"driver": "580.99"}]
    ):
        run = write_run(tmp_path / "run.json", 100, f"c{i}", **environment)
        assert main(["record", run, "--history", str(tmp_path / "h")]) == 0
    names = sorted(path.name for path in (tmp_path / "h").iterdir())
    assert names == [
        "nvidia-h200-driver580-cuda13.0-600w.jsonl",
        "nvidia-h200-driver580-cuda13.0-700w.jsonl",
        "nvidia-h200-driver580-cuda13.1-700w.jsonl",
        "nvidia-h200-driver590-cuda13.0-700w.jsonl",
    ]
    assert len(history.load(tmp_path / "h" / names[1])) == 2


def test_a_line_holds_every_process_and_nothing_that_names_the_machine(recorded):
    (figure,) = history.load(recorded)[0].cases.values()
    assert (figure.metric, figure.values) == ("time_us", pytest.approx([100, 100.05, 100.1]))
    line = json.loads(recorded.read_text().splitlines()[0])
    assert line["schema"] == "assay.history/1" and set(line["environment"]["gpu"]) == set(GPU)


def test_a_line_of_an_older_history_is_read(recorded, tmp_path):
    """It has no parameters, and nothing is said of them."""
    line = json.loads(recorded.read_text().splitlines()[0])
    for figure in line["cases"].values():
        assert figure.pop("ci95") and not figure.get("params")
    recorded.write_text(json.dumps({**line, "accepted": True}) + "\n")
    after = runs.run(*(measurement(value=100 + 0.05 * i, repetition=i, params={"n": 1}) for i in range(3)))
    after["environment"]["gpu"] = GPU
    record = tmp_path / "gate.json"
    assert gate([str(recorded), str(runs.write(tmp_path / "a.json", after)), "--json", str(record)]) == 0
    assert not [said for said in json.loads(record.read_text())["warnings"] if "other inputs" in said]


def test_only_accept_moves_the_baseline_and_says_why(recorded, tmp_path, capsys):
    after = write_run(tmp_path / "after.json", 110, "new")
    assert gate([str(recorded), after]) == Exit.USAGE
    assert "no run of this history was accepted" in capsys.readouterr().err
    assert main(["accept", str(recorded), "--commit", "c02", "--reason", "the release"]) == 0
    assert gate([str(recorded), after]) == Exit.SLOWER
    assert gate([str(recorded), after]) == Exit.SLOWER  # red changes nothing
    assert main(["record", after, "--history", str(recorded.parent)]) == 0
    assert gate([str(recorded), after]) == Exit.SLOWER  # nor does another run
    assert main(["accept", str(recorded), "--reason", "a check that was needed costs 10%"]) == 0
    assert gate([str(recorded), after]) == 0
    assert history.baseline(history.load(recorded)).reason == "a check that was needed costs 10%"
    assert main(["accept", str(recorded), "--commit", "c02", "--reason", "back again"]) == 0
    assert history.baseline(history.load(recorded)).commit == "c02"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["accept", "FILE", "--reason", " "], "--reason is empty"),
        (
            ["accept", "FILE", "--commit", "zz", "--reason", "x"],
            "no run of commit 'zz' is in it; the newest are c11, c10",
        ),
        (["accept", "/nonexistent", "--reason", "x"], "no such file"),
        (["page", "/nonexistent"], "no such file"),
        (["record", "/nonexistent"], "no such file"),
        (["page", "FILE", "--out", "FILE"], "is what is read; choose another name"),
    ],
)
def test_usage(recorded, capsys, arguments, words):
    before = recorded.read_bytes()
    assert main([str(recorded) if a == "FILE" else a for a in arguments]) == Exit.USAGE
    assert words in capsys.readouterr().err and recorded.read_bytes() == before


def test_a_reason_must_be_given(recorded):
    with pytest.raises(SystemExit) as ended:
        main(["accept", str(recorded)])
    assert ended.value.code == 2


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"schema":"assay.history/2"}', '{"schema":"assay.history/1"}',
     '{"schema":"assay.history/1","time":"t","commit":"c","environment":[],"accepted":true,"reason":"","cases":{}}',
     '{"schema":"assay.history/1","time":"t","commit":"c","environment":{},"accepted":true,"reason":"","cases":{"a":{"metric":"m","unit":"u","better":"lower","values":[]}}}',
     '{"schema":"assay.history/1","time":"t","commit":"c","environment":{"gpu":null,"driver":null,"cuda":null,"host":null,"assay":null},"accepted":true,"reason":"","cases":{"a":{"metric":"m","unit":"u","better":"lower","kind":"probe","values":[1,2],"ci95":[[1,1]]}}}',
     '{"schema":"assay.history/1","time":"t","commit":"c","environment":{"gpu":null,"driver":null,"cuda":null,"host":null,"assay":null},"accepted":true,"reason":"","cases":{"a":{"metric":"m","unit":"u","better":"lower","kind":"probe","values":[1,2],"conditions":{"l2":["cold"]}}}}'],
)  # fmt: skip
def test_rubbish_is_refused_in_one_line(tmp_path, line):
    path = tmp_path / "h.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(RunFileError) as caught:
        history.load(path)
    assert "line 1" in str(caught.value) and "\n" not in str(caught.value)


def test_what_a_page_says_of_a_commit_is_no_command_to_the_terminal(recorded, tmp_path, capsys):
    recorded.write_text(recorded.read_text().replace('"c07"', '"c07\\u001b[2J\\n::error::x"'))
    assert main(["page", str(recorded), "--out", str(tmp_path / "page.html")]) == 0
    said = capsys.readouterr().out.splitlines()[-2:]
    assert said[0].endswith("from c07\\x1b[2J ::error::x on") and said[1] == str(tmp_path / "page.html")


def test_a_step_is_found_where_it_is(recorded, tmp_path, capsys):
    assert main(["page", str(recorded), "--out", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "memory/hbm/copy: +10.0%, worse, from c07 on"


def limited(blocks, *arguments):
    """The command where no file may become larger than so many KiB, as on a disk that is full."""
    most = blocks << 10
    return subprocess.run(
        [sys.executable, "-m", "assay.baseline", *map(str, arguments)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )


def test_a_write_that_fails_leaves_the_history_as_it_was(recorded, tmp_path):
    before = recorded.read_bytes()
    done = limited(1, "accept", recorded, "--reason", "x")
    assert done.returncode == Exit.NOT_WRITTEN and done.stderr.count("\n") == 1 and recorded.name in done.stderr
    room = -(-len(before) // 1024)
    run = write_run(tmp_path / "run.json", 100, "c" * 2000)
    done = limited(room, "record", run, "--history", recorded.parent)
    assert done.returncode == Exit.NOT_WRITTEN and done.stderr.count("\n") == 1
    assert recorded.read_bytes() == before and [path.name for path in recorded.parent.iterdir()] == [recorded.name]
    assert main(["record", run, "--history", str(recorded.parent)]) == 0
    assert len(history.load(recorded)) == 13


def test_a_line_that_was_cut_short_takes_no_other_with_it(recorded, tmp_path, capsys):
    recorded.write_bytes(recorded.read_bytes()[:-40])
    before = recorded.read_bytes()
    assert main(["record", write_run(tmp_path / "run.json", 100, "new"), "--history", str(recorded.parent)]) == 2
    assert "its last line has no end" in capsys.readouterr().err and recorded.read_bytes() == before


def test_a_history_is_never_larger_than_what_is_read(recorded, tmp_path, capsys, monkeypatch):
    """No line larger than any other file, and all of them together as large as is read in a time that bears it."""
    run = write_run(tmp_path / "run.json", 100, "new")
    longest = max(map(len, recorded.read_bytes().splitlines(True)))
    monkeypatch.setattr(json_text, "LARGEST", longest)
    assert len(history.load(recorded)) == 12  # though together they are larger
    monkeypatch.setattr(json_text, "LARGEST", longest // 2)
    with pytest.raises(RunFileError, match="line 1: larger than"):
        history.load(recorded)
    monkeypatch.undo()
    entry = history.load(recorded)[0]
    monkeypatch.setattr(json_text, "LARGEST", longest // 2)
    with pytest.raises(RunFileError, match="record one of fewer cases"):
        history.append(recorded.parent, entry)
    monkeypatch.undo()
    before = recorded.read_bytes()
    monkeypatch.setattr(history, "LARGEST", len(before) + 40)
    for given in (["record", run, "--history", str(recorded.parent)], ["accept", str(recorded), "--reason", "x" * 50]):
        assert main(given) == Exit.USAGE
        assert "begin a new one" in capsys.readouterr().err and recorded.read_bytes() == before
    monkeypatch.setattr(history, "LARGEST", len(before) - 1)
    assert main(["page", str(recorded)]) == Exit.USAGE
    assert "begin a new one" in capsys.readouterr().err


def test_what_could_not_be_read_again_is_not_recorded(recorded, tmp_path, capsys):
    before = recorded.read_bytes()
    given = ["record", write_run(tmp_path / "run.json", 100, "new"), "--history", str(recorded.parent), "--commit", "\udcff"]
    assert main(given) == Exit.USAGE
    assert "the new line: commit: half of a surrogate pair" in capsys.readouterr().err
    assert recorded.read_bytes() == before


def test_what_a_commit_is_called_is_no_command_to_the_terminal(tmp_path, capsys):
    run = write_run(tmp_path / "run.json", 100, "\x1b]0;title\x07\x1b[2J")
    assert main(["record", run, "--history", str(tmp_path / "h")]) == 0
    (path,) = (tmp_path / "h").iterdir()
    assert main(["accept", str(path), "--reason", "x"]) == 0
    out = capsys.readouterr().out
    assert out.count("\\x1b[2J") == 2 and "\x1b" not in out


def series(seed, count=60, noise=0.005, step=0.0, at=30):
    values = 100 * np.exp(np.random.default_rng(seed).normal(0, noise, count))
    values[at:] *= 1 + step
    return values


def test_noise_alone_is_seldom_a_step():
    assert sum(bool(change_points.changes(series(seed))) for seed in range(100)) <= 5


@pytest.mark.parametrize("step, least", [(0.02, 45), (0.03, 50), (-0.05, 50)])  # 4, 6 and 10 times the noise
def test_a_step_that_stands_out_is_found_where_it_is(step, least):
    found = [change_points.changes(series(seed, step=step)) for seed in range(50)]
    near = [c for f in found for c in f if abs(c.index - 30) <= 2 and (c.ratio > 1) == (step > 0)]
    assert len(near) >= least
    assert np.median([c.ratio for c in near]) == pytest.approx(1 + step, abs=0.001)


def test_one_run_that_is_off_is_no_change():
    values = series(3, noise=0.001)
    values[20] *= 1.3
    assert change_points.changes(values) == []


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 5, [7.0] * 40])
def test_what_is_short_or_constant_has_no_change(values):
    assert change_points.changes(values) == []


@pytest.mark.parametrize("seed", range(5))
def test_no_division_costs_less(seed):
    """Against every division of a short series into stretches of three runs or more."""
    signal = np.random.default_rng(seed).normal(0, 3, 14).cumsum()

    def cost(ends):
        stretches = [signal[a:b] for a, b in zip([0, *ends], ends)]
        return sum(((s - s.mean()) ** 2).sum() + 8.0 for s in stretches)

    inner = range(3, 12)
    every = [[*some, 14] for n in range(4) for some in itertools.combinations(inner, n)]
    every = [ends for ends in every if min(np.diff([0, *ends])) >= 3]
    assert cost(change_points._divided(signal, 8.0)) == pytest.approx(min(map(cost, every)))


@pytest.mark.quiet
def test_a_long_history_is_quick():
    """Where nothing changes, and where all does."""
    begin = time.process_time()
    assert change_points.changes([7.0] * 3000) == []
    assert len(change_points.changes(np.repeat(np.geomspace(1, 2, 30), 100) * series(1, 3000, 0.001) / 100)) == 29
    assert time.process_time() - begin < 5


def page_of(path):
    return documents.history_page(history.load(path), "h").html


def test_the_page_draws_each_case_and_stands_alone(recorded):
    main(["accept", str(recorded), "--commit", "c02", "--reason", "<b>why</b>"])
    text = page_of(recorded)
    document = Document(text)
    assert document.problems == [] and "&lt;b&gt;why" in text
    assert "http" not in text and "index.html" not in text and "<link" not in text
    (picture,) = re.findall(r"<svg.*?</svg>", text)
    svg = ElementTree.fromstring(picture)
    assert len(svg.findall("g[@class='run']")) == 12 and len(svg.findall("path[@class='worse']")) == 1
    assert len(svg.findall("circle[@class='base']")) == 1 and len(svg.findall("path[@class='level']")) == 2
    assert "c03, 2026-01-04T00:00:00Z: 100.05 [100, 100.1] us" in picture
    said = " ".join(document.words)
    assert "12 runs. The baseline is c02 of 2026-01-03T00:00:00Z: <b>why</b>." in said
    assert "memory/hbm/copy: +10.0%, worse, from c07 on" in said and "did not change" not in said


def test_cases_that_did_not_change_are_folded(recorded, tmp_path):
    """And what names of cases, commits and units hold is text, wherever it is set."""
    lines = [json.loads(line) for line in recorded.read_text().splitlines()]
    for line in lines:
        (figure,) = line["cases"].values()
        line["cases"]["<script>alert(1)</script>"] = {**figure, "values": [7.0] * 3, "unit": "</svg><b>"}
        line["commit"] += "</title><i>"
    recorded.write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = page_of(recorded)
    document = Document(text)
    assert document.problems == [] and "<script>alert" not in text and "<i>" not in text and "<b>" not in text
    folded = text[text.index("<details") :]
    assert text.count('<svg class="history"') == 2 and folded.count('<svg class="history"') == 1
    assert "Cases that did not change" in folded and "no change for good" in folded
