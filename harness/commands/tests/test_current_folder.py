# SPDX-License-Identifier: Apache-2.0
"""Nothing in the folder that a command is started in is run or loaded, whatever its name."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from command_line import BUILD, ROOT, built

# Every library that is linked or opened at run time, by the name the loader is asked for.
LIBRARIES = [
    "libbenchmark.so.1debian", "libbenchmark.so.1", "libcuda.so.1", "libcublasLt.so.12",
    "libcublasLt.so.13", "libcupti.so.13", "libfmt.so.9", "libnccl.so.2", "libnvJitLink.so.13",
    "libnvidia-ml.so.1", "libnvperf_host.so", "libre2.so.9", "libre2.so.10", "libzstd.so.1",
]
PROGRAMS = ["assay-gate", "assay-report", "assay-isa-page", "cuobjdump", "nvdisasm", "nvcc", "ptxas", "python3"]
TRAP = 'extern "C" int puts(const char*);\n[[gnu::constructor]] static void spring() { puts("SPRUNG"); }\n'
COMMANDS = [["info"], ["list"], ["sass", "sass/ffma/f32", "--target", "sm_90a"],
            ["isa", "--ptx", "mov.b32 %r0, %r1;", "--targets", "sm_90a"], ["report", "--help"],
            ["gate", "--help"]]
# Empty entries and "." mean the current folder. They are common: LD_LIBRARY_PATH=/there:$LD_LIBRARY_PATH.
ENVIRONMENTS = {
    "as it is": {},
    "empty entries": {"PATH": ":/usr/bin:/bin", "LD_LIBRARY_PATH": "/nowhere:", "PYTHONPATH": ":/nowhere"},
    "named": {"PATH": ".:/usr/bin:/bin", "LD_LIBRARY_PATH": ".;", "PYTHONPATH": "."},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which everything that could be taken for a part of assay says that it was."""
    folder = tmp_path_factory.mktemp("planted")
    source = folder / "trap.cpp"
    source.write_text(TRAP)
    subprocess.run(["g++", "-shared", "-fPIC", "-o", folder / "trap.so", source], check=True)
    for name in LIBRARIES:
        shutil.copy(folder / "trap.so", folder / name)
    (folder / "assay").mkdir()
    (folder / "assay/__init__.py").write_text("print('SPRUNG')\n")
    (folder / "sitecustomize.py").write_text("print('SPRUNG')\n")
    for place in (folder, folder / ".venv/bin", folder / ".toolchain/nvidia/cu13/bin"):
        place.mkdir(parents=True, exist_ok=True)
        for name in PROGRAMS:
            (place / name).write_text("#!/bin/sh\necho SPRUNG\n")
            (place / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_nothing_planted_is_run_or_loaded(folder, arguments, environment):
    done = subprocess.run([built("assay"), *arguments], cwd=folder, text=True, capture_output=True, timeout=120,
                          env={**os.environ, **ENVIRONMENTS[environment]})
    assert "SPRUNG" not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


def test_the_library_loads_nothing_planted(folder):
    library = built("libassay_kernels.so")
    done = subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(library)!r})"], cwd=folder, text=True,
                          capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_search_path_has_an_empty_or_relative_entry():
    for program in [built("assay"), built("libassay_kernels.so"), *BUILD.glob("assay_test*")]:
        if program.is_dir() or program.suffix == ".cmake":
            continue
        dynamic = subprocess.run(["readelf", "-d", program], text=True, capture_output=True, check=True).stdout
        for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
            for entry in path.split(":"):
                assert entry.startswith(("/", "$ORIGIN")), f"{program}: {path}"
