# SPDX-License-Identifier: Apache-2.0
"""Result files on disk: `load` reads and checks one, `save` writes one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import json_text, writing
from .document import document_of, run_of
from .errors import NotWritten, RunFileError
from .loop_text import FILE, LoopTexts, packed, sha256
from .run_check import validate
from .run_file import Run

HOW = "give a run.json that `assay run` wrote, or the folder that holds it"


def _read_journal(path: Path) -> dict[str, Any]:
    """The document that a journal amounts to: of each (name, repetition) the last entry counts.

    A run that is killed while it writes leaves a last line without its newline; that measurement was never finished,
    so the line is left out.
    """
    lines = json_text.read_text(path, HOW).split("\n")[:-1]
    entries: dict[int, Any] = {}  # by the number of their line
    for number, line in enumerate(lines, 1):
        if line.strip():
            entries[number] = json_text.parse(line, path, HOW, number)
            json_text.check(entries[number], f"{path}: line {number}")
    head, *rest = entries.items() or [(1, None)]
    if not isinstance(head[1], dict) or "environment" not in head[1]:
        said = 'not an assay journal: its first line holds "schema" and "environment"'
        raise RunFileError(f"{path}: line 1: {said}; {HOW}")
    latest: dict[Any, Any] = {}
    for number, entry in rest:
        measurement = entry.get("measurement") if isinstance(entry, dict) else None
        if not isinstance(measurement, dict):
            said = "missing or no object; give the journal as `assay run` wrote it, or leave the line out"
            raise RunFileError(f"{path}: line {number}: measurement: {said}")
        latest[json.dumps([measurement.get("name"), measurement.get("repetition") or 0])] = measurement
    return {**head[1], "measurements": list(latest.values())}


def locate(path: str | Path) -> Path:
    """The file that `load` reads for this path: itself, or in a folder run.json, else journal.jsonl."""
    path = Path(path)
    if not path.is_dir():
        return path
    for name in ("run.json", "journal.jsonl"):
        if (path / name).is_file():
            return path / name
    how = "unpack its run.json.gz with gunzip" if (path / "run.json.gz").is_file() else HOW
    raise RunFileError(f"{path}: holds neither run.json nor journal.jsonl; {how}")


def load(path: str | Path) -> Run:
    """Reads and checks a run file, a journal (*.jsonl) or a folder with either. Raises RunFileError.

    The texts of loops that lie beside it are read when one of them is first asked for.
    """
    path = locate(path)
    is_journal = path.suffix == ".jsonl"
    document = _read_journal(path) if is_journal else json_text.parse(json_text.read_text(path, HOW), path, HOW)
    validate(document, path)
    run = run_of(document)
    run.path = path
    loops = LoopTexts(path.with_name(FILE))
    for m in run.measurements:
        if "loop_sha256" in (m.sass or {}):
            m.loops = loops
    return run


def save(run: Run, path: str | Path) -> None:
    """Checks and writes the run; a file appears whole or not at all. Raises RunFileError.

    The loops of a run.json go to loops.txt.gz beside it, each text once. A file of any other name keeps them inside,
    for it may share its folder with others.
    """
    path = Path(path)
    document = document_of(run)
    texts: dict[str, str] = {}
    for m, entry in zip(run.measurements, document["measurements"]):
        text = (m.loop_text or "").rstrip("\n")  # as `assay run` writes it
        if "sass" not in entry or not (text or "text" in entry["sass"]):
            continue
        code = {k: v for k, v in entry["sass"].items() if k not in ("text", "loop_sha256")}
        if text and path.name == "run.json":
            code["loop_sha256"] = sha256(text)
            texts[code["loop_sha256"]] = text
        elif text:
            code["text"] = text
        entry["sass"] = code
    document = _rounded(document)
    validate(document, path)
    if texts:
        _write(path.with_name(FILE), packed(texts))
    _write(path, _text_of(document).encode())


# Digits that are written: of all but the thousands of samples and values, and how long it took. Intervals are wider.
DIGITS = 7
DIGITS_OF = {"samples": 6, "values": 6, "duration_s": 5}


def _rounded(value: Any, digits: int = DIGITS) -> Any:
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 2**53
        short = value if whole else float(f"{value:.{digits}g}")  # counts stay exact
        return int(short) if short.is_integer() and abs(short) < 2**53 else short  # 132, not 132.0
    if isinstance(value, dict):
        return {k: _rounded(v, DIGITS_OF.get(k, digits)) for k, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v, digits) for v in value]
    return value


def _text_of(document: dict[str, Any]) -> str:
    """The document with a line for each measurement, so that files are small and differences can be read."""

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)

    fields = [f"{compact(k)}:{compact(v)}" for k, v in document.items() if k != "measurements"]
    lines = ",\n".join(compact(m) for m in document["measurements"])
    return "{" + "".join(f"{field},\n" for field in fields) + f'"measurements":[\n{lines}\n]}}\n'


def _write(path: Path, content: bytes) -> None:
    try:
        writing.replace(path, [content])
    except OSError as error:
        raise NotWritten(f"{path}: cannot be written: {error.strerror}; check the folder and free space") from None
