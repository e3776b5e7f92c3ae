# SPDX-License-Identifier: Apache-2.0
"""A history: one file of JSON lines for each kind of machine, a line for each run.

Figures of two kinds of machine are no history of the code, so the GPU, the branch of its driver, the version of CUDA
and the power limit are in the name of the file. A line holds the value of each process, not only their median. The
baseline is the newest line that was accepted; only `assay baseline accept` accepts one, and says why.
"""

from __future__ import annotations

import json
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.plain_text import printable
from assay.program import make_folder, replace_file, write_file

from . import json_text, schema_check
from .errors import RunFileError

SCHEMA = "assay.history/1"
SCHEMA_FILE = "assay.history-1.schema.json"
HOW = "give a file that `assay baseline record` wrote"
LARGEST = 128 << 20  # bytes: runs of a thousand cases for half a year of nights, which are read in 20 s
ANEW = "begin a new one: move it to another folder, and accept a baseline in the next"


@dataclass
class Figure:
    """One case: a value for each process."""

    metric: str
    unit: str
    better: str
    values: list[float]
    clock_domain: str = ""
    kind: str = "kernel"
    ci95: list[tuple[float, float] | None] = field(default_factory=list)  # of each value; older lines have none
    params: dict[str, Any] = field(default_factory=dict)
    signed: bool = False  # a difference: below zero is no error
    primary: str = ""  # the headline, where another metric decides
    conditions: dict[str, list[Any]] = field(default_factory=dict)  # of each value, None where it is not known
    sass: dict[str, Any] = field(default_factory=dict)  # what ran, if it was the same in every process
    repetitions: list[int] = field(default_factory=list)  # numbers of the processes, where one was left out


@dataclass
class Entry:
    """One run."""

    time: str
    commit: str
    environment: dict[str, Any]
    cases: dict[str, Figure]
    accepted: bool = False
    reason: str = ""
    schema: str = SCHEMA
    lost: dict[str, dict[str, str]] = field(default_factory=dict)  # cases without a figure, and why
    extra: dict[str, Any] = field(default_factory=dict)


def _word(text: object) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", str(text)).strip("-").lower() or "unknown"


def key_of(environment: dict[str, Any]) -> str:
    """The kind of machine, as the stem of a file name."""
    gpu = environment.get("gpu")
    if gpu is None:
        return "host-" + _word((environment.get("host") or {}).get("cpu", "unknown"))
    driver = str(environment.get("driver") or "unknown").split(".")[0]
    watts = gpu.get("power_limit_w")
    power = f"{watts:g}w" if isinstance(watts, (int, float)) else "power-unknown"
    return "-".join([_word(gpu["name"]), f"driver{_word(driver)}", f"cuda{_word(environment.get('cuda'))}", power])


def line_of(entry: Entry) -> str:
    document = {k: v for k, v in asdict(entry).items() if k != "extra"}
    for figure in document["cases"].values():
        for optional in ("ci95", "params", "signed", "primary", "conditions", "sass", "repetitions"):
            if not figure[optional]:
                del figure[optional]
    if not document["lost"]:
        del document["lost"]
    return _line({**document, **entry.extra})


def _line(document: dict[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def _entry(document: dict[str, Any]) -> Entry:
    """The entry of a document that its schema allows."""
    known = Entry.__dataclass_fields__.keys() - {"cases", "extra", "schema"}
    wanted = Figure.__dataclass_fields__.keys()
    cases = {name: Figure(**{k: f[k] for k in wanted & f.keys()}) for name, f in document["cases"].items()}
    extra = {k: v for k, v in document.items() if k not in Entry.__dataclass_fields__}
    return Entry(**{k: document[k] for k in known & document.keys()}, cases=cases, extra=extra)


def _checked(text: str, path: Path, where: str, number: int) -> dict[str, Any]:
    """The document of a line."""
    document = json_text.parse(text, path, HOW, number)
    json_text.check(document, where)
    for field_, _, error in schema_check.problems(document, SCHEMA_FILE):
        raise RunFileError(f"{where}: {field_}: {schema_check.said(error)}; {HOW}")
    for name, figure in document["cases"].items():
        lists = {key: figure[key] for key in ("ci95", "repetitions") if figure.get(key)}
        lists |= {f"conditions.{key}": values for key, values in figure.get("conditions", {}).items()}
        for key, found in lists.items():
            if len(found) != len(figure["values"]):
                raise RunFileError(f"{where}: cases.{name}.{key}: not one for each of its values; {HOW}")
    return document


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line with its number, one at a time."""
    number = 0
    for number, text in json_text.read_lines(path, HOW, LARGEST, ANEW):
        yield number, _checked(text, path, f"{path}: line {number}", number)
    if not number:
        raise RunFileError(f"{path}: line 1: holds no run; {HOW}")


def read(path: Path) -> Iterator[Entry]:
    """Every line of a file, one at a time. Raises RunFileError."""
    return (_entry(document) for _, document in _documents(path))


def load(path: Path) -> list[Entry]:
    """Every line of a file. Raises RunFileError."""
    return list(read(path))


def drawn(path: Path) -> list[Entry]:
    """Every line with what a page shows of it: all of a large file takes a gigabyte. Raises RunFileError."""
    found = []
    for entry in read(path):
        found.append(entry)
        for name, f in entry.cases.items():
            entry.cases[name] = Figure(f.metric, f.unit, f.better, f.values)
    return found


def is_one(path: Path) -> bool:
    """Whether a file of JSON lines is a history, and not a journal, whose first line has the schema of a run."""
    for _, text in json_text.read_lines(path, HOW, LARGEST, ANEW):
        if f'"{SCHEMA}"' in text:
            return True
        if '"assay.run/' in text:
            return False
    return False


def _end(path: Path) -> tuple[int, bytes]:
    """Bytes of a file, and the last of them; of what cannot be read writing says what is wrong."""
    try:
        with json_text.open_waiting_for_nobody(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            return size, file.read(1)
    except OSError:
        return 0, b""


def _refuse_large(path: Path, size: int, line: str) -> None:
    """Where so many bytes and a line more could not be read again."""
    if len(line) > json_text.LARGEST:
        most = f"{json_text.LARGEST >> 20} MiB"
        raise RunFileError(f"{path}: this run takes more than {most}; record one of fewer cases or processes")
    if size + len(line) > LARGEST:
        raise RunFileError(f"{path}: would be larger than {LARGEST >> 20} MiB; {ANEW}")


def append(folder: Path, entry: Entry, machine: str | None = None) -> Path:
    """The file it went to; `machine` names it where the run does not say what it was measured on.

    Raises RunFileError, and NotWritten, after which the file is as it was.
    """
    make_folder(folder)
    path = folder / f"{_word(machine) if machine else key_of(entry.environment)}.jsonl"
    size, last = _end(path)
    if last not in (b"", b"\n"):
        how = "take that line away, or end it with a newline if it is whole"
        raise RunFileError(f"{path}: its last line has no end, so a write was cut short; {how}")
    line = line_of(entry) + "\n"
    _checked(line, path, f"{path}: the new line", 1)
    _refuse_large(path, size, line)
    write_file(path, line.encode(), append=True)
    return path


def accept(path: Path, commit: str, reason: str) -> Entry:
    """Makes the newest run of this commit the baseline. Raises RunFileError, and NotWritten as `append`."""
    at, chosen = 0, None
    newest: deque[str] = deque(maxlen=5)
    for number, document in _documents(path):
        newest.appendleft(document["commit"])
        if document["commit"].startswith(commit):
            at, chosen = number, document
    if chosen is None:
        known = ", ".join(dict.fromkeys(newest))
        raise RunFileError(f"{path}: no run of commit {commit!r:.60} is in it; the newest are {known}")
    size = _end(path)[0] - len(_line(chosen))
    # It moves to the end of those accepted: the newest acceptance is the baseline, also of an older run.
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    chosen |= {"accepted": True, "reason": printable(reason), "accepted_at": now}
    new = _line(chosen)
    _refuse_large(path, size, new)
    lines = json_text.read_lines(path, HOW, LARGEST, ANEW)
    replace_file(path, (f"{new if number == at else text}\n".encode() for number, text in lines))
    return _entry(chosen)


def baseline(entries: Iterable[Entry]) -> Entry | None:
    """The run that was accepted last."""
    accepted = (e for e in entries if e.accepted)
    return max(accepted, key=lambda e: str(e.extra.get("accepted_at", e.time)), default=None)
