# SPDX-License-Identifier: Apache-2.0
"""What the tests of all folders share: the mark of those that measure time, which reports/pyproject.toml has too, for tests
that are run from there; and how often Python looks for garbage."""

import gc


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "quiet: measures time; scripts/test.sh runs these after all others, one after another"
    )
    # A session holds all results and many reports. To walk through these as often as Python does takes a fifth of its time.
    gc.set_threshold(500_000, 50, 50)
