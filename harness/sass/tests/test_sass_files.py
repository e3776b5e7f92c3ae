# SPDX-License-Identifier: Apache-2.0
"""Files that `assay sass` is given: where device code may lie, and what is said of what cannot be read."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build"))
CODE = ROOT / "results/h200/2026-11-22-foreign-kernels/code.fatbin"


def sass(*arguments, cwd=None):
    return subprocess.run(
        [BUILD / "assay", "sass", *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=60
    )


@pytest.mark.parametrize("name", ["nosuch.cubin", "./nosuch", "build/nosuch.so.2", "nosuch.o:kernel"])
def test_no_such_file(name, tmp_path):
    result = sass(name, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (2, f"assay: no such file: {name}\n")


def test_fat_binaries_in_a_section_of_any_name(tmp_path):
    library = tmp_path / "library"
    command = ["objcopy", "--add-section", f".some_resource={CODE}", shutil.which("true"), library]
    subprocess.run(command, check=True)
    result = sass(f"{library}:mandelbrot", "--brief")
    assert result.returncode == 0, result.stderr
    assert "mandelbrot" in result.stdout


def test_one_damaged_image_keeps_nothing_else_from_being_read(tmp_path):
    code = bytearray(CODE.read_bytes())
    images = [i for i in range(len(code)) if code[i : i + 4] == b"\x7fELF"]
    names = {name: code.find(name) for name in (b"mandelbrot", b"sha256")}
    broken = max(i for i in images if i < names[b"mandelbrot"])
    code[broken + 58 : broken + 60] = b"\x01\x00"  # e_shentsize
    file = tmp_path / "code.fatbin"
    file.write_bytes(code)
    result = sass(f"{file}:sha256", "--brief")
    assert result.returncode == 0, result.stderr
    assert "sha256" in result.stdout
    assert f"{file}: passed over: damaged ELF image: section headers of unknown size" in result.stderr
    gone = sass(f"{file}:mandelbrot")
    assert gone.returncode == 2


@pytest.mark.parametrize("place", ["device", "pipe", "folder"])
def test_a_picture_takes_the_place_of_nothing_but_a_file(tmp_path, place):
    """Of a device, by a link to one: `--svg /dev/stdout` as root must leave a device there."""
    there = tmp_path / "there"
    {"device": lambda: there.symlink_to("/dev/full"), "pipe": lambda: os.mkfifo(there), "folder": there.mkdir}[place]()
    result = sass(f"{CODE}:sha256", "--brief", "--svg", there)
    assert result.returncode == 5 and str(there) in result.stderr, result.stderr
    assert list(tmp_path.iterdir()) == [there]
    assert there.is_symlink() if place == "device" else there.is_fifo() if place == "pipe" else there.is_dir()


def test_no_name_of_a_file_or_kernel_moves_the_cursor(tmp_path):
    """In what is listed, and in what is told beside it."""
    file = tmp_path / "a\x1b[2Jb.fatbin"
    file.write_bytes(CODE.read_bytes().replace(b"mandelbrot", b"mandel\x1b[1m"))
    for what, options in ((file, []), (f"{file}:sha256", ["--brief"])):
        result = sass(what, *options)
        assert result.returncode == 0 and "sha256" in result.stdout + result.stderr, result.stderr
        assert "\x1b" not in result.stdout + result.stderr
        assert "passed over: damaged ELF image: the name of kernel" in result.stderr
