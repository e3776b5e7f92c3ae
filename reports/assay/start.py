# SPDX-License-Identifier: Apache-2.0
"""The commands as they are started: what ends one before it has read its own modules is one line and a status, too.

Those modules take a second, in which a person may interrupt, and memory may end. Python's own status is 1 then, which
says "slower".
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

Arguments = Sequence[str] | None

UNFIT, INTERRUPTED = 4, 130  # assay.program.Exit has all, but is one of those modules


def _started(arguments: Arguments, program: str, module: str, function: str = "main") -> int:
    try:
        run = getattr(import_module(module), function)
    except KeyboardInterrupt:
        said, status = "interrupted", INTERRUPTED
    except MemoryError:
        said, status = "the memory of this machine is too small", UNFIT
    except ImportError as error:
        said, status = f"cannot start: {error}; run scripts/setup.sh, which installs what is missing", UNFIT
    else:
        return run(arguments)
    if sys.stderr is not None:
        sys.stderr.write(f"{program}: {said}\n")
    return status


def gate(arguments: Arguments = None) -> int:
    return _started(arguments, "assay-gate", "assay.gate.command")


def ab(arguments: Arguments = None) -> int:
    return _started(arguments, "assay-ab", "assay.gate.ab.command")


def baseline(arguments: Arguments = None) -> int:
    return _started(arguments, "assay-baseline", "assay.baseline")


def report(arguments: Arguments = None) -> int:
    return _started(arguments, "assay report", "assay.report.__main__")


def isa_page(arguments: Arguments = None) -> int:
    return _started(arguments, "assay-isa-page", "assay.report.documents", "isa_page")


def sass_timeline(arguments: Arguments = None) -> int:
    return _started(arguments, "assay-sass-timeline", "assay.report.documents", "sass_timeline")
