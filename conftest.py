# SPDX-License-Identifier: Apache-2.0
"""What the tests of all folders share: the mark of those that measure time, which reports/pyproject.toml has too, for tests
that are run from there; how often Python looks for garbage; and that programs can be interrupted."""

import gc
import signal


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "quiet: measures time; scripts/test.sh runs these after all others, one after another"
    )
    # A session holds all results and many reports. To walk through these as often as Python does takes a fifth of its time.
    gc.set_threshold(500_000, 50, 50)
    # A shell starts what it puts in the background without SIGINT, nohup without SIGHUP, and what they start is without too.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
