# SPDX-License-Identifier: Apache-2.0
"""Pages of committed runs and what a browser meets on them, made once however many processes test."""

import functools
import json
from pathlib import Path

import page_sets
import pytest
import survey


@pytest.fixture(scope="session")
def pages(once):
    """The paths of the pages of a set."""

    def made(of: str) -> list[Path]:
        source, files = page_sets.SETS[of]
        return files(once(f"pages-{source}", page_sets.MAKERS[source]))

    return made


@pytest.fixture(scope="session")
def surveyed(once, pages, window):
    """What there is to say of the pages of a set, by name of the page. Processes that ask at once share the pages."""

    def said(of: str) -> dict:
        kept = {}
        for wait in (False, True):
            for path in (path for path in pages(of) if path.name not in kept):

                def make(file: Path, path=path) -> None:
                    file.write_text(json.dumps(survey.look(window(), path)))

                if file := once(f"survey-{of}-{path.name}.json", make, wait):
                    kept[path.name] = json.loads(file.read_text())
        return kept

    return said


@pytest.fixture(scope="session")
def window(browser):
    """The process's window for all pages that are looked at one after another, opened when it is first asked for."""
    return functools.cache(lambda: survey.Window(browser))


@pytest.fixture(scope="session")
def browser():
    with survey.browser() as by:
        yield by
