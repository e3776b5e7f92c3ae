# SPDX-License-Identifier: Apache-2.0
"""The pages that are tested, from committed runs."""

import os
import subprocess
from pathlib import Path

from assay.report import __main__ as report
from assay.report import documents

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "results"
H200, H100 = RESULTS / "h200/2026-11-22-full", RESULTS / "h100/2026-11-22-most"
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build"))
SETS = ("report", "comparison", "documents")


def make_documents(folder: Path) -> None:
    """What `assay isa --html` and `assay sass --svg` print; the first where the program is built."""
    folder.mkdir()
    if (BUILD / "assay").exists():
        with open(folder / "isa.html", "w") as page:
            subprocess.run([BUILD / "assay", "isa", "--html"], stdout=page, check=True)
    for loops in sorted(H200.glob("sass-*.json")):
        (folder / f"{loops.stem}.svg").write_text(documents.first_loop(loops))


MAKERS = {
    "report": lambda folder: report.main([str(H200), "--out", str(folder)]),
    "comparison": lambda folder: report.main([str(H200), str(H100), "--out", str(folder)]),
    "documents": make_documents,
}
