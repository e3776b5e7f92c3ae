# SPDX-License-Identifier: Apache-2.0
"""What several processes of a test session need and one of them makes."""

import fcntl
import os
from pathlib import Path


class Once:
    """Makes a thing in a folder that all processes of the test session share, when it is first asked for."""

    def __init__(self, factory) -> None:
        base = factory.getbasetemp()
        self.folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def __call__(self, name: str, make, wait: bool = True) -> Path | None:
        """The path of what `make` makes there; none if another process is making it and we are not to wait."""
        made = self.folder / name
        with open(self.folder / f"{name}.lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            if not made.exists():
                make(made)
        return made
