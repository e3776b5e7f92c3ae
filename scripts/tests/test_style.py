# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that a program can check."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import sources

CXX = ("*.cpp", "*.hpp", "*.cu", "*.cuh", "*.h")
SCRIPTS = ("*.py", "*.sh", "*.cmake", "*CMakeLists.txt", "containers/*", ".ci/run")
LONGEST = 400  # lines: what can be read in one sitting
# The C header's guard and how it exports.
MACROS = {"kernels/c_api/assay_kernels.h": {"ASSAY_KERNELS_H", "ASSAY_KERNELS_API"}}
HEAVY = ("CLI/", "nlohmann/", "fmt/", "benchmark/", "re2/", "regex")  # seconds of compile time each, under nvcc
HEAVY_STANDARD = {"memory", "functional"}  # thousands of lines, read for the CPU and for each target
# As in reports/tests/test_house.py: names that say nothing. A list of CtaPlace may be `places`, but what a map's key
# means its name should tell.
VAGUE = re.compile(r"\b(anything|beside)\b|\bmap<[^;(){}]*>\s+(places|functions)\b")


def relative(paths) -> list[str]:
    return [str(path.relative_to(sources.ROOT)) for path in paths]


def test_formatted_by_clang_format():
    program = os.path.join(os.path.dirname(sys.executable), "clang-format")
    result = subprocess.run(
        [program, "--dry-run", "-Werror", *map(str, sources.files(*CXX))],
        capture_output=True, text=True,
    )
    assert result.returncode == 0, result.stderr


def test_license_line_comes_first():
    def has_line(path):
        lines = path.read_text().splitlines()[:2]
        first = lines[1] if lines and lines[0].startswith("#!") else "".join(lines[:1])
        return "SPDX-License-Identifier: Apache-2.0" in first

    assert not relative(p for p in sources.files(*CXX, *SCRIPTS) if not has_line(p))


def test_files_are_read_in_one_sitting():
    lengths = {p: len(p.read_text().splitlines()) for p in sources.files(*CXX, *SCRIPTS)}
    assert not relative(p for p, length in lengths.items() if length > LONGEST)


def test_heavy_headers_stay_in_cpp_files():
    ways = []
    for file in sources.files("*.cu"):
        for way in sources.closure(file).values():
            for name in sources.includes(way[-1]):
                if name.startswith(HEAVY) or name in HEAVY_STANDARD:
                    ways.append(" -> ".join([*relative(way), name]))
    assert not ways


def test_headers_are_included_once():
    assert not relative(
        p for p in sources.files("*.hpp", "*.cuh") if "\n#pragma once\n" not in p.read_text()
    )


def test_inline_assembly_is_in_one_room():
    """But for the kernels of the model's tests, which stand for those of others."""
    assembly = re.compile(r"\b(asm|__asm|__asm__)\b")
    others = sources.ROOT / "harness/model/tests/kernels"
    found = [p for p in sources.files(*CXX) if p.parent != others and assembly.search(sources.code(p))]
    assert {p.parent for p in found} == {sources.ROOT / "harness/ptx"}, relative(found)


def test_no_macros_but_those_of_the_c_header():
    found = {
        str(p.relative_to(sources.ROOT)): names
        for p in sources.files(*CXX)
        if (names := set(re.findall(r"#\s*define\s+(\w+)", sources.code(p))))
    }
    assert found == MACROS


def test_headers_open_no_namespace_for_others():
    opens = re.compile(r"\busing\s+namespace\b")
    assert not relative(
        p for p in sources.files("*.hpp", "*.cuh", "*.h") if opens.search(sources.code(p))
    )


def test_messages_go_one_way():
    """What they repeat of files and of the command line is made harmless in one place."""
    telling = re.compile(r'(?:stderr,|show_on_stderr\()[^;]*"assay: ')
    found = {path for path in sources.files("*.cpp", "*.cu") if telling.search(path.read_text())}
    assert relative(found) == ["harness/machine/excerpt.cpp"]
    ends_twice = re.compile(r'\btell\([^;]*?\\n"\s*[,)]')
    assert not [path for path in set(sources.files("*.cpp")) - found if ends_twice.search(path.read_text())]


def test_names_say_what_they_name():
    found = {str(p.relative_to(sources.ROOT)): m[0]
             for p in sources.files(*CXX) if (m := VAGUE.search(sources.code(p)))}
    assert not found


def test_shell_scripts_pass_shellcheck():
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    scripts = relative(sources.files("*.sh", ".ci/run"))
    result = subprocess.run(
        ["shellcheck", "-x", *scripts], cwd=sources.ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout
