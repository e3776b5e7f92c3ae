# SPDX-License-Identifier: Apache-2.0
"""A kernel with its baseline touches its own folder alone: CONTRIBUTING.md's, put under kernels/ of a copy of the
sources, is found and compiles."""

import json
import re
import shutil
import subprocess

import pytest

import sources

BUILD = sources.ROOT / "build"


def call(*command, **options) -> None:
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"


def test_a_new_kernel_touches_its_own_folder_alone(tmp_path):
    found = next(BUILD.glob("CMakeFiles/*/CMakeCUDACompiler.cmake"), None)
    if not found:
        pytest.skip("nothing is configured in build/")
    nvcc = re.search(r'^set\(CMAKE_CUDA_COMPILER "(.*)"\)$', found.read_text(), re.M)[1]
    tree = tmp_path / "assay"
    for file in sources.files("CMakeLists.txt", "cmake/*", "harness/*", "probes/*", "kernels/*"):
        copy = tree / file.relative_to(sources.ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    if (sources.ROOT / ".toolchain").exists():
        (tree / ".toolchain").symlink_to(sources.ROOT / ".toolchain")
    shutil.copytree(sources.ROOT / "examples/own_probe/copy", tree / "kernels/copy")

    call("cmake", "-S", tree, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_CUDA_COMPILER={nvcc}",
         "-DCMAKE_BUILD_TYPE=Release", "-DASSAY_TARGETS=90a", "-DASSAY_BUILD_TESTS=OFF", "-DASSAY_JOIN=OFF")
    commands = json.loads((tmp_path / "build/compile_commands.json").read_text())
    new = [command for command in commands if "/kernels/copy/" in command["file"]]
    assert sorted(command["file"] for command in new) == [
        f"{tree}/kernels/copy/cases.cpp", f"{tree}/kernels/copy/copy.cu"]
    for command in new:
        call("sh", "-c", command["command"], cwd=command["directory"])
