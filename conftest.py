# SPDX-License-Identifier: Apache-2.0
"""What the tests of all folders share: the mark of those that measure time. reports/pyproject.toml has it too, for
tests that are run from there."""


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "quiet: measures time; scripts/test.sh runs these after all others, one after another"
    )
