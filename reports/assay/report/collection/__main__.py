# SPDX-License-Identifier: Apache-2.0
"""`python -m assay.report.collection`: a site of all results, to publish as it is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.files import Run, isa_file
from assay.program import Exit, command, file_path, say

from .. import site
from ..__main__ import load_published, rarely_collected
from ..block.kinds import Page
from ..page.front import MAIN
from ..picture_files import Pictures
from . import entries, measurements
from .pages import TITLE, Collection

DESCRIPTION = """\
Makes a site of all results: an index of GPUs, measured and published; a report of each measured one; comparisons of
each pair; the table of instructions; what exists on which target; what changed when; and a page of each measurement
whose address stays. Links are relative and nothing needs a network: publish the folder as it is, also on GitHub Pages.
"""


def write(results: Path, published: Sequence[Run], matrix: isa_file.Isa | None, out: Path) -> Path:
    """Raises RunFileError and NotWritten."""
    collection = Collection(entries.entries(results), published, matrix)
    return site.placed(out, lambda aside: _write_files(collection, aside))


def _write_files(collection: Collection, folder: Path) -> list[str]:
    names: list[str] = []

    def put(name: str, content: str) -> None:
        names.append(name)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")

    def put_page(page: Page) -> None:
        put(page.name, site.html(page, title=TITLE))

    reported = collection.reported
    found = collection.cases()
    stays = {name: f"../../{measurements.address(name)}" for name in found}
    made = site.write_reports(reported, folder, (TITLE, f"../../{MAIN}"), permanent=stays, elsewhere=collection.elsewhere())
    for subject, written in zip(reported, made):
        collection.homes[subject.index] = written.homes
        collection.pages_of[subject.index] = written.names
        names += [f"{subject.folder}/{name}" for name in written.names]
    compared = collection.comparisons()
    for to, comparison in compared:
        pictures = Pictures(folder / to, png=False)
        for page in comparison.pages():
            files = pictures.of(page)
            put(f"{to}/{page.name}", site.html(page, title=TITLE, up=(TITLE, f"../../{MAIN}"), files=files))
        names += [f"{to}/{name}" for name in pictures.names]
    index, pages = collection.of_measurements(found)
    put("site.css", site.style())
    for page in pages:
        put(page.name, site.small(page, "../site.css", (TITLE, f"../{MAIN}")))
    others = [collection.instructions(), collection.support(), collection.changes(), index]
    for page in [*filter(None, others), collection.matrix(compared)]:
        put_page(page)
    put(".nojekyll", "")  # GitHub Pages takes the files as they are
    put_page(collection.main())
    return names


@command("assay site")
@rarely_collected()
def main(arguments: Sequence[str] | None = None) -> int:
    status = "Exit status: 0 written, 2 bad arguments or input, 5 could not be written, 70 a defect of assay."
    parser = argparse.ArgumentParser(
        prog="python -m assay.report.collection",
        description=DESCRIPTION,
        epilog=status,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("results", type=file_path, metavar="RESULTS", help="folder of <gpu>/<date>-<purpose>/run.json")
    parser.add_argument(
        "--out", type=file_path, default=Path("site"), metavar="DIR", help="where to write (default: %(default)s)"
    )
    parser.add_argument(
        "--isa", type=file_path, metavar="FILE", help="what `assay isa --json` printed: adds what exists where"
    )
    parser.add_argument(
        "--newest", action="store_true", help="write nothing; print the folder of the newest whole run of each GPU"
    )
    options = parser.parse_args(arguments)
    if options.newest:
        for entry in entries.newest_of_folders(entries.leading(entries.entries(options.results))):
            say(str(options.results / entry.gpu / entry.name))
        return Exit.OK
    folder = options.results / "published"
    published = load_published(folder if folder.is_dir() else None)
    matrix = isa_file.load(options.isa) if options.isa else None
    say(str(write(options.results, published, matrix, options.out)))
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
