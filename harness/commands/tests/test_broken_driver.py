# SPDX-License-Identifier: Apache-2.0
"""`assay info` says what it can under a driver that fails, lies, or lacks functions."""

import json
import os
import re
import subprocess

import pytest

from command_line import ROOT, built

DRIVER = ["cuInit", "cuDriverGetVersion", "cuGetProcAddress", "cuGetProcAddress_v2", "cuDeviceGetCount", "cuDeviceGet",
          "cuGetExportTable"]


def library(folder, name: str, functions, status: int):
    """A library whose functions all return this and touch nothing else."""
    source = folder / "source.cpp"
    source.write_text("".join(f'extern "C" int {function}() {{ return {status}; }}\n' for function in functions)
                      + 'extern "C" const char* nvmlErrorString(int) { return nullptr; }\n')
    subprocess.run(["g++", "-shared", "-fPIC", "-o", folder / name, source], check=True)


@pytest.mark.parametrize(("status", "arguments"), [
    (0, ["info"]), (999, ["info"]), (999, ["info", "--json"]), (None, ["info"])])
def test_info_under_a_broken_driver(tmp_path, status, arguments):
    nvml = set(re.findall(r'"(nvml[A-Z]\w+)"', (ROOT / "harness/machine/nvml.cpp").read_text())) - {"nvmlErrorString"}
    library(tmp_path, "libnvidia-ml.so.1", sorted(nvml) if status is not None else [], status)
    library(tmp_path, "libcuda.so.1", DRIVER if status is not None else [], status)
    done = subprocess.run([built("assay"), *arguments], text=True, capture_output=True, timeout=60, env={
        **os.environ, "LD_LIBRARY_PATH": str(tmp_path), "ASSAY_NVML_LIBRARY": str(tmp_path / "libnvidia-ml.so.1"),
        "ASSAY_CUDA_DRIVER_LIBRARY": str(tmp_path / "libcuda.so.1")})
    assert done.returncode == 0, done.stderr
    if "--json" in arguments:
        assert json.loads(done.stdout)["gpus"] == []
    else:
        assert "What works here" in done.stdout and "no   measure a GPU" in done.stdout
