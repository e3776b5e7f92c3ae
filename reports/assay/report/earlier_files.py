# SPDX-License-Identifier: Apache-2.0
"""Which files of a folder an earlier report wrote, so that one written over it leaves none of its pages behind."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

LIST = ".report-files"  # in the folder: a name on each line
LARGEST = 16 << 20  # bytes; a site of a hundred thousand files has less


def names(folder: Path) -> set[str]:
    """Files of an earlier report; none of what lies elsewhere, whatever the list says. Raises OSError."""
    path = folder / LIST
    if path.is_symlink() or not path.is_file():
        return set()
    with open(path, encoding="utf-8", errors="replace") as file:
        found = file.read(LARGEST).split("\n")
    return {name for name in found if name and _is_inside(folder, PurePosixPath(name))}


def _is_inside(folder: Path, name: PurePosixPath) -> bool:
    if not name.parts or name.is_absolute() or ".." in name.parts or "\0" in str(name):
        return False
    home = os.path.realpath(folder)
    return os.path.commonpath([home, os.path.realpath(folder / name.parent)]) == home


def keep(folder: Path, written: Iterable[str]) -> None:
    """Raises OSError."""
    aside = folder / f"{LIST}-{os.getpid()}"
    aside.write_text("".join(f"{name}\n" for name in sorted(set(written))), encoding="utf-8")
    os.replace(aside, folder / LIST)


def remove(folder: Path, gone: Iterable[str]) -> None:
    """Takes files away, and folders that are empty then. Raises OSError."""
    for name in gone:
        path = folder / name
        if path.is_symlink() or path.is_file():
            path.unlink()
        for above in path.parents:
            if above == folder:
                break
            with suppress(OSError):
                above.rmdir()
