# SPDX-License-Identifier: Apache-2.0
"""JSON from files that anybody may have written: the one place that reads it, for every kind of file.

It bounds what is read before it takes memory: bytes, values, depth. It refuses what JSON leaves open or readers
disagree about: a field that stands twice, NaN, numbers that no double or 64-bit integer holds, halves of surrogate
pairs. Every refusal is a `RunFileError` that names the file, the field and the mend.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, BinaryIO

from assay.plain_text import printable

from .errors import RunFileError

LARGEST = 64 << 20  # bytes; the largest run so far has 3.3 million
MOST = 4_000_000  # values in a file; as objects of Python each takes about a hundred bytes
DEEPEST = 64  # levels of nesting; ten are in use
LONGEST_NAME = 300  # characters of a field's name
INTEGERS = range(-(2**63), 2**64)
TOO_LARGE = 10**30  # stands for an integer of so many digits that Python refuses to read it
SURROGATE = re.compile("[\ud800-\udfff]")


class _Doubled(dict):
    """An object in which `field` stands more than once."""

    field = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    doubled = _Doubled(found)
    doubled.field = next(key for key, _ in pairs if key in seen or seen.add(key))
    return doubled


def _integer(digits: str) -> int:
    return int(digits) if len(digits) < 30 else TOO_LARGE


def open_waiting_for_nobody(path: Path) -> BinaryIO:
    """To be read. Some of what calls itself a file is one of the kernel's, which waits for what may never come."""
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


@contextmanager
def _opened(path: Path, how: str) -> Iterator[BinaryIO]:
    """A file to be read; `how` says how to get a good one. What goes wrong in the block is said, too."""
    try:
        mode = path.stat().st_mode
        # What `>(...)` and `<(...)` of a shell make are pipes below /dev and /proc; any other pipe may never end.
        piped = stat.S_ISFIFO(mode) and path.is_absolute() and path.parts[1] in ("dev", "proc")
        if not stat.S_ISREG(mode) and not piped:
            raise RunFileError(f"{path}: not a file but a folder, pipe or device; {how}")
        with open_waiting_for_nobody(path) if not piped else open(path, "rb") as file:
            yield file
    except FileNotFoundError:
        raise RunFileError(f"{path}: no such file; {how}") from None
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror}; check its permissions, or {how}") from None
    except ValueError as error:  # a NUL in the path
        raise RunFileError(f"{path}: cannot be read: {error}; {how}") from None


def _refuse_packed(path: Path, content: bytes) -> None:
    if content.startswith(b"\x1f\x8b"):
        raise RunFileError(f"{path}: the document is packed by gzip; unpack it with gunzip")


def _decoded(content: bytes, where: str | Path, how: str) -> str:
    try:
        return content.decode("utf-8-sig")  # without the byte order mark that some editors write
    except UnicodeDecodeError as error:
        raise RunFileError(f"{where}: not text: byte {error.start} is not UTF-8; {how}") from None


def read_text(path: Path, how: str) -> str:
    """The whole file."""
    with _opened(path, how) as file:
        content = file.read(LARGEST + 1) or b""
        if len(content) > LARGEST:
            raise RunFileError(f"{path}: larger than {LARGEST >> 20} MiB; {how}")
        _refuse_packed(path, content)
        return _decoded(content, path, how)


def read_lines(path: Path, how: str, most: int, then: str) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, without the empty ones.

    One line is kept at a time, and none may be larger than a whole file of another kind. `then` says what to do with
    more than `most` bytes.
    """
    with _opened(path, how) as file:
        size = 0
        for number in itertools.count(1):
            line = file.readline(LARGEST + 1) or b""
            size += len(line)
            if len(line) > LARGEST:
                raise RunFileError(f"{path}: line {number}: larger than {LARGEST >> 20} MiB; {how}")
            if size > most:
                raise RunFileError(f"{path}: larger than {most >> 20} MiB; {then}")
            if not line:
                return
            if number == 1:
                _refuse_packed(path, line)
            if line.strip():
                yield number, _decoded(line.rstrip(b"\r\n"), f"{path}: line {number}", how)


def parse(text: str, where: str | Path, how: str, first_line: int = 1) -> Any:
    """The value that the text holds, not yet checked by `check`."""
    if text.count(",") + text.count("[") + text.count("{") > MOST:
        raise RunFileError(f"{where}: more than {MOST:,} values; {how}")
    try:
        try:
            return json.loads(text, object_pairs_hook=_object)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of more digits than Python takes
            return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno + first_line - 1}, column {error.colno}"
        raise RunFileError(
            f"{where}: {at}: not valid JSON: {error.msg}; the file is damaged or was cut short; {how}"
        ) from None
    except RecursionError:
        raise RunFileError(f"{where}: nested too deeply, more than {DEEPEST} levels; {how}") from None


def check(value: Any, where: str | Path) -> None:
    """Raises RunFileError where JSON says what no reader should take."""
    if found := _problem(value, 1):
        keys, said = found
        path = reduce(step, keys, "")
        path = path if len(path) < 200 else f"{path[:120]}...{path[-60:]}"
        raise RunFileError(f"{where}: {path or 'the document'}: {said}")


def load(path: Path, how: str) -> Any:
    """The checked value of a file."""
    value = parse(read_text(path, how), path, how)
    check(value, path)
    return value


def step(path: str, key: str | int) -> str:
    """The JSON path of what is at `key` there: "measurements[3].name"."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    name = printable(f"{key:.60}")
    if not re.fullmatch(r"\w+", name):
        quoted = name.replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{name}" if path else name


def _problem(value: Any, depth: int) -> tuple[list[str | int], str] | None:
    """(the keys that lead there, what is wrong there) of the first fault."""
    items: Iterable[tuple[str | int, Any]]
    if isinstance(value, dict):
        if isinstance(value, _Doubled):
            return [value.field], "stands twice in one object; keep one of the two"
        for key in value:
            if not isinstance(key, str) or not key.isprintable() or len(key) > LONGEST_NAME:
                return [str(key)], "no name of a field: a control character, or too long; rename it"
        items = value.items()
    elif isinstance(value, (list, tuple)):
        if depth <= DEEPEST and set(map(type, value)) == {float} and math.isfinite(sum(value)):
            return None  # samples by the thousand; a sum beyond a double's range is looked at one by one
        items = enumerate(value)
    else:
        said = _scalar_problem(value)
        return ([], said) if said else None
    if depth > DEEPEST:
        return [], f"nested too deeply, more than {DEEPEST} levels; make it flat"
    for key, item in items:
        kind = type(item)
        if kind is float and math.isfinite(item) or kind is str and item.isascii() or kind is bool or item is None:
            continue
        if kind in (int, float, str):
            if said := _scalar_problem(item):
                return [key], said
        elif found := _problem(item, depth + 1):
            return [key, *found[0]], found[1]
    return None


def _scalar_problem(value: Any) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return 'NaN and infinity are no results; write status "failed" and a reason instead'
    if isinstance(value, int) and value not in INTEGERS:
        return "an integer beyond 64 bits; write a number that a reader can hold"
    if isinstance(value, str) and not value.isascii() and SURROGATE.search(value):
        return "half of a surrogate pair is no text; write the character whole"
    return None
