# SPDX-License-Identifier: Apache-2.0
"""The pages beside the main one: what goes where, that links between them hold, and what a phone or a reader meets."""

import json
import re
from pathlib import Path

import crawl
import data_runs
import machine_runs
import pytest
import report_runs
from committed import RESULTS
from test_page import Document

from assay.files import isa_file, load
from assay.report import earlier_files, site
from assay.report.book import model

# What the run has cases of; of tensor memory it has what was built.
FAMILIES = {"tensor_core", "special_function", "sass", "numerics"}
PAGES = {"index.html", "glossary.html", "tma.html", "host.html", "instructions.html", "fragments.html", "built.html", "isa.html"} | {
    f"{key}{what}.html" for key in FAMILIES for what in ("", "-cases")
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pages of a machine with more SASS cases than the main page takes, and of what was built for other targets."""
    out = tmp_path_factory.mktemp("site")
    run = machine_runs.machine()
    make = report_runs.Maker(9)
    for i in range(60):
        make.add(f"sass/op{i}/b32", limit=64, opcode=f"OP{i}", ops_per_clock_per_sm=63.5, latency_cycles=4.0 + i)
    run.measurements += make.run.measurements
    (out / "isa.json").write_text(json.dumps(machine_runs.ISA))
    site.write(model.build([run, report_runs.offline()], isa=isa_file.load(out / "isa.json")), out / "report")
    return out / "report"


@pytest.fixture(scope="module")
def documents(folder):
    return {name: Document((folder / name).read_text()) for name in PAGES}


def test_every_case_leads_to_its_conditions_from_somewhere(tmp_path):
    book = model.build([machine_runs.machine(), data_runs.data(), report_runs.measured()])
    site.write(book, tmp_path)
    found = {path.name: Document(path.read_text()) for path in tmp_path.glob("*.html")}
    ids = {name for document in found.values() for name in document.ids}
    links = {a["href"].rpartition("#")[2] for document in found.values() for a, _ in document.all("a")}
    anchors = {column.anchor(m.name) for column, m in book.measurements}
    assert len(anchors) > 50 and anchors <= ids and anchors <= links


@pytest.mark.parametrize("name", ["h100/2026-11-26-torch-grouped", "h200/2026-11-27-gemm-curve"])
def test_no_answer_leads_behind_a_fold_whose_only_picture_the_part_shows(name, tmp_path):
    """Of these runs the picture was all that lay behind the answer."""
    site.write(model.build([load(RESULTS / name)]), tmp_path)
    assert crawl.dead_links(crawl.pages(tmp_path)) == []


def test_each_page_is_there_and_well_formed(folder, documents):
    assert {p.name for p in folder.iterdir()} == PAGES | {"report.md", "runs.json", "pictures", earlier_files.LIST}
    for name, document in documents.items():
        assert document.problems == [] and not document.open, name
        assert len(document.ids) == len(set(document.ids)), name
        assert len(document.all("table")) == len(document.all("caption")), name
        assert document.all("main") and len(document.all("h1")) == 1 and document.all("html")[0][0]["lang"] == "en"


def test_every_link_leads_somewhere_on_the_right_page(folder, documents):
    ids = {name: set(document.ids) for name, document in documents.items()}
    crossing = 0
    for name, document in documents.items():
        for attributes, _ in document.all("a"):
            where, _, place = attributes["href"].partition("#")
            if where.startswith(("http", "pictures/")) or where == "runs.json":
                assert where.startswith("http") or (folder / where).stat().st_size
                continue
            crossing += bool(where)
            assert (where or name) in ids, (name, attributes)
            assert not place or place in ids[where or name], (name, attributes)
    assert crossing > 100


def test_no_page_needs_a_network(folder):
    for name in PAGES:
        html = (folder / name).read_text()
        assert not re.search(r"""<link|src=|@import|fetch\(|url\(\s*['"]?https?:""", html), name


def test_every_family_has_a_page_of_its_cases_with_their_details(documents, folder):
    anchor = "m0-sass-op3-b32"
    assert [name for name, document in documents.items() if anchor in document.ids] == ["sass-cases.html"]
    part = (folder / "sass.html").read_text()
    assert 'href="sass-cases.html"' in part and 'href="sass.html"' in (folder / "sass-cases.html").read_text()


def test_the_table_of_instructions_says_all_of_it(documents, folder):
    html = (folder / "instructions.html").read_text()
    said = " ".join(documents["instructions.html"].words)
    rows = [a for a, _ in documents["instructions.html"].all("tr") if "data-state" in a]
    assert len(rows) > 60 and {"measured", "built", "measured emulated"} <= {a["data-state"] for a in rows}
    for part in ("LOP3.LUT", "8 × 4", "emulated", "sm_120a", "tensor", "not run, but built"):
        assert part in said, part
    assert 'data-values="8 16 - 32"' in html and "2 chains, 8 warps: 32" in html
    assert html.index("<table") < html.index("<script>")  # whole without a script


def test_fragments_and_the_map_of_pipes_are_pictures(documents):
    drawn = {
        a["aria-labelledby"].split()[0]
        for document in documents.values()
        for a, _ in document.all("svg")
        if "aria-labelledby" in a
    }
    expected = {
        "pipes0",
        "n-sweep0",
        "in-flight0",
        "power0",
        "error-growth0",
        "overlap0",
        "exp2-mix0",
        "imbalance-map",
        "imbalance",
    }
    assert {f"{key}-title" for key in expected} <= drawn
    assert len(documents["fragments.html"].all("figure")) == 1
    assert "as the PTX ISA has it" in " ".join(documents["fragments.html"].words)


def test_the_assemblers_matrix_is_summed_up_and_linked(folder):
    part = (folder / "sass.html").read_text()
    assert 'href="isa.html"' in part and "ptxas 13.0" in part
    html = (folder / "isa.html").read_text()
    document = Document(html)
    assert document.problems == [] and 'href="index.html"' in html and "2 forms by target" in document.words
    found = json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])
    assert found["targets"] == ["90a", "120a"] and [form["name"] for form in found["forms"]] == ["wgmma.f16", "mma.e4m3"]
    assert [[found["verdicts"][i]["cell"] for i in form["on"]] for form in found["forms"]] == [["N", "."], ["E", "N"]]


def test_a_report_over_another_leaves_none_of_its_pages(tmp_path):
    """Only what the earlier one wrote goes, whatever its list says."""
    out = tmp_path / "out"
    site.write(model.build([report_runs.measured()]), out)
    files = {path.relative_to(out) for path in out.rglob("*") if path.is_file()}
    (out / "own.txt").write_text("mine")
    (out / "pictures/own.svg").write_text("mine")
    (tmp_path / "beside.txt").write_text("mine")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/own.txt").write_text("mine")
    (out / "link").symlink_to(tmp_path / "linked")
    with (out / earlier_files.LIST).open("a") as listed:
        listed.write(f"../beside.txt\n{tmp_path}/beside.txt\nlink/own.txt\n\npictures\n.\nx\0y\n")
    make = report_runs.Maker(2)
    make.add("sass/ffma/b32", latency_cycles=4.0)
    site.write(model.build([make.run]), out)
    fresh = tmp_path / "fresh"
    site.write(model.build([make.run]), fresh)
    left = {path.relative_to(out) for path in out.rglob("*") if path.is_file()}
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    assert left - {Path("own.txt"), Path("pictures/own.svg"), Path("link/own.txt")} == wanted and wanted < files
    assert all(path.read_text() == "mine" for path in tmp_path.rglob("own.*")) and (tmp_path / "beside.txt").exists()
    site.write(model.build([report_runs.measured()]), out)
    assert {path.relative_to(out) for path in out.rglob("*") if path.is_file()} > files


def test_many_cases_that_were_only_built_have_a_page(tmp_path):
    make = report_runs.Maker(2)
    for i in range(61):
        make.without(f"sass/op{i}/b32", "not_run", "no GPU here", "sm_100a", verified=i > 1)
    site.write(model.build([make.run]), tmp_path)
    host = (tmp_path / "host.html").read_text()
    built = Document((tmp_path / "built.html").read_text())
    assert 'href="built.html"' in host and "2 of them are not what was asked for" in host
    assert built.problems == [] and "sass/op7/b32" in "".join(built.words)


def test_without_pairs_the_page_says_what_to_run(tmp_path):
    site.write(model.build([report_runs.measured()]), tmp_path)
    html = (tmp_path / "sass.html").read_text()
    assert "No map of pipes" in html and "--counters" in html


@pytest.mark.quiet
def test_fifteen_hundred_measurements_are_quick(tmp_path):
    run = machine_runs.machine()
    make = report_runs.Maker(3)
    machine_runs.instructions(make)
    pattern = make.run.measurements[0]
    for i in range(1500 - len(run.measurements)):
        run.measurements.append(type(pattern)(**{**vars(pattern), "name": f"sass/op{i // 4}/case{i % 4}"}))
    with report_runs.within(6):
        main = site.write(model.build([run]), tmp_path)
    assert main.stat().st_size < 4e6
