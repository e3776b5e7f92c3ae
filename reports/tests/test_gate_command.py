# SPDX-License-Identifier: Apache-2.0
"""The gate's command line: exit codes, and what it writes for people and for machines."""

import json
import time
from xml.etree import ElementTree

import pytest
import runs
from runs import measurement

from assay.gate import main
from assay.program import Exit


@pytest.fixture
def gate(tmp_path, capsys, monkeypatch):
    """Calls assay-gate on two lists of measurements; gives exit code, output and errors."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)

    def call(base, candidate, *options, **environment):
        files = [
            str(runs.write(tmp_path / "base.json", runs.run(*base))),
            str(runs.write(tmp_path / "candidate.json", runs.run(*candidate, **environment))),
        ]
        try:
            code = main([*files, *options])
        except SystemExit as error:
            code = error.code
        return (code, *capsys.readouterr())

    return call


FAILED = {"name": "a/b", "kind": "probe", "status": "failed", "reason": "timeout"}


@pytest.mark.parametrize(
    "base, candidate, options, code, words",
    [
        ([measurement()], [measurement()], [], 0, "nothing is slower (1 equivalent)"),
        ([measurement()], [measurement(value=102)], [], 0, "nothing is slower (1 inconclusive)"),
        ([measurement()], [measurement(value=102)], ["--strict"], 3, "cannot tell about memory/hbm/copy"),
        ([measurement()], [measurement(value=110)], [], 1, "slower: memory/hbm/copy by +10.00%"),
        ([measurement()], [measurement(value=110)], ["--threshold", "20%"], 0, "1 equivalent"),
        ([measurement("a/b")], [measurement("c")], [], 2, "missing in the candidate: a/b"),
        ([measurement("a/b")], [FAILED], [], 2, "failed: timeout"),
        (
            [measurement("a/b")],
            [measurement("c")],
            ["--allow-missing"],
            3,
            "nothing could be compared (1 missing, 1 new)",
        ),
        ([measurement("a/b"), measurement("c")], [measurement("c")], ["--allow-missing"], 0, "1 missing"),
        ([FAILED], [measurement("a/b")], [], 3, "cannot tell about a/b: failed in the base: timeout"),
        ([FAILED], [measurement("a/b")], ["--allow-missing"], 3, "nothing could be compared"),
        (
            [measurement("a/b"), measurement("c", value=50)],
            [measurement("a/b"), measurement("c")],
            ["--filter", "^a/"],
            0,
            "(1 equivalent)",
        ),
        (
            [measurement("c")],
            [measurement("c", conditions={"throttle": ["hw_slowdown"]})],
            [],
            4,
            "unfit to judge: 1 of 1 cases",
        ),
    ],
)
def test_exit_codes(gate, base, candidate, options, code, words):
    got, out, _ = gate(base, candidate, *options)
    assert got == code and words in out


@pytest.mark.parametrize("options", [["--filter", "("], ["--threshold", "fast"], ["--threshold", "-1"], ["--nothing"]])
def test_usage_errors(gate, options):
    code, _, err = gate([measurement()], [measurement()], *options)
    assert code == 2 and "error: " in err


@pytest.mark.parametrize("option", ["--filter", "--metric"])
@pytest.mark.parametrize("expression", ["(", "(?=a)", r"(a)\1", "a{1001}", "((a{99}){99}){99}", "\udcff", "(" + "x" * 5_000])
def test_an_expression_that_is_none_names_its_option_and_the_mend(gate, option, expression):
    code, _, err = gate([measurement()], [measurement()], option, expression)
    (line,) = [line for line in err.splitlines() if "error: " in line]
    assert code == 2 and f"argument {option}: " in line and "write it in RE2's syntax" in line and len(line) < 1000


@pytest.mark.quiet
@pytest.mark.parametrize("option", ["--filter", "--metric"])
@pytest.mark.parametrize("expression", ["(a+)+$", "(a|aa)+$", "(.*a){25}$", "x*" * 20_000 + "y"])
def test_an_exponential_expression_ends_at_once(gate, option, expression):
    long = measurement("a" * 250 + "_b", metric="a" * 60 + "_b")
    began = time.process_time()
    gate([long], [long], option, expression)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "options, expected", [(["--filter", "gemm"], 2), (["--metric", "joules"], 2), (["--json", "/nonexistent/x"], 5)]
)
def test_input_and_output_that_lead_nowhere(gate, options, expected):
    code, _, err = gate([measurement()], [measurement()], *options)
    assert code == expected and err.startswith("assay-gate: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    "options, said",
    [
        (["--json", "base.json"], "--json base.json: is what is read"),
        (["--markdown", "./candidate.json"], "--markdown candidate.json: is what is read"),
        (["--junit", "link"], "--junit link: is what is read"),
        (["--policy", "p.toml", "--json", "p.toml"], "--json p.toml: is what is read"),
        (["--json", "same", "--junit", "folder/../same"], "--junit folder/../same: is what --json writes, too"),
        (["--json", "folder"], "folder: cannot be written: it is a folder"),
    ],
)
def test_outputs_overwrite_no_input_and_not_each_other(gate, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("base.json")
    (tmp_path / "folder").mkdir()
    (tmp_path / "p.toml").write_text("")
    code, _, err = gate([measurement()], [measurement(value=110)], *options)
    assert code == (5 if "folder" == options[-1] else 2) and said in err and err.count("\n") == 1
    assert json.loads((tmp_path / "base.json").read_text())["measurements"] and not (tmp_path / "same").exists()
    (tmp_path / "run").mkdir()
    (tmp_path / "base.json").rename(tmp_path / "run/run.json")
    assert main(["run", "candidate.json", "--json", "run/run.json"]) == 2


def test_devices_and_pipes_may_be_written_to_by_several(gate):
    assert gate([measurement()], [measurement()], "--json", "/dev/null", "--junit", "/dev/null")[0] == 0


def test_a_verdict_is_said_though_an_output_cannot_be_written(gate, tmp_path, monkeypatch):
    """And the other outputs are; nor does an output that nobody reads keep a file from being written."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/nonexistent/summary.md")
    code, out, err = gate([measurement()], [measurement(value=110)], "--json", "/dev/full", "--junit", str(tmp_path / "j.xml"))
    assert code == 5 and "slower: memory/hbm/copy" in out and "/dev/full: cannot be written" in err
    assert (tmp_path / "j.xml").exists() and err.count("\n") == 1
    code, out, err = gate([measurement()], [measurement()], "--json", "/dev/full", gpu=None)
    assert code == 5 and err.startswith("assay-gate: unfit to judge") and "/dev/full: cannot be written" in err
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    monkeypatch.setattr("sys.stdout", None)
    assert main([str(tmp_path / "base.json")] * 2 + ["--json", str(tmp_path / "said.json")]) == 5
    assert (tmp_path / "said.json").exists()


def test_a_file_that_is_none(gate, tmp_path, capsys):
    assert main([str(tmp_path / "none.json"), str(tmp_path)]) == 2
    assert "none.json: no such file" in capsys.readouterr().err


def test_different_gpus_are_unfit(gate):
    code, _, err = gate([measurement()], [measurement()], gpu=None)
    assert code == 4 and err.startswith("assay-gate: unfit to judge: the candidate was measured without a GPU")


CASES = (
    [measurement("a/same"), measurement("a/slow"), measurement("a/slower"), measurement("a/gone"), measurement("a|b")],
    [measurement("a/same"), measurement("a/slow", 104), measurement("a/slower", 110), measurement("a|b", 102)],
)


def test_the_table_is_worst_first_and_aligned(gate):
    _, out, _ = gate(*CASES)
    rows = out.splitlines()[:5]
    assert [row.split()[0] for row in rows] == ["verdict", "slower", "slower", "missing", "inconclusive"]
    assert [row.split()[1] for row in rows[1:]] == ["a/slower", "a/slow", "a/gone", "a|b"]
    assert len({row.find("time_us") for row in rows if "time_us" in row}) == 1
    assert "\x1b" not in out and "a/same" not in out and "1 more did not change" in out
    assert "a/same" in gate(*CASES, "--all")[1]


def test_outputs_for_machines(gate, tmp_path):
    files = {kind: tmp_path / f"gate.{kind}" for kind in ("json", "junit", "markdown")}
    code, out, _ = gate(*CASES, *(part for kind, path in files.items() for part in (f"--{kind}", str(path))))
    record = json.loads(files["json"].read_text())
    assert (record["schema"], record["exit_code"], code) == ("assay.gate/1", 2, 2)
    assert record["cases"][0]["ratio"]["value"] == pytest.approx(1.1)
    suite = ElementTree.parse(files["junit"]).getroot()
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "errors": "1",
        "skipped": "1",
    }
    assert suite.find("testcase[@name='a/slow time_us']/failure").get("message").startswith("slower by +4.00%")
    text = files["markdown"].read_text()
    assert out.splitlines()[-1] in text and r"a\|b" in text and "<details><summary>1 did not change" in text


def test_github(gate, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    base = [measurement(f"a/{i}") for i in range(30)]
    _, out, _ = gate(base, [measurement(f"a/{i}", 200 + i) for i in range(30)])
    errors = [line for line in out.splitlines() if line.startswith("::error ")]
    assert len(errors) == 10 and errors[0].startswith("::error title=a/29::slower by +129.00%25")
    gate(base, base)
    assert (tmp_path / "summary.md").read_text().count("**assay gate: ") == 2


def test_help_names_every_exit_code(gate):
    code, out, _ = gate([], [], "--help")
    assert code == 0 and all(f"\n  {int(code)}  " in out for code in Exit if code != Exit.INTERRUPTED)
