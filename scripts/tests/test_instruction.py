# SPDX-License-Identifier: Apache-2.0
"""A new instruction is one row in one file, as CONTRIBUTING.md shows."""

import json
import re
import pathlib
import shlex
import subprocess

import pytest

import sources

TABLE = "probes/sass/integer.cpp"
BEFORE = "std::vector<InstructionRow> multiply_rows() {"
NAME = "sass/imad/s32_square"


def shown_row() -> str:
    text = (sources.ROOT / "CONTRIBUTING.md").read_text()
    return re.search(r"^```c\+\+\n(row\(.*?)^```$", text, re.M | re.S)[1]


def run(command, cwd=sources.ROOT) -> str:
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def program_with(row: str, folder) -> str:
    """The built program, with the table's object made anew from the table with one row more."""
    table = sources.ROOT / TABLE
    head, tail = table.read_text().split(BEFORE)
    start = tail.index("return {") + len("return {")
    changed = folder / table.name
    changed.write_text(head + BEFORE + tail[:start] + "\n" + row + tail[start:])
    entry = next(c for c in sources.compile_commands() if c["file"] == str(table))
    whole = changed
    if entry["within"] != str(table):  # what it is compiled together with
        whole = folder / "whole.cpp"
        whole.write_text(pathlib.Path(entry["within"]).read_text().replace(str(table), str(changed)))
    command = [str(whole) if word == str(table) else word for word in shlex.split(entry["command"])]
    original = command[command.index("-o") + 1]
    command[command.index("-o") + 1] = str(folder / "table.o")
    run(command, entry["directory"])
    steps = run(["ninja", "-C", str(sources.ROOT / "build"), "-t", "commands", "assay"])
    link = next(s for s in steps.splitlines()[-1].split(" && ") if " -o assay " in s)
    words = [{original: f"{folder}/table.o", "assay": f"{folder}/assay"}.get(word, word)
             for word in shlex.split(link)]
    run(words, sources.ROOT / "build")
    return f"{folder}/assay"


def test_a_row_is_a_case_a_form_and_a_checked_loop(tmp_path):
    if not (sources.ROOT / "build" / "assay").exists():
        pytest.skip("nothing is built in build/")
    program = program_with(shown_row(), tmp_path)
    assert [case["name"] for case in json.loads(run([program, "list", NAME, "--json"]))] == [NAME]
    assert "mad.lo.u32" in run([program, "isa", NAME])
    run([program, "sass", "--check", NAME, "--out", str(tmp_path / "checked")])
    (case, *more) = json.loads((tmp_path / "checked/run.json").read_text())["measurements"]
    assert all(one["sass"]["verified"] for one in [case, *more])
