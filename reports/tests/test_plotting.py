# SPDX-License-Identifier: Apache-2.0
"""Pictures are the same whatever settings of matplotlib lie about: in the current folder, or a person's."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ASSAY = Path(__file__).parents[1] / "assay"
DRAW = """
from assay.report.draw import svg
with svg.axes(200) as (canvas, axes):
    axes.plot([1, 2], [3, 4])
    axes.set_title("a title")
    print(svg.finish(canvas, "key", "title", "description", "", ([], [])))
import matplotlib
print(matplotlib.rcParams["font.family"], matplotlib.rcParams["text.usetex"])
"""
SETTINGS = {
    "other letters": b"font.family: fantasy\ntext.usetex: True\nbackend: module://evil\n",
    "no text": b"\xff\xfe\x00",
    "nonsense": b"axes.prop_cycle: cycler('color', [print('SPRUNG')])\n:::\n",
}


def drawn(folder, **environment):
    done = subprocess.run(
        [sys.executable, "-c", DRAW], cwd=folder, text=True, capture_output=True, timeout=60, env=os.environ | environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return drawn(tmp_path_factory.mktemp("empty"))


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_that_lie_about_are_not_read(tmp_path, plain, settings):
    (tmp_path / "matplotlibrc").write_bytes(SETTINGS[settings])
    (tmp_path / "evil.py").write_text("print('SPRUNG')\n")
    assert "sans-serif" in plain
    assert drawn(tmp_path) == plain


def test_nor_are_those_of_a_person(tmp_path, plain):
    (tmp_path / "mine").write_bytes(SETTINGS["other letters"])
    assert drawn(tmp_path, MATPLOTLIBRC=str(tmp_path / "mine")) == plain


def test_a_fifo_in_the_current_folder_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "matplotlibrc")
    assert drawn(tmp_path)


def test_the_current_folder_stays_the_current_folder(tmp_path):
    code = "from assay import plotting; import os; plotting.load(); print(os.getcwd())"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True, check=True)
    assert done.stdout.strip() == str(tmp_path)


def test_matplotlib_is_imported_after_its_settings_are_chosen():
    for path in ASSAY.rglob("*.py"):
        text = path.read_text()
        found = re.search(r"^ *(?:import|from) matplotlib", text, re.MULTILINE)
        if found and path.name != "plotting.py":
            assert "plotting.load()" in text[: found.start()], f"{path}: call plotting.load() first"
