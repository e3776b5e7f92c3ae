# SPDX-License-Identifier: Apache-2.0
"""One table of exit statuses for all Python commands, and no other way for one of them to end."""

import errno
import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import runs

from assay import program
from assay.files import writing
from assay.program import MEANINGS, Exit

ROOT = Path(__file__).parents[2]
SCRIPTS = tomllib.loads((ROOT / "reports/pyproject.toml").read_text())["project"]["scripts"]
MAINS = {**SCRIPTS, "assay.files.compact": "assay.files.compact:main"}


# What a command is given that is to read one file.
GIVEN = {
    "assay-gate": lambda file: [file, file],
    "assay-ab": lambda file: ["--base", file, "--candidate", file],
    "assay-baseline": lambda file: ["page", file],
}


def main_of(name):
    module, _, function = MAINS[name].partition(":")
    return getattr(importlib.import_module(module), function)


def test_the_readme_and_the_program_have_the_same_table():
    said = (ROOT / "README.md").read_text().split("Exit status, everywhere:")[1].split("\n## ")[0]
    table = re.findall(r"^\| (\d+) \| (.*) \|$", said, re.MULTILINE)
    assert {int(code): words for code, words in table} == {int(code): words for code, words in MEANINGS.items()}
    in_cpp = re.findall(r"^  \w+ = (\d+)", (ROOT / "harness/error.hpp").read_text(), re.MULTILINE)
    assert in_cpp and {int(code) for code in in_cpp} <= {int(code) for code in Exit}


@pytest.mark.parametrize("name", MAINS)
def test_every_command_ends_in_the_same_ways(name, tmp_path, capsys, monkeypatch):
    main = main_of(name)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def status(*arguments):
        try:
            return main([str(argument) for argument in arguments])
        except SystemExit as end:
            return end.code

    assert status("--help") == Exit.OK
    said = capsys.readouterr().out.lower()
    assert "exit" in said and all(re.search(rf"\b{code}\b", said) for code in (0, 2, 5, 70)), said
    assert status("--nonsense") == status() == Exit.USAGE
    for empty in (GIVEN.get(name, lambda one: [one])(""), ["x", "--out", ""], ["x", "--json="]):
        capsys.readouterr()
        assert status(*empty) == Exit.USAGE, empty
    capsys.readouterr()
    (tmp_path / "run.json").write_text("[")
    (tmp_path / "text.json").write_text("\x1b[2J\n::error::x")
    (tmp_path / "folder").mkdir()
    for file in ("run.json", "text.json", "none.json", "folder", "/dev/zero", "a\0b"):
        assert status(*GIVEN.get(name, lambda one: [one])(tmp_path / file)) == Exit.USAGE, file
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and "\x1b" not in err
        assert any(part in err for part in (".json", "folder", "/dev/zero", r"a\x00b"))


def test_whatever_is_raised_has_a_status_and_one_line(capsys, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    cases = {
        ZeroDivisionError("x\ny"): Exit.DEFECT,
        RecursionError(): Exit.DEFECT,
        MemoryError(): Exit.UNFIT,
        KeyboardInterrupt(): Exit.INTERRUPTED,
        program.RunFileError("a\nb"): Exit.USAGE,
        program.NotWritten("c"): Exit.NOT_WRITTEN,
        PermissionError(errno.EACCES, "Permission denied", "folder/run.json"): Exit.USAGE,
    }
    for error, expected in cases.items():

        @program.command("assay-x")
        def main(arguments=None, error=error):
            raise error

        assert main() == expected
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("assay-x: ") and err.count("\n") == 1 and "Traceback" not in err
    assert "test_program.py:" in program_line(capsys)


def program_line(capsys):
    @program.command("assay-x")
    def main(arguments=None):
        return {}["field"]

    assert main() == Exit.DEFECT
    return capsys.readouterr().err


@pytest.mark.parametrize("module", ["assay.gate", "assay.report", "assay.files.compact"])
def test_a_module_that_is_run_ends_with_that_status(module, tmp_path):
    runs.write(tmp_path / "run.json", [])
    done = subprocess.run(
        [sys.executable, "-m", module, *[str(tmp_path / "run.json")] * (2 if module == "assay.gate" else 1)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == Exit.USAGE and done.stderr.count("\n") == 1, done.stderr


def test_a_file_is_replaced_whole_and_keeps_what_it_is(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"before")
    file.chmod(0o640)
    link.symlink_to(file)
    program.write_file(link, b"after")
    assert link.is_symlink() and file.read_bytes() == b"after" and file.stat().st_mode & 0o777 == 0o640

    def parts():
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writing.replace(file, parts())
    assert file.read_bytes() == b"after" and sorted(tmp_path.iterdir()) == [file, link]
    program.write_file(Path(os.devnull), b"x")
    assert Path(os.devnull).is_char_device()
    with pytest.raises(program.NotWritten):
        program.write_file(Path("/dev/full"), b"x")
