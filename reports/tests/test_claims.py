# SPDX-License-Identifier: Apache-2.0
"""What pages claim of the newest committed runs follows from the figures of these runs, on both kinds of GPU."""

import html
import math
import re
from dataclasses import replace

import committed
import label_boxes
import pytest
from report_runs import Maker

from assay.files import Measurement
from assay.report.answer.questions import by_number
from assay.report.book import deviation, graph, headline, machine, model, operands, roofs, text
from assay.report.book.published import figures as published_figures
from assay.report.compare import words
from assay.report.compare.figures import figures
from assay.report.compare.findings import findings
from assay.report.compare.subjects import subjects
from assay.report.draw import staircase
from assay.report.draw.curves import Axis, Line, draw
from assay.report.family import tma
from assay.report.family.launch import costs
from assay.report.family.memory import levels, partitions
from assay.report.family.memory import overview as memory_overview
from assay.report.family.special_function import polynomial
from assay.report.family.tensor_core import power
from assay.report.page import clocks, environment, measured, overview, published, roofline, unmeasured
from assay.report.page.answers import in_sentences

NEWEST = ["newest H200", "newest H100"]


@pytest.fixture(scope="module", params=NEWEST)
def book(request):
    return committed.book(request.param)


def plain(said):
    return said.replace("\u202f", " ")


def words_of(sentence):
    return plain("".join(words for words, _ in sentence))


def test_a_level_spans_only_places_where_the_curve_has_its_cycles(book):
    spans = 0
    for name, m in levels.of_column(book, book.columns[0], "memory/latency_curve/"):
        for level in levels.plateaus(m):
            within = [y for x, y in m.series_named("latency_cycles").curve if level.begin <= x <= level.end]
            assert all(abs(y / level.cycles - 1) < 0.06 for y in within), (name, level)
            spans += 1
    assert spans > 20
    drawn = levels.latency_over_footprint(book, book.columns[0])
    assert "Transitions" in drawn.note and "from L2 near to DRAM" in drawn.note


def test_the_tlb_has_one_cost_of_a_miss_and_its_mean_by_another_name(book):
    said = [plain(words_of) for words_of, _ in partitions._tlb(book, book.columns[0])]
    row = book.row("memory/tlb", "tlb_miss_cycles")
    if book.measurement(book.columns[0], "memory/tlb").value("tlb_reach_bytes"):
        assert f"takes {row.first.value:.1f} more in the mean" in said[2]
        cycles, share = (
            float(re.search(pattern, one)[1]) for pattern, one in zip((r"costs (\d+) ", r"([\d.]+) %"), said[1:])
        )
        assert cycles * share / 100 == pytest.approx(row.first.value, rel=0.05)
    else:
        assert len(said) == 1 and "all of the" in said[0]


def test_operations_on_integers_are_never_flop_in_what_a_roofline_says(book):
    for state in (model.BURST, model.LASTING):
        drawn = overview.roofline(book, book.columns[0], state)
        assert "in TFLOP/s, of integers TOP/s: " in drawn.description
        assert not re.search(r"int8[^;.]*\d TFLOP/s", drawn.description)


def test_every_dot_of_a_roofline_has_a_name_and_its_share_of_its_roof(book):
    column = book.columns[0]
    for state in (model.BURST, model.LASTING):
        found = roofs.roofline(book, column, state)
        named = overview.under_roof(book, column, state)
        words = [html.unescape(said) for said in re.findall(r"<text[^>]*>([^<]*)</text>", named.svg)]
        assert len(found.points) == 12 and "12 shapes of bf16 GEMM" in overview.roofline(book, column, state).note
        for point in found.points:
            assert words.count(point.shape) == 1
            height = next(r.tflops for r in found.roofs if r.kind == "bf16")
            assert any(plain(said).endswith(f" · {100 * point.tflops / height:.1f} %") for said in words)
        left_to_right = [p.shape for p in sorted(found.points, key=lambda p: p.intensity)]
        assert [said for said in words if said in left_to_right] == left_to_right
        assert label_boxes.overlaps(named.svg) == []


def test_of_many_kernels_the_ends_of_each_kind_are_named():
    points = [roofs.Point(label, "bf16", 10.0 * i, 100.0 + i, str(i)) for label in ("gemm", "gemv") for i in range(1, 20)]
    assert [(p.label, p.shape) for p in roofline._shown(points)] == [
        (label, shape) for shape in ("1", "19") for label in ("gemm", "gemv")
    ]
    assert len(roofline._shown([replace(p, label=f"{p.label}{p.shape}") for p in points])) == roofline.MOST_ROWS


def test_the_rate_of_multiply_adds_is_the_best_with_its_operands(book):
    for opcode, plain_case in operands.PLAIN.items():
        said, n = operands.best(book, book.columns[0], opcode)
        every = [row.first.value for row in book.find(rf"{plain_case}(_(uniform|immediate|two)\w+)?", operands.METRIC)]
        assert said and n.value == max(every)
    _, dfma = operands.best(book, book.columns[0], "DFMA")
    assert 63.9 < dfma.value <= 64.01


def test_a_node_of_a_graph_has_both_its_times_and_no_reason(book):
    column = book.columns[0]
    both = [book.row(*figure).first.value for figure in graph.INTERVALS]
    both = [min(both), max(both)]
    launch = next(h for h in headline.headlines(book, column) if h.label.startswith("Launch of a kernel"))
    assert launch.remark.endswith("not explained")
    said = "; ".join(one for one, _ in costs.two_times(book, column))
    for value in both:
        assert f"{value:.3g}" in said and f"{value:.3g}" in launch.remark
    assert "on which of 16 graphs runs, in which of 16 streams it runs and how long the GPU idled before, up to 1000 ms" in said
    (_, lines) = in_sentences(book, by_number()[18])[0]
    assert "which is not explained" in "".join(piece for piece, _ in lines[0])


def test_a_launch_has_the_time_of_the_cpu_and_that_of_the_gpu(book):
    """Kernels in a row take as long as the CPU takes to launch them, longer than the GPU takes from one to the next."""
    launch = next(h for h in headline.headlines(book, book.columns[0]) if h.label == "Launch of a kernel, CPU")
    times = [book.row("launch/empty/stream", metric).first for metric in ("time_us", "interval_us", "cpu_us")]
    assert launch.numbers == times[:1] and f"on the GPU {times[1].value:.2f} µs from one to the next; " in plain(launch.remark)
    assert times[0].value == pytest.approx(times[2].value, rel=0.1) and times[0].value > 1.8 * times[1].value


def test_columns_of_graphs_have_a_unit_each_but_for_the_exponent(book):
    table = costs.graph_table(book, book.columns[0])
    assert "µs" not in table.caption and sum("exponent" in words for words in table.head) == 1
    assert all("µs" in words or "exponent" in words for words in table.head[1:])


def test_graphs_whose_nodes_write_stamps_are_not_called_empty(book):
    """Their nodes follow each other after longer than the empty ones of the answer and of the first table."""
    column = book.columns[0]
    table, picture = costs.graph_table(book, column), costs.graph_size(book, column)
    assert all("kernels that write a time stamp" in said and "empty" not in said for said in (table.caption, picture.title))
    per_node = book.measurement(column, "launch/graph/chain").value("latency_us_per_node")
    assert per_node > max(n.value for n in graph.two_times(book, column))
    assert any("longer than an empty kernel" in note for note in table.notes)


def test_a_graph_with_one_time_has_one():
    make = Maker(1)
    make.add("launch/empty/graph", interval_us=0.5, time_us=0.5)
    made = model.build([make.run])
    assert costs.two_times(made, made.columns[0]) == []


def test_a_low_clock_without_a_reason_says_what_was_ruled_out(book):
    column = book.columns[0]
    notes = [plain(note) for note in clocks.table(book, column).notes]
    said = next(note for note in notes if "ruled out" in note)
    silent = [m for m in clocks.slow(book, column) if not m.conditions.get("throttle")]
    below = sum(m.conditions["power_max_w"] < 630 for m in silent)
    assert f"Of the {len(silent)} cases without a reason" in said and f"({below} of {len(silent)} drew" in said
    assert said.endswith("What lowers the clock is not explained.")


def test_skipped_cases_are_counted_in_a_sentence(book):
    assert unmeasured.reasons(book) == [
        "227 cases were skipped: 83 need 2 GPUs; 72 need 4 GPUs; 72 need 8 GPUs, where 1 is visible."
    ]
    made = model.build([Maker(1).run])
    reasons = ["needs 8 GiB of GPU memory", "out of memory"]
    made.unmeasured = [(made.columns[0], Measurement("a/b", "probe", status="failed", reason=why)) for why in reasons]
    assert unmeasured.reasons(made) == [
        "2 cases failed: 1 needs 8 GiB of GPU memory; of 1 the reason is: out of memory."
    ]


def test_what_was_not_recorded_is_said_so(book):
    assert environment._utilization(book, book.columns[0]) == "not recorded"


def test_a_reason_that_holds_for_one_footprint_alone_is_none(book):
    """Whether L2 is shared by fewer SMs does not depend on the footprint."""
    found = 0
    for row in book.find(r"memory/l2/read_chunks/\d+mib", "bytes_per_clock_per_sm"):
        for p in published_figures(book, row):
            if p.gpu == "NVIDIA H100 PCIe" and p.unit == row.unit:
                assert deviation.reason(book, book.columns[0], row, row.first, p) == ""
                found += 1
    assert found == 3


def test_a_rate_with_other_operands_explains_a_published_one(book):
    row = book.row("sass/dfma/f64", "ops_per_clock_per_sm")
    said = [
        deviation.reason(book, book.columns[0], row, row.first, p)
        for p in published_figures(book, row)
        if not p.datasheet
    ]
    assert any("with a uniform factor 64" in one for one in said)


def test_the_comparison_says_what_a_longer_barrier_holds_and_compares_no_miss_that_was_not_seen():
    both = subjects([[committed.book(name).columns[0].run] for name in NEWEST])
    every = figures(both)
    assert not any(f.metric == "tlb_miss_cycles" for f in every)
    found = findings(every)
    grid = next(f for f in found if f.lead.name.startswith("sync/grid/"))
    fence = next(f for f in every if (f.name, f.metric) == words.FENCE)
    more = round(fence.ends[1].number.value - fence.ends[0].number.value)
    assert f"Its loop holds fences, of which one alone takes {more} cycles more on H100" in words.why(grid, {}, every)
    summary = words.summary(both, every, found)
    causeless = [int(n) for n in re.findall(r"(\d+) (?:of them|more) without", summary)]
    assert sum(causeless) == sum(f.cause is None for f in found)
    of_fence = next(f for f in found if f.lead.name.startswith(words.FENCES))
    assert "Its loop" not in words.why(of_fence, {}, every)


def test_lines_that_end_alike_have_no_highest():
    lines = [Line(name, [(0.0, low), (1.0, 5.0)]) for name, low in (("a", 1.0), ("b", 3.0))]
    assert "All 2 lines end at 5 cycles." in draw("k", "t", lines, Axis("x"), Axis("cycles")).description


def test_the_worst_matrix_product_is_that_of_both_states_with_its_interval(book):
    (_, lines) = in_sentences(book, by_number()[22])[0]
    worst = "".join(piece for piece, _ in lines[1])
    every = {
        b.speedup.value: (m.name, b.speedup.ci95)
        for _, m in book.measurements
        if m.name.startswith("kernels/gemm/")
        for b in m.baselines
    }
    name, ends = every[min(every)]
    assert f"at {min(every):.3f} times" in worst and ("sustained, at" in worst) == name.endswith("/sustained")
    assert ("with an interval up to" in worst) == (ends[1] >= 1)


def test_memory_is_read_at_one_rate_all_over_the_front_page(book):
    column = book.columns[0]
    row, best = roofs.best_read(book, column, model.BURST)
    reads = [n.value for r in book.find(r"memory/hbm/read(/.*)?", "bandwidth_gb_per_s") if (n := r.numbers[0])]
    assert best.value == max(reads)
    (said,) = (h for h in headline.headlines(book, column) if h.label == "Reading memory")
    (level,) = (level for level in machine.levels(book, column) if level.key == "memory")
    assert said.numbers == [best] and level.bandwidth == best
    assert level.rate == book.row(row.name, "bytes_per_clock_per_sm").first


def test_l2_serves_what_the_fastest_loads_reach_in_the_answer_and_in_the_pictures(book):
    """The plain loop is not the fastest way to read it: 9,080 GB/s of an H200, where loads of the sweep reach 9,376."""
    column = book.columns[0]
    ways = [book.row(*figure).first for figure in roofs.L2_READS]
    best = max(ways, key=lambda n: n.value)
    assert best.value > 1.02 * min(n.value for n in ways)
    words, anchor = next(part for part in in_sentences(book, by_number()[13])[0][1][1] if part[1] == best.anchor)
    assert plain(words) == text.number(round(best.value)).replace("\u202f", " ")
    (level,) = (level for level in machine.levels(book, column) if level.key == "l2")
    assert level.bandwidth == best and level.rate is None


def test_loads_that_may_be_merged_on_their_way_to_l2_say_so(book):
    column = book.columns[0]
    loads, copies = (next(said for said, _ in tma.depth(book, column, "l2") if way in said) for way in ("plain loads", "TMA"))
    assert loads.endswith("in part merged on the way)") and "merged" not in copies
    assert not any("merged" in said for said, _ in tma.depth(book, column, "dram"))
    assert tma.MERGED_SAID in tma.in_flight(book, column, "l2").note
    tables = {t.caption: t.notes for t in tma.evidence(book)[0].tables if t.caption.startswith("By TMA, by cp.async")}
    assert {caption: tma.MERGED_SAID in notes for caption, notes in tables.items()} == {
        "By TMA, by cp.async, by loads, from memory": False,
        "By TMA, by cp.async, by loads, from L2": True,
    }


def test_clocks_surprise_by_more_than_how_they_are_read(book):
    said = [plain("".join(span.said for span in line)) for line in measured._clocks(book, book.columns[0])]
    clocks_of = [[float(mhz) for mhz in re.findall(r"(\d+) MHz", one)] for one in said]
    assert all(abs(counted / reported - 1) > 0.02 for counted, reported in clocks_of)


def test_published_figures_are_counted_once_and_no_dot_lies_on_another(book):
    pairs = deviation.compared(book)
    (_, lines) = in_sentences(book, by_number()[40])[0]
    counts = [int(n) for n in re.findall(r"\d+", plain("".join(piece for line in lines for piece, _ in line)))]
    close, reasons = sum(pair.close for pair in pairs), sum(bool(pair.reason) for pair in pairs)
    assert counts == [len(pairs), close, 5, reasons, len(pairs) - close - reasons]
    drawn = published.picture(pairs)
    assert f"not explained: {counts[-1]}" in drawn.svg and label_boxes.overlaps(drawn.svg) == []
    assert f"{close} of {len(pairs)} published figures are within" in drawn.description
    places = published._stacked([pair for pair in pairs if not pair.close], 100.0)
    assert len({(round(math.log(pair.ratio) * 100 / published.DOT), level) for pair, level in places}) == len(places)


def test_the_cpu_answers_with_its_nearest_cache_and_its_memory(book):
    (_, lines) = in_sentences(book, by_number()[39])[0]
    said = plain("".join(piece for piece, _ in lines[0]))
    nearest = book.row("host/cache_latency/16384", "latency_ns").first.value
    memory = book.row("host/dram_latency", "latency_ns").first.value
    assert said == f"A load of the CPU takes {nearest:.3g} ns from 16 KiB, and {memory:.0f} ns from its memory."


def test_latencies_that_are_compared_are_of_chains_of_one_kind():
    """By address, of shared memory too: by index an instruction more is waited for in each step."""
    book = committed.book("newest H200")
    column = book.columns[0]
    by_key = {level.key: level.cycles.value for level in machine.levels(book, column) if level.cycles}
    assert by_key["shared"] == 23 and round(by_key["l1"]) == 34
    assert "answers after 29 times as long" in staircase.staircase(book, column).description
    assert [bar.label for bar in memory_overview.ladder_bars(book)][0] == "shared"
    assert memory_overview.ladder_bars(book)[0].values == [23]
    short = levels.in_short(book)
    said = {row[0].said: [" ".join(cell.said.split()) for cell in row] for row in short.rows}
    assert said["shared memory"][1].startswith("23 cycles") and said["L1, by index"][1].startswith("39.2")
    assert said["shared memory, by index"][1:] == ["29 cycles", "29 to 29.02 cycles"]


def test_a_polynomial_of_exp2_leads_with_what_it_gains_at_the_accuracy_of_the_unit(book):
    """Degree 3 is the fastest, and wrong by 1,437 ulp in f32 where the unit is by 2."""
    column = book.columns[0]
    mixed, alone = (words_of(sentence) for sentence in in_sentences(book, by_number()[9])[0][1])
    assert "about as exact, a polynomial of degree five makes exp2 1.24 times as fast" in mixed
    assert mixed.endswith("degree three 1.37 times, off by up to 1 437 ulp.")
    assert alone.startswith("Alone in f32 none beats the unit, 13/clk/SM against 16; ")
    assert alone.endswith("on pairs of f16 degree three does, with 20.8 and less error.")
    dimensions = words_of(in_sentences(book, by_number()[7])[0][1][1])
    assert "of degree three" in dimensions and "off by up to 1 437 ulp, these become 47.6 and 95." in dimensions
    drawn = polynomial.exp2_mix(book, column).description
    assert drawn.index("degree 5 for 31 %") < drawn.index("The fastest: a polynomial of degree 3 for 31 %")


def test_the_clock_under_load_is_one_in_the_answer_and_in_the_picture(book):
    """The one that the SMs counted during this case; the mean of what was counted over the load of another is another."""
    column = book.columns[0]
    _, said = (words_of(sentence) for sentence in in_sentences(book, by_number()[5])[0][1])
    clock = re.search(r"runs at ([\d ]+) of", said)[1].replace(" ", "")
    figure = power.power_by_data(book, column)
    (row,) = (row for row in figure.data.rows if row[:2] == ["bf16", "normal"])
    counted = book.measurement(column, "tensor_core/power/bf16/normal").conditions["sm_clock_mhz"]
    assert clock == f"{counted:.0f}" and row[4] == counted != pytest.approx(1e6 * row[2] / 4096 / 132, rel=1e-4)
    assert f"· {clock} MHz" in figure.svg
