# SPDX-License-Identifier: Apache-2.0
"""What gates write for programs is of its schema, and the schema names all of it."""

import dataclasses
import json
from pathlib import Path

import jsonschema_rs
import pytest
import runs
from runs import measurement

from assay.files import schema_check
from assay.gate.ab import command as ab
from assay.gate.command import main
from assay.gate.result import Rules, Verdict

GATE, SELF_TEST = "assay.gate-1.schema.json", "assay.self-test-1.schema.json"
ROOT = Path(__file__).resolve().parents[3]


def schema(file):
    return json.loads((schema_check.FOLDER / file).read_text())


def of_schema(path, file=GATE):
    document = json.loads(path.read_text())
    assert [(where, str(error)) for where, _, error in schema_check.problems(document, file)] == []
    return document


def judged(tmp_path, base, candidate, *options):
    for name, side in (("base", base), ("candidate", candidate)):
        runs.write(tmp_path / f"{name}.json", runs.run(*side))
    record = tmp_path / "gate.json"
    main([str(tmp_path / "base.json"), str(tmp_path / "candidate.json"), "--json", str(record), *options])
    return of_schema(record)


@pytest.mark.parametrize("file", [GATE, SELF_TEST])
def test_the_schemas_are_schemas(file):
    assert jsonschema_rs.meta.is_valid(schema(file))


def test_all_that_the_gate_writes_is_described(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\ncase = "a/*"\nthreshold_percent = 3\n')
    base = [measurement(f"a/{i}") for i in range(4)]
    candidate = [measurement("a/0", 200), measurement("a/1", 50), measurement("a/2"), measurement("a/new")]
    document = judged(tmp_path, base, candidate, "--policy", str(policy), "--metric", "time_us")
    described = schema(GATE)
    case = described["$defs"]["case"]["properties"]
    assert {verdict for c in document["cases"] if (verdict := c["verdict"])} >= {"slower", "faster", "missing"}
    assert set(document) <= set(described["properties"]) and set(document["cases"][0]) == set(case)
    assert set(document["rules"]) == set(described["$defs"]["rules"]["properties"])
    assert {f.name for f in dataclasses.fields(Rules)} == set(document["rules"])
    assert case["verdict"]["enum"] == [v.value for v in Verdict]


def test_runs_side_by_side_are_of_the_schema(tmp_path):
    record = tmp_path / "gate.json"
    say = "sh -c 'echo takes 3.%s us'"
    options = ["--metric", "takes ([0-9.]+) us", "--unit", "us", "--pairs", "8", "--json", str(record)]
    assert ab.main(["--base", say % 1, "--candidate", say % 1, *options]) == 0
    document = of_schema(record)
    assert document["pairs"] == 8 and set(document) == set(schema(GATE)["properties"])


def test_wrong_ones_are_told(tmp_path):
    document = judged(tmp_path, [measurement("a")], [measurement("a")])
    for path, value in (
        (("exit_code",), 9),
        (("outcome",), None),
        (("cases", 0, "verdict"), "fine"),
        (("cases", 0, "ratio"), {"value": -1, "ci95": [1, 2]}),
        (("cases", 0, "processes"), 1.5),
        (("rules", "correction"), "most"),
    ):
        wrong = json.loads(json.dumps(document))
        at = wrong
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        assert list(schema_check.problems(wrong, GATE)), path


def test_committed_self_tests_are_of_the_schema():
    paths = list((ROOT / "results").glob("*/*/self_test.json"))
    assert paths
    for path in paths:
        document = of_schema(path, SELF_TEST)
        assert set(document) == set(schema(SELF_TEST)["properties"])
