# SPDX-License-Identifier: Apache-2.0
"""The page as a browser, a screen reader and a full disk would meet it."""

import itertools
import json
import re
from html.parser import HTMLParser

import pytest
import report_runs
import runs

from assay.files import Measurement, Metric, Run, save
from assay.report import site
from assay.report.__main__ import main
from assay.report.answer.questions import PARTS
from assay.report.book import model
from assay.report.draw import svg

VOID = {"meta", "br", "hr", "img", "input", "link", "path", "use", "polyline", "rect", "circle", "line", "wbr"}


def whole(folder):
    """All pages, one after another."""
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.html")))


class Document(HTMLParser):
    """Elements, ids and links; `problems` holds every tag that is closed out of order."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.ids, self.elements, self.words = [], [], [], [], []
        self.feed(html)
        self.problems += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes, tuple(self.open)))
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> inside {self.open[-3:]} at {self.getpos()}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    def all(self, tag):
        return [(attributes, parents) for name, attributes, parents in self.elements if name == tag]


def published_beside(run):
    m = Measurement(
        "memory/dram/latency",
        "probe",
        params={"basis": "measured"},
        metrics={"latency_cycles": Metric("cycle", 656.0)},
        source={"title": "A paper", "url": "https://example.org/paper", "gpu": "NVIDIA H800 PCIe"},
    )
    elsewhere = Measurement(
        "memory/hbm/read",
        "probe",
        params={"basis": "measured"},
        metrics={"bandwidth_gb_per_s": Metric("GB/s", 7000.0)},
        source={"title": "A blog", "url": "https://example.org/blog"},
    )
    return [
        Run({"gpu": {"name": "NVIDIA H800 PCIe", "architecture": "sm_90"}}, [m]),
        Run({"gpu": {"name": "NVIDIA B200", "architecture": "sm_100"}}, [elsewhere]),
    ]


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A page of two GPUs and an offline check, with everything on it."""
    run = report_runs.measured()
    strange = Measurement(
        "quantum/entangle/pair",
        "probe",
        primary="wobble",
        metrics={"wobble": Metric("Wb", 7.5, (7.25, 7.75), "higher")},
    )
    run.measurements.append(strange)
    run.measurements.append(
        Measurement("sync/hung", "probe", status="failed", reason="<b>no</b> & </script><script>alert(1)")
    )
    runs = [run, report_runs.measured(2, "NVIDIA H100 80GB HBM3"), report_runs.offline()]
    folder = tmp_path_factory.mktemp("report")
    site.write(model.build(runs, published_beside(run)), folder)
    return folder


@pytest.fixture(scope="module")
def html(full):
    return whole(full)


@pytest.fixture(scope="module")
def documents(full):
    return {path.name: Document(path.read_text()) for path in full.glob("*.html")}


@pytest.fixture(scope="module")
def document(html):
    return Document(html)


def test_pages_are_well_formed_and_their_ids_are_unique(documents):
    for name, document in documents.items():
        assert document.problems == [] and not document.open, name
        assert len(document.ids) == len(set(document.ids)), name


def test_every_link_leads_somewhere(documents):
    for name, document in documents.items():
        links = {attributes["href"] for attributes, _ in document.all("a")} - {"runs.json"}
        for link in links:
            where, _, place = link.partition("#")
            if not link.startswith(("http", "pictures/")):  # test_pictures.py has the files of pictures
                assert (where or name) in documents, (name, link)
                assert not place or place in documents[where or name].ids, (name, link)


def test_every_page_has_the_same_navigation(documents):
    found = {
        tuple(a["href"] for a, parents in document.all("a") if "nav" in parents) for document in documents.values()
    }
    assert len(found) == 1 and {"index.html", "tensor_core.html", "host.html"} <= set(*found)
    for name, document in documents.items():
        here = [a["href"] for a, _ in document.all("a") if "aria-current" in a]
        assert here == ([name] if name in set(*found) else []), name


@pytest.mark.parametrize("key", [part.key for part in PARTS if part.questions and part.key != "host"])
def test_a_part_shows_a_picture_and_a_table_of_each_run_and_folds_the_rest(documents, key):
    document = documents[f"{key}.html"]
    open_ones = [
        tag for tag, _, parents in document.elements if tag in ("figure", "table") and "details" not in parents
    ]
    assert max(open_ones.count("figure"), open_ones.count("table")) <= 2, open_ones  # of two runs
    order = [a.get("id", "") if tag in ("h2", "dt") else tag for tag, a, _ in document.elements]
    questions = [i for i, place in enumerate(order) if re.fullmatch(r"q\d+", place)]
    assert questions and all(i > questions[-1] for i, tag in enumerate(order) if tag in ("figure", "table"))


def test_it_needs_no_network(html, document):
    for tag, attributes, _ in document.elements:
        for key in ("src", "srcset", "data", "poster"):
            assert key not in attributes, (tag, attributes)
        link = attributes.get("href") or attributes.get("xlink:href") or "#"
        assert link.startswith("#") or tag == "a", (tag, link)
    assert not re.search(r"@import|url\(\s*['\"]?https?:", html)
    assert "<link" not in html


def test_tables_and_figures_speak(document):
    assert len(document.all("table")) == len(document.all("caption"))
    assert all(attributes.get("scope") in ("col", "row", "rowgroup") for attributes, _ in document.all("th"))
    drawings = [attributes for attributes, _ in document.all("svg") if attributes.get("aria-hidden") != "true"]
    assert drawings
    for attributes in drawings:
        assert attributes["role"] == "img"
        assert set(attributes["aria-labelledby"].split()) <= set(document.ids)
    assert document.all("html")[0][0]["lang"] == "en"
    assert document.all("a")[0][0]["class"] == "skip"


def test_headings_step_down_one_at_a_time(documents):
    for name, document in documents.items():
        assert document.all("main") and len(document.all("h1")) == 1, name
        levels = [int(tag[1]) for tag, _, _ in document.elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1 and all(after <= before + 1 for before, after in itertools.pairwise(levels)), name


def test_it_adapts_to_phone_dark_print_and_still_eyes(html):
    for feature in (
        "width=device-width",
        "prefers-color-scheme: dark",
        "prefers-reduced-motion",
        "@media print",
        ":focus-visible",
    ):
        assert feature in html


def test_figures_take_the_colours_of_the_page(html):
    assert "#0a0b" not in html and "var(--series1)" in html and "DejaVu Sans'" not in html


def test_every_expected_figure_is_there(document):
    titles = {
        attributes["aria-labelledby"].split()[0]
        for attributes, _ in document.all("svg")
        if "aria-labelledby" in attributes
    }
    assert titles == {
        f"{key}-title"
        for key in (
            "published",
            "roofline0",
            "roofline1",
            "under-roof0",
            "under-roof1",
            "peak0",
            "peak-sustained0",
            "peak-sustained1",
            "peak1",
            "imbalance",
            "imbalance-map",
            "n-sweep0",
            "n-sweep1",
            "ladder",
            "bandwidths",
            "collective-all_reduce",
            "collective-all_gather",
            "collective-latency-all_reduce",
            "collective-latency-all_gather",
            "paired0",
            "paired1",
        )
    }


def test_what_a_run_says_is_text_and_never_markup(html):
    assert "<b>no</b>" not in html and "alert(1)" in html and "</script><script>alert" not in html


def test_a_new_probe_appears_with_no_change_here(document, full):
    said = " ".join(document.words)
    assert "entangle/pair" in said and "7.50" in said and "Quantum" in said
    assert "quantum/entangle/pair | wobble, Wb | 7.50 ±0.25" in (full / "report.md").read_text()


def test_published_figures_are_marked_and_linked(document):
    links = [(a["href"], parents) for a, parents in document.all("a") if a["href"].startswith("http")]
    assert {href for href, _ in links} == {"https://example.org/paper", "https://example.org/blog"}
    marked = [attributes for attributes, _ in document.all("span") if attributes.get("class") == "published"]
    assert marked


def test_the_data_lies_beside_the_page(html, full):
    assert 'href="runs.json"' in html
    runs = json.loads((full / "runs.json").read_text())
    assert [r["schema"] for r in runs] == ["assay.run/1"] * 2
    assert not any("samples" in m for r in runs for m in r["measurements"])


def test_details_say_how_a_number_was_made(html):
    block = re.search(r'<div id="m0-tensor_core-wgmma-bf16-m64n256-ss">.*?</div>', html, re.DOTALL)[0]
    for part in ("HGMMA.64x256", "sha256", "1830", "sm_90a", "verified", "assay run", "polyline", "60 samples"):
        assert part in block, part


def test_markdown_has_the_same_rows(full):
    markdown = (full / "report.md").read_text()
    assert "| memory/dram/latency | latency, cycles |" in markdown
    assert "## Failed and skipped" in markdown and "## Built and disassembled, not run" in markdown
    assert "[656](https://example.org/paper) NVIDIA H800 PCIe" in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("| tensor_core/")]
    assert len({line.count("|") for line in rows if "/mma_sync/" not in line}) == 1


@pytest.mark.quiet
def test_three_hundred_measurements_stay_small_and_quick(tmp_path):
    runs = [report_runs.large(300)]
    with report_runs.within(6):
        path = site.write(model.build(runs), tmp_path)
    assert path.stat().st_size < 2e6
    assert Document(path.read_text()).problems == []


@pytest.mark.parametrize(
    "run",
    [
        report_runs.offline(),
        Run(report_runs.gpu(), []),
        Run(report_runs.gpu(), [Measurement("a/b", "probe", status="failed", reason="no")]),
    ],
    ids=["offline", "empty", "failed"],
)
def test_little_data_makes_a_page_that_says_so(run, tmp_path):
    site.write(model.build([run]), tmp_path)
    html = whole(tmp_path)
    document = Document(html)
    assert document.problems == [] and "<svg" not in html
    assert " ".join(document.words).lower().count("not measured in this run") >= 9


def test_sparklines_are_small_and_calm():
    line = svg.spark([float(i % 7) for i in range(10000)])
    assert line.count(",") <= 80 and len(line) < 900
    assert svg.spark([1.0, 1.0, 1.0]).count(",") == 3
    assert svg.spark([1.0]) == ""


def test_the_command_prints_the_path_of_the_page(tmp_path, capsys):
    save(Run(report_runs.gpu(), [Measurement("a/b", "probe", status="failed", reason="no")]), tmp_path / "run.json")
    assert main([str(tmp_path), "--out", str(tmp_path / "out"), "--published", "none"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'out' / 'index.html'}\n"
    assert (tmp_path / "out" / "report.md").is_file()


def test_the_command_explains_what_is_wrong_in_one_line(tmp_path, capsys):
    assert main([str(tmp_path / "none.json")]) == 2
    assert main([str(tmp_path), "--published", str(tmp_path / "nowhere")]) == 2
    (tmp_path / "empty").mkdir()
    runs.write(tmp_path / "run.json", runs.run(runs.measurement()))
    assert main([str(tmp_path / "run.json"), "--published", str(tmp_path / "empty"), "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert not (tmp_path / "out").exists() and "empty: no *.json is in it, or it may not be read" in errors[-1]
    assert len(errors) == 3 and all(line.startswith("assay report: ") for line in errors)


def test_help_teaches(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["--help"])
    assert leaving.value.code == 0
    said = capsys.readouterr().out
    assert "examples:" in said and "--published" in said and "what differs between two GPUs" in said


def test_a_metric_says_what_it_is(tmp_path):
    run = report_runs.measured()
    run.metrics = {"latency_cycles": "Cycles until a result can be <used>."}
    site.write(model.build([run]), tmp_path)
    html = whole(tmp_path)
    said = "Cycles until a result can be &lt;used&gt;."
    assert f'<td title="{said}">latency' in html and f'<dt title="{said}">latency</dt>' in html
    assert f'<span class="muted">{said}</span>' in html and Document(html).problems == []


def test_loops_that_are_not_there_are_told_of_once(tmp_path):
    run = report_runs.measured()
    site.write(model.build([run]), tmp_path / "inline")
    assert "loops.txt.gz" not in whole(tmp_path / "inline")
    for m in run.measurements:
        if m.sass:
            m.sass = {**m.sass, "loop_sha256": "0" * 64}
    site.write(model.build([run]), tmp_path / "missing")
    html = whole(tmp_path / "missing")
    assert html.count("loops.txt.gz, which does not lie beside the run") == 1 and "<code>assay sass NAME</code>" in html
