# SPDX-License-Identifier: Apache-2.0
"""A page or a picture of what one command printed: `assay-isa-page` and `assay-sass-timeline`.

`assay isa --html` and `assay sass --svg` start them with their JSON.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from assay.files import RunFileError, isa_file, sass_file

from . import site
from .draw.timeline import timeline
from .page import isa


def isa_page(arguments: list[str] | None = None) -> int:
    """The command `assay-isa-page`."""
    said = "Prints a page to search of the instructions by target."
    return _print(
        "assay-isa-page", said, "assay isa --json", lambda path: site.html(isa.page(isa_file.load(path))), arguments
    )


def sass_timeline(arguments: list[str] | None = None) -> int:
    """The command `assay-sass-timeline`."""
    said = "Prints an SVG of the first hot loop: its instructions along time, by pipe."
    return _print("assay-sass-timeline", said, "assay sass --json", _first_loop, arguments)


def _first_loop(path: Path) -> str:
    kernels = sass_file.read(path)["kernels"]
    for kernel in kernels:
        for loop in kernel["hot"]:
            try:
                return timeline(kernel, loop)
            except (KeyError, TypeError, IndexError, AttributeError):
                raise RunFileError(
                    f"{path}: hot: lacks what the picture shows; print it with this version's `assay sass --json`"
                ) from None
    raise RunFileError(f"{path}: kernels: no loop to draw; choose a kernel that has one")


def _print(program: str, said: str, source: str, make: Callable[[Path], str], arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(prog=program, description=said)
    parser.add_argument("file", type=Path, metavar="FILE", help=f"what `{source}` printed")
    try:
        print(make(parser.parse_args(arguments).file), end="")
    except RunFileError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    return 0
