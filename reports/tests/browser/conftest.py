# SPDX-License-Identifier: Apache-2.0
"""Pages of committed runs and what a browser meets on them, made once however many processes test."""

import fcntl
import json
import os
from pathlib import Path

import page_sets
import pytest
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
    """The paths of the pages of a set."""

    def made(of: str) -> list[Path]:
        source, files = page_sets.SETS[of]
        return files(once(f"pages-{source}", page_sets.MAKERS[source]))

    return made


@pytest.fixture(scope="session")
def surveyed(once, pages, browser):  # the process's one: Playwright has no second beside it
    """What there is to say of the pages of a set, by name of the page."""

    def said(of: str) -> dict:
        survey.program()
        files = pages(of)

        def make(file: Path) -> None:
            printed = of in ("report", "other report", "comparison", "beside others")
            file.write_text(json.dumps(survey.survey(browser, files, printed)))

        return json.loads(once(f"survey-{of}.json", make).read_text())

    return said


@pytest.fixture(scope="session")
def browser():
    with survey.browser() as by:
        yield by
