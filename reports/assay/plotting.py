# SPDX-License-Identifier: Apache-2.0
"""Matplotlib as it comes.

It takes its settings from a `matplotlibrc` in the current folder, whoever put it there, before it looks for one of the
person's. Either would make the same run another page, and one that cannot be read would end it.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path


def load() -> None:
    """Imports it with the settings that it brings along. Call this before any other import of it."""
    if "matplotlib" in sys.modules:
        return
    package = find_spec("matplotlib")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("matplotlib is not installed: run scripts/setup.sh")
    here = os.open(".", os.O_PATH | os.O_DIRECTORY)
    try:
        os.chdir(Path(package.origin).parent / "mpl-data")  # the first place where it looks for settings
        import matplotlib  # noqa: F401
    finally:
        os.fchdir(here)
        os.close(here)
