# SPDX-License-Identifier: Apache-2.0
"""The pages that are tested: a site of two committed runs, which has their reports, and what single commands make."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from assay import files
from assay.files import history
from assay.gate import recorded
from assay.report import documents, site
from assay.report.__main__ import load_published
from assay.report.book import model
from assay.report.collection import __main__ as collection
from assay.report.collection import entries
from assay.report.compare.subjects import repeated_of, siblings_of, subjects
from assay.report.page.report import Report

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "results"
LOOPS = "h200/2026-11-22-full"  # the newest with hot loops of its kernels beside it, of the build that measured it
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build"))

# Pages of a report that hold long tables to search or to be led to; all others but the front page are parts.
LONG = ("*-cases.html", "instructions.html", "fragments.html", "glossary.html", "isa.html", "built.html")


@functools.cache
def leading() -> list[entries.Entry]:
    """The runs of whole suites. To find them, all results are read."""
    return entries.leading(entries.entries(RESULTS))


def newest() -> list[str]:
    """The folders of the H100's and the H200's newest."""
    return [f"{e.gpu}/{e.name}" for e in entries.newest_of_folders(leading())]


def make_site(folder: Path) -> None:
    """What scripts/site.sh makes where these two are all the results there are. Hot loops of an older build lie beside the
    newest run, so that pages have them: how they are set is tested here, not what they say."""
    results = folder.with_suffix(".results")
    other, full = newest()
    for run in (full, other):
        (results / run).mkdir(parents=True)
        beside = sorted((RESULTS / LOOPS).glob("sass-*.json")) if run == full else []
        for path in (*(RESULTS / run).iterdir(), *beside):
            (results / run / path.name).symlink_to(path)
    (results / "published").symlink_to(RESULTS / "published")
    assert collection.main([str(results), "--out", str(folder)]) == 0


def make_documents(folder: Path) -> None:
    """What `assay isa --html`, where the program is built, `assay sass --svg` and `assay baseline page` make."""
    folder.mkdir()
    if (BUILD / "assay").exists():
        with open(folder / "isa.html", "w") as page:
            subprocess.run([BUILD / "assay", "isa", "--html"], stdout=page, check=True)
    for loops in sorted((RESULTS / LOOPS).glob("sass-*.json")):
        (folder / f"{loops.stem}.svg").write_text(documents.first_loop(loops))
    (folder / "history.html").write_text(documents.history_page(made_up_history(), "Twelve runs").html)


def made_up_history() -> list[history.Entry]:
    """Forty cases of a committed run twelve times: every fourth is slower by 3% from the eighth time on."""
    run, entries = files.load(RESULTS / newest()[0]), []
    for i in range(12):
        entry = recorded.entry_of(run, f"{i:012x}", f"2026-01-{i + 1:02d}T00:00:00Z")
        entry.cases = dict(list(entry.cases.items())[:40])
        for number, figure in enumerate(entry.cases.values()):
            factor = 1.03 if i >= 7 and number % 4 == 0 else 1
            figure.values = [value * factor * (1 + 0.0005 * ((i + number) % 3)) for value in figure.values]
        entries.append(entry)
    entries[2].accepted, entries[2].reason = True, "the release"
    return entries


def make_fronts_beside_others(folder: Path) -> None:
    """The front pages of the site's first H200 and H100, with all that others of their kind add to them."""
    folder.mkdir()
    other, full = newest()
    for first, repeated in ((full, "h200/2026-11-22-quick-processes"), (other, "h100/2026-11-24-quick-processes")):
        gpu = first.split("/")[0]
        leads = {f"{e.gpu}/{e.name}": e.run for e in leading() if e.gpu == gpu}
        runs = [leads.pop(first), *leads.values(), files.load(RESULTS / repeated)]
        found = subjects([[run] for run in runs], load_published(RESULTS / "published"))
        report = Report(found[0].book, siblings_of(found[0], found), repeated=repeated_of(found[0], found))
        (folder / f"{gpu}.html").write_text(site.html(report.finish(), report), encoding="utf-8")


def make_report(run: str) -> Callable[[Path], None]:
    """What `assay report` makes of a run that has what no whole run of one GPU has."""

    def make(folder: Path) -> None:
        site.write(model.build([files.load(RESULTS / run)], load_published(RESULTS / "published")), folder)

    return make


MAKERS = {
    "site": make_site,
    "documents": make_documents,
    "beside others": make_fronts_beside_others,
    "kernels": make_report("h200/2026-11-23-kernels-rows"),
    "collectives": make_report("h200/2026-11-21-collectives-4gpus"),
    "links": make_report("h200/2026-11-21-links-4gpus"),
    "processes": make_report("h200/2026-11-22-quick-processes"),
}


def parts(folder: Path) -> list[Path]:
    """The pages of a report, but for those with long tables."""
    return [page for page in sorted(folder.glob("*.html")) if not any(page.match(pattern) for pattern in LONG)]


# Name of a set -> what it is from, and its pages there.
SETS = {
    "report": ("site", lambda site: sorted((site / "gpus/h200").glob("*.html"))),
    "other report": ("site", lambda site: parts(site / "gpus/h100")),
    "comparison": ("site", lambda site: sorted(site.glob("compare/*/*.html"))),
    "site": ("site", lambda site: sorted(site.glob("*.html"))),
    "beside others": ("beside others", lambda folder: sorted(folder.glob("*.html"))),
    "kernels": ("kernels", lambda folder: [folder / "index.html", folder / "kernels.html"]),
    "collectives": ("collectives", lambda folder: [folder / "link.html"]),
    "links": ("links", lambda folder: [folder / "link.html"]),
    "processes": ("processes", lambda folder: [folder / "index.html"]),
    "documents": ("documents", lambda folder: sorted([*folder.glob("*.html"), *folder.glob("*.svg")])),
}
