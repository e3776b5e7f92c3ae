# SPDX-License-Identifier: Apache-2.0
"""Where the PTX manual leaves room: `assay model` has both readings, and names the one that a kernel rests on."""

import json
import re
import subprocess

from command_line import ROOT, built

PROGRAM = "harness/commands/tests/programs/elected.cu"
SHAPE = ["--block", "32", "--arg", "u32[1]=none"]


def model(*options):
    return subprocess.run([built("assay"), "model", *options], cwd=ROOT, capture_output=True, text=True)


def test_what_a_kernel_rests_on_is_named():
    found = model(PROGRAM, *SHAPE, "--seeds", "20")
    assert found.returncode == 1, found.stderr
    assert "unspecified (elect.lane): here elect.sync elects the highest lane" in found.stdout
    as_json = json.loads(model(PROGRAM, *SHAPE, "--seeds", "20", "--json").stdout)
    findings = (as_json[0] if isinstance(as_json, list) else as_json)["findings"]
    assert {reading["reading"] for f in findings for reading in f["unspecified"]} == {"elect.lane"}


def test_one_reading_alone():
    first = model(PROGRAM, *SHAPE, "--seeds", "20", "--reading", "elect.lane=first")
    assert first.returncode == 0, first.stdout
    second = model(PROGRAM, *SHAPE, "--seeds", "1", "--reading", "elect.lane=second")
    assert second.returncode == 1
    other = model("harness/commands/tests/programs/fill.cu", "--arg", "u32[128]=none", "--reading", "elect.lane=second")
    assert other.returncode == 0, other.stdout


def test_a_wrong_name_lists_all():
    wrong = model(PROGRAM, *SHAPE, "--reading", "elect.lane=third")
    assert wrong.returncode == 2
    assert "--reading elect.lane=third" in wrong.stderr and "cvt.rs=second" in wrong.stderr


def test_every_reading_is_taken_somewhere_and_told_of():
    declared = (ROOT / "harness/model/machine/reading.hpp").read_text()
    enumerators = re.search(r"enum class Reading[^{]*{([^}]*)}", declared)[1].split(",")
    names = re.findall(r'ReadingTexts{"([^"]+)"', declared)
    page = (ROOT / "docs/model.md").read_text()
    code = "".join(path.read_text() for path in (ROOT / "harness/model").rglob("*.cpp") if "tests" not in path.parts)
    wanted = [name.strip() for name in enumerators if name.strip()]
    assert len(wanted) == len(names) > 5
    assert [name for name in wanted if f"takes_second(Reading::{name})" not in code] == []
    assert [name for name in names if f"| `{name}` |" not in page] == []
