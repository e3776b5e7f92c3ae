# SPDX-License-Identifier: Apache-2.0
"""The pages that are tested: a site of two committed runs, which has their reports, and what single commands print."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from assay.report import documents
from assay.report.collection import __main__ as collection

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "results"
FULL, OTHER = "h200/2026-11-22-full", "h100/2026-11-22-most"
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build"))

# Pages of a report that hold long tables to search or to be led to; all others but the front page are parts.
LONG = ("*-cases.html", "instructions.html", "fragments.html", "glossary.html", "isa.html", "built.html")


def make_site(folder: Path) -> None:
    """What scripts/site.sh makes where these two are all the results there are."""
    results = folder.with_suffix(".results")
    for run in (FULL, OTHER):
        (results / run).parent.mkdir(parents=True)
        (results / run).symlink_to(RESULTS / run)
    (results / "published").symlink_to(RESULTS / "published")
    assert collection.main([str(results), "--out", str(folder)]) == 0


def make_documents(folder: Path) -> None:
    """What `assay isa --html` and `assay sass --svg` print; the first where the program is built."""
    folder.mkdir()
    if (BUILD / "assay").exists():
        with open(folder / "isa.html", "w") as page:
            subprocess.run([BUILD / "assay", "isa", "--html"], stdout=page, check=True)
    for loops in sorted((RESULTS / FULL).glob("sass-*.json")):
        (folder / f"{loops.stem}.svg").write_text(documents.first_loop(loops))


MAKERS = {"site": make_site, "documents": make_documents}


def parts(folder: Path) -> list[Path]:
    """The pages of a report, but for those with long tables."""
    return [page for page in sorted(folder.glob("*.html")) if not any(page.match(pattern) for pattern in LONG)]


# Name of a set -> what it is from, and its pages there.
SETS = {
    "report": ("site", lambda site: sorted((site / "gpus/h200").glob("*.html"))),
    "other report": ("site", lambda site: parts(site / "gpus/h100")),
    "comparison": ("site", lambda site: sorted(site.glob("compare/*/*.html"))),
    "site": ("site", lambda site: sorted(site.glob("*.html"))),
    "documents": ("documents", lambda folder: sorted([*folder.glob("*.html"), *folder.glob("*.svg")])),
}
