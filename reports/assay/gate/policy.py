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

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.files import RunFileError
from assay.files.json_text import read_text, step
from assay.plain_text import CUT, one_line

HOW = "`assay gate --help` shows a policy"
LARGEST = 1 << 20  # characters of a file
MOST_RULES = 1000  # each is held against every case
LONGEST_GLOB = 1000  # characters, as the name of a case has at most
MOST_DOTS = 16  # in a line, outside of texts and remarks; the time that tomllib takes grows with their square
# What TOML takes for a text or a remark, from left to right; an open one ends nowhere and is left as it is.
TEXT = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*')


@dataclass(frozen=True)
class Rule:
    """What holds for the cases and metrics that match."""

    case: str = "*"
    metric: str = "*"
    threshold: float | None = None  # a fraction
    gated: bool | None = None

    @cached_property
    def _expressions(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        return re.compile(translate(self.case)), re.compile(translate(self.metric))

    def matches(self, case: str, metric: str) -> bool:
        of_case, of_metric = self._expressions
        return of_case.match(case) is not None and of_metric.match(metric) is not None

    def may_match(self, case: str, metric: str) -> bool:
        return self.matches(case, metric) if metric else self._expressions[0].match(case) is not None


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

    def idle(self, found: Sequence[tuple[str, str]]) -> list[str]:
        """What matches none of these cases and metrics: names of rules, as messages about the file have them.

        Of a case whose metric is "" any may be meant.
        """
        rules = enumerate(self.rules[1:])  # after the default
        return [f"rule[{number}]" for number, rule in rules if not any(rule.may_match(*one) for one in found)]


def _shown(value: Any) -> str:
    """A value in a message. Tables may be deeper than Python prints, and integers longer."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    try:
        return f"{value!r:.60}"
    except ValueError:
        return "an integer of so many digits"


def _known(table: dict[str, Any], kinds: dict[str, tuple[type, ...]], where: str) -> None:
    for key, value in table.items():
        if key not in kinds:
            raise RunFileError(f"{step(where, key)}: no such field; known are {', '.join(kinds)}; {HOW}")
        if not isinstance(value, kinds[key]) or (isinstance(value, bool) and bool not in kinds[key]):
            wanted = " or ".join(kind.__name__ for kind in kinds[key])
            raise RunFileError(f"{where}.{key}: {_shown(value)} is no {wanted}; {HOW}")


def _threshold(table: dict[str, Any], where: str) -> float | None:
    if "threshold_percent" not in table:
        return None
    value = table["threshold_percent"]
    if not 0 <= value < 1000:  # never true of NaN; an integer may be beyond what a float can hold
        raise RunFileError(f"{where}.threshold_percent: {_shown(value)} is not from 0 to 1000; {HOW}")
    return float(value) / 100


def _glob(table: dict[str, Any], key: str, where: str) -> str:
    value = table.get(key, "*")
    if len(value) > LONGEST_GLOB:
        raise RunFileError(f"{where}.{key}: {len(value):,} characters, {LONGEST_GLOB:,} are the most; {HOW}")
    return value


def _document(path: Path) -> dict[str, Any]:
    """What the TOML says, bounded before it is parsed. Raises RunFileError."""
    text = read_text(path, HOW)
    if len(text) > LARGEST:
        raise RunFileError(f"{path}: larger than {LARGEST >> 20} MiB; leave rules out; {HOW}")
    for number, line in enumerate(TEXT.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n"), 1):
        if line.count(".") > MOST_DOTS:
            said = f"more than {MOST_DOTS} dots outside of texts, as no policy has"
            raise RunFileError(f"{path}: line {number}: {said}; {HOW}")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise RunFileError(f"{path}: nested too deeply; {HOW}") from None
    except tomllib.TOMLDecodeError as error:
        said, _, at = one_line(str(error)).rpartition(" (at ")
        raise RunFileError(f"{path}: {at.rstrip(')')}: not valid TOML: {said:.{CUT}}; {HOW}") from None
    except ValueError:  # of Python's `int`, from 4,301 digits on
        raise RunFileError(f"{path}: the document: an integer of more digits than can be read; {HOW}") from None


NUMBER = {"threshold_percent": (int, float)}


def load(path: Path) -> Policy:
    """The policy of a file. Raises RunFileError, which names the field and the mend."""
    document = _document(path)
    _known(document, {"default": (dict,), "rule": (list,)}, f"{path}: document")
    default = document.get("default", {})
    _known(default, NUMBER, f"{path}: default")
    rules = [Rule(threshold=_threshold(default, f"{path}: default"))]
    tables = document.get("rule", [])
    if not default and not tables:  # such as a file that was cut to nothing, under which all would be gated as without it
        raise RunFileError(f"{path}: document: says nothing; give a default or a rule, or leave --policy out; {HOW}")
    if len(tables) > MOST_RULES:
        said = f"{len(tables):,} of them, {MOST_RULES:,} are the most; let globs stand for many"
        raise RunFileError(f"{path}: rule: {said}; {HOW}")
    for number, table in enumerate(tables):
        where = f"{path}: rule[{number}]"
        if not isinstance(table, dict):
            raise RunFileError(f"{where}: {_shown(table)} is no table; begin it with [[rule]]; {HOW}")
        _known(table, {"case": (str,), "metric": (str,), "gated": (bool,), **NUMBER}, where)
        if not {"threshold_percent", "gated"} & table.keys():
            raise RunFileError(f"{where}: says nothing; give threshold_percent or gated; {HOW}")
        globs = _glob(table, "case", where), _glob(table, "metric", where)
        rules.append(Rule(*globs, _threshold(table, where), table.get("gated")))
    return Policy(tuple(rules))
