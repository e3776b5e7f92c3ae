# SPDX-License-Identifier: Apache-2.0
"""harness/target_table.hpp is the one place that knows the targets: everything else asks it."""

import re
import shutil
import subprocess

import pytest

import sources

TABLE = sources.ROOT / "harness/target_table.hpp"
CODE = ("*.cpp", "*.hpp", "*.cu", "*.cuh", "*.h", "*.cmake", "*CMakeLists.txt", "CMakePresets.json",
        "*.sh", "reports/assay/*.py")
LINE_COMMENT = re.compile(r"//[^\n]*|(?m:^)\s*#\s[^\n]*")
OF_ONE_ARCHITECTURE = re.compile(r"_sm\d+\.\w+$")
# What `assay model` compiles a .cu file for, where nobody says: any target would do.
NAMED = {'harness/commands/model.cpp: "sm_90a"'}
PROGRAM = """
#include <cstdio>
#include "harness/target.hpp"
int main() {
  const assay::Target found = assay::parse_target("sm_999a");
  std::printf("%d %d %zu %d", found == assay::target_for_capability(99, 9),
              assay::has(found, assay::Feature::clusters), assay::built_targets().size(),
              assay::all_gpu_targets().back() == found);
}
"""


def rows() -> dict[str, bool]:
    """The targets of GPUs by name, and whether they are compiled by default."""
    found = re.findall(r'\.name = "(sm_\w+)",\s*\.suffix = "_sm\d+",\s*\.by_default = (\w+)', TABLE.read_text())
    return {name: default == "true" for name, default in found}


def without_comments(text: str) -> str:
    return LINE_COMMENT.sub("", re.sub(r'""".*?"""', "", text, flags=re.DOTALL))


def cmake(tmp_path, lines: str, *arguments: str) -> subprocess.CompletedProcess:
    script = tmp_path / "script.cmake"
    script.write_text(f"cmake_minimum_required(VERSION 3.25)\n"
                      f"include({sources.ROOT}/cmake/AssayTargets.cmake)\n{lines}\n")
    return subprocess.run(["cmake", *arguments, "-P", script], capture_output=True, text=True)


def words(text: str) -> str:
    return " ".join(text.split())


def test_kernels_for_all_targets_tell_none_apart():
    """All their machine code is made from the PTX of the oldest target: assay_share_ptx."""
    naming = [str(path.relative_to(sources.ROOT)) for path in sources.files("kernels/*")
              if path.suffix in (".cu", ".cuh", ".hpp") and "__CUDA_ARCH__" in path.read_text()]
    assert not naming


def test_probes_and_kernels_ask_for_features():
    named = [f"{path.relative_to(sources.ROOT)}: {line.strip()}"
             for path in sources.files("probes/*", "kernels/*")
             if path.suffix in (".cpp", ".hpp", ".cu", ".cuh")
             and "tests" not in path.parts and not OF_ONE_ARCHITECTURE.search(path.name)
             for line in path.read_text().splitlines() if "Target::sm_" in line]
    assert not named


def test_no_file_beside_the_table_knows_what_is_not_compiled_by_default():
    spellings = [name.removeprefix("sm_") for name, default in rows().items() if not default]
    knowing = [str(path.relative_to(sources.ROOT)) for path in sources.files(*CODE)
               if path != TABLE and "tests" not in path.parts
               and any(spelling in without_comments(path.read_text()) for spelling in spellings)]
    assert not knowing


def test_code_asks_the_table_and_names_no_target():
    """A literal that is a target's name, or its beginning, is what code decides by; sentences may name one."""
    literal = re.compile(r"""["']_?sm_?\d*[af]?["']""")
    files = sources.files("harness/*.cpp", "harness/*.hpp", "harness/*.cu", "harness/*.cuh", "reports/assay/*.py")
    named = {f"{path.relative_to(sources.ROOT)}: {found}" for path in files
             if path != TABLE and "tests" not in path.parts and not OF_ONE_ARCHITECTURE.search(path.name)
             for found in literal.findall(without_comments(path.read_text())) if re.search(r"\d", found)}
    assert named == NAMED


def test_cmake_reads_the_rows(tmp_path):
    result = cmake(tmp_path, 'message("${ASSAY_KNOWN_TARGETS} ${ASSAY_TARGETS}")')
    names = [name.removeprefix("sm_") for name in rows()]
    defaults = [name.removeprefix("sm_") for name, default in rows().items() if default]
    assert result.stderr == f"{';'.join(names)} {';'.join(defaults)}\n"
    assert len(names) == TABLE.read_text().count(".target = Target::sm_") >= len(defaults) > 0


def test_a_table_without_rows_is_an_error(tmp_path):
    (tmp_path / "table.hpp").write_text("namespace assay {}")
    result = cmake(tmp_path, "", f"-DASSAY_TARGET_TABLE={tmp_path / 'table.hpp'}")
    assert result.returncode != 0 and "table.hpp holds no row of a target" in words(result.stderr)


@pytest.mark.parametrize("file, found", [
    ("probes/x/copy_sm95.cu", "_sm95"), ("kernels/x/copy_sm95.cpp", "_sm95"), ("copy_sm95_test.cpp", "_sm95"),
    ("copy_sm90a.cu", "_sm90a"), ("copy_sm100f.cu", "_sm100f"), ("copy_SM90.cu", "_SM90"), ("copy_sm_90.cu", "_sm_90"),
    ("sm95.cu", "_sm95"), ("sm90x.cu", "_sm90x"), ("copy_sm95_x.cu", "_sm95"), ("copy_sm90_x.cu", "_sm90"),
    ("copy_sm95_sm90.cu", "_sm95"), ("copy_sm90_sm90.cu", "_sm90"), ("x_sm95.cuh", "_sm95"), ("x_sm90a.hpp", "_sm90a"),
])
def test_an_unknown_suffix_is_an_error(tmp_path, file, found):
    result = cmake(tmp_path, f"assay_architectures({file} result)")
    assert result.returncode != 0
    said = words(result.stderr)
    assert f"{file} is named for a target, '{found}'" in said and "known are _sm89 _sm90 " in said


def test_headers_are_held_to_it(tmp_path):
    """CMake compiles no header, so the project's names are read when it is configured."""
    result = cmake(tmp_path, "assay_check_names(a_sm90.cuh x_sm95.cuh)")
    assert result.returncode != 0 and "x_sm95.cuh is named for a target, '_sm95'" in words(result.stderr)
    project = (sources.ROOT / "CMakeLists.txt").read_text()
    assert "probes/*.cuh" in project and "\nassay_check_names(${named})\n" in project


def test_no_file_of_the_project_breaks_it(tmp_path):
    named = [path.relative_to(sources.ROOT) for path in sources.files("*.cpp", "*.hpp", "*.cu", "*.cuh", "*.h")]
    result = cmake(tmp_path, "\n".join(f"assay_suffix({path} result)" for path in named))
    assert result.returncode == 0, result.stderr


def test_an_unknown_target_is_an_error(tmp_path):
    result = cmake(tmp_path, "", "-DASSAY_TARGETS=90a;95a")
    assert result.returncode != 0
    assert "ASSAY_TARGETS names '95a', which is none of 89 90a " in words(result.stderr)


def test_a_suffix_means_its_rows_that_are_built(tmp_path):
    said = cmake(tmp_path, "foreach(file a.cu b_sm90.cu c_sm100.cu)\n"
                 "assay_architectures(${file} result)\nmessage(\"${result}\")\nendforeach()",
                 "-DASSAY_TARGETS=90a;100a").stderr
    assert said.split("\n")[:3] == ["90a-real;100a-real", "90a-real", "100a-real"]


def test_targets_after_the_first_blackwell_share_its_ptx(tmp_path):
    said = cmake(tmp_path, 'foreach(target IN LISTS ASSAY_KNOWN_TARGETS)\n'
                 'assay_ptx_base(${target} base)\nmessage("${target} ${base}")\nendforeach()').stderr.splitlines()
    own = {"89": "89", "90a": "90a"}
    assert said == [f"{name} {own.get(name, '100')}" for name in (row.removeprefix("sm_") for row in rows())]


def test_a_file_says_that_it_needs_ptx_of_its_own(tmp_path):
    for name, text in {"plain.cu": "", "new_sm90.cu": "", "marked.cu": "#include <a>\n\n// Own PTX: a test.\n"}.items():
        (tmp_path / name).write_text(text)
    said = cmake(tmp_path, f"foreach(file plain new_sm90 marked)\n"
                 f"assay_needs_own_ptx({tmp_path}/${{file}}.cu own)\nmessage(${{own}})\nendforeach()").stderr
    assert said.split() == ["FALSE", "TRUE", "TRUE"]


def test_files_that_share_ptx_do_not_tell_its_targets_apart():
    """There __CUDA_ARCH__ is 1000 for all of them, and no architecture's own features are said to be there."""
    apart = re.compile(r"__CUDA_ARCH_(?:FEAT|SPECIFIC|FAMILY)\w*|"
                       r"__CUDA_ARCH__\s*(?:(?:[<>]=?|[=!]=)\s*1(?!000\b)\d{3}|(?:[<=!]=|>)\s*1000\b)")
    found = []
    for path in sources.files("harness/*", "probes/*", "kernels/*"):
        if path.suffix in (".cu", ".cuh", ".hpp") and "tests" not in path.parts:
            text = path.read_text()
            if apart.search(text) and not (OF_ONE_ARCHITECTURE.search(path.name) or "\n// Own PTX: " in text):
                found.append(str(path.relative_to(sources.ROOT)))
    assert not found
    assert apart.search("#if __CUDA_ARCH__ < 1200") and apart.search("__CUDA_ARCH__ >= 1030")
    assert apart.search("__CUDA_ARCH__ == 1000") and not apart.search("#if __CUDA_ARCH__ >= 1000")
    assert not apart.search("__CUDA_ARCH__ < 1000")


def test_a_row_is_all_that_a_new_target_takes(tmp_path):
    """Another row in a copy of the table: CMake compiles for it, and the harness answers for it."""
    copy = tmp_path / "harness/target_table.hpp"
    copy.parent.mkdir()
    text = re.sub(r"(enum class Target[^}]*?),?\s*\}", r"\1, sm_999a }", TABLE.read_text())
    row = ('    {.target = Target::sm_999a, .name = "sm_999a", .suffix = "_sm999", .by_default = true,\n'
           '     .major = 99, .minor = 9, .generation = "Next", .features = kSinceHopper},\n')
    head, rest = text.split("kTargetTable[] = {", 1)
    body, tail = rest.split("\n};", 1)
    copy.write_text(f"{head}kTargetTable[] = {{{body}\n{row}}};{tail}")
    result = cmake(tmp_path, "assay_architectures(x_sm999.cu result)\nmessage(\"${result}\")",
                   f"-DASSAY_TARGET_TABLE={copy}")
    assert result.stderr == "999a-real\n"

    (tmp_path / "main.cpp").write_text(PROGRAM)
    subprocess.run(["c++", "-std=c++20", f"-I{tmp_path}", f"-I{sources.ROOT}", '-DASSAY_TARGETS="90a 999a"',
                    "main.cpp", sources.ROOT / "harness/target.cpp", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], capture_output=True, text=True).stdout == "1 1 2 1"


def test_native_is_the_target_of_this_machines_gpus(tmp_path):
    """Of whatever nvidia-smi says, each target once; without it, what is missing is said."""
    fake = tmp_path / "nvidia-smi"
    fake.write_text("#!/bin/sh\necho 9.0\necho 9.0\necho 8.9\n")
    fake.chmod(0o755)
    script = tmp_path / "native.cmake"
    script.write_text(f"cmake_minimum_required(VERSION 3.25)\nset(ASSAY_TARGETS native CACHE STRING \"\")\n"
                      f"include({sources.ROOT}/cmake/AssayTargets.cmake)\nmessage(\"${{ASSAY_TARGETS}}\")\n")

    def configured(path: str) -> subprocess.CompletedProcess:
        return subprocess.run([shutil.which("cmake"), "-P", script], capture_output=True, text=True,
                              env={"PATH": path})

    assert configured(f"{tmp_path}:/usr/bin:/bin").stderr.strip() == "90a;89"
    fake.unlink()
    refused = configured(str(tmp_path))
    assert refused.returncode != 0 and "nvidia-smi shows no GPU" in words(refused.stderr)
