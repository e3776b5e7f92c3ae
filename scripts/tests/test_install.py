# SPDX-License-Identifier: Apache-2.0
"""What is installed serves another project: its executable finds, lists and checks its own probe."""

import json
import re
import subprocess

import pytest

import sources

BUILD = sources.ROOT / "build"


def call(*command) -> str:
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def test_find_package_and_own_probe(tmp_path):
    if not (BUILD / "assay").exists():
        pytest.skip("nothing is built in build/")
    nvcc = re.search("^CMAKE_CUDA_COMPILER:.*=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]
    call("cmake", "--install", BUILD, "--prefix", tmp_path / "prefix")
    call("cmake", "-S", sources.ROOT / "examples/own_probe", "-B", tmp_path / "build", "-G", "Ninja",
         f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}", f"-DCMAKE_CUDA_COMPILER={nvcc}",
         "-DCMAKE_BUILD_TYPE=Release", "-DASSAY_TARGETS=90a")
    call("cmake", "--build", tmp_path / "build")
    program = tmp_path / "build/own_probe"
    listed = json.loads(call(program, "list", "--json"))
    assert [case["name"] for case in listed] == ["own/fma"]
    call(program, "sass", "--check", "--target", "sm_90a")
