# SPDX-License-Identifier: Apache-2.0
"""`python -m assay.files.compact RUN_FOLDER...`: run.json as it is written today, its loops in loops.txt.gz."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import RunFileError, load, save


def compact(folder: Path) -> tuple[int, int]:
    """Rewrites the run.json of a folder; (bytes before, bytes after), loops included. Raises RunFileError."""

    def size() -> int:
        return sum(path.stat().st_size for path in (folder / "run.json", folder / "loops.txt.gz") if path.is_file())

    run = load(folder / "run.json")
    before = size()
    save(run, folder / "run.json")
    return before, size()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m assay.files.compact", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="RUN_FOLDER", help="a folder with a run.json")
    try:
        for folder in parser.parse_args(arguments).folders:
            before, after = compact(folder)
            print(f"{folder}: {before:,} to {after:,} bytes")
    except RunFileError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
