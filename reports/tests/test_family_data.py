# SPDX-License-Identifier: Apache-2.0
"""Questions 13 to 21: what is said, drawn and tabulated of a run, and what of one that lacks it."""

import base64
import io
import json
import re

import data_runs
import numpy as np
import pytest
from machine_runs import series
from matplotlib import image
from report_runs import Maker, gpu, offline
from test_page import Document

from assay.files import Measurement, Metric, Run, RunFileError, sass_file, save
from assay.report import site
from assay.report.__main__ import main
from assay.report.answer.questions import PARTS
from assay.report.block.tables import around
from assay.report.book import model
from assay.report.book.text import THIN
from assay.report.draw import curves
from assay.report.draw.curves import Axis, Line
from assay.report.family.memory import levels
from assay.report.family.numerics import metadata
from assay.report.page import sections
from assay.report.page.answers import answers

NUMBERS = [*range(13, 22), 30]


@pytest.fixture(scope="module")
def book():
    return model.build([data_runs.data(), offline()])


def blocks(book):
    found = sections.evidence(sections.blocks(book))
    return {number: found[number] for number in sorted(found) if number in NUMBERS}


def said(block):
    lines = [f"{f.label}: {', '.join(t for t, _ in parts)}" for f in block.findings for _, parts in f.lines]
    return "\n".join(lines).replace(THIN, " ")


def table(block, caption):
    found = next(t for t in block.tables if t.caption.startswith(caption))
    return [[cell.said.replace(THIN, " ") for cell in row] for row in found.rows]


def test_each_question_has_one_place_with_words_and_tables(book):
    found = blocks(book)
    assert sorted(found) == list(NUMBERS)
    for number, block in found.items():
        assert block.findings and (block.tables or number == 19), number
        assert block.figures or number == 15, number


def test_a_run_without_them_says_which_command_measures_them():
    empty = model.build([Run(gpu(), [])])
    said_of = {a.question.number: a for _, part in answers(empty) for a in part}
    assert not any(blocks(empty).values())
    for number in NUMBERS:
        assert (number == 15 or not said_of[number].said) and said_of[number].question.cases.startswith("^")


def test_every_level_with_its_numbers_and_its_reach(book):
    words = said(blocks(book)[13])
    for part in (
        "shared memory 23 cycles, L1 34 cycles, L2, near 280 cycles, L2, far 460 cycles",
        "L1 to 256 KiB, L2 near to 16 MiB",
        "L2 partitions: 2 partitions, near to 4 and 4 SMs, an atomic takes 285 cycles in the near one and 480 in the far one",
        "by how its threads stand to banks: stride 1: 1, stride 2: 2, stride 32: 32",
        "TLB: reaches 32 MiB, a miss costs 4 cycles, by least squares over 2 ranges beyond",
        "idle 660 cycles, 800 cycles at 80 % of the bandwidth, 2 000 cycles under full load",
    ):
        assert part in words


def published(name, gpu_name, note="", **values):
    source = {"title": "A paper (Someone, 2025)", "url": "https://example.org/p", "gpu": gpu_name, "note": note}
    metrics = {k: Metric("cycle" if "cycle" in k else "GB/s", v) for k, v in values.items()}
    environment = {"gpu": {"name": gpu_name, "architecture": "sm_90", "sm_count": 114}}
    return Run(environment, [Measurement(name, "probe", params={"basis": "measured"}, metrics=metrics, source=source)])


def test_a_deviation_from_a_published_figure_is_explained_and_a_small_one_is_not():
    others = [
        published("memory/l2_near/latency", "H800", "At 1755 MHz.", latency_cycles=258.0),
        published("memory/dram/latency", "H800", latency_cycles=656.0),
        published("memory/hbm/read", "H800", bandwidth_gb_per_s=1861.0),
        published("memory/l1/latency", "H800", latency_cycles=40.0),
    ]
    found = blocks(model.build([data_runs.data()], others))[13]
    rows = {row[0]: row for row in table(found, "Every level") if row[0]}
    assert rows["L2, near"][3] == "+8.5 %" and "147 at their 1755" in rows["L2, near"][4]
    assert rows["memory, read"][2].startswith("656 cycles, H800, Someone, 2025")
    assert rows["memory, read"][3:] == ["+0.6 %", ""]
    assert rows["L1"][3:] == ["−15.0 %", "not explained"]
    assert ["other GPU", ""] in [row[3:] for row in table(found, "Every level")]  # GB/s of another GPU say nothing


def test_runs_that_measured_none_of_it_have_no_column_beside_published_figures():
    other = Maker(2)
    other.add("sass/shf/b32", latency_cycles=4.0)
    book = model.build([data_runs.data(), Run(gpu("Other"), other.run.measurements)])
    levels = next(t for t in blocks(book)[13].tables if t.caption.startswith("Every level"))
    assert levels.head == ["Figure", "A measured", "Published", "Deviation", "Why"]
    assert {len(row) for row in levels.rows} == {5}
    cases = sections.cases(book)
    assert cases["memory"].shown == [0] and cases["sass"].shown == [1]


def test_power_of_memory_traffic_is_what_lies_above_the_idle_kernel(book):
    found = blocks(book)[13]
    words = "read at 4 600 GB/s 520 W: 113 pJ/B of the whole board, idle included, 67 pJ/B above the 220 W of 100 GB/s"
    assert words in said(found)
    assert any(figure.key.startswith("memory-power") for figure in found.figures)


def test_the_l2_map_orders_sms_by_partition(book):
    figure = next(f for f in blocks(book)[13].figures if f.key.startswith("l2-map"))
    data = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", figure.svg)[1])
    grey = image.imread(io.BytesIO(data))[:, :, 0]
    near = np.full((4, 3), 0.03)
    expected = np.block([[near, near * 0 + 1], [near * 0 + 1, near]])  # each partition's own lines are pale
    assert np.allclose(grey, expected, atol=0.01)
    assert re.findall(r'<rect class="(s\d)"[^>]* height="(\d+)"', figure.svg) == [("s1", "16"), ("s2", "16")]
    assert "4 SMs near partition 0, 4 SMs near partition 1" in figure.description


def test_tma_says_how_much_to_keep_in_flight_and_how_large_a_box_must_be(book):
    words = said(blocks(book)[14])
    assert "to reach 95 % of the bandwidth of memory: keep 32 KiB (31 to 33) in flight per SM by TMA, 2-D (of 4 700 GB/s), in boxes of at least 4 KiB" in words
    assert "TMA reaches 102.0 % of them, 4 700 GB/s" in words
    assert "to 2 CTAs 15 000 GB/s arrive of 7 500 that L2 sends" in words
    keys = [f.key for f in blocks(book)[14].figures]
    assert "tma-depth-dram0" in keys and "tma-box-dimensions-dram0" in keys


def test_tensor_memory_is_shown_as_built_and_never_as_measured():
    make = Maker(1)
    for target, verified in (("sm_100a", True), ("sm_103a", False), ("sm_120a", True)):
        for name in ("tmem/ld/32x32b_x1", "tmem/ld/32x32b_x8/latency", "sass/ffma/f32"):
            if name.startswith("tmem") and target == "sm_120a":
                continue
            m = Measurement(name, "probe", status="not_run", reason="built and disassembled, not run")
            m.sass = {"target": target, "verified": verified, "loop": {"LDTM.x8": 16, "BRA": 1}}
            make.run.measurements.append(m)
    found = blocks(model.build([make.run]))[15]
    words = said(found)
    assert "sm_100: 2 of 2 cases built and disassembled hold their opcodes; not run" in words
    assert "sm_103: 0 of 2" in words and "sm_120: no tensor memory" in words
    assert table(found, "Tensor memory, built") == [["ld 32x32b", "x1 x8", "LDTM.x8", "✓", "✗"]]


def test_atomics_against_one_write(book):
    words = said(blocks(book)[16])
    assert "summed in each CTA by shuffles, then one atomic is fastest, 4 000 GB/s, 50 × an atomic by each thread" in words
    assert "add u32 0.7 ops/clk to one address, 400 to own ones" in words


def test_links_by_kind_both_ways_and_between_gpus(book):
    block = blocks(book)[17]
    words = said(block)
    for part in (
        "to the GPU: pageable 11.1 GB/s, pinned 55.5 GB/s",
        "by copy engine 50.0 to the GPU and 46.0 GB/s from it",
        "pinned to the GPU: 64 KiB; 1 B takes 2 µs",
    ):
        assert part in words
    assert not any(f.key.startswith("peer-") for f in block.figures)
    block = blocks(book)[30]
    assert "write by copy engine 396 GB/s, 770 both ways" in said(block)
    assert "slowest" not in said(block)  # within 2 %
    matrix = next(f for f in block.figures if f.key.startswith("peer-"))
    assert ">390<" in matrix.svg and ">391<" in matrix.svg and "GPU 0 and GPU 0" not in matrix.svg


def test_launches_and_workers(book):
    words = said(blocks(book)[18])
    assert "an empty kernel, each in a row: in a stream 2.9 µs, in a graph 0.7 µs" in words
    assert "memset of 4 B 1.1 µs" in words
    words = said(blocks(book)[21])
    assert "kernels of 5 µs: streams 320 thousand/s (2.1 × one worker), 95 % of it with 8 workers" in words


def ways(found):
    block = blocks(found)[18]
    return said(block), next(t for t in block.tables if t.name.startswith("An empty kernel by how it is launched"))


def test_a_gap_that_is_longer_than_an_interval_says_of_which_kernels_each_is(book):
    words, table = ways(book)
    assert "empty kernels on the GPU, from one to the next: graph 0.7 µs" in words
    assert "between the work of two, kernels of 4 µs with time stamps: stream 1.7 µs" in words
    (note,) = table.notes
    assert note.endswith("So the second may be longer than the first, as in the row “a node of a graph”.") and "write time stamps" in note
    assert "from process to process" not in words


def test_what_a_launch_takes_from_process_to_process_is_said_where_it_differs():
    runs = [data_runs.data(), data_runs.data()]
    for run, graph, stream in zip(runs, (0.50, 0.68), (2.9, 2.91)):
        for m in run.measurements:
            if m.name in ("launch/empty/graph", "launch/empty/stream"):
                m.metrics["time_us"].value = graph if m.name.endswith("graph") else stream
    words, table = ways(model.build(runs))
    assert "a node of a graph 0.5 to 0.68 µs in 2 processes" in words and "a kernel into a stream 2.9 to" not in words
    assert table.notes[-1].endswith("a node of a graph 0.5 to 0.68 µs in 2 processes.")
    one = Run(runs[0].environment, [*runs[0].measurements, *(m for m in runs[1].measurements)])
    for i, m in enumerate(one.measurements):
        m.repetition = int(i >= len(runs[0].measurements))
    assert "a node of a graph 0.5 to 0.68 µs in 2 processes" in ways(model.build([one]))[0]
    runs[1].environment = {**runs[1].environment, "gpu": {**runs[1].gpu, "name": "NVIDIA H100"}}
    assert "from process to process" not in ways(model.build(runs))[0]


def test_placement_and_what_no_code_knows_of(book):
    block = blocks(book)[19]
    words = said(block)
    assert "waves: one CTA on each SM before any gets a second" in words
    assert "GPCs: 3 of 3 to 4 SMs" in words and "of 4 CTAs leave 2 SMs idle" in words
    assert {f.key for f in block.figures} == {"gpc-map0", "waves-time_us0", "order-20"}
    assert table(block, "Clusters at once") == [["2", "5", "0"], ["4", "2", "2"]]


def test_placement_says_where_ctas_land_and_what_the_tail_costs(book):
    block = blocks(book)[19]
    words = said(block)
    ways = "alone or back to back or behind one that still runs"
    assert f"as many CTAs as SMs: launched {ways}, 8 CTAs on 8 SMs: one each, every time" in words
    assert "of 16 with room for 2 on an SM, CTA 8 is the first that shares an SM" in words
    assert "uneven cost: 90.0 % a CTA each, 85.0 % persistent, dealt in turn" in words
    assert table(block, "CTAs that run at once, by the CTAs of the grid; launched alone") == [
        ["2 on an SM, clusters of 1", "8", "9 on 8, ≤ 2"],
        ["2 on an SM, clusters of 2", "8", "8"],
    ]
    behind = "CTAs that run at once, by the CTAs of the grid; launched behind"
    assert table(block, behind) == [["2 on an SM, clusters of 2", "8", "8 on 7, ≤ 2"]]
    order = next(f for f in block.figures if f.key == "order-20")
    assert "CTAs 2 to 3: GPC 1" in order.svg and order.svg.count('class="break"') == 2
    assert "clusters of 2: CTA 6 is the first to share an SM" in order.description


def test_barriers_over_who_takes_part(book):
    block = blocks(book)[20]
    words = said(block)
    assert "__syncthreads: 32 threads 12 cycles, 1024 threads 74 cycles" in words
    rows = table(block, "Barriers and fences")
    assert ["__syncthreads, 1024 threads", "74"] in rows and len(rows) == sum(len(f.lines[0][1]) for f in block.findings)
    wait = "from another's release to having its registers 123 cycles"
    assert f"setmaxnreg, down and up: {wait}, 2 warpgroups 130 cycles" in words
    assert {f.key for f in block.figures} == {"barriers0", "sync-cluster0"}


def test_curves_merge_what_lies_on_each_other_and_keep_what_does_not():
    lines = [Line("a", [(1, 10), (2, 20)]), Line("b", [(1, 10.05), (2, 20)]), Line("c", [(1, 10), (2, 40)])]
    drawn = curves.draw("k", "A title", lines, Axis("n", 2), Axis("cycles", 10))
    assert ">a, b<" in drawn.svg and ">c<" in drawn.svg and "a, b: from 10 at 1 to 20 at 2" in drawn.description
    halves = curves.draw("k", "t", [Line("a", [(1, 0), (2, 18.6)])], Axis("n"), Axis("B/clk/SM"))
    assert ">12.5<" in halves.svg and ">12<" not in halves.svg
    assert curves.draw("k", "t", [Line("one point", [(1, 1)])], Axis("n"), Axis("y")) is None
    assert curves.draw("k", "t", [Line("flat", [(0, 0), (1, 0)])], Axis("n", 2), Axis("y")) is not None


def test_an_interval_is_stated_where_it_has_a_width():
    assert around(Metric("B", 2.0, (1.0, 3.0)), "{:g}".format) == "2 (1 to 3)"
    assert around(Metric("B", 2.0, (2.0, 2.0)), "{:g}".format) == "2" == around(Metric("B", 2.0), "{:g}".format)


@pytest.mark.parametrize("runs", [1, 2], ids=["one run", "two runs"])
def test_the_page_has_a_place_for_each_that_an_answer_leads_to(runs, tmp_path):
    book = model.build([data_runs.data(n) for n in range(runs)])
    site.write(book, tmp_path)
    documents = {path.name: Document(path.read_text()) for path in tmp_path.glob("*.html")}
    for part in PARTS:
        numbers = {question.number for question in part.questions} & set(NUMBERS) - {15}
        for number in numbers:
            document = documents[f"{part.key}.html"]
            links = {attributes.get("href") for attributes, _ in document.all("a")}
            assert {f"q{number}", f"q{number}-more"} <= set(document.ids) and f"#q{number}-more" in links
    for document in documents.values():
        for attributes, parents in document.all("table"):
            assert "div" in parents, attributes
    markdown = (tmp_path / "report.md").read_text()
    assert "\n### How deep a pipeline does TMA need?" in markdown and "\nBy TMA, by cp.async, by loads, from memory" in markdown and "| TMA, 2-D |" in markdown


def hot_loop(name, cycles, measured=None, case=""):
    pipes = [{"pipe": "tensor", "instructions": 4, "cycles_per_warp": cycles / 2, "cycles": cycles}]
    part = {
        "opcodes": [{"opcode": "UMOV", "count": 6, "cycles": 2}, {"opcode": "HGMMA.F32", "count": 4, "cycles": 128}]
    }
    hot = {"warps": 8, "parts": [part], "pipes": pipes, "predicted": {"cycles": cycles, "bound_by": "tensor"}}
    hot["measured"] = {"cycles": measured, "name": case} if measured else None
    return {"name": name, "target": "sm_90a", "hot": [hot]}


def test_hot_loops_beside_a_run_are_read_with_it(tmp_path):
    case = "kernels/gemm/bf16/m8192n8192k8192/nt"
    make = data_runs.Exact(1)
    make.put(case, tflops=700.0)
    save(make.run, tmp_path / "run.json")
    name = "void assay::kernels::gemm<128, 256>(CUtensorMap_st, int)"
    kernels = [hot_loop(name, 1024.0, 1088.0, case), hot_loop("other", 10.0)]
    (tmp_path / "sass-gemm.json").write_text(json.dumps({"schema": "assay.sass/1", "kernels": kernels}))
    assert main([str(tmp_path), "--published", "none", "--out", str(tmp_path / "page")]) == 0
    document = Document((tmp_path / "page" / "kernels.html").read_text())
    words = " ".join(document.words).replace(THIN, " ")
    assert "tensor bounds it: 1 024 cycles predicted, 1 088 measured, 94.1 %" in words
    assert document.problems == [] and "hot-loops" in document.ids
    assert "gemm<128, 256>" in words and "4 HGMMA.F32, 6 UMOV" in words


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"schema": "assay.sass/2"}', '{"schema": "assay.sass/1", "kernels": [{"hot": [1]}]}']
)
def test_damaged_hot_loops_are_refused_in_one_line(content, tmp_path):
    path = tmp_path / "sass-x.json"
    path.write_text(content)
    with pytest.raises(RunFileError, match="sass-x.json: .*assay sass"):
        sass_file.load(path)


def test_metadata_of_sparse_operands_is_drawn_by_chunk():
    make = Maker(1)
    for kind in ("f16", "bf16"):
        m = make.add(f"tensor_core/sparse_metadata/{kind}/m16n8k16", metadata_bits=256.0, params={"sparsity": "2:4"})
        chunks = [4 * lane + nibble if lane < 16 and nibble < 4 else None for lane in range(32) for nibble in range(8)]
        m.series = [series("chunk_of_metadata", chunks, lane=list(range(32)), nibble=list(range(8)))]
    book = model.build([make.run])
    (found,) = metadata.maps(book, book.columns[0])
    assert len(found.sources) == 2 and "16 × 4 chunks" in found.title
    assert "row 3, elements 4 to 7: bits 4 to 7 of thread 3" in found.figure.svg and ">T3:4<" in found.figure.svg


def test_points_that_two_passes_do_not_agree_on_are_named():
    def curve(rounds):
        sizes = [2**20, 40 * 2**20]
        found = [data_runs.curve("latency_cycles", "cycle", "footprint_bytes", sizes, [282.0, 463.0])]
        if rounds:
            found.append(data_runs.curve("rounds", "", "footprint_bytes", sizes, rounds))
        return Measurement("memory/latency_curve/ca", "probe", series=found)

    assert levels.steadiness([curve([4, 8])]) == f"At each point two passes agreed within 3{THIN}%."
    assert levels.steadiness([curve([4, 8]), curve([4, None])]).endswith(f"still differed: 40{THIN}MiB.")
    assert levels.steadiness([curve(None)]) == "Whether each point is of a steady state was not looked at in this run."
