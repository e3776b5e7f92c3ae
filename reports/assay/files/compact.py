# SPDX-License-Identifier: Apache-2.0
"""`python -m assay.files.compact RUN_FOLDER...`: run.json as it is written today, its loops in loops.txt.gz."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.program import Exit, command, file_path, say

from . import load, save


def compact(folder: Path) -> tuple[int, int]:
    """Rewrites the run.json of a folder; (bytes before, bytes after), loops included. Raises RunFileError."""

    def size() -> int:
        return sum(path.stat().st_size for path in (folder / "run.json", folder / "loops.txt.gz") if path.is_file())

    run = load(folder / "run.json")
    before = size()
    save(run, folder / "run.json")
    return before, size()


@command("python -m assay.files.compact")
def main(arguments: Sequence[str] | None = None) -> int:
    status = "Exit status: 0 written, 2 bad arguments or input, 5 a file could not be written, 70 a defect of assay."
    parser = argparse.ArgumentParser(prog="python -m assay.files.compact", description=__doc__, epilog=status)
    parser.add_argument("folders", nargs="+", type=file_path, metavar="RUN_FOLDER", help="a folder with a run.json")
    for folder in parser.parse_args(arguments).folders:
        before, after = compact(folder)
        say(f"{folder}: {before:,} to {after:,} bytes")
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
