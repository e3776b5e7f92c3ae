# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over all C++ files but tests, each again only when something it is made of changed.

Nine tenths of its time go to headers, so files are read together, as one. Where that one finds fault, each file is read
alone, and what is found then counts.

.cu files are left out. The headers they share with .cpp files are checked through those.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

import sources

PROGRAM = os.path.join(os.path.dirname(sys.executable), "clang-tidy")
SETTINGS = ".clang-tidy", "scripts/requirements.txt"  # which checks, and by which version
TOGETHER = 64
INCLUDED = "--checks=-bugprone-suspicious-include"  # of .cpp files, as they are when they are read together
# What begins without indentation may define names: the last one before parameters, and those before values.
UNINDENTED = re.compile(r"^(?!#|template|namespace|using namespace)(?:\[\[\w+\]\] )?(\w[^;{]*[;{]?)", re.MULTILINE)
DEFINED = re.compile(r"\A[^(={\[;\n]*?(\w+) *(?:[(={\[;]|$)|(\w+)(?:\[\w*\])* = ", re.MULTILINE)


def commands() -> dict[str, str]:
    """How each of the files is compiled, by its path from the root; the file itself comes last. How well the compiler is
    to optimize does not matter here."""
    wanted = set(sources.files("harness/*.cpp", "probes/*.cpp", "kernels/*.cpp"))
    wanted -= set(sources.files("*/tests/*"))
    return {str(pathlib.Path(c["file"]).relative_to(sources.ROOT)): re.sub(r" -O\d\b| -o \S+ -c \S+$", "", c["command"])
            for c in sources.compile_commands() if pathlib.Path(c["file"]) in wanted}


COMMANDS = commands()


def stands_alone(name: str) -> bool:
    """Whether a file defines nothing that others see: it can stand in a namespace of its own."""
    return not re.search(r"^(namespace \w|int main)", sources.code(sources.ROOT / name), re.MULTILINE)


def defined(name: str) -> set[str]:
    """Names that a file defines outside of functions and classes, each with its namespace. A name too many is harmless."""
    code = sources.code(sources.ROOT / name)
    spaces = re.findall(r"^namespace ([\w:]+)", code, re.MULTILINE)
    found = {name for text in UNINDENTED.findall(code) for names in DEFINED.findall(text) for name in names} - {""}
    return {f"{space}::{name}" for space in spaces or [""] for name in found}


def groups() -> list[list[str]]:
    """Files that are read together: as many as may be, no name defined in two of them."""
    open_groups: list[tuple[list[str], set[str]]] = []
    for name in sorted(COMMANDS):
        names = {name.rsplit("/")[-1]} if stands_alone(name) else defined(name)
        for group, known in open_groups:
            if len(group) < TOGETHER and not names & known:
                break
        else:
            group, known = [], set()
            open_groups.append((group, known))
        group.append(name)
        known |= names
    return [group for group, _ in open_groups]


def common_command() -> str:
    """A command with all that is defined, and all folders that are looked into, for any of the files."""
    words = [shlex.split(command.replace("-isystem ", "-isystem")) for command in COMMANDS.values()]
    return shlex.join(dict.fromkeys(word for command in words for word in command))


def together(group: list[str]) -> str:
    """A C++ file that includes these."""
    lines = []
    for name in group:
        if stands_alone(name):
            lines += re.findall(r"^#include .*", (sources.ROOT / name).read_text(), re.MULTILINE)
    for name in group:
        included = f'#include "{sources.ROOT / name}"'
        space = "in_" + re.sub(r"\W", "_", name)
        lines.append(f"namespace {space} {{\n{included}\n}}" if stands_alone(name) else included)
    return "\n".join([*lines, ""])


def complaint(command: str, file: pathlib.Path, folder: pathlib.Path, *options: str) -> str:
    entry = {"directory": str(sources.ROOT), "command": f"{command} -c {file}", "file": str(file)}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    settings = f"--config-file={sources.ROOT / '.clang-tidy'}"
    result = subprocess.run([PROGRAM, "--quiet", settings, *options, "-p", str(folder), str(file)],
                            capture_output=True, text=True)
    return result.stdout + result.stderr if result.returncode != 0 else ""


@pytest.mark.parametrize("group", groups(), ids=lambda group: f"{group[0]}+{len(group) - 1}")
def test_passes_clang_tidy(group, tmp_path):
    files = [sources.ROOT / name for name in group]
    command = common_command()

    def run() -> str:
        if len(group) == 1:
            return complaint(COMMANDS[group[0]], files[0], tmp_path)
        one = tmp_path / "together.cpp"
        one.write_text(together(group))
        of_all = complaint(command, one, tmp_path, INCLUDED)
        if not of_all:
            return ""
        of_each = "".join(complaint(COMMANDS[name], file, tmp_path) for name, file in zip(group, files))
        return of_each or f"Each file alone is good. Together, as here, none may define what another names:\n{of_all}"

    how = command + "".join((sources.ROOT / name).read_text() for name in SETTINGS)
    found = sources.complaint_once("clang-tidy", how, files, run)
    assert not found, found


@pytest.mark.skipif(not COMMANDS, reason="nothing is built")
@pytest.mark.parametrize("opening", ["namespace {", "namespace assay {"])
def test_a_fault_is_found_where_files_are_read_together(tmp_path, opening):
    folder = tmp_path / "harness"
    folder.mkdir()
    group = [str(folder / "clean.cpp"), str(folder / "faulty.cpp")]
    (folder / "clean.cpp").write_text(f"#include <vector>\n{opening}\nint once() {{ return 1; }}\n}}\n")
    (folder / "faulty.cpp").write_text(
        f"#include <vector>\n{opening}\nint twice(std::vector<int> v) {{ return v.size() ? 2.0 / (3 / 2) : 0; }}\n}}\n")
    one = tmp_path / "together.cpp"
    one.write_text(together(group))
    command = next(iter(COMMANDS.values()))
    assert "faulty.cpp:3" in complaint(command, one, tmp_path, INCLUDED)
    one.write_text(together(group[:1]))
    assert not complaint(command, one, tmp_path, INCLUDED)
