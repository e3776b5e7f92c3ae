# SPDX-License-Identifier: Apache-2.0
"""Whether a parsed document is an `assay.run/1`: what `schema/assay.run-1.schema.json` says, and what it cannot say.

Every problem is one line that names the field and what is wrong with it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from .errors import RunFileError

SCHEMA = "assay.run/1"
SCHEMA_PATH = Path(__file__).parent / "schema" / "assay.run-1.schema.json"
LONGEST = 160  # characters of what the library says; it quotes the value


@lru_cache(maxsize=1)
def _validator() -> Any:
    return jsonschema_rs.validator_for(json.loads(SCHEMA_PATH.read_text()))


def _step(path: str, key: str | int) -> str:
    return f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}" if path else str(key)


def _not_finite(value: Any, path: str = "") -> str | None:
    """The JSON path of the first NaN or infinity, or None. The library takes both for null."""
    if isinstance(value, float):
        return None if math.isfinite(value) else path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        if type(item) in (float, dict, list) and (found := _not_finite(item, _step(path, key))):
            return found
    return None


def _schema_problems(document: dict[str, Any]) -> Iterator[str]:
    for error in _validator().iter_errors(document):
        path = ""
        for key in error.instance_path:
            path = _step(path, key)
        yield f"{path or 'the document'}{_named(document, error.instance_path)}: {_said(error)}"


def _named(document: dict[str, Any], path: list[str | int]) -> str:
    """ " (memory/hbm/copy)" where the path leads into a measurement that has a name."""
    item = document["measurements"][path[1]] if len(path) > 1 and path[0] == "measurements" else None
    return f" ({item['name']})" if isinstance(item, dict) and isinstance(item.get("name"), str) else ""


def _said(error: Any) -> str:
    steps = [str(step) for step in error.schema_path]
    if "anonymous" in steps:
        return "a property or text here may identify a machine or person; leave it out"
    if '"ci95" is a required' in error.message or error.instance_path[-1:] == ["ci95"]:
        return "no measurement without an interval; give ci95 as [low, high]"
    said = " ".join(error.message.split())
    return said if len(said) < LONGEST else f"{said[:60]} ... {said[-90:]}"


def _further_problems(document: dict[str, Any]) -> Iterator[str]:
    """What JSON Schema cannot say, of a document that it has found valid."""
    for index, m in enumerate(document["measurements"]):
        at = f"measurements[{index}]"
        metrics = m.get("metrics", {})
        if m.get("status", "ok") == "ok" and m.get("source") is None and m["primary"] not in metrics:
            yield f"{at}.primary ({m['name']}): {m['primary']!r:.60} is none of the metrics: {', '.join(metrics)}"
        for key, metric in metrics.items():
            low, high = metric.get("ci95", (0, 0))
            if low > high:
                yield f"{at}.metrics.{key}.ci95 ({m['name']}): low {low} is above high {high}"
        names = set()
        for number, series in enumerate(m.get("series", ())):
            where = f"{at}.series[{number}] {series['name']!r:.40} ({m['name']})"
            if series["name"] in names:
                yield f"{where}: another series has this name; give each its own"
            names.add(series["name"])
            shape = [len(axis["points"]) for axis in series["axes"]]
            if len(series["values"]) != math.prod(shape):
                spanned = f"{math.prod(shape)} places ({' x '.join(map(str, shape))})"
                yield f"{where}: {len(series['values'])} values for {spanned}; give as many as its axes span"


def validate(document: Any, where: str | Path = "<run>") -> None:
    """Raises RunFileError, naming the first problem, unless `document` (parsed JSON) is a valid assay.run/1."""
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise RunFileError(f'{where}: not an assay run file: no "schema" field; give a run.json that `assay run` wrote')
    version = re.fullmatch(r"assay\.run/(\d+)", document["schema"])
    if not version:
        raise RunFileError(f"{where}: schema: {document['schema']!r:.60} is not an assay run; expected {SCHEMA!r}")
    if int(version[1]) != 1:
        raise RunFileError(
            f"{where}: schema: {document['schema']} is not readable here, only {SCHEMA} is; upgrade assay"
        )
    for key, kind in (("environment", dict), ("measurements", list)):
        if not isinstance(document.get(key), kind):
            raise RunFileError(f"{where}: {key}: missing or of the wrong type; run the measurement again")
    if bad := _not_finite(document):
        raise RunFileError(
            f'{where}: {bad}: NaN and infinity are no results; write status "failed" and a reason instead'
        )
    problems = list(_schema_problems(document)) or list(_further_problems(document))
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise RunFileError(f"{where}: {problems[0]}{more}")
