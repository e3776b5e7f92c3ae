# SPDX-License-Identifier: Apache-2.0
"""A site of all results: what is on it, where it stays, and that every link leads somewhere."""

import re
from types import SimpleNamespace

import crawl
import pytest
import report_runs
from test_page import published_beside

from assay.files import save
from assay.files.isa_file import Isa
from assay.report.book import counters
from assay.report.collection import __main__ as command
from assay.report.collection import entries, further, measurements, pages

# Of each form whether it exists; tensor memory's has its answer on every report.
FORMS = {"mma.bf16": "native", "tcgen05.ld": "rejected"}
ISA = Isa(
    "ptxas 13.0",
    ["sm_90a"],
    {"mma": [{"name": ptx, "ptx": ptx, "targets": {"sm_90a": {"status": status}}} for ptx, status in FORMS.items()]},
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
    assert "The assembler makes 1 of 2 forms native instructions of sm_90a" in said(document)
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
    """Of a day that with most; beside it those of the day that share no case with it. Runs that say nothing are left out.
    Of two that are as large and do not say when they began, the last by name counts, in whatever order they come."""

    def entry(day: int, hour: int, cases: range, kind: str = "bf16") -> SimpleNamespace:
        started = f"2026-01-{day:02}T{hour:02}:00:00Z"
        names = {f"kernels/gemm/{kind}/{i}" for i in cases}
        return SimpleNamespace(gpu="h200", name=started[:10], cases=names, date=started[:10], started=started, tried={})

    def newest(*found, silent=None):
        return further.newest(found, "h200", further.ASKED[0], lambda one: "" if one is silent else "It is fast.")

    largest, more, fewer, few = entry(1, 8, range(10)), entry(2, 8, range(8)), entry(2, 9, range(6)), entry(2, 10, range(4))
    assert newest(largest, more, fewer, few) == [more]
    assert newest(largest, few) == [largest] and newest(largest, more, silent=more) == [largest]
    others = entry(2, 7, range(20, 26))
    assert newest(largest, others, more, fewer) == [more, others]
    assert newest(entry(3, 8, range(20), "e4m3"), more) == [more] and newest(entry(1, 8, range(0))) == []
    before, after = (entry(4, 0, range(10)) for _ in range(2))
    before.started = after.started = ""
    before.name, after.name = "2026-01-04-torch-nt", "2026-01-04-torch-nt-again"
    assert newest(before, after) == newest(after, before) == [after]
    before.name = "2026-01-04-torch-nt-before"  # behind the other by name, but of the build before
    assert newest(before, after) == newest(after, before) == [after]
    # An older one stands beside it where the library was at its best there alone: of such the newest, if it is no small one.
    for one, count in ((largest, 32), (more, 32), (fewer, 16)):
        one.tried = dict.fromkeys(one.cases, count)
    few.tried = dict.fromkeys([*few.cases][:1], 32)
    assert newest(after, largest, more, fewer, few) == [after, more]
    assert newest(largest, more, fewer) == [more]
    # And one beside something else where the newest of all has the library: of the same day too, if it has fewer cases.
    same_day = entry(2, 11, range(5))
    assert newest(largest, more, same_day) == [same_day, more] and newest(largest, same_day, entry(1, 9, range(8))) == [same_day, largest]


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


def test_what_is_no_folder_of_results_is_refused_in_a_line(tmp_path, capsys):
    assert command.main([str(tmp_path / "nowhere")]) == 2
    assert command.main([str(tmp_path)]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2 and all("give the one" in line or "measure one first" in line for line in errors)
