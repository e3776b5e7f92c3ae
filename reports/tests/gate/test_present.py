# SPDX-License-Identifier: Apache-2.0
"""What a gate writes stays within what its readers take, however many cases there are."""

import json

import pytest
import runs
from runs import measurement

from assay.gate import main, present
from assay import files
from assay.gate.compare import compare
from assay.gate.result import Comparison, Result, Rules, Verdict
from assay.statistics import Interval


def many(count, verdict=Verdict.SLOWER, length=200):
    return [
        Comparison(f"{i:06d}/" + "x|" * (length // 2), "probe", "time_us", "us", ratio=Interval(2 - i / count, 1.0, 2.0),
                   base=1.0, candidate=2.0, verdict=verdict, note="n" * length)
        for i in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("loud, quiet", [(0, 0), (3, 2), (3, 30_000), (30_000, 3), (5000, 5000)])
def test_a_summary_is_under_a_mebibyte_and_says_what_it_leaves_out(loud, quiet):
    cases = [*many(loud), *many(quiet, Verdict.EQUIVALENT)]
    result = Result(cases, warnings=["w" * 500] * 3)
    text = present.markdown(result, present.summary(result, "slower"))
    assert len(text.encode()) < 2**20
    shown = text.count("| slower |") + text.count("| equivalent |")
    left_out = sum(
        int(line.split()[1]) for line in text.splitlines() if line.startswith("and ") and line.endswith(" more")
    )
    assert shown + left_out == loud + quiet
    assert text.count("<details>") == text.count("</details>") == (quiet > 0)
    if loud:
        assert text.index("000000/") < text.index("000001/")  # worst first


def test_ten_annotations_at_most_and_the_worst():
    lines = present.annotations(Result(many(50)))
    assert len(lines) == 10 and lines[0].startswith("::error title=000000/")


def test_the_smallest_slowdown_that_each_case_shows_stands_beside_it(tmp_path, capsys):
    for name in "ab":
        runs.write(tmp_path / f"{name}.json", runs.run(measurement(half=0.01)))
    record = tmp_path / "gate.json"
    assert main([str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--all", "--json", str(record)]) == 0
    out = capsys.readouterr().out
    (case,) = json.loads(record.read_text())["cases"]
    assert "detectable" in out and f"+{case['smallest_detectable']:.2%}" in out


def test_many_cases_leave_less_to_detect(tmp_path):
    """Holm asks the first of n cases for an n-th of the level, so it is that slowdown that could have been proven."""
    values = [100, 100.1, 99.9, 100.05, 99.95, 100.02, 99.98, 100.0]

    def compared(slower, count):
        sides = []
        for factor, order in ((1, values), (slower, values[::-1])):
            side = [measurement(f"a/{i}", v * (factor if i == 0 else 1), repetition=k) for i in range(count) for k, v in enumerate(order)]
            sides.append(files.load(runs.write(tmp_path / "run.json", runs.run(*side))))
        return next(c for c in compare(*sides, Rules(paired=True, threshold=0.01)).comparisons if c.name == "a/0")

    alone, among = (compared(1, count).smallest_detectable for count in (1, 100))
    assert 0.01 < alone < among
    for count, least in ((1, alone), (100, among)):
        assert compared(1 + least + 1e-4, count).verdict is Verdict.SLOWER
        assert compared(1 + least - 1e-4, count).verdict is not Verdict.SLOWER


def test_nothing_that_matches_is_an_error(tmp_path, capsys):
    for name in "ab":
        runs.write(tmp_path / f"{name}.json", runs.run())
    assert main([str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 2
    assert f"{tmp_path}/a.json: measurements: the base has no case to compare; " in capsys.readouterr().err
