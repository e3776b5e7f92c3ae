# SPDX-License-Identifier: Apache-2.0
"""The command `assay report`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.files import Run, RunFileError, isa_file, load, sass_file
from assay.program import Exit, command, say

from . import site
from .book import model

DESCRIPTION = """\
Turns what `assay run` measured into pages that can be opened, printed or published as they are: no network, no script
needed. index.html has the answers; beside it stand the tables that would drown them, report.md, all of it as
Markdown, runs.json, the data without raw samples, and in pictures/ each picture as SVG and CSV.
"""

EPILOG = """\
examples:
  assay report out/                          the run in out/run.json -> report/index.html
  assay report a/run.json b/run.json         two GPUs, or two runs of one, side by side
  assay report out/ check/ --out public      adds the targets that were only built and disassembled
  assay report out/ --published none         without the published figures beside ours
  assay report out/ --isa isa.json           adds which instruction exists on which target

Give runs in the order in which their columns should stand. Runs of one GPU, by environment.gpu.id, that measured
different cases become one column; a file without that id is a column by itself. A journal of a killed run
(journal.jsonl) works too.
What `assay sass WHAT --json > sass-NAME.json` wrote beside a run comes along: the hot loops of its kernels.
Exit status: 0 the pages were written, 2 bad arguments or input, 5 they could not be written, 70 a defect of assay. What
failed leaves an earlier report in DIR as it was.
"""


def default_published() -> Path | None:
    """results/published of the checkout this package lies in, if it lies in one."""
    folder = Path(__file__).resolve().parents[3] / "results" / "published"
    return folder if folder.is_dir() else None


def load_published(folder: Path | None) -> list[Run]:
    """Every run file of the folder, by name."""
    if folder is None:
        return []
    if not folder.is_dir():
        raise RunFileError(f"{folder}: no such folder; give the one that holds the published *.json, or none")
    return [load(path) for path in sorted(folder.glob("*.json"))]


@command("assay report")
def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="assay report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run.json, or the folder `assay run --out` wrote")
    parser.add_argument("--out", default="report", metavar="DIR", help="where to write (default: %(default)s)")
    parser.add_argument(
        "--published",
        metavar="DIR",
        help="folder of published figures; `none` for none (default: results/published of the checkout)",
    )
    parser.add_argument("--isa", metavar="FILE", help="what `assay isa --json` printed: adds a page of every form")
    parser.add_argument("--png", action="store_true", help="every picture also as PNG; else those of the front page")
    options = parser.parse_args(arguments)
    folder = default_published() if options.published is None else Path(options.published)
    published = load_published(None if options.published == "none" else folder)
    matrix = isa_file.load(Path(options.isa)) if options.isa else None
    runs = [load(run) for run in options.runs]
    hot = [loop for run in runs for loop in sass_file.load_with(run.path)]
    book = model.build(runs, published, matrix, hot)
    say(str(site.write(book, Path(options.out), options.png)))
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
