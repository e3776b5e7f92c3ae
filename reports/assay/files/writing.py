# SPDX-License-Identifier: Apache-2.0
"""Writing so that a file is whole: what fails, for a full disk or an interruption, leaves what was there before."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def _there(path: Path) -> os.stat_result | None:
    """What is there already. Raises OSError for what could not be opened either."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def replace(path: Path, parts: Iterable[bytes]) -> None:
    """Writes aside and moves when all is on disk. Raises OSError, and ValueError for what is no name.

    Pipes and devices are written as they are, and so is what a shell made of /dev and /proc, as /dev/stdout.
    """
    before = _there(path)
    if before and not stat.S_ISREG(before.st_mode) or path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",)):
        with open(path, "wb") as file:
            file.writelines(parts)
        return
    if before and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    path = Path(os.path.realpath(path))  # a link stays one
    aside = path.parent / f".assay-{os.urandom(6).hex()}"
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            if before:
                with suppress(PermissionError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def append(path: Path, content: bytes) -> None:
    """All of it or nothing. Raises OSError, and ValueError for what is no name."""
    with open(path, "ab", buffering=0) as file:
        before = os.fstat(file.fileno())
        try:
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
            if stat.S_ISREG(before.st_mode):
                os.fsync(file.fileno())
        except BaseException:
            if stat.S_ISREG(before.st_mode):
                os.ftruncate(file.fileno(), before.st_size)
            raise
