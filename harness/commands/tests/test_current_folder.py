# SPDX-License-Identifier: Apache-2.0
"""Nothing in the folder that a command is started in is run or loaded, whatever its name."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from command_line import BUILD, ROOT, built

PROGRAMS = ["assay-gate", "assay-report", "assay-isa-page", "cuobjdump", "nvdisasm", "nvcc", "ptxas", "python3", "sh", "gcc",
            "g++", "cicc", "cudafe++"]
TRAP = 'extern "C" int puts(const char*);\n[[gnu::constructor]] static void spring() { puts("SPRUNG"); }\n'
COMMANDS = [["info"], ["list"], ["sass", "sass/ffma/f32", "--target", "sm_90a"],
            ["isa", "--ptx", "mov.b32 %r0, %r1;", "--targets", "sm_90a"], ["report", "--help"],
            ["gate", "--help"], ["model", str(ROOT / "harness/commands/tests/programs/fill.cu"), "--arg", "u32[128]=none"]]
# Empty entries and "." mean the current folder. They are common: LD_LIBRARY_PATH=/there:$LD_LIBRARY_PATH.
ENVIRONMENTS = {
    "as it is": {},
    "nothing but an empty entry": {"LD_LIBRARY_PATH": ":"},
    "empty entries": {"PATH": ":/usr/bin:/bin", "LD_LIBRARY_PATH": "/nowhere:", "PYTHONPATH": ":/nowhere"},
    "named": {"PATH": ".:/usr/bin:/bin", "LD_LIBRARY_PATH": ".;", "PYTHONPATH": "."},
}


def dynamic_section(file) -> str:
    return subprocess.run(["readelf", "-d", file], text=True, capture_output=True, check=True).stdout


def linked(file) -> set[str]:
    """The names that the loader is asked for when this is loaded, those of the libraries beside it included."""
    names = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic_section(file)))
    beside = [file.parent / name for name in names if (file.parent / name).exists()]
    return names.union(*map(linked, beside))


def opened() -> set[str]:
    """The names that the loader is asked for at run time: all that the sources spell."""
    sources = [path.read_text() for part in ("harness", "kernels", "probes") for path in (ROOT / part).rglob("*.cpp")
               if "tests" not in path.parts]
    return {name for text in sources for name in re.findall(r'"(lib[\w+-]+\.so(?:\.\w+)*)"', text)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which everything that could be taken for a part of assay says that it was."""
    folder = tmp_path_factory.mktemp("planted")
    source = folder / "trap.cpp"
    source.write_text(TRAP)
    subprocess.run(["g++", "-shared", "-fPIC", "-o", folder / "trap.so", source], check=True)
    planted = linked(built("assay")) | linked(built("libassay_kernels.so")) | opened()
    assert {"libz.so.1", "libstdc++.so.6", "libc.so.6", "libcuda.so.1", "libnccl.so.2"} <= planted
    for name in planted:
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
        for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic_section(program)):
            for entry in path.split(":"):
                assert entry.startswith(("/", "$ORIGIN")), f"{program}: {path}"
