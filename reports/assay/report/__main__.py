# SPDX-License-Identifier: Apache-2.0
"""The command `assay report`."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from assay.files import Run, RunFileError, isa_file, load, sass_file
from assay.program import Exit, command, file_name, say

from . import site
from .compare import subjects

DESCRIPTION = """\
Turns what `assay run` measured into pages that can be opened, printed or published as they are, without a network.
index.html is the machine as measured, and leads to the parts: a page each with its questions, their answers, a
picture and a table, and behind folds all else. Beside them stand the cases of each family, report.md, all of it as
Markdown, runs.json, the data without raw samples, and in pictures/ each picture as SVG and CSV; "PNG" beside a picture
saves it as that, made in the browser.
"""

EPILOG = """\
examples:
  assay report out/                          the run in out/run.json -> report/index.html
  assay report a/run.json b/run.json         what differs between two GPUs, or two runs of one, and a report of each
  assay report out/ check/ --out public      adds the targets that were only built and disassembled
  assay report out/ --published none         without the published figures beside ours
  assay report out/ --isa isa.json           adds which instruction exists on which target

Runs that measured the same cases, or are of GPUs of other names or ids (environment.gpu.id), are compared: index.html
leads with what differs beyond noise, in the order in which the runs are given, and a folder of each holds its own
report. Runs of one name that measured different cases stand in one report; of one id, in one column. A journal of a
killed run (journal.jsonl) works too.
scripts/site.sh makes a site of all results of a checkout.
What `assay sass WHAT --json > sass-NAME.json` wrote beside a run comes along: the hot loops of its kernels.
Exit status: 0 the pages were written, 2 bad arguments or input, 5 they could not be written, 70 a defect of assay. What
failed leaves an earlier report in DIR as it was; of one that is replaced no page stays.
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
    if not (found := sorted(folder.glob("*.json"))):
        how = "give the one of published figures, or none"
        raise RunFileError(f"{folder}: no *.json is in it, or it may not be read; {how}")
    return [load(path) for path in found]


@contextmanager
def rarely_collected() -> Iterator[None]:
    """A report keeps what it makes until it is written: looking for garbage as often as Python does takes a fifth of
    its time and finds next to none."""
    before = gc.get_threshold()
    gc.set_threshold(500_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@command("assay report")
@rarely_collected()
def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="assay report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", type=file_name, help="a run.json, or the folder `assay run --out` wrote")
    parser.add_argument("--out", default="report", metavar="DIR", type=file_name, help="where to write (default: %(default)s)")
    parser.add_argument(
        "--published",
        metavar="DIR",
        type=file_name,
        help="folder of published figures; `none` for none (default: results/published of the checkout)",
    )
    parser.add_argument("--isa", metavar="FILE", type=file_name, help="what `assay isa --json` printed: adds a page of every form")
    parser.add_argument(
        "--png",
        action="store_true",
        help="every picture also as a PNG file; else those of the front page, and of others the browser makes one",
    )
    options = parser.parse_args(arguments)
    folder = default_published() if options.published is None else Path(options.published)
    published = load_published(None if options.published == "none" else folder)
    matrix = isa_file.load(Path(options.isa)) if options.isa else None
    runs = [load(run) for run in options.runs]
    hot = [loop for run in runs for loop in sass_file.load_with(run.path)]
    found = subjects.subjects(subjects.split(runs), published, matrix, hot)
    out = Path(options.out)
    several = len(found) > 1
    main = site.write_comparison(found, out, options.png) if several else site.write(found[0].book, out, options.png)
    say(str(main))
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
