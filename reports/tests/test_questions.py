# SPDX-License-Identifier: Apache-2.0
"""The questions of the report: the command that each names measures something."""

import itertools
import re
from pathlib import Path

import pytest

from assay.report.answer.questions import UNMEASURED, by_number

PROBES = Path(__file__).resolve().parents[2] / "docs/probes.md"  # every case, as `assay list` registers them
COMMAND = [question for question in by_number().values() if question.cases]


def names(line):
    """The names that a line of the page stands for: "- `a/<b>[/c]`; b: x, y (4 cases)" is a/x, a/x/c, a/y and a/y/c."""
    form, _, rest = line.removeprefix("- `").partition("`")
    values = {key: re.split(r", | \.\.\. | and ", said) for key, said in re.findall(r"; (\w+): ([^;(]*[^;( ])", rest)}
    parts = re.split(r"<(\w+)>", form)
    choices = [values[part] if i % 2 else [part] for i, part in enumerate(parts)]
    for chosen in itertools.product(*choices):
        name = "".join(chosen)
        yield re.sub(r"\[[^]]*\]", "", name)
        yield name.replace("[", "").replace("]", "")


@pytest.fixture(scope="module")
def registered():
    lines = [line for line in PROBES.read_text().splitlines() if re.match(r"- `\w+/[^`]*`.*\(.*(quick|full)", line)]
    assert len(lines) > 250
    return {name for line in lines for name in names(line)}


def alternatives(pattern):
    """ "^a/(b|c)/" is "^a/b/" and "^a/c/"."""
    pieces = re.split(r"\(([^()]*)\)(?!\?)", pattern)
    choices = [piece.split("|") if i % 2 else [piece] for i, piece in enumerate(pieces)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def test_names_are_read_as_the_page_writes_them():
    line = "- `a/<b>/<c>[/d]`; b: x, y; c: 1, 2 ... 8 (12 cases, full; every GPU target)"
    assert {"a/x/1", "a/y/8/d"} <= set(names(line)) and len(set(names(line))) == 12
    assert alternatives("^a/(b|c)(_d)?/") == ["^a/b(_d)?/", "^a/c(_d)?/"]


@pytest.mark.parametrize("question", COMMAND, ids=lambda question: question.number)
def test_the_command_of_a_question_measures_cases(registered, question):
    """Each of its alternatives does: a command that a reader runs for nothing is no answer."""
    for pattern in alternatives(question.cases):
        assert any(re.search(pattern, name) for name in registered), pattern


def test_what_no_probe_measures_is_said_to_be_so():
    """Of questions that runs of other programs answer."""
    assert [q.number for q in by_number().values() if q.otherwise == UNMEASURED] == [31, 25, 26, 27, 28]
    assert all(q.picks and not q.cases for q in by_number().values() if q.otherwise == UNMEASURED)
