# SPDX-License-Identifier: Apache-2.0
"""Policies: which threshold holds, and what is wrong with a file."""

import time

import pytest
import runs
from runs import measurement
from test_gate import only

from assay.files import RunFileError
from assay.gate import main, policy
from assay.gate.result import Rules

GOOD = """
[default]
threshold_percent = 3

[[rule]]
case = "kernels/gemm/*"
threshold_percent = 1.5

[[rule]]
case = "kernels/*"
metric = "latency*"
threshold_percent = 0.5

[[rule]]
case = "host/*"
gated = false
"""


@pytest.fixture
def write(tmp_path):
    def put(text):
        path = tmp_path / "gate.toml"
        path.write_text(text)
        return path

    return put


@pytest.mark.parametrize(
    "case, metric, threshold, gated",
    [
        ("memory/hbm/copy", "time_us", 0.03, None),
        ("kernels/gemm/bf16/m1/nt", "tflops", 0.015, None),
        ("kernels/gemm/bf16/m1/nt", "latency_us", 0.005, None),
        ("host/x", "time_us", 0.03, False),
    ],
)
def test_the_last_rule_that_matches_holds(write, case, metric, threshold, gated):
    found = policy.load(write(GOOD))
    assert found.threshold(case, metric) == pytest.approx(threshold) and found.gated(case, metric) is gated
    assert policy.Policy().threshold(case, metric) is None


def test_the_gate_holds_cases_to_it(write):
    rules = Rules(policy=policy.load(write(GOOD)))
    assert only(measurement("kernels/gemm/a"), measurement("kernels/gemm/a", 102.5), rules).verdict == "slower"
    assert only(measurement("a"), measurement("a", 102), rules).verdict == "equivalent"
    assert not only(measurement("host/a"), measurement("host/a", 150), rules).gated


def test_the_command_takes_it(write, tmp_path):
    for name, value in (("base", 100), ("candidate", 104)):
        runs.write(tmp_path / f"{name}.json", runs.run(measurement(value=value)))
    given = [str(tmp_path / "base.json"), str(tmp_path / "candidate.json")]
    assert main(given) == 1
    assert main([*given, "--policy", str(write("[default]\nthreshold_percent = 10\n"))]) == 0


@pytest.mark.parametrize(
    "text, words",
    [
        ("[default", "end of document: not valid TOML: "),
        ("x = 1\nx = 2", "end of document: not valid TOML: Cannot overwrite a value; "),
        ("[" + "a" * 5000 + "]\n[" + "a" * 5000 + "]", "line 2, column 5002: not valid TOML: Cannot declare ('aaaa"),
        ("threshold_percent = 2", "document.threshold_percent: no such field"),
        ("[default]\nthreshold = 2", "default.threshold: no such field; known are threshold_percent"),
        ("[default]\nthreshold_percent = '2%'", "is no int or float"),
        ("[default]\nthreshold_percent = true", "is no int or float"),
        ("[default]\nthreshold_percent = -1", "is not from 0 to 1000"),
        ("[default]\nthreshold_percent = nan", "is not from 0 to 1000"),
        ("rule = 1", "document.rule: 1 is no list"),
        ("rule = [1]", "rule[0]: 1 is no table"),
        ("[[rule]]\ncase = 'a'", "rule[0]: says nothing"),
        ("[[rule]]\ncase = 1\ngated = false", "rule[0].case: 1 is no str"),
        ("[[rule]]\ngated = 0", "rule[0].gated: 0 is no bool"),
        ("[default]\nthreshold_percent = " + "9" * 400, "default.threshold_percent: 99999"),
        ("[default]\nthreshold_percent = 0x" + "f" * 5000, "an integer of so many digits is not from"),
        ("[default]\nthreshold_percent = " + "9" * 5000, "the document: an integer of more digits"),
        ("[[rule]]\ncase = 0x" + "f" * 5000, "rule[0].case: an integer of so many digits is no str"),
        ("[[rule]]\ncase.a.a = 1", "rule[0].case: a table is no str"),
        ("x = " + "[" * 50_000, "nested too deeply"),
        ("[[rule]]\ncase" + ".a" * 100_000 + " = 1", "line 2: more than 16 dots"),
        ('x = """\n#"""\n[' + "a." * 100_000 + "a]\n", "line 3: more than 16 dots"),
        ("[[rule]]\ncase = '" + "[" * 100_000 + "'\ngated = false", "rule[0].case: 100,000 characters"),
        ("[[rule]]\ngated = false\n" * 1001, "rule: 1,001 of them, 1,000 are the most"),
        ("a" * 100_000 + " = 1", f"document.{'a' * 60}: no such field"),
        ('"a\\nb" = 1', r'document["a\x0ab"]: no such field'),
        ("#" * (1 << 20) + "\n", "larger than 1 MiB"),
    ],
    ids=lambda text: text[:40],
)
def test_what_is_wrong_names_the_field_and_the_mend(write, text, words):
    with pytest.raises(RunFileError) as caught:
        policy.load(write(text))
    assert words in str(caught.value) and "assay gate --help" in str(caught.value) and "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.quiet
def test_a_policy_of_as_much_as_it_may_hold_is_quick(write):
    """Globs of every length, and as many rules as there may be, over as many cases as a run has."""
    text = "".join(f"[[rule]]\ncase = '{'*a' * 20}{number}'\ngated = false\n" for number in range(policy.MOST_RULES))
    begin = time.process_time()
    found = policy.load(write(text + "# 0.0.0.0 " + "." * 1000 + "\n"))
    for number in range(200):
        assert found.gated(f"kernels/{'a' * 30}/{number}", "time_us") is None or number in range(policy.MOST_RULES)
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("text", ["", " \n\n", "# only a remark\n", "\ufeff", "rule = []", "[default]", "rule = []\n[default]"])
def test_a_policy_that_says_nothing_is_refused(write, text):
    """It may have been cut to nothing, and the gate would judge as without it."""
    path = write(text)
    with pytest.raises(RunFileError, match="says nothing; give a default or a rule, or leave --policy out"):
        policy.load(path)


@pytest.mark.parametrize(
    "case, more, told", [("kernels/gem/*", (), True), ("kernels/gem/*", ("--filter", "gemm"), False), ("kernels/g*", (), False)]
)
def test_a_rule_that_matches_nothing_is_told(write, tmp_path, capsys, case, more, told):
    for name in ("base", "candidate"):
        runs.write(tmp_path / f"{name}.json", runs.run(measurement("kernels/gemm/a")))
    path = write(f'[[rule]]\ncase = "{case}"\ngated = false\n[[rule]]\nthreshold_percent = 1\n')
    main([str(tmp_path / "base.json"), str(tmp_path / "candidate.json"), "--policy", str(path), *more])
    said = f"note: {path}: rule[0]: no case and metric here match; mend case and metric if they should\n"
    assert (said in capsys.readouterr().out) is told
