# SPDX-License-Identifier: Apache-2.0
"""Whether a document is of a schema of this package: problems are the JSON path of a field and what is wrong there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from . import json_text
from .errors import RunFileError

FOLDER = Path(__file__).parent / "schema"
LONGEST = 160  # characters of what the library says; it quotes the value


@lru_cache
def _validator(file: str) -> Any:
    return jsonschema_rs.validator_for(json.loads((FOLDER / file).read_text()))


def problems(document: Any, file: str) -> Iterator[tuple[str, list[str | int], Any]]:
    """(path as text, its steps, the library's error) of each problem."""
    for error in _validator(file).iter_errors(document):
        path = ""
        for key in error.instance_path:
            path = json_text.step(path, key)
        yield path or "the document", error.instance_path, error


def said(error: Any) -> str:
    words = " ".join(error.message.split())
    return words if len(words) < LONGEST else f"{words[:60]} ... {words[-90:]}"


def load(path: Path, schema: str, file: str, how: str) -> dict[str, Any]:
    """A document of this schema from a file. Raises RunFileError."""
    document = json_text.load(path, how)
    found = document.get("schema") if isinstance(document, dict) else None
    if found != schema:
        raise RunFileError(f"{path}: schema: {found!r:.60} is not {schema!r}; {how}")
    for where, _, error in problems(document, file):
        raise RunFileError(f"{path}: {where}: {said(error)}; {how}")
    return document
