# SPDX-License-Identifier: Apache-2.0
"""A page or a picture of what one command made: `assay-isa-page` and `assay-sass-timeline`, and a page of a history.

`assay isa --html` and `assay sass --svg` start the first two with their JSON, `assay baseline page` asks for the third.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.files import RunFileError, isa_file, sass_file
from assay.files.history import Entry
from assay.program import Exit, command, file_path, say

from . import site
from .draw.history import lines
from .draw.timeline import timeline
from .page import history, isa


@command("assay-isa-page")
def isa_page(arguments: Sequence[str] | None = None) -> int:
    """The command `assay-isa-page`."""
    said = "Prints a page to search of the instructions by target."
    return _print(
        "assay-isa-page", said, "assay isa --json", lambda path: site.html(isa.page(isa_file.load(path))), arguments
    )


@command("assay-sass-timeline")
def sass_timeline(arguments: Sequence[str] | None = None) -> int:
    """The command `assay-sass-timeline`."""
    said = "Prints an SVG of the first hot loop: its instructions along time, by pipe."
    return _print("assay-sass-timeline", said, "assay sass --json", first_loop, arguments)


@dataclass(frozen=True)
class HistoryPage:
    """The page, complete in itself, and what it says of changes."""

    html: str
    changes: list[str]


def history_page(entries: Sequence[Entry], title: str) -> HistoryPage:
    """What `assay baseline page` writes."""
    found = lines(entries)
    return HistoryPage(site.html(history.page(entries, title, found)), [said for line in found for said in line.sentences])


def first_loop(path: Path) -> str:
    """The SVG of the first loop in a file that `assay sass --json` printed."""
    for k, kernel in enumerate(sass_file.read(path)["kernels"]):
        for h, loop in enumerate(kernel["hot"]):
            try:
                return timeline(kernel, loop)
            except KeyError as error:  # what the schema leaves to older files, or a step that there is not
                raise RunFileError(
                    f"{path}: kernels[{k}].hot[{h}]: lacks {error} for the picture; print it with this version's "
                    "`assay sass --json`"
                ) from None
    raise RunFileError(f"{path}: kernels: no loop to draw; choose a kernel that has one")


def _print(program: str, said: str, source: str, make: Callable[[Path], str], arguments: Sequence[str] | None) -> int:
    status = "Exit status: 0 printed, 2 bad arguments or input, 5 output could not be written, 70 a defect of assay."
    parser = argparse.ArgumentParser(prog=program, description=said, epilog=status)
    parser.add_argument("file", type=file_path, metavar="FILE", help=f"what `{source}` printed")
    say(make(parser.parse_args(arguments).file), end="")
    return Exit.OK
