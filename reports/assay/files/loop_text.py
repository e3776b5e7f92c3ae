# SPDX-License-Identifier: Apache-2.0
"""The texts of measured loops, in loops.txt.gz beside a run.json that names them by their hash.

The same loop is measured by many cases and in many repetitions, so each text is kept once. Unpacked, each is a line
`== <sha256 of the text>` and the text itself, whose lines read "0130  FRND.F64 R12, -R12". Most instructions stand 16
bytes after the one before: such a line leaves its address out, which halves the file. Older files have every address.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from functools import cached_property
from pathlib import Path

from .errors import RunFileError
from .json_text import open_waiting_for_nobody

FILE = "loops.txt.gz"
LARGEST = 64 << 20  # bytes unpacked; a file that holds more is damaged or made to fill the memory
ADDRESS = re.compile(r"([0-9a-f]{4,})  ")
STEP = 16  # bytes of an instruction
HEADING = re.compile(rb"^== ([0-9a-f]{64})\n", re.MULTILINE)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def shortened(text: str) -> str:
    """The text without addresses that follow from the line before; whole if a line has none."""
    lines, expected = [], ""
    for line in text.split("\n"):
        at = ADDRESS.match(line)
        if at is None:
            return text
        lines.append(line[at.end() :] if at[1] == expected else line)
        expected = _following(at[1])
    return "\n".join(lines)


def lengthened(text: str) -> str:
    """What shortened() was made from."""
    lines, expected = [], ""
    for line in text.split("\n"):
        at = ADDRESS.match(line)
        lines.append(line if at else f"{expected}  {line}")
        if at or expected:
            expected = _following(at[1] if at else expected)
    return "\n".join(lines)


def _following(address: str) -> str:
    return f"{int(address, 16) + STEP:04x}"


def packed(texts: dict[str, str]) -> bytes:
    """The file of these texts by hash: the same bytes for the same texts."""
    # Like texts together: they pack better.
    texts = {name: shortened(text) for name, text in texts.items()}
    whole = "".join(f"== {name}\n{text}\n" for name, text in sorted(texts.items(), key=lambda item: item[1]))
    return gzip.compress(whole.encode(), mtime=0)


class LoopTexts:
    """The file, read when the first text is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def present(self) -> bool:
        return self.path.is_file()

    def text(self, name: str) -> str | None:
        """The text of this hash; None without the file. Raises RunFileError where it is damaged or lacks the text."""
        if not self.present:
            return None
        if name not in self._texts:
            raise RunFileError(
                f"{self.path}: has no loop {name[:12]}..., which the run beside it names; is it of another run?"
            )
        return self._texts[name]

    @cached_property
    def _texts(self) -> dict[str, str]:
        content = self._unpacked()
        first, *parts = HEADING.split(content)
        if first:
            raise RunFileError(f'{self.path}: line 1: is no line "== <sha256>"; the file is damaged')
        found = {}
        for name, text in zip(map(bytes.decode, parts[::2]), parts[1::2]):
            text = text.removesuffix(b"\n").decode("utf-8", "replace")  # the last line's end is the file's
            if sha256(text) != name and sha256(text := lengthened(text)) != name:
                raise RunFileError(
                    f"{self.path}: loop {name[:12]}...: its text has another sha256; the file is damaged"
                )
            found[name] = text
        return found

    def _unpacked(self) -> bytes:
        try:
            with open_waiting_for_nobody(self.path) as packed, gzip.open(packed) as file:
                content = file.read(LARGEST + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise RunFileError(f"{self.path}: not a whole gzip file; it is damaged or was cut short") from None
        except OSError as error:
            raise RunFileError(f"{self.path}: cannot be read: {error.strerror}; check its permissions") from None
        if len(content) > LARGEST:
            raise RunFileError(f"{self.path}: unpacks to more than {LARGEST >> 20} MiB; no run has so many loops")
        return content
