# SPDX-License-Identifier: Apache-2.0
"""What the tests of the source tree share: its files, and which of them include which."""

import collections.abc
import functools
import hashlib
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files(*patterns: str) -> list[pathlib.Path]:
    """Files of the project that match any of the glob patterns, ignored ones left out."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\n")
    return sorted({ROOT / name for name in listed if name and (ROOT / name).is_file()})


# Comments and literals of C++, raw strings among them. A digit separator opens no character.
_NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^()\\ ]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)


@functools.cache
def code(file: pathlib.Path) -> str:
    """The text of a C++ file without comments, and with its literals emptied."""
    return _NOT_CODE.sub(lambda m: " " if m[0].startswith("/") else '""', file.read_text())


@functools.cache
def includes(file: pathlib.Path) -> tuple[str, ...]:
    """What `file` itself includes, in either form, as written."""
    return tuple(re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read_text(), re.MULTILINE))


def closure(file: pathlib.Path) -> dict[pathlib.Path, tuple[pathlib.Path, ...]]:
    """`file` and every project file it includes, however far down, each with the way to it."""
    found = {file: (file,)}
    queue = [file]
    while queue:
        here = queue.pop()
        for name in includes(here):
            there = ROOT / name
            if there.is_file() and there not in found:
                found[there] = (*found[here], there)
                queue.append(there)
    return found


def complaint_once(
    kind: str, how: str, of: list[pathlib.Path], check: collections.abc.Callable[[], str]
) -> str:
    """What `check` says against files, and nothing if the same was checked before in the same way
    (`how`) and found good: what counts is the files and all of the project that they include."""
    digest = hashlib.sha256(how.encode())
    for part in sorted({part for file in of for part in closure(file)}):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + part.read_bytes())
    stamp = ROOT / ".cache" / kind / digest.hexdigest()
    if stamp.exists():
        return ""
    complaint = check()
    if not complaint:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
    return complaint


# Headers that GCC has compiled before; other compilers do not read them, and a test of includes must not.
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S+cmake_pch\.hxx")


# A file that assay_join_cpp() put in place of those it includes.
JOINED = re.compile(r"/joined/.*\.cpp$")


@functools.cache
def compile_commands() -> list[dict]:
    """What build/ was configured to compile, without precompiled headers; empty if it was not. Of C++ files that are
    compiled together, each as if it were alone; what is compiled is the file `within`."""
    database = ROOT / "build" / "compile_commands.json"
    commands = json.loads(database.read_text()) if database.exists() else []
    found = []
    for command in commands:
        text, file = PRECOMPILED.sub("", command["command"]), command["file"]
        parts = [file]
        if JOINED.search(file):
            included = re.findall(r'^#include "(.*\.cpp)"$', pathlib.Path(file).read_text(), re.MULTILINE)
            parts = [name for name in included if pathlib.Path(name).is_absolute()]
        found += [{**command, "file": part, "command": text.replace(f" -c {file}", f" -c {part}"), "within": file}
                  for part in parts]
    return found
