# SPDX-License-Identifier: Apache-2.0
"""The front page of a GPU: its six numbers, its pictures and what surprised, on runs of two kinds of GPU."""

import re
from pathlib import Path

import committed
import pytest
import report_runs
from test_page import Document

from assay.files import load
from assay.report import site
from assay.report.answer import surprises
from assay.report.book import headline, machine, model
from assay.report.draw.diagram import sm_diagram
from assay.report.draw.staircase import staircase
from assay.report.page import front, measured

GPUS = ["H200", "H100"]
LARGEST = 700_000  # bytes


@pytest.fixture(params=GPUS)
def gpu(request):
    book = committed.book(request.param)
    return book, book.columns[0]


def test_six_numbers_each_beside_its_datasheet_and_its_noise(gpu):
    found = headline.headlines(*gpu)
    assert [h.unit for h in found] == ["TFLOP/s", "TFLOP/s", "TB/s", "ns", "µs", "pJ"]
    for h in found:
        assert h.sheet.startswith("datasheet ") or h.sheet == headline.NO_DATASHEET
        assert h.noise.endswith("in one process"), h.noise
    assert [h.share is not None and 0.7 < h.share < 1 for h in found] == [True, True, True, False, False, False]


def test_a_number_of_several_processes_says_how_far_they_differ():
    book = committed.book("processes")
    found = headline.headlines(book, book.columns[0])
    assert len(found) == 6
    for h in found:
        assert re.search(r"\d to .*\d in 6 processes$", h.noise), h.noise


def test_levels_become_slower_and_later_step_by_step(gpu):
    found = machine.levels(*gpu)
    assert {"l2", "memory", "host"} <= {level.key for level in found}
    on_the_gpu = [level for level in found if level.key not in ("peer", "host")]
    for of in (lambda level: level.bandwidth, lambda level: level.latency):
        values = [of(level).value for level in on_the_gpu if of(level)]
        assert len(values) >= 2 and sorted(values) in (values, values[::-1])


def sentences(said):
    return re.split(r"(?<=\.) ", said.strip())


def test_pictures_state_their_finding_first(gpu):
    for make in (sm_diagram, staircase):
        figure = make(*gpu)
        finding = sentences(figure.description)[0]
        assert re.fullmatch(r"[A-Z][^;]* (gets|gives|answers) .*\d.*\.", finding), finding
        assert finding in figure.note
        assert figure.data and all(len(row) == len(figure.data.head) for row in figure.data.rows)


def test_no_wire_of_the_diagram_runs_through_a_text(gpu):
    """Texts stand in gaps of the wires, which are drawn before them."""
    svg = sm_diagram(*gpu).svg
    wires = re.findall(r'class="wire" d="M([\d.]+) ([\d.]+)V([\d.]+)"', svg)
    gaps = [
        tuple(map(float, gap))
        for gap in re.findall(r'class="gap[^"]*" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg)
    ]
    texts = re.findall(r'<text class="rate" x="([\d.]+)" y="([\d.]+)"', svg)
    crossed = [
        (float(x), float(y))
        for x, y in texts
        if any(x == at and float(top) < float(y) - 4 < float(bottom) for at, top, bottom in wires)
    ]
    assert len(crossed) >= 8
    for x, y in crossed:
        assert any(left < x < left + wide and top < y - 4 < top + high for left, top, wide, high in gaps), (x, y)


def numbers(said):
    """Those that a sentence is about: not those of names, such as m16n8k64 or H100 80GB."""
    return re.findall(r"(?<![\w.×-])\d[\d.\u202f]*(?=\s|$|[%,;)\u202f])", said)


def test_surprises_are_sentences_of_few_numbers(gpu):
    found = surprises.surprises(*gpu)
    assert 4 <= len(found) <= 9
    for surprise in found:
        assert re.fullmatch(r"(At best,|This run found) .*\.", surprise.said), surprise.said
        assert len(numbers(surprise.said)) <= 3, surprise.said
        assert surprise.anchor and "_" not in surprise.said


def test_an_emulated_instruction_surprises(gpu):
    assert any("emulated mma.sync reaches" in surprise.said for surprise in surprises.far_from_limits(*gpu))


def test_what_a_sweep_does_better_is_the_best():
    """A case copies 512 bytes at a time; the sweep over sizes, from memory and not that from L2, has the best of them."""
    make = report_runs.Maker(1)
    of_memory = "2 x memory clock x bus width"

    def add(name, source, limit, **values):
        m = make.add(name, limit=limit, opcode="UBLKCP", **values)
        m.metrics["bandwidth_gb_per_s"].limit_source = source
        for metric in m.metrics.values():
            metric.unit = "GB/s"
        return m

    add("tma/tensor_1d/bandwidth", of_memory, 4800, bandwidth_gb_per_s=2300.0).params["copy_bytes"] = 512

    def said():
        book = model.build([make.run])
        return [surprise.said.replace("\u202f", " ") for surprise in surprises.far_from_limits(book, book.columns[0])]

    (alone,) = said()
    assert re.fullmatch(r"At best, TMA with 1-D boxes reaches 4\d\.\d % of the peak of memory \(512 B each\)\.", alone)
    add("tma/box/l2", "132 SMs: the SM's port to L2", 33000, bandwidth_gb_per_s=9700.0, best_gb_per_s_tensor_1d=9200.0)
    assert alone in said()
    add("tma/box/dram", of_memory, 4800, bandwidth_gb_per_s=4570.0, best_gb_per_s_tensor_1d=4539.0)
    assert not any("1-D" in sentence for sentence in said())


@pytest.mark.parametrize("name", ["newest H200", "newest H100"])
def test_no_surprise_is_of_one_size_alone(name):
    book = committed.book(name)
    found = surprises.surprises(book, book.columns[0])
    assert found and not any("1-D" in surprise.said for surprise in found)


def test_a_sibling_that_is_slower_surprises():
    slow = report_runs.measured(2)
    for m in slow.measurements:
        if m.name == "memory/hbm/read":
            m.metrics["bandwidth_gb_per_s"].value *= 0.8
    one, other = model.build([slow]), model.build([report_runs.measured(1)])
    wanted = "In a burst, “DRAM read, bandwidth” is 20.0\u202f% below another GPU of this name."
    siblings = [(other, other.columns[0])]
    assert wanted in [s.said for s in surprises.unlike_siblings(one, one.columns[0], siblings)]
    assert surprises.siblings_in(one, one.columns[0]) == []


def test_what_the_clock_of_the_host_took_is_no_surprise_of_the_gpu():
    def found(domain):
        slow = report_runs.Maker(1)
        slow.add("launch/empty/programmatic", time_us=5.0).conditions["clock_domain"] = domain
        usual = report_runs.Maker(2)
        usual.add("launch/empty/programmatic", time_us=3.5)
        one, other = model.build([slow.run]), model.build([usual.run])
        return surprises.unlike_siblings(one, one.columns[0], [(other, other.columns[0])])

    assert found("host") == [] and len(found("sm")) == 1


def test_kernels_of_another_commit_say_nothing_of_the_gpu():
    """The newest kernels are faster than those of the whole run, and not because of the GPU."""
    whole = committed.book("newest H200")
    of_kernels = model.build([load(committed.RESULTS / "h200/2026-11-23-kernels-rows")])
    found = surprises.unlike_siblings(whole, whole.columns[0], [(of_kernels, of_kernels.columns[0])])
    assert found == []
    of_kernels.columns[0].run.environment["assay"]["commit"] = whole.columns[0].run.environment["assay"]["commit"]
    found = surprises.unlike_siblings(whole, whole.columns[0], [(of_kernels, of_kernels.columns[0])])
    assert any("GEMM, bf16" in surprise.said for surprise in found)


def test_it_is_light_and_whole(gpu):
    html = site.html(front.page(gpu[0], "t", []))
    document = Document(html)
    assert document.problems == [] and len(document.ids) == len(set(document.ids))
    assert len(html.encode()) < LARGEST
    assert len(document.all("figure")) == 8  # the last three of the other state
    assert "could not be made" not in html


def test_the_main_page_of_one_gpu_begins_with_it(report_of):
    html = (report_of("H100") / "index.html").read_text()
    assert html.index('class="headlines"') < html.index('id="surprises"') < html.index('id="parts"')
    assert len(html.encode()) < LARGEST


def test_a_run_of_little_has_none():
    book = model.build([report_runs.offline()])
    assert measured.subject(book) is None


def test_a_gpu_is_of_the_generation_that_its_run_says():
    """The table of targets knows it, and nothing here; files from before it was recorded are of these."""
    assert measured.generation({"architecture": "sm_140", "generation": "Feynman"}) == "Feynman"
    said = [measured.generation({"architecture": chip}) for chip in ("sm_89", "sm_90", "sm_121", "sm_999", "")]
    assert said == ["Ada", "Hopper", "Blackwell", None, None]
    table = (Path(__file__).resolve().parents[2] / "harness/target_table.hpp").read_text()
    assert len(re.findall(r"\.generation = \"\w+\"", table)) == len(re.findall(r'\.name = "sm_\w+"', table))
