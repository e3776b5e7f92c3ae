# SPDX-License-Identifier: Apache-2.0
"""`assay-baseline`: a history of runs, the baseline among them, and a page of what changed when."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay import __version__
from assay.files import history
from assay.gate import foreign, recorded
from assay.plain_text import one_line
from assay.program import Exit, check_outputs, command, complain, file_name, file_path, say, write_file

PROGRAM = "assay-baseline"

DESCRIPTION = """\
A history of runs, a baseline that only a person moves, and a page of what changed when.

A folder holds a file of JSON lines for each GPU, branch of the driver, version of CUDA and power limit: figures of two
such machines are no history of the code. Keep it in git, so that who accepts a baseline does it in a reviewed commit.
What was measured beside another process, or while heat or a fault slowed the GPU down, is left out and named.
"""

EPILOG = """\
exit codes: 0 as asked; 2 usage or unreadable input; 5 not written; 70 a defect of assay itself: please report it

examples:
  assay baseline record out/run --history history       after each nightly run: a line more, and nothing else
  assay baseline accept history/FILE.jsonl --commit 1f3a --reason 'larger tiles: faster above 4096, slower below'
  assay gate history/FILE.jsonl out/run                 against the baseline
  assay baseline page history/FILE.jsonl --out page.html
"""


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        PROGRAM, description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = p.add_subparsers(dest="do", required=True, metavar="record|accept|page")
    record = commands.add_parser("record", help="append a run to the history of its machine")
    record.add_argument("run", metavar="RUN", type=file_name, help="run.json, its folder, or JSON of Google Benchmark or nvbench")
    record.add_argument("--history", metavar="FOLDER", type=file_path, default=Path("history"), help="default: history")
    record.add_argument("--commit", help="of the code that was measured (default: that of the build)")
    record.add_argument("--time", help="when, as 2026-01-31T12:00:00Z (default: when the run began)")
    record.add_argument(
        "--machine", help="where a run does not say what it was measured on (Google Benchmark): the name of its file"
    )
    accept = commands.add_parser("accept", help="make the newest run of a commit the baseline, and say why")
    accept.add_argument("file", metavar="FILE", type=file_path)
    accept.add_argument("--commit", default="", help="its beginning is enough (default: the newest run)")
    accept.add_argument("--reason", required=True, help="why what is slower may be so; kept in the file")
    draw = commands.add_parser("page", help="draw each case along commits, and say what changed")
    draw.add_argument("file", metavar="FILE", type=file_path)
    draw.add_argument("--out", metavar="FILE", type=file_path, default=Path("history.html"))
    return p


def _without(entry: history.Entry) -> str:
    """What the line lacks, for who records or accepts it to know."""
    if not entry.lost:
        return ""
    name, first = next(iter(entry.lost.items()))
    more = f", and of {len(entry.lost) - 1} more" if len(entry.lost) > 1 else ""
    return f"; it has no figure of {name} ({first['reason']}){more}"


@command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Does what was asked; argparse exits with 2 by itself."""
    options = parser().parse_args(arguments)
    if options.do == "record":
        entry = recorded.entry_of(foreign.load(options.run), options.commit, options.time)
        path = history.append(options.history, entry, options.machine)
        say(one_line(f"{path}: {len(entry.cases)} cases of {entry.commit}{_without(entry)}"))
    elif options.do == "accept":
        if not options.reason.strip():
            return complain(PROGRAM, "--reason is empty: say why this run is to be the baseline", Exit.USAGE)
        entry = history.accept(options.file, options.commit, options.reason)
        say(one_line(f"{options.file}: the baseline is {entry.commit} of {entry.time}{_without(entry)}"))
    else:
        from assay.report import documents  # here, for it takes long to load and the others do without

        check_outputs([("--out", options.out)], [options.file])
        found = documents.history_page(history.drawn(options.file), options.file.stem)
        write_file(options.out, found.html.encode())
        say("\n".join(map(one_line, [*found.changes, str(options.out)])))
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
