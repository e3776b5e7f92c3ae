# SPDX-License-Identifier: Apache-2.0
"""The house: rooms know only rooms before them, no folder or file is too full, and names say what is in them."""

import ast
import re
from pathlib import Path

import pytest

import assay
from assay import report

ROOT = Path(assay.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts)
ORDER = re.split(r"\s+<- ", re.search(r"^ +(files(?:\s+<- \w+)+)$", report.__doc__, re.MULTILINE)[1])


def dotted(path):
    """The name of the module in a file, as a list."""
    parts = ["assay", *path.relative_to(ROOT).with_suffix("").parts]
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(path):
    """The names of all modules of this package that a file imports, wherever in it."""
    here = dotted(path)
    package = here if path.name == "__init__.py" else here[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            found += [[*base, alias.name] for alias in node.names]
    return [name for name in found if name[0] == "assay"]


def room(name):
    """Where a module stands in the order; None for one that is in no room."""
    if name[:2] == ["assay", "report"]:
        return ORDER.index(name[2]) if len(name) > 2 and name[2] in ORDER else None
    return ORDER.index(name[1]) if name[1:2] and name[1] in ORDER else None


def test_the_order_names_every_room():
    rooms = {name[2] for path in MODULES if (name := dotted(path))[:2] == ["assay", "report"] and len(name) > 2}
    assert rooms | {"files"} == set(ORDER)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: ".".join(dotted(path)))
def test_a_room_knows_only_those_before_it(path):
    mine = room(dotted(path))
    for name in imported(path):
        if mine is not None:
            assert name[1] != "gate", f"{'.'.join(name)}: a report knows no gate"
            assert room(name) is None or room(name) <= mine, f"{'.'.join(name)} stands after {ORDER[mine]}"
        elif dotted(path)[1:2] == ["gate"]:
            assert name[1] != "report", f"{'.'.join(name)}: a gate knows no report"
        elif dotted(path)[1:] == ["statistics"]:
            raise AssertionError(f"{'.'.join(name)}: statistics know nothing of this package")


def test_a_family_knows_no_other():
    for path in MODULES:
        name = dotted(path)
        if name[:3] == ["assay", "report", "family"] and len(name) > 3:
            others = [i for i in imported(path) if i[:3] == name[:3] and len(i) > 3 and i[3] != name[3]]
            assert others == [], path


def test_no_folder_and_no_file_is_too_full():
    folders = {path.parent for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    for folder in folders:
        assert sum(path.is_file() for path in folder.iterdir()) <= 20, folder
    for path in [*MODULES, *(ROOT / "report" / "templates").iterdir()]:
        assert len(path.read_text().splitlines()) <= 400, path


def test_pages_are_written_by_blocks_alone():
    """A head, a heading and a table are in templates; the text of pictures alone is made elsewhere, with their style."""
    made = {p.name for p in MODULES if re.search(r"<(html|head|body|style|h1|h2|table|p|ul)\b", p.read_text())}
    assert made == {"export.py", "timeline.py"}, "an SVG that stands for itself has its style in it"


def test_every_family_is_in_a_file_of_its_name():
    from assay.report import family

    for path in (ROOT / "report" / "family").iterdir():
        if path.name not in ("__init__.py", "__pycache__"):
            assert family.declared()[path.stem].key == path.stem


# They say nothing: what a list of places or a map of functions holds, its name should tell.
VAGUE = {"anything", "beside", "places", "functions"}


def test_names_say_what_they_name():
    for path in MODULES:
        assert path.stem not in VAGUE, path
        for node in ast.walk(ast.parse(path.read_text())):
            names = (getattr(node, key, None) for key in ("id", "arg", "attr", "name"))
            assert not VAGUE & {name for name in names if isinstance(name, str)}, (path, node.lineno)
