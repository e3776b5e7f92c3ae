# SPDX-License-Identifier: Apache-2.0
"""What tests of reports share, made once however many processes test."""

from functools import lru_cache
from unittest import mock

import committed
import once as shared
import pytest

from assay.report import site
from assay.report.draw import export


@pytest.fixture(scope="session", autouse=True)
def each_png_once():
    """A tenth of a second each. Many tests write a report of the same made-up run, which begins with the same pictures."""
    with mock.patch.object(export, "png", lru_cache(maxsize=100)(export.png)):
        yield


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    return shared.Once(tmp_path_factory)


@pytest.fixture(scope="session")
def report_of(once):
    """The folder with the whole report of a committed run, by its name in `committed`. It is only read."""

    def made(name):
        return once(f"report-{name}", lambda folder: site.write(committed.book(name), folder))

    return made
