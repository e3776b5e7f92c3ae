# SPDX-License-Identifier: Apache-2.0
"""A run is judged by a history as by the run that stands in it, and what is no figure of the code is no baseline."""

from pathlib import Path

import committed
import pytest
import runs
from runs import measurement

from assay import files
from assay.baseline import main
from assay.files import history
from assay.gate import main as gate
from assay.gate.compare import compare
from assay.gate.recorded import entry_of, run_of
from assay.gate.result import Rules
from assay.program import Exit


def test_a_committed_run_is_to_its_history_what_it_is_to_itself(tmp_path):
    """What ran, its conditions, intervals and signs come back: no verdict and no warning is of the history's making."""
    run = files.load(committed.RESULTS / "h200/2026-11-22-complete")
    path = history.append(tmp_path, entry_of(run))
    results = [compare(base, run) for base in (run_of(history.load(path)[0], path), run)]
    verdicts = [{c.name: (c.verdict, c.metric, c.note, c.ratio) for c in result.comparisons} for result in results]
    assert verdicts[0] == verdicts[1] and len(verdicts[0]) > 1000
    assert results[0].warnings == results[1].warnings


NIGHTS = [("h200/2026-11-21-quick", "h200/2026-11-21-quick-again"), ("h200/2026-11-24-kernels", "h200/2026-11-24-kernels-bursts"),
          ("h100/2026-11-26-torch-grouped", "h100/2026-11-26-torch-grouped-again")]  # fmt: skip


@pytest.mark.parametrize("before, after", NIGHTS)
def test_a_run_is_judged_by_the_history_of_another_as_by_that_run(tmp_path, before, after):
    base, run = (files.load(committed.RESULTS / name) for name in (before, after))
    path = history.append(tmp_path, entry_of(base))
    rules = Rules(allow_other_gpu=True)
    results = [compare(one, run, rules) for one in (run_of(history.load(path)[0], path), base)]
    verdicts = [{c.name: (c.verdict, c.metric, c.note, c.ratio) for c in result.comparisons} for result in results]
    assert verdicts[0] == verdicts[1] and verdicts[0]


def at_a_clock(mhz, cycles=1000, name="sass/x", **conditions):
    """Six processes of one case, whose headline is a time."""
    made = []
    for i in range(6):
        m = measurement(name, (cycles + i) / mhz, domain="sm", repetition=i, conditions={"sm_clock_mhz": mhz, **conditions})
        m["metrics"]["cycles"] = measurement(value=cycles + i, unit="cycles")["metrics"]["time_us"]
        made.append(m)
    return made


def history_of(tmp_path, *measurements, capsys=None):
    """A history of one run, which is its baseline, and what record and accept said."""
    run = str(runs.write(tmp_path / "base.json", runs.run(*measurements)))
    assert main(["record", run, "--history", str(tmp_path / "h")]) == 0
    (path,) = (tmp_path / "h").iterdir()
    assert main(["accept", str(path), "--reason", "x"]) == 0
    return str(path), capsys and capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("per_clock", [True, False])
@pytest.mark.parametrize("cycles, expected", [(1000, 0), (1100, Exit.SLOWER)])
def test_another_clock_is_no_other_code(tmp_path, per_clock, cycles, expected):
    base, after = at_a_clock(1980), at_a_clock(1700, cycles)
    for m in [] if per_clock else [*base, *after]:
        del m["metrics"]["cycles"]
    path, _ = history_of(tmp_path, *base)
    after = str(runs.write(tmp_path / "after.json", runs.run(*after)))
    assert gate([path, after]) == gate([str(tmp_path / "base.json"), after]) == expected


@pytest.mark.parametrize(
    "conditions, said",
    [({"throttle": ["hw_thermal_slowdown"]}, "throttled: hw_thermal_slowdown"), ({"other_processes": 3}, "another process used")],
)
def test_what_is_no_figure_of_the_code_is_no_baseline(tmp_path, capsys, conditions, said):
    """It is left out and named, and the gate says that it cannot tell; of nothing else there is no line."""
    slow = at_a_clock(1980, 1500, "sass/slow", **conditions)
    path, (recorded, accepted) = history_of(tmp_path, *at_a_clock(1980), *slow, capsys=capsys)
    assert "1 cases of unknown; it has no figure of sass/slow" in recorded and said in recorded
    assert "it has no figure of sass/slow" in accepted and said in accepted
    after = str(runs.write(tmp_path / "after.json", runs.run(*at_a_clock(1980), *at_a_clock(1980, 1490, "sass/slow"))))
    assert gate([path, after]) == Exit.CANNOT_TELL
    assert f"cannot tell about sass/slow: was not run in the base: {said}" in capsys.readouterr().out
    run = str(runs.write(tmp_path / "base.json", runs.run(*slow)))
    assert main(["record", run, "--history", str(tmp_path / "h")]) == Exit.USAGE
    assert f"no case was measured in it that can be a baseline (sass/slow: {said}" in capsys.readouterr().err
    assert len(history.load(next((tmp_path / "h").iterdir()))) == 1


def test_one_process_that_is_unfit_is_left_out(tmp_path):
    """And the others keep their numbers, by which they are paired."""
    base = at_a_clock(1980)
    base[2]["conditions"]["throttle"] = ["hw_slowdown"]
    path, _ = history_of(tmp_path, *base)
    (figure,) = history.load(Path(path))[0].cases.values()
    assert (figure.metric, figure.primary, figure.repetitions) == ("cycles", "time_us", [0, 1, 3, 4, 5])
    assert figure.values == [1000, 1001, 1003, 1004, 1005] and len(figure.conditions["sm_clock_mhz"]) == 5


def test_what_the_power_limit_held_back_is_judged_as_of_two_runs(tmp_path):
    base = [measurement(value=100 + i, repetition=i, conditions={"throttle": ["sw_power_cap"]}) for i in range(6)]
    path, _ = history_of(tmp_path, *base)
    assert gate([path, str(tmp_path / "base.json")]) == gate([str(tmp_path / "base.json")] * 2) == Exit.UNFIT


def test_what_failed_in_the_baseline_is_not_new_after_it(tmp_path, capsys):
    failed = {"name": "a/b", "kind": "probe", "status": "failed", "reason": "timeout"}
    path, _ = history_of(tmp_path, measurement(), failed)
    after = str(runs.write(tmp_path / "after.json", runs.run(measurement(), measurement("a/b"))))
    assert gate([path, after]) == gate([str(tmp_path / "base.json"), after]) == Exit.CANNOT_TELL
    assert capsys.readouterr().out.count("cannot tell about a/b: failed in the base: timeout") == 2


def test_a_committed_run_passes_the_gate_of_its_history(tmp_path):
    run = str(committed.RESULTS / "h200/2026-11-22-complete")
    assert main(["record", run, "--history", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    assert main(["accept", str(path), "--reason", "the first"]) == 0
    assert gate([str(path), run, "--filter", "^sass/"]) == 0
