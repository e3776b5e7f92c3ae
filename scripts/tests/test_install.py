# SPDX-License-Identifier: Apache-2.0
"""What is installed serves another project, as CONTRIBUTING.md tells it: its executable lists, checks, measures,
reports and gates its own probes."""

import json
import os
import re
import subprocess

import pytest

import sources

BUILD = sources.ROOT / "build"
EXAMPLE = sources.ROOT / "examples/own_probe"
MODEL_EXAMPLE = sources.ROOT / "examples/model_bug"
COPY_QUESTION = "How fast is our copy, and how does it compare with the CUDA runtime's?"


def call(*command) -> str:
    path = f"{sources.ROOT}/.venv/bin:{os.environ['PATH']}"  # where assay-report and assay-gate are
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            env={**os.environ, "PATH": path})
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def test_contributing_shows_the_example():
    """Its blocks of code are the example's files, and each costs its author less than 60 lines."""
    text = (sources.ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall("^```(?:cuda|cpp)\n(.*?)^```$", text, re.M | re.S)
    files = [(EXAMPLE / name).read_text() for name in
             ("fma_latency.cu", "division_latency.cpp", "copy/copy.hpp", "copy/copy.cu", "copy/cases.cpp")]
    files += [(MODEL_EXAMPLE / name).read_text() for name in ("twice.cu", "main.cpp")]
    assert blocks == files
    assert all(len(block.splitlines()) < 60 for block in blocks)


def test_find_package_and_own_probe(tmp_path):
    if not (BUILD / "assay").exists():
        pytest.skip("nothing is built in build/")
    found = next(BUILD.glob("CMakeFiles/*/CMakeCUDACompiler.cmake")).read_text()
    nvcc = re.search(r'^set\(CMAKE_CUDA_COMPILER "(.*)"\)$', found, re.M)[1]
    call("cmake", "--install", BUILD, "--prefix", tmp_path / "prefix")
    call("cmake", "-S", EXAMPLE, "-B", tmp_path / "build", "-G", "Ninja",
         f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}", f"-DCMAKE_CUDA_COMPILER={nvcc}",
         "-DCMAKE_BUILD_TYPE=Release", "-DASSAY_TARGETS=90a")
    call("cmake", "--build", tmp_path / "build")
    program = tmp_path / "build/own_probe"
    listed = json.loads(call(program, "list", "--json"))
    assert {case["name"]: case["question"] for case in listed} == {
        "own/copy/bf16/268435456": COPY_QUESTION, "own/copy/bf16/268435456/sustained": COPY_QUESTION,
        "own/division": "How long until the sum of 1 and a quotient can be divided by, on the CPU?",
        "own/fma": "How many cycles until the result of an FFMA can be used?"}
    call(program, "sass", "--check", "--target", "sm_90a", "--out", tmp_path / "checked")
    checked = json.loads((tmp_path / "checked/run.json").read_text())["measurements"]
    assert all(case["sass"]["verified"] for case in checked)
    loops = {case["name"]: case["sass"]["loop"] for case in checked}
    assert loops["own/fma"]["FFMA"] == 64 and loops["own/copy/bf16/268435456"]["LDG.E.128"] > 0

    call(program, "run", "own/division", "--repetitions", 6, "--out", tmp_path / "run")
    measured = json.loads((tmp_path / "run/run.json").read_text())["measurements"]
    assert [m["name"] for m in measured] == ["own/division"] * 6
    assert all(m["status"] == "ok" and m["primary"] == "latency_ns" for m in measured)
    call(program, "report", tmp_path / "run", "--out", tmp_path / "page")
    assert "own/division" in (tmp_path / "page/family-own-cases.html").read_text()
    assert "| own/division | latency, ns |" in (tmp_path / "page/report.md").read_text()
    # Against itself: a busy machine cannot make that slower.
    call(program, "gate", tmp_path / "run", tmp_path / "run", "--all", "--json", tmp_path / "gate.json")
    assert "own/division" in (tmp_path / "gate.json").read_text()
