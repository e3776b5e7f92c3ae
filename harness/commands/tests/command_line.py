# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: a program to run, and a reader of what it leaves."""

import json
import os
import pathlib
import shutil
import subprocess
import time

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build"))
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "reports/assay/files/schema/assay.run-1.schema.json").read_text()))


def built(name: str) -> pathlib.Path:
    """The path of a built program; skips the test where nothing is built."""
    if not (BUILD / name).exists():
        pytest.skip(f"{BUILD / name} is not built")
    return BUILD / name


class Program:
    """A copy of `assay` with the probes of programs/test_probes.cpp, in a folder of its own.

    A copy, so that its processes can be told from those of other tests, and so that no Python
    environment of the project lies near it.
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.path = folder / "assay"
        shutil.copy(built("assay_test_probes"), self.path)
        for library in [path for name in ("benchmark", "fmt", "re2") for path in BUILD.glob(f"lib{name}.so*")]:
            shutil.copy(library, folder)
        self.own_files = [path.name for path in folder.iterdir()]
        # No GPU, wherever this runs.
        self.environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PATH": "/usr/bin:/bin"}

    def start(self, *arguments, **options) -> subprocess.Popen:
        return subprocess.Popen([self.path, *map(str, arguments)], cwd=self.folder, text=True,
                                env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def run(self, *arguments, code: int = 0, **options) -> subprocess.CompletedProcess:
        """Runs to the end; the exit status must be `code`."""
        process = self.start(*arguments, **options)
        out, error = process.communicate(timeout=60)
        assert process.returncode == code, f"{arguments}: {process.returncode}\n{out}{error}"
        return subprocess.CompletedProcess(arguments, code, out, error)

    def results(self, folder: str = "out") -> dict[str, dict]:
        """Measurements of a valid run.json by name (with "#repetition" after the first)."""
        run = json.loads((self.folder / folder / "run.json").read_text())
        SCHEMA.validate(run)
        found = {}
        for m in run["measurements"]:
            name = m["name"] + (f"#{m['repetition']}" if m["repetition"] else "")
            assert name not in found, f"{name} was measured twice"
            found[name] = m
        return found

    def journal(self, folder: str = "out") -> list[str]:
        """The whole lines of a journal; what is not whole was never finished."""
        path = self.folder / folder / "journal.jsonl"
        return path.read_text().split("\n")[:-1] if path.exists() else []

    def processes(self) -> list[int]:
        """Those of this copy that are alive."""
        alive = []
        for link in pathlib.Path("/proc").glob("[0-9]*/exe"):
            try:
                if os.readlink(link) == str(self.path):
                    alive.append(int(link.parent.name))
            except OSError:
                pass  # ended meanwhile, or a zombie
        return alive

    def wait_for_no_process(self):
        until = time.monotonic() + 5
        while self.processes() and time.monotonic() < until:
            time.sleep(0.01)
        assert not self.processes(), "a process was left behind"

    def wait_for_lines(self, count: int):
        """Waits until a run in progress has finished `count` lines of its journal."""
        until = time.monotonic() + 30
        while len(self.journal()) < count:
            assert time.monotonic() < until, "the run does not get on"
            time.sleep(0.005)
