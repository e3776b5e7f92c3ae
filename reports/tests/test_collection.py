# SPDX-License-Identifier: Apache-2.0
"""A site of all results: what is on it, where it stays, and that every link leads somewhere."""

import re
from pathlib import Path
from types import SimpleNamespace

import crawl
import pytest
import report_runs
from test_page import published_beside

import assay
from assay.files import load, save
from assay.files.isa_file import Isa
from assay.report.book import counters, headline
from assay.report.collection import __main__ as command
from assay.report.collection import changes, entries, further, gpus, measurements, pages
from assay.report.compare import subjects
from assay.report.compare.stored import Stored

RESULTS = Path(assay.__file__).parents[2] / "results"
ISA = Isa(
    "ptxas 13.0", ["sm_90a"], {"mma": [{"name": "mma.bf16", "ptx": "mma", "targets": {"sm_90a": {"status": "native"}}}]}
)


def put(folder, gpu, name, run, gpu_id=None):
    if gpu_id:
        run.environment["gpu"]["id"] = gpu_id
    (folder / gpu / name).mkdir(parents=True)
    save(run, folder / gpu / name / "run.json")


def part_of(run, start):
    run.measurements = [m for m in run.measurements if m.name.startswith(start)]
    return run


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    put(folder, "h200", "2026-01-01-full", report_runs.measured(1), "1" * 16)
    put(folder, "h200", "2026-02-02-full", report_runs.measured(2), "1" * 16)
    put(folder, "h200", "2026-02-03-quick", part_of(report_runs.measured(3), "memory/"), "2" * 16)
    put(folder, "h100", "2026-01-05-full", report_runs.measured(4, "NVIDIA H100 80GB HBM3", 0.9))
    links = part_of(report_runs.measured(5), "link/")
    for m in links.measurements:
        m.name = m.name.replace("268435456", "1024")
    put(folder, "h200", "2026-02-04-links", links)
    repeated = part_of(report_runs.measured(6), "memory/")
    repeated.extra["run"] = {"started": "2026-02-05T10:00:00Z", "repetitions": 3}
    put(folder, "h200", "2026-02-05-processes", repeated)
    return folder


@pytest.fixture(scope="module")
def site(results, tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    run = report_runs.measured(1)
    command.write(results, published_beside(run), ISA, out)
    return out


@pytest.fixture(scope="module")
def found(site):
    return crawl.pages(site)


def said(document):
    return " ".join(" ".join(document.words).split()).replace("\u202f", " ")


def test_every_link_is_relative_and_leads_somewhere(found):
    assert crawl.dead_links(found) == []
    assert all(document.problems == [] for document in found.values())


def test_every_page_is_reached_from_the_first(site, found):
    seen, left = set(), [site / "index.html"]
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        for attributes, _ in found[path].all("a"):
            where = attributes["href"].partition("#")[0]
            if where.endswith(".html") and "://" not in where:
                left.append((path.parent / where).resolve())
    assert {path.resolve() for path in found} == {path.resolve() for path in seen}


def test_common_instructions_of_all_gpus_stand_beside_each_other(site, found):
    document = found[site / "instructions.html"]
    words = said(document)
    assert "Operations per clock and SM Instruction H100 H200 FFMA, multiply-add of f32 " in words
    links = [attributes["href"] for attributes, _ in document.all("a")]
    to_cases = {link.split("/")[1] for link in links if link.startswith("gpus/") and "#" in link}
    assert to_cases == {"h100", "h200"}  # that they lead somewhere is tested of every page


def test_it_has_an_index_comparisons_support_changes_and_a_page_of_each_measurement(site, found):
    index = said(found[site / "index.html"])
    assert "NVIDIA H200" in index and "NVIDIA H100 80GB HBM3" in index and "measured" in index
    assert (site / ".nojekyll").exists() and (site / "compare/h100-and-h200/index.html").exists()
    assert {path.name for path in (site / "gpus").iterdir()} == {"h100", "h200", "h200-links", "h200-processes"}
    front = (site / "gpus/h200/index.html").read_text()
    assert "How far 3 processes differ" in front and "gpus/h200-processes/index.html" in front
    assert "mma.bf16" in (site / "support.html").read_text()
    matrix = said(found[site / "matrix.html"])
    assert "H100 against H200" in matrix and "B200 *" in matrix and "7 000" in matrix


def test_reports_lead_to_the_support_by_target_of_the_site(site, found):
    """What the assembler said is asked once, and no report has it again."""
    document = found[site / "gpus/h200/sass.html"]
    assert "The assembler makes 1 of 1 forms native instructions of sm_90a" in said(document)
    assert any(attributes["href"] == "../../support.html" for attributes, _ in document.all("a"))
    assert "Forms by group and target" not in said(document) and not (site / "gpus/h200/isa.html").exists()


def test_operations_on_integers_are_not_called_floating_point(site):
    index = (site / "index.html").read_text()
    assert "int8, TOP/s" in index and "int8, TFLOP/s" not in index and "fp8, TFLOP/s" in index


def test_the_details_of_a_measurement_lead_to_its_address_that_stays(site, found):
    """Of each that has details in a report."""
    for gpu in ("h100", "h200"):
        leads = {
            (path.parent / attributes["href"]).resolve()
            for path, document in found.items()
            if path.parent == site / "gpus" / gpu and path.name.endswith("-cases.html")
            for attributes, _ in document.all("a")
            if "/m/" in attributes["href"]
        }
        assert (site / "m/memory-dram-latency.html").resolve() in leads and len(leads) > 20
        assert leads <= {path.resolve() for path in found}


def test_a_measurement_has_one_address_with_all_that_is_known_of_it(site, found):
    page = site / measurements.address("memory/dram/latency")
    assert page == site / "m/memory-dram-latency.html"
    told = said(found[page])
    for part in ("2026-01-01-full", "2026-02-02-full", "H100 80GB HBM3", "656 cycles", "A paper", "assay run"):
        assert part in told, part
    assert re.search(r'href="\.\./gpus/h200/[\w.-]+#m0-memory-dram-latency"', page.read_text())
    assert (site / measurements.address("tensor_core/wgmma/bf16/m64n256/ss/sustained")).exists()


def test_of_more_runs_than_quantities_each_run_is_a_line_the_newest_first(site):
    told = (site / measurements.address("memory/dram/latency")).read_text()
    lines = re.findall(r'<th scope="row"[^>]*>(.*?)</th>', told, re.DOTALL)
    dates = [found[0] for line in lines if (found := re.search(r"2026-\d\d-\d\d", re.sub(r"<[^>]+>", "", line)))]
    assert len(dates) > 3 and dates == sorted(dates, reverse=True)


def test_changes_say_how_far_a_run_agrees_with_the_one_before(site, found):
    told = said(found[site / "changes.html"])
    assert "h200, 2026-02-02 full" in told and "Against 2026-01-01-full" in told
    assert told.index("2026-02-04") < told.index("2026-01-01")
    assert re.search(r"Against 2026-01-01-full \d+ of \d+ figures per clock agree within 0.5 %", told)


def test_the_leading_runs_are_the_largest_of_each_gpu(results):
    all_of = entries.entries(results)
    leads = entries.leading(all_of)
    assert [(lead.gpu, lead.name) for lead in leads] == [("h100", "2026-01-05-full"), ("h200", "2026-02-02-full")]
    assert [entry.purpose for entry in entries.adding(all_of, leads)] == ["links", "processes"]


def test_the_newest_run_of_each_gpu_is_printed(results, capsys):
    """What scripts/quickstart.sh shows beside a machine without a GPU."""
    assert command.main([str(results), "--newest"]) == 0
    assert capsys.readouterr().out.split() == [f"{results}/h100/2026-01-05-full", f"{results}/h200/2026-02-02-full"]


def test_of_the_committed_results_every_gpu_leads_with_its_newest_full_run():
    all_of = entries.entries(RESULTS)
    leads = entries.leading(all_of)
    assert {lead.gpu for lead in leads} == {"h100", "h200"}
    for lead in leads:
        of_gpu = [e for e in all_of if e.gpu == lead.gpu and e.run.gpu.get("id") == lead.run.gpu.get("id")]
        assert len(lead.cases) >= entries.NEARLY * max(len(e.cases) for e in of_gpu)
        newer = [e for e in of_gpu if (e.date, e.started) > (lead.date, lead.started)]
        assert all(len(e.cases) < entries.NEARLY * len(lead.cases) for e in newer)
    newest = entries.newest_of_folders(leads)
    assert [entry.date for entry in newest] == [max(e.date for e in leads if e.gpu == gpu) for gpu in ("h100", "h200")]
    others = entries.adding(all_of, leads)
    assert {"collectives-4gpus", "links-4gpus", "quick-processes", "kernels-rows"} <= {e.purpose for e in others}
    assert [(e.date, e.started) for e in others] == sorted((e.date, e.started) for e in others)
    addresses = entries.folders(leads, others)
    assert len(set(addresses.values())) == len(addresses)
    assert {"gpus/h200-771368", "gpus/h200-4ec465", "gpus/h100-305aab", "gpus/h200-links-4gpus"} < set(addresses.values())


def test_reports_of_runs_of_one_purpose_have_places_of_their_own_the_newest_the_plain_one(tmp_path):
    """Also where a name stands in the way, and where no date tells them apart."""
    names = ["2026-01-01-full", "2026-01-02-kernels", "2026-01-03-kernels", "2026-01-03-kernels-2026-01-02", "kernels"]
    for seed, name in enumerate(names):
        run = report_runs.measured(seed)
        run.measurements = run.measurements if seed == 0 else run.measurements[:1]
        for m in run.measurements:
            m.name += "" if seed == 0 else f"/{seed}"
        put(tmp_path / "results", "h200", name, run, f"{seed + 1}" * 16)
    all_of = entries.entries(tmp_path / "results")
    leads = entries.leading(all_of)
    places = entries.folders(leads, entries.adding(all_of, leads))
    assert len(places) == len(names) == len(set(places.values()))
    of = {entry.name: place for entry, place in places.items()}
    assert of["2026-01-03-kernels"] == "gpus/h200-kernels"


def test_runs_of_one_day_stand_in_the_order_in_which_they_were_measured():
    of_day = [entry for entry in entries.entries(RESULTS) if entry.gpu == "h200" and entry.date == "2026-11-23"]
    assert [entry.started for entry in of_day] == sorted(entry.started for entry in of_day)
    assert of_day[-1].purpose == "kernels-rows"


def test_a_run_of_several_processes_has_its_report_though_it_adds_no_case(tmp_path):
    """The newest of those with most processes, where no leading run has as many."""
    for day, processes in (("01", 1), ("02", 6), ("03", 6), ("04", 2)):
        run = report_runs.measured(int(day))
        run.extra["run"] = {"started": f"2026-01-{day}T10:00:00Z", "repetitions": processes}
        if processes > 1:
            part_of(run, "memory/")
        put(tmp_path / "results", "h200", f"2026-01-{day}-run", run, day * 8)
    all_of = entries.entries(tmp_path / "results")
    leads = entries.leading(all_of)
    assert [entry.date for entry in leads] == ["2026-01-01"]
    assert [entry.date for entry in entries.adding(all_of, leads)] == ["2026-01-03"]
    all_of[0].run.extra["run"]["repetitions"] = 8
    assert entries.adding(all_of, leads) == []
    all_of[0].run.extra["run"] = "no table"
    assert (all_of[0].started, all_of[0].processes) == ("", 1)


def test_the_newest_answer_is_of_the_newest_run_with_half_as_many_cases():
    """Of a day that with most; beside it those of the day that share no case with it. Runs that say nothing are left out."""

    def entry(day: int, hour: int, cases: range, kind: str = "bf16") -> SimpleNamespace:
        started = f"2026-01-{day:02}T{hour:02}:00:00Z"
        names = {f"kernels/gemm/{kind}/{i}" for i in cases}
        return SimpleNamespace(gpu="h200", cases=names, date=started[:10], started=started)

    def newest(*found, silent=None):
        return further.newest(found, "h200", 22, lambda one: "" if one is silent else "It is fast.")

    largest, more, fewer, few = entry(1, 8, range(10)), entry(2, 8, range(8)), entry(2, 9, range(6)), entry(2, 10, range(4))
    assert newest(largest, more, fewer, few) == [more]
    assert newest(largest, few) == [largest] and newest(largest, more, silent=more) == [largest]
    others = entry(2, 7, range(20, 26))
    assert newest(largest, others, more, fewer) == [more, others]
    assert newest(entry(3, 8, range(20), "e4m3"), more) == [more] and newest(entry(1, 8, range(0))) == []


def test_a_run_with_counters_has_its_report_where_no_leading_one_has_any(tmp_path):
    """The newest of those whose counters tell the pipes apart; others are no help."""
    for day, counter in (("01", ""), ("02", counters.SETTLES), ("03", counters.SETTLES), ("04", "smsp__inst_executed.sum")):
        run = report_runs.measured(int(day))
        if counter:
            part_of(run, "sass/")
            run.measurements[0].counters = {counter: 1.0}
        put(tmp_path / "results", "h200", f"2026-01-{day}-run", run, day * 8)
    all_of = entries.entries(tmp_path / "results")
    leads = entries.leading(all_of)
    assert [entry.date for entry in leads] == ["2026-01-01"]
    assert [entry.date for entry in entries.adding(all_of, leads)] == ["2026-01-03"]
    collection = pages.Collection(all_of, [], None)
    elsewhere = collection.elsewhere()
    said = {e.date: elsewhere[s.index].newest for e, s in collection.subjects.items() if s.index in elsewhere}
    assert said["2026-01-01"]["sass.html"][-1][1].anchor == "../../gpus/h200-run/sass.html"
    assert "sass.html" not in said["2026-01-03"]


def test_of_the_committed_results_the_counters_of_pipes_are_a_link_away():
    collection = pages.Collection(entries.entries(RESULTS), [], None)
    elsewhere = collection.elsewhere()
    for entry in collection.leads:
        lines = elsewhere[collection.subjects[entry].index].newest.get("sass.html", [])
        said = "".join(span.said for line in lines for span in line)
        assert said.endswith("on a GPU of this kind: h200, sm-pipes.") == (entry.gpu == "h200")


def text_of(lines):
    return [re.sub("\u202f", " ", "".join(span.said for span in line)) for line in lines]


def test_of_the_committed_results_the_newest_answers_are_a_link_away():
    """Each question by itself: the newest run of few tokens has no GEMM."""
    collection = pages.Collection(entries.entries(RESULTS), [], None)
    elsewhere = collection.elsewhere()
    of = {subject.folder: elsewhere[subject.index] for subject in collection.reported}
    lead = of["gpus/h200-771368"]
    for page, starts in (
        ("kernels.html", ("How does our GEMM compare", "Is the product of one token", "How fast is a grouped GEMM")),
        ("link.html", ("How fast are links between", "How fast are collectives")),
    ):
        assert all(line.startswith(start) for line, start in zip(text_of(lead.newest[page]), starts, strict=True))
        assert all(line in lead.newest["index.html"] for line in lead.newest[page])
    anchors = [span.anchor for line in lead.newest["index.html"] for span in line if span.anchor]
    assert len(anchors) == 5 and anchors[3:] == [
        "../../gpus/h200-links-4gpus/link.html#q30",
        "../../gpus/h200-collectives-4gpus/link.html#q29",
    ]
    spread = {folder: text_of([one.repeated])[0] for folder, one in of.items()}
    assert spread["gpus/h200-771368"].endswith(" on one GPU of this kind: h200, quick-processes.")
    assert spread["gpus/h200-quick-processes"] == ""
    rows = of["gpus/h200-kernels-rows"].newest  # a run of the day before is told of later answers to its own questions
    assert [line[0].said for line in rows["kernels.html"]] == [line[0].said for line in lead.newest["kernels.html"]][::2]
    assert "index.html" not in rows


def test_older_states_of_the_committed_kernels():
    """Of the results as they were: newer ones may lead later."""
    then = [entry for entry in entries.entries(RESULTS) if entry.date <= "2026-11-23"]
    collection = pages.Collection(then, [], None)
    (subject,) = (one for one in collection.reported if one.folder == "gpus/h200-771368")
    gemm, *_ = text_of(collection.elsewhere()[subject.index].newest["kernels.html"])
    assert gemm == (
        "How does our GEMM compare with the vendor's library? Over 33 shapes our bf16 GEMM runs at 0.977 times the speed of the "
        "fastest library in a burst, and at 0.995 under lasting load, in the median. From h200, kernels-forms, measured on "
        "2026-11-23, commit 9f2ff975d8b4."
    )
    for s in collection.reported:
        collection.homes[s.index] = {}
    cases = collection.cases()
    names = [f"kernels/gemm/bf16/m1000n5000k3000/nt{state}" for state in ("", "/sustained")]
    burst, lasting = map(repr, collection.of_measurements({name: cases[name] for name in names})[1])
    assert "called in a row" in lasting and "called one by one" in lasting and "called" not in burst
    main = collection.main().sections
    newest, others = (section for section in main if section.anchor in ("newest", "further"))
    assert main.index(newest) < main.index(others)
    assert newest.blocks[0].heading == "How does our GEMM compare with the vendor's library?"
    assert "H200: Over 33 shapes our bf16 GEMM" in text_of(newest.blocks[0].blocks[0].lines)[-1]
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


def test_a_figure_above_what_the_highest_clock_allows_has_its_clock(row_of):
    """132 SMs do 256 FLOP of fp64 a clock: 66.91 TFLOP/s at 1980 MHz."""
    (h100, other), notes = row_of("h100/2026-11-22-full", "h100/2026-11-22-complete")
    assert h100["fp64, TFLOP/s"].text.replace("\u202f", " ") == "67.76 at 2006 MHz"
    assert other["fp64, TFLOP/s"].text == "66.61" and not h100["bf16, TFLOP/s"].more
    assert gpus.CLOCKS in notes and gpus.CLOCKS not in row_of("h100/2026-11-22-complete")[1]


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
    assert "2026-11-24-torch-bf16-bursts reaches" in told and "more throughput than this run in" in told


def test_what_is_no_folder_of_results_is_refused_in_a_line(tmp_path, capsys):
    assert command.main([str(tmp_path / "nowhere")]) == 2
    assert command.main([str(tmp_path)]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2 and all("give the one" in line or "measure one first" in line for line in errors)
