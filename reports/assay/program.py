# SPDX-License-Identifier: Apache-2.0
"""What all commands of this package do alike: their exit status, a failure in one line, output that is broken off."""

from __future__ import annotations

import argparse
import errno
import functools
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from traceback import extract_tb

from assay.files import writing
from assay.files.errors import NotWritten, RunFileError
from assay.plain_text import one_line


class Exit(IntEnum):
    """The exit status of every command, as the README has it; `assay` itself has the same (harness/error.hpp)."""

    OK = 0
    FAILED = 1
    SLOWER = 1
    USAGE = 2
    CANNOT_TELL = 3
    UNFIT = 4
    NOT_WRITTEN = 5
    DEFECT = 70
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "as asked",
    Exit.FAILED: "a case failed or was refused; some machine code is not as expected; slower",
    Exit.USAGE: "bad arguments, or input that cannot be read",
    Exit.CANNOT_TELL: "the data cannot tell (gate)",
    Exit.UNFIT: "this machine cannot do it: no GPU, driver too old, throttled, no tool",
    Exit.NOT_WRITTEN: "results could not be written: disk full, no permission",
    Exit.DEFECT: "a defect of assay itself: please report it",
    Exit.INTERRUPTED: "interrupted; a run can be resumed",
}


def file_name(text: str) -> str:
    """Of argparse: the name of a file or folder. Of a variable that is not set, "" would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("is empty; name a file or folder")
    return text


def file_path(text: str) -> Path:
    return Path(file_name(text))


def say(text: str, end: str = "\n") -> None:
    """Writes to standard output at once, so that a full disk or a closed pipe is noticed. Raises NotWritten."""
    if sys.stdout is None:
        raise NotWritten("standard output: cannot be written: it is closed")
    try:
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        _forget_output()
        raise NotWritten(f"standard output: cannot be written: {why}") from None


def make_folder(folder: Path) -> None:
    """Raises NotWritten."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritten(f"{folder}: cannot be made: {error.strerror}") from None


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise NotWritten(f"{path}: cannot be written: {why}") from None


def write_file(path: Path, content: bytes, append: bool = False) -> None:
    """A file appears whole, or what was there before stays; so does what is appended to. Raises NotWritten."""
    with _written(path):
        writing.append(path, content) if append else writing.replace(path, [content])


def replace_file(path: Path, parts: Iterable[bytes]) -> None:
    """The same of what is made while it is written. Raises NotWritten."""
    with _written(path):
        writing.replace(path, parts)


def _identity(path: Path) -> object | None:
    """What two names of one file have in common; None of a pipe or device, which several may write to."""
    try:
        found = os.stat(path)
        return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
    except (OSError, ValueError):
        return os.path.join(os.path.realpath(path.parent), path.name) if "\0" not in str(path) else str(path)


def check_outputs(outputs: Iterable[tuple[str, Path | None]], inputs: Iterable[str | Path | None] = ()) -> None:
    """Before work begins: each output, by its option, can be written and is neither an input nor another output.

    Raises RunFileError and NotWritten where one is not so.
    """
    read = {_identity(Path(path)) for path in inputs if path} - {None}
    written: dict[object, str] = {}
    for option, path in outputs:
        if path is None or path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",)):
            continue
        same = _identity(path)
        if same in read:
            raise RunFileError(f"{option} {path}: is what is read; choose another name")
        if same in written:
            raise RunFileError(f"{option} {path}: is what {written[same]} writes, too; choose another name")
        if not os.path.isdir(path.parent):
            raise NotWritten(f"{path}: cannot be written: there is no folder {path.parent}; make it, or choose another")
        if os.path.isdir(path):
            raise NotWritten(f"{path}: cannot be written: it is a folder; name a file")
        needed = [path] if same is None else [path.parent, *([path] if os.path.exists(path) else [])]
        if not all(os.access(one, os.W_OK) for one in needed):
            raise NotWritten(f"{path}: cannot be written: {os.strerror(errno.EACCES)}; choose another folder")
        if same is not None:
            written[same] = option


def _forget_output() -> None:
    """Else Python writes what is left when it ends, fails again, and ends with a status of its own, 120."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = None


def complain(program: str, message: str, status: Exit) -> Exit:
    """One line on standard error; where GitHub runs this, also an annotation."""
    line = one_line(message)
    try:
        if sys.stderr is not None:
            print(f"{program}: {line}", file=sys.stderr, flush=True)
        if os.environ.get("GITHUB_ACTIONS"):
            say(f"::error title={program}::{line.replace('%', '%25')}")
    except (OSError, ValueError, NotWritten):
        pass  # nobody listens; the status still says it
    return status


@contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """A request to end (a cancelled job, a closed terminal) is an interruption: what was started is ended as well.

    What somebody else decided of a signal stays, such as `nohup`.
    """

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP)}
    ours = [n for n, handler in before.items() if handler is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


Main = Callable[[Sequence[str] | None], int]


def command(program: str) -> Callable[[Main], Main]:
    """Makes a command of a function: whatever it raises ends in one line and the status that fits."""

    def wrap(main: Main) -> Main:
        @functools.wraps(main)
        def run(arguments: Sequence[str] | None = None) -> int:
            for stream in (sys.stdout, sys.stderr):
                if hasattr(stream, "reconfigure"):
                    stream.reconfigure(errors="backslashreplace")  # a terminal without Unicode
            try:
                with _ended_as_interrupted():
                    return main(arguments)
            except RunFileError as error:
                status = Exit.NOT_WRITTEN if isinstance(error, NotWritten) else Exit.USAGE
                return complain(program, str(error), status)
            except KeyboardInterrupt:
                return complain(program, "interrupted", Exit.INTERRUPTED)
            except MemoryError:
                return complain(program, "the memory of this machine is too small for this input", Exit.UNFIT)
            except Exception as error:
                if isinstance(error, OSError) and error.errno in (errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES):
                    # What cannot be looked at, wherever that was first tried; what cannot be written is NotWritten.
                    name = one_line(str(error.filename), 200)
                    said = f"{name}: {error.strerror}; give a file that there is and that may be read"
                    return complain(program, said, Exit.USAGE)
                last = extract_tb(error.__traceback__)[-1]
                where = f"{Path(last.filename).name}:{last.lineno}"
                said = f"a defect of assay, please report it with your input: {type(error).__name__}: {error} ({where})"
                return complain(program, said, Exit.DEFECT)

        return run

    return wrap
