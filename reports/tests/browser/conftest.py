# SPDX-License-Identifier: Apache-2.0
"""Pages of committed runs and what a browser meets on them, made once however many processes test."""

import fcntl
import json
import os
from pathlib import Path

import pytest

import page_sets
import survey


class Once:
    """Makes a thing in a folder that all processes of the test session share, when it is first asked for."""

    def __init__(self, factory) -> None:
        base = factory.getbasetemp()
        self.folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def __call__(self, name: str, make) -> Path:
        made = self.folder / name
        with open(self.folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                make(made)
        return made


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    return Once(tmp_path_factory)


@pytest.fixture(scope="session")
def pages(once):
    """The folder with the pages of a set."""
    return lambda of: once(f"pages-{of}", page_sets.MAKERS[of])


@pytest.fixture(scope="session")
def surveyed(once, pages):
    """What there is to say of the pages of a set, by name of the page."""

    def said(of: str) -> dict:
        survey.program()
        folder = pages(of)

        def make(file: Path) -> None:
            found = survey.survey(sorted([*folder.glob("*.html"), *folder.glob("*.svg")]), printed=of == "report")
            file.write_text(json.dumps(found))

        return json.loads(once(f"survey-{of}.json", make).read_text())

    return said


@pytest.fixture(scope="session")
def browser():
    with survey.browser() as by:
        yield by
