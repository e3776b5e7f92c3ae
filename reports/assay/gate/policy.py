# SPDX-License-Identifier: Apache-2.0
"""A policy: what counts as slower, by case and metric, in a TOML file that a project keeps beside its code.

[default]
threshold_percent = 2          # the smallest slowdown that counts

[[rule]]                       # the last rule that matches a case and a metric holds
case = "kernels/gemm/*"        # globs: * ? [abc], over the whole name
metric = "*"
threshold_percent = 1.5

[[rule]]
case = "host/*"
gated = false                  # listed, and never red
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from assay.files import RunFileError
from assay.files.json_text import read_text

HOW = "`assay gate --help` shows a policy"


@dataclass(frozen=True)
class Rule:
    """What holds for the cases and metrics that match."""

    case: str = "*"
    metric: str = "*"
    threshold: float | None = None  # a fraction
    gated: bool | None = None

    def matches(self, case: str, metric: str) -> bool:
        return fnmatchcase(case, self.case) and fnmatchcase(metric, self.metric)


@dataclass(frozen=True)
class Policy:
    """Rules in the order of their file; a later one goes before an earlier one."""

    rules: tuple[Rule, ...] = ()

    def threshold(self, case: str, metric: str) -> float | None:
        found = [r.threshold for r in self.rules if r.threshold is not None and r.matches(case, metric)]
        return found[-1] if found else None

    def gated(self, case: str, metric: str) -> bool | None:
        found = [r.gated for r in self.rules if r.gated is not None and r.matches(case, metric)]
        return found[-1] if found else None


def _known(table: dict[str, Any], kinds: dict[str, tuple[type, ...]], where: str) -> None:
    for key, value in table.items():
        if key not in kinds:
            raise RunFileError(f"{where}.{key}: no such field; known are {', '.join(kinds)}; {HOW}")
        if not isinstance(value, kinds[key]) or (isinstance(value, bool) and bool not in kinds[key]):
            wanted = " or ".join(kind.__name__ for kind in kinds[key])
            raise RunFileError(f"{where}.{key}: {value!r:.60} is no {wanted}; {HOW}")


def _threshold(table: dict[str, Any], where: str) -> float | None:
    if "threshold_percent" not in table:
        return None
    value = float(table["threshold_percent"])
    if not 0 <= value < 1000:  # never true of NaN
        raise RunFileError(f"{where}.threshold_percent: {value:g} is not from 0 to 1000; {HOW}")
    return value / 100


NUMBER = {"threshold_percent": (int, float)}


def load(path: Path) -> Policy:
    """The policy of a file. Raises RunFileError, which names the field and the mend."""
    try:
        document = tomllib.loads(read_text(path, HOW))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RunFileError(f"{path}: not valid TOML: {error}; {HOW}") from None
    _known(document, {"default": (dict,), "rule": (list,)}, f"{path}: document")
    default = document.get("default", {})
    _known(default, NUMBER, f"{path}: default")
    rules = [Rule(threshold=_threshold(default, f"{path}: default"))]
    for number, table in enumerate(document.get("rule", [])):
        where = f"{path}: rule[{number}]"
        if not isinstance(table, dict):
            raise RunFileError(f"{where}: {table!r:.60} is no table; begin it with [[rule]]; {HOW}")
        _known(table, {"case": (str,), "metric": (str,), "gated": (bool,), **NUMBER}, where)
        if not {"threshold_percent", "gated"} & table.keys():
            raise RunFileError(f"{where}: says nothing; give threshold_percent or gated; {HOW}")
        case, metric = table.get("case", "*"), table.get("metric", "*")
        rules.append(Rule(case, metric, _threshold(table, where), table.get("gated")))
    return Policy(tuple(rules))
