# SPDX-License-Identifier: Apache-2.0
"""The site of the committed results: which runs lead it, and what its pages say of them."""

import re

import pytest
from committed import RESULTS

from assay.files import load
from assay.report.book import headline
from assay.report.book.model import UNWATCHED
from assay.report.collection import changes, entries, gpus, pages
from assay.report.compare import subjects
from assay.report.compare.stored import Stored


@pytest.fixture(scope="module")
def committed():
    """All committed runs. To read them takes seconds: tests share them, and change none."""
    return entries.entries(RESULTS)


@pytest.fixture(scope="module")
def elsewhere(committed):
    """The collection of them, and what its reports say of each other."""
    collection = pages.Collection(committed, [], None)
    return collection, collection.elsewhere()


def test_of_the_committed_results_every_gpu_leads_with_its_newest_full_run(committed):
    leads = entries.leading(committed)
    assert {lead.gpu for lead in leads} == {"h100", "h200"}
    for lead in leads:
        of_gpu = [e for e in committed if e.gpu == lead.gpu and e.run.gpu.get("id") == lead.run.gpu.get("id")]
        assert len(lead.cases) >= entries.NEARLY * max(len(e.cases) for e in of_gpu)
        newer = [e for e in of_gpu if (e.date, e.started) > (lead.date, lead.started)]
        assert all(len(e.cases) < entries.NEARLY * len(lead.cases) for e in newer)
    newest = entries.newest_of_folders(leads)
    assert [entry.date for entry in newest] == [max(e.date for e in leads if e.gpu == gpu) for gpu in ("h100", "h200")]
    others = entries.adding(committed, leads)
    assert {"collectives-4gpus", "links-4gpus", "quick-processes", "kernels-rows"} <= {e.purpose for e in others}
    assert [(e.date, e.started) for e in others] == sorted((e.date, e.started) for e in others)
    addresses = entries.folders(leads, others)
    assert len(set(addresses.values())) == len(addresses)
    assert {"gpus/h200-771368", "gpus/h200-4ec465", "gpus/h100-305aab", "gpus/h200-links-4gpus"} < set(addresses.values())


def test_runs_of_one_day_stand_in_the_order_in_which_they_were_measured(committed):
    of_day = [entry for entry in committed if entry.gpu == "h200" and entry.date == "2026-11-23"]
    assert [entry.started for entry in of_day] == sorted(entry.started for entry in of_day)
    assert of_day[-1].purpose == "kernels-rows"


def test_of_the_committed_results_the_counters_of_pipes_are_a_link_away(elsewhere):
    collection, of = elsewhere
    for entry in collection.leads:
        lines = of[collection.subjects[entry].index].newest.get("sass.html", [])
        said = "".join(span.said for line in lines for span in line)
        assert said.endswith("on a GPU of this kind: h200, sm-pipes.") == (entry.gpu == "h200")


def text_of(lines):
    return [re.sub("\u202f", " ", "".join(span.said for span in line)) for line in lines]


def test_of_the_committed_results_the_newest_answers_are_a_link_away(elsewhere):
    """Each question by itself: the newest run of few tokens has no GEMM."""
    collection, by_index = elsewhere
    of = {subject.folder: by_index[subject.index] for subject in collection.reported}
    lead = of["gpus/h200-771368"]
    for page, starts in (
        ("kernels.html", ("How does our GEMM compare", "Is the product of one token", "How fast is a grouped GEMM")),
        ("link.html", ("How fast are links between", "How fast are collectives")),
    ):
        asked = list(dict.fromkeys(line[0].said for line in lead.newest[page]))
        assert all(question.startswith(start) for question, start in zip(asked, starts, strict=True))
        assert all(line in lead.newest["index.html"] for line in lead.newest[page])
    anchors = [span.anchor for line in lead.newest["index.html"] for span in line if span.anchor]
    assert {anchor.split("#")[1] for anchor in anchors[:-2]} == {"q22", "q23", "q24"}
    assert anchors[-2:] == [
        "../../gpus/h200-links-4gpus/link.html#q30",
        "../../gpus/h200-collectives-4gpus/link.html#q29",
    ]
    spread = {folder: text_of([one.repeated])[0] for folder, one in of.items()}
    assert spread["gpus/h200-771368"].endswith(" on one GPU of this kind: h200, quick-processes.")
    assert spread["gpus/h200-quick-processes"] == ""
    rows = of["gpus/h200-kernels-rows"].newest  # a run of the day before is told of later answers to its own questions
    told = [line[0].said for line in rows["kernels.html"]]
    assert list(dict.fromkeys(told)) == list(dict.fromkeys(line[0].said for line in lead.newest["kernels.html"]))[::2]
    assert "index.html" not in rows


def test_each_kind_of_product_has_its_newest_answers_with_the_worst_shape(elsewhere):
    """Beside torch, and beside the best library where that is another run; fp8 by each way of scaling too."""
    collection, _ = elsewhere
    (newest,) = (section for section in collection.main().sections if section.anchor == "newest")
    lines = [line for line in text_of(newest.blocks[0].blocks[0].lines) if line.startswith("H200: ")]
    for of in ("bf16 GEMM", "e4m3 GEMM with row scales", "e4m3 GEMM with block scales"):
        said = [line for line in lines if f" our {of} runs at " in line]
        assert all(f" The worst is the {of} of " in line and " comparisons. From h200, " in line for line in said)
        assert "times the speed of torch." in said[0] and "cuBLASLt's best of 32 and first choice" in said[-1]
    assert any(" our e4m3 GEMM with tensor scales runs at " in line for line in lines)
    dense = [line for line in lines if " our bf16 GEMM " in line and "torch.matmul" in line]
    assert len(dense) == len({re.search(r" of layout \w\w ", line)[0] for line in dense})  # they can be told apart


def test_sustained_figures_of_runs_that_read_no_clock_are_marked(elsewhere):
    collection, _ = elsewhere
    for subject in collection.reported:
        collection.homes[subject.index] = {}
    cases = collection.cases()
    name = "kernels/gemm/bf16/m4096n4096k4096/nt"
    names = [name, f"{name}/sustained"]
    burst, lasting = map(repr, collection.of_measurements({one: cases[one] for one in names})[1])
    assert re.search(r"2026-11-29-torch-parts-nt, called [a-z ]+, clock and power not read'", lasting)
    assert re.search(r"2026-11-28-kernels-dense, called [a-z ]+'", lasting) and UNWATCHED in lasting
    assert "not read" not in burst


def test_where_the_peak_went_leads_to_a_newer_figure_of_the_same_gemm(elsewhere):
    collection, by_index = elsewhere
    newest = {s.folder: text_of(by_index[s.index].newest["index.html"])[0] for s in map(collection.subjects.get, collection.leads)}
    said = newest["gpus/h200-4ec465"]
    found = re.fullmatch(
        r"Where the peak went, sustained: Our GEMM of 4096×7168×16384 has 680 TFLOP/s in this report's pictures, and (\d+) in h200, "
        r"[\w-]+(?:, called [a-z ]+ there and [a-z ]+ here)?, measured on 2026-1[12]-\d\d on another GPU of this kind, commit \w+\.",
        said,
    )
    assert found and int(found[1]) > 680


def test_runs_of_other_layers_say_of_how_many_they_speak(elsewhere):
    """Two runs of an H100 have disjoint layers: in one some reach the bandwidth."""
    collection, _ = elsewhere
    (newest,) = (section for section in collection.main().sections if section.anchor == "newest")
    lines = [line for part in newest.blocks for line in text_of(part.blocks[0].lines) if " product moves data at " in line]
    assert len(lines) >= 3 and all(re.search(r" (?:Of|All of) these \d+ layers [^.]* 90 %\. From ", line) for line in lines)


def test_older_states_of_the_committed_kernels(committed):
    """Of the results as they were: newer ones may lead later."""
    then = [entry for entry in committed if entry.date <= "2026-11-23"]
    collection = pages.Collection(then, [], None)
    (subject,) = (one for one in collection.reported if one.folder == "gpus/h200-771368")
    gemm, *_ = text_of(collection.elsewhere()[subject.index].newest["kernels.html"])
    assert gemm.startswith(
        "How does our GEMM compare with the vendor's library? Over 33 shapes of layouts nt, nn, tn and tt our bf16 GEMM runs "
        "at 0.977 times the speed of the faster of cuBLASLt's best of 32 and first choice in a burst, and at 0.995 under lasting "
        "load, in the median. The worst is the bf16 GEMM of "
    )
    assert gemm.endswith(" of 66 comparisons. From h200, kernels-forms, measured on 2026-11-23, commit 9f2ff975d8b4.")
    for s in collection.reported:
        collection.homes[s.index] = {}
    cases = collection.cases()
    names = [f"kernels/gemm/bf16/m1000n5000k3000/nt{state}" for state in ("", "/sustained")]
    burst, lasting = map(repr, collection.of_measurements({name: cases[name] for name in names})[1])
    assert "called in a row" in lasting and "called one by one" in lasting and "called" not in burst
    assert "clock and power not read" not in lasting and UNWATCHED not in lasting
    main = collection.main().sections
    newest, others = (section for section in main if section.anchor in ("newest", "further"))
    assert main.index(newest) < main.index(others)
    assert newest.blocks[0].heading == "How does our GEMM compare with the vendor's library?"
    assert any("H200: Over 33 shapes of layouts nt" in line for line in text_of(newest.blocks[0].blocks[0].lines))
    (fold,) = others.blocks
    assert fold.aside == f"{len(collection.others)} runs" and len(fold.blocks[0].rows) == len(collection.others)


def test_the_index_has_the_bandwidth_that_front_pages_have():
    """The H100 reads memory faster by four loads a thread than by the plain loop."""
    (one,) = subjects.subjects([[load(RESULTS / "h100/2026-11-22-complete")]])
    (table,) = gpus.index(gpus.gpus([one], []), lambda *_: "").blocks
    said = dict(zip(table.head, table.rows[0]))["Reads of memory, GB/s"].said.replace("\u202f", " ")
    (read,) = (h for h in headline.headlines(one.book, one.book.columns[0]) if h.label == "Reading memory")
    assert said == "3 198" and read.values == ["3.20"]


@pytest.fixture(scope="module")
def row_of():
    """Of a committed run its line of the index, by the heads."""

    def row(*names):
        found = gpus.gpus(subjects.subjects([[load(RESULTS / name)] for name in names]), [])
        (table,) = gpus.index(found, lambda *_: "").blocks
        return [dict(zip(table.head, row)) for row in table.rows], table.notes

    return row


def test_columns_have_the_fastest_of_all_types_that_are_called_so(row_of):
    """An H200 is faster on e5m2 than on e4m3, and on u8 than on s8."""
    (row,), _ = row_of("h200/2026-11-22-complete")
    assert row["fp8, TFLOP/s"].said.replace("\u202f", " ") == "1 885"
    assert row["int8, TOP/s"].said.replace("\u202f", " ") == "1 904"


def test_a_figure_above_what_the_highest_clock_allows_says_by_how_much(row_of):
    """132 SMs do 256 FLOP of fp64 a clock: 66.91 TFLOP/s at 1980 MHz. The SMs counted less than 1980 meanwhile."""
    (h100, other), notes = row_of("h100/2026-11-22-full", "h100/2026-11-22-complete")
    assert h100["fp64, TFLOP/s"].text.replace("\u202f", " ") == "67.76 1.27 % above its limit"
    assert other["fp64, TFLOP/s"].text == "66.61" and not h100["bf16, TFLOP/s"].more
    assert gpus.ABOVE in notes and gpus.ABOVE not in row_of("h100/2026-11-22-complete")[1]
    (h200,), notes = row_of("h200/2026-11-22-complete")
    assert h200["fp64, TFLOP/s"].text.replace("\u202f", " ") == "66.97 0.09 % above its limit"
    assert notes[1].replace("\u202f", " ") == (
        "H200: 66.97 is 0.09 % above its limit, 66.91 at 1980 MHz, the highest clock that the driver names. Its interval is "
        "66.5 to 67.58, which holds the limit. Meanwhile the SMs counted 1950 MHz, 1932 to 1959 over the samples."
    )


def test_sentences_about_committed_runs():
    """Of an H200 and of an H100, each against the run before."""
    runs = [load(RESULTS / name) for name in ("h200/2026-11-22-before-again", "h200/2026-11-22-full")]
    before, after = subjects.subjects([[run] for run in runs])
    told = changes.changed(before, after, "2026-11-22-before-again").replace("\u202f", " ")
    assert told.startswith(
        "Against 2026-11-22-before-again 2 483 of 2 590 figures per clock agree within 0.5 %. What differs most: "
    )
    one, other = subjects.subjects([[load(RESULTS / f"h100/2026-11-22-{name}")] for name in ("full", "most")])
    told = changes.changed(one, other, "2026-11-22-full").replace("\u202f", " ")
    assert "2 318 of 2 471 figures per clock" in told and "“sum of an array, by partials”" in told
    others = subjects.subjects([[run] for run in (one.run, other.run, *runs)])
    told = changes.changed(*others[:2], "2026-11-22-full", Stored(others)).replace("\u202f", " ")
    assert "2 318 of 2 471 figures per clock" in told and "for “descriptor of a TMA copy" in told
    runs = [load(RESULTS / f"h200/2026-11-24-{name}") for name in ("torch-bf16-bursts", "kernels-bursts")]
    told = changes.changed(*subjects.subjects([[run] for run in runs]), "2026-11-24-torch-bf16-bursts")
    assert told.startswith("Against 2026-11-24-torch-bf16-bursts no figure per clock can be compared. What differs most: ")
    assert "this run reaches 6.5" in told and told.endswith("or clock and power were read in some alone.")
