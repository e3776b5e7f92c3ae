# SPDX-License-Identifier: Apache-2.0
"""A comparison as it is written: a page that leads with what differs, and a report of each in a folder of its own."""

import json
import os
import re
from pathlib import Path

import crawl
import pytest
import report_runs
from test_page import published_beside

import assay
from assay.files import Measurement, Metric, save
from assay.program import NotWritten
from assay.report import earlier_files, site
from assay.report.__main__ import main
from assay.report.compare import subjects


def two():
    slow = report_runs.measured(2, "NVIDIA H100 80GB HBM3")
    for m in slow.measurements:
        if m.name.startswith("sync/named"):
            for metric in m.metrics.values():
                metric.value, metric.ci95 = 2.5 * metric.value, tuple(2.5 * end for end in metric.ci95)
    return [report_runs.measured(), slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    runs = two()
    for run in runs:
        run.measurements.append(
            Measurement(
                "x/<b>&", "probe", primary="w", metrics={"w": Metric("<i>", 1.0 + len(runs[0].measurements), (1, 2))}
            )
        )
    folder = tmp_path_factory.mktemp("report")
    published = published_beside(runs[0])
    groups = subjects.split([*runs, report_runs.offline()])
    site.write_comparison(subjects.subjects(groups, published), folder)
    return folder


@pytest.fixture(scope="module")
def found(folder):
    return crawl.pages(folder)


def test_each_subject_has_a_folder_and_every_link_leads_somewhere(folder, found):
    assert {path.parent.name for path in found} == {folder.name, "h100", "h200"}
    assert crawl.dead_links(found) == []
    for path, document in found.items():
        assert document.problems == [] and len(document.ids) == len(set(document.ids)), path
    for name in ("h100", "h200"):
        assert len(json.loads((folder / name / "runs.json").read_text())) == 1


def test_a_gpu_that_is_slower_than_its_sibling_says_so_on_its_front_page(tmp_path):
    runs = [report_runs.measured(seed) for seed in (1, 2)]
    for digit, run in zip("ab", runs):
        run.environment["gpu"]["id"] = digit * 16
        run.measurements = [m for m in run.measurements if m.name.startswith("memory/")]
    for m in runs[1].measurements:
        if m.name == "memory/hbm/read":
            m.metrics["bandwidth_gb_per_s"].value *= 0.8
    found = subjects.subjects(subjects.split(runs))
    site.write_comparison(found, tmp_path)
    of_each = [(tmp_path / subject.folder / "index.html").read_text() for subject in found]
    said = re.compile("“DRAM read, bandwidth” is [^<]* below another GPU of this name")
    assert [bool(said.search(html)) for html in of_each] == [False, True]


def test_the_page_leads_with_machines_and_then_what_differs(folder, found):
    document = found[folder / "index.html"]
    headings = " ".join(" ".join(document.words).split())
    places = [
        headings.index(said)
        for said in ("Machines, conditions and builds", "What differs, the most", "Agreement by family")
    ]
    assert places == sorted(places)
    first = "1. H100 takes 2.5 times as many cycles as H200 for “named w4” It is 31.99 cycles on H200 and 80"
    assert first in headings.replace("\u202f", " ")
    assert (folder / "index.html").stat().st_size < 200_000


def test_it_is_markdown_too(folder):
    said = (folder / "report.md").read_text()
    assert said.startswith("# H200 against H100: assay report") and "1. H100 takes" in said and "<svg" not in said


def test_pages_of_a_subject_lead_back(folder):
    assert '<a href="../index.html">H200 against H100</a>' in (folder / "h100" / "index.html").read_text()


def test_the_command_compares_what_measured_the_same(tmp_path, capsys):
    paths = []
    for i, run in enumerate(two()):
        paths.append(tmp_path / f"{i}.json")
        save(run, paths[-1])
    out = tmp_path / "out"
    assert main([*map(str, paths), "--out", str(out), "--published", "none"]) == 0
    assert capsys.readouterr().out == f"{out / 'index.html'}\n"
    files = {"index.html", "differences.html", "report.md"}
    assert {path.name for path in out.iterdir()} == {*files, "pictures", "h100", "h200", earlier_files.LIST}


def test_what_fails_leaves_the_earlier_comparison_whole(tmp_path):
    runs = two()
    for run in runs:
        del run.measurements[20:]  # a small comparison fails as a large one does
    found = subjects.subjects(subjects.split(runs))
    site.write_comparison(found, tmp_path)
    before = (tmp_path / "index.html").read_bytes()
    (tmp_path / "h100" / "index.html").unlink()
    (tmp_path / "h100" / "index.html").mkdir()
    with pytest.raises(NotWritten, match="it is a folder"):
        site.write_comparison(found, tmp_path)
    assert (tmp_path / "index.html").read_bytes() == before


@pytest.mark.quiet
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the limit is of two cores")
def test_two_full_runs_are_quick(tmp_path):
    """At most ten seconds on two cores."""
    results = Path(assay.__file__).parents[2] / "results"
    runs = [results / "h100/2026-11-22-complete", results / "h200/2026-11-22-complete"]
    with report_runs.within(10, cores=2):
        assert main([*map(str, runs), "--out", str(tmp_path)]) == 0
    found = crawl.pages(tmp_path)
    assert crawl.dead_links({path: found[path] for path in found if path.parent == tmp_path}, found) == []
