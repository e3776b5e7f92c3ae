# SPDX-License-Identifier: Apache-2.0
"""Matrix products beside the fastest library: sentences, the table under them, heat maps, and the curve over tokens."""

import re

import committed
import kernel_runs
import label_boxes
import pytest
from test_said import FIGURE

from assay.files import load
from assay.report.__main__ import load_published
from assay.report.book import identity, labels, model
from assay.report.book.model import STATES
from assay.report.book.products import against, baseline_of, called, kinds_of, middle, products
from assay.report.compare import figures
from assay.report.family.kernels import paired as pairs
from assay.report.family.kernels import products as pages
from assay.report.said import SENTENCES, few_tokens, kernels, write


@pytest.fixture(scope="module")
def one():
    book = model.build([kernel_runs.made()])
    return book, book.columns[0]


def said(one, number):
    return ["".join(words for words, _ in sentence) for sentence in SENTENCES[number](*one)]


def test_gemm_is_said_by_state_and_the_worst_of_all_types_by_name(one):
    main, worst = said(one, 22)
    burst, lasting = (f"{middle(against(products(*one, state, 'gemm', 'bf16'))):.3f}" for state in STATES)
    assert main == (
        f"Over 18 shapes of layout nt our bf16 GEMM runs at {burst} times the speed of the faster of cuBLASLt's best of 16 and "
        f"first choice in a burst, and at {lasting} under lasting load, in the median."
    )
    assert worst == (
        "The worst is the e4m3 GEMM with tensor scales of 64×57344×8192, in a burst, at 0.500 times the speed of cuBLASLt's best of 16."
    )


def test_states_are_said_of_the_same_shapes_and_rows_of_calls_as_such():
    """In a run that was cut short each state has shapes that the other lacks."""
    book = model.build([load(committed.RESULTS / "h200/2026-11-23-kernels-rows")])
    one = book, book.columns[0]
    for number, operation in ((22, "gemm"), (24, "grouped")):
        found = [against(products(*one, state, operation, "bf16")) for state in STATES]
        both = set.intersection(*({p.shape for p in of_state} for of_state in found))
        burst, lasting = (f"{middle([p for p in of_state if p.shape in both]):.3f}" for of_state in found)
        main = said(one, number)[0]
        assert main.startswith(f"Over the {len(both)} shapes ")
        assert " measured both ways our bf16 " in main
        assert f" at {burst} times the speed" in main and f" at {lasting} under lasting load" in main
    notes = " ".join(pages.summary(*one).notes)
    assert "one state has shapes that the other lacks" in notes and re.search(r"up to \d+ calls in a row", notes)
    assert pages.summary(*committed_one()).notes == ["Sustained: each sample is a single call."]


def committed_one():
    book = committed.book("newest H200")
    return book, book.columns[0]


def test_few_tokens_beside_a_copy_and_beside_the_library(one):
    """What the library multiplies as packed weights in bf16 stands apart: no median is of both."""
    copy, near, library, packed = said(one, 23)
    assert re.fullmatch(
        r"For one token our bf16 product moves data at [\d.]+.% of the bandwidth of a copy over \d+×\d+ and at [\d.]+.% over "
        r"\d+×\d+\.",
        copy,
    )
    assert near == "Of these 6 layers none reaches 90\u202f%."
    plain, of_s4 = (f"{middle(against(products(*one, STATES[0], 'gemv', kind))):.3f}" for kind in ("bf16", "s4"))
    assert library.startswith(f"In bf16 our product of few tokens runs at {plain} times the speed of cuBLASLt's best of 16 ")
    assert packed == (
        f"With s4 weights our product runs at {of_s4} times the speed of cuBLASLt's best of 16 in bf16, in the median."
    )


H200 = "h200/2026-11-27-kernels-gemv"  # 23 layers and seven types


def of_run(name, number):
    book = model.build([load(committed.RESULTS / name)], load_published(committed.RESULTS / "published"))
    return [sentence.replace("\u202f", " ") for sentence in said((book, book.columns[0]), number)]


def test_few_tokens_beside_the_pins_and_more_tokens_beside_one():
    """A run that measured no copy knows its memory; one of torch does not, but the datasheet of its GPU does."""
    share, near, longer, library, packed = of_run(H200, 23)
    assert share == (
        "For one token our bf16 product moves data at 32.4 % of the bandwidth of the memory's pins over 4096×1536 and at "
        "94.5 % over 106496×16384."
    )
    assert near == "Of these 23 layers those of 8192×28672 and larger reach 90 %."
    assert longer == (
        "Up to 32 tokens take as long as one within a twentieth, and 64 take 1.08 times as long, in the median of the layers."
    )
    assert library.startswith("In bf16 our product of few tokens runs at 1.050 times the speed of the faster of cuBLASLt's best of 32 and first choice in the ")
    assert packed.startswith("With packed weights our product runs at 1.415 times (nvf4) to 1.768 times (s2) the speed of ")
    book = model.build([load(committed.RESULTS / H200)])
    (few,) = [found for found in pages.evidence(book) if found.number == 23]
    lines = {finding.label: finding.lines[0][1][0][0] for finding in few.findings}
    assert lines["s4 product of few tokens, times as long as one token"].startswith("16 tokens 1.")
    share, _, longer, packed = of_run("h200/2026-11-27-torch-skinny-s4", 23)
    assert "of the datasheet's bandwidth of memory" in share and longer.startswith("Already 16 tokens take 1.13 times")
    assert "the faster of torch.matmul in bf16 and torch._weight_int4pack_mm, in the median" in packed  # of one token, torch's kernel of packed weights is the faster one


def test_curves_answer_where_no_single_products_were_measured():
    share, near, longer, times, worst = of_run("h200/2026-11-27-gemm-curve", 23)
    assert re.fullmatch(r"(All o|O)f these 9 layers .*", near)
    assert "of the memory's pins over 7168×2048" in share and "64 take 1.06 times as long" in longer
    assert times == "From one token to 512 our bf16 product runs at 0.837 to 1.216 times the speed of cuBLASLt."
    assert worst == (
        "The worst is that of 256 tokens and 7168×2048; beyond its interval ours is slower at 26 of 108 points."
    )


@pytest.mark.parametrize("name", [H200, "h200/2026-11-27-torch-skinny-s4", "h200/2026-11-27-gemm-curve"])
def test_sentences_on_few_tokens_have_a_subject_and_few_figures(name):
    for sentence in of_run(name, 23):
        assert re.match("(For|Of|All|Up to|In|With|From|The worst|Already) ", sentence) and " it runs" not in sentence
        assert len(FIGURE.findall(sentence)) <= write.MOST_NUMBERS, sentence


def test_layers_are_near_a_bandwidth_from_a_size_on():
    def near(*shares):
        found = few_tokens._near({(1024 << i, 1024): share for i, share in enumerate(shares)})
        return found and "".join(words for words, _ in found).replace("\u202f", " ")

    assert near(0.5, 0.91, 0.95) == "Of these 3 layers those of 2048×1024 and larger reach 90 %."
    assert near(0.5, 0.6, 0.95) == "Of these 3 layers only the largest reaches 90 %."
    assert near(0.95, 0.91) == "All of these 2 layers reach 90 %." and near(0.5, 0.6) == "Of these 2 layers none reaches 90 %."
    assert near(0.95, 0.6) is None


def test_what_a_library_multiplies_in_bf16_is_said_to_be_so(one):
    """Where weights are packed for ours alone, as the names of cases and libraries tell."""
    assert baseline_of("kernels/gemv/s2/m1n8192k8192", "cublaslt_best32") == "cuBLASLt's best of 32 in bf16"
    assert baseline_of("kernels/gemv/s4/m1n8192k8192", "torch_matmul") == "torch.matmul in bf16"
    for case, name in (("gemv/s4", "torch_int4pack_mm"), ("gemv/bf16", "torch_matmul"), ("gemm/e4m3", "torch_matmul")):
        assert baseline_of(f"kernels/{case}/m1n8192k8192", name) == labels.baseline(name)
    rows = {row[0].said: [cell.said for cell in row] for row in pages.summary(*one).rows}
    assert rows["s4 product of few tokens"][2] == "cuBLASLt's best of 16 in bf16"
    assert rows["bf16 product of few tokens"][2] == "cuBLASLt's best of 16"
    assert "against the library in bf16, in a burst" in pages.heat_map(*one, "gemv", "s4", STATES[0]).title


def test_grouped_products_have_a_sentence(one):
    main, worst = said(one, 24)
    assert main.startswith("Over 6 shapes our bf16 grouped GEMM runs at ") and "contiguous uneven" in worst


def test_types_are_called_by_their_names_and_not_as_files_have_them():
    named = ("gemm", "e4m3_e5m2"), ("gemm_block_scaled", "e4m3_block128"), ("grouped", "e4m3_block128")
    assert [called(*of) for of in named] == [
        "e4m3 by e5m2 GEMM with tensor scales",
        "e4m3 GEMM with block scales",
        "e4m3 grouped GEMM with block scales",
    ]
    book = model.build([load(committed.RESULTS / "h200/2026-11-26-kernels-groups-places")])
    main, _ = said((book, book.columns[0]), 22)
    assert "our e4m3 GEMM with block scales runs at 1.059 times" in main


def test_what_ours_is_compared_with_is_named():
    """A ratio to torch.matmul alone is none to the fastest library; several that compete are all named."""
    torch = of_run("h200/2026-11-29-torch-parts-tn", 22)[0]
    assert re.fullmatch(
        r"Over 28 shapes of layout tn our bf16 GEMM runs at 1\.\d{3} times the speed of torch\.matmul in a burst, .*", torch
    )
    block = of_run("h200/2026-11-29-kernels-block-groups", 22)[0]
    assert "our e4m3 GEMM with block scales runs at" in block
    assert "times the speed of the faster of cuBLASLt's best of 32 and first choice in a burst" in block
    groups = of_run("h200/2026-11-29-torch-parts-grouped", 24)[0]
    assert "the faster of a loop of torch.matmul calls and torch._grouped_mm" in groups
    dense = of_run("h200/2026-11-28-kernels-dense", 22)[0]
    assert dense.startswith("Over 36 shapes of layouts nt, nn, tn and tt and of several forms our bf16 GEMM runs at 1.006") and "cuBLASLt's best of 32 and first choice" in dense


def test_a_load_whose_clock_and_power_nobody_read_is_not_said_to_last(one):
    """assay torch reads neither: its sustained figures are of calls that follow each other."""
    assert " under lasting load, in the median." in said(one, 22)[0] and pages.summary(*one).notes == [
        "Sustained: each sample is a single call."
    ]
    run = kernel_runs.made()
    for m in run.measurements:
        m.conditions = {}
        for baseline in m.baselines:
            baseline.speedup.value = 0.4 if m.name.endswith("/sustained") else 0.9
    book = model.build([run])
    main, worst = said((book, book.columns[0]), 22)
    assert main.endswith(" in a burst, and at 0.400 in calls that follow each other, in the median.")
    assert ", in calls that follow each other, " in worst
    assert pages.summary(book, book.columns[0]).notes[-1] == model.UNWATCHED
    made = book.measurement(book.columns[0], "kernels/gemm/bf16/m64n6144k4096/nt/sustained")
    assert figures.calls(made) == "one by one, clock and power not read"  # and it is compared with none that were read


def test_operands_with_row_scales_are_a_kind_of_their_own():
    run = kernel_runs.made()
    of_rows = [m for m in run.measurements if m.name.startswith("kernels/gemm/e4m3/m4096")]
    for m in of_rows:
        m.name = m.name.replace("/nt", "/nt/row")
    book = model.build([run])
    one = book, book.columns[0]
    shapes = {kind: [p.shape for p in products(*one, STATES[0], "gemm", kind)] for kind in kinds_of(book, "gemm")}
    assert {kind: len(found) for kind, found in shapes.items()} == {"bf16": 18, "e4m3": 12, "e4m3_row": 6}
    assert all(re.fullmatch(r"4096×\d+×\d+", shape) for shape in shapes["e4m3_row"])
    count, *_ = (["".join(words for words, _ in s) for s in kernels.of_kind("gemm", "e4m3_row")(*one)])
    assert count.startswith("Over 6 shapes of layout nt our e4m3 GEMM with row scales runs at ")


@pytest.mark.parametrize("slower", [0, 2])
def test_of_one_kind_it_is_said_how_often_ours_is_the_slower(one, slower):
    run = kernel_runs.made()
    run.measurements = [m for m in run.measurements if m.name.startswith("kernels/gemm_block_scaled/")]
    for i, m in enumerate(run.measurements):
        for baseline in m.baselines:
            baseline.speedup.value = 0.999 if i < slower else 1.0
    book = model.build([run])
    *_, last = kernels.of_kind("gemm_block_scaled", "e4m3_block128")(book, book.columns[0])
    assert "".join(words for words, _ in last) == f"Ours is the slower one in {slower or 'none'} of 24 comparisons."


def test_the_worst_whose_interval_covers_one_is_as_fast():
    run = kernel_runs.made()
    run.measurements = [m for m in run.measurements if m.name == kernel_runs.WORST[0]]
    (m,) = run.measurements

    def worst(value, low, high):
        for baseline in m.baselines:
            baseline.speedup.value, baseline.speedup.ci95 = value, (low, high)
        book = model.build([run])
        return said((book, book.columns[0]), 22)[-1]

    start = "The worst is the e4m3 GEMM with tensor scales of 64×57344×8192, in a burst, "
    assert worst(0.9996, 0.996, 1.003) == (
        f"{start}which is as fast as cuBLASLt's best of 16, within its interval (0.996 to 1.003)."
    )
    assert worst(0.9999, 0.99981, 1.00012).endswith("within its interval (0.99981 to 1.00012).")
    assert worst(0.98, 0.97, 0.99) == f"{start}at 0.980 times the speed of cuBLASLt's best of 16."
    assert worst(1.02, 1.01, 1.03) == f"{start}at 1.020 times the speed of cuBLASLt's best of 16."


@pytest.mark.parametrize("state", ["", "/sustained"])
def test_a_run_of_one_state_answers_too(state):
    run = kernel_runs.made()
    run.measurements = [m for m in run.measurements if m.name.endswith("/sustained") is bool(state)]
    book = model.build([run])
    (main, worst), name = said((book, book.columns[0]), 22), "sustained" if state else "in a burst"
    assert main.startswith("Over 18 shapes of layout nt our bf16 GEMM runs at ") and f", {name}, " in worst


def test_numbers_of_the_sentences_stand_in_the_table(one):
    table = pages.summary(*one)
    shown = {cell.text for row in table.rows for cell in row}
    figures = [words for number in (22, 24) for sentence in SENTENCES[number](*one) for words, _ in sentence]
    ratios = {words for words in figures if re.fullmatch(r"\d\.\d{3}", words)}
    assert len(ratios) == 6 and all(any(text.startswith(ratio) for text in shown) for ratio in ratios)
    assert "cuBLASLt's best of 16" in shown
    assert [head for head in table.head if head.endswith("median")] == [f"{state}: median" for state in STATES]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("operation, kind, shapes", [("gemm", "e4m3", 18), ("gemm_block_scaled", "e4m3_block128", 12)])
def test_heat_maps_hold_one_state(one, operation, kind, shapes, state):
    figure = pages.heat_map(*one, operation, kind, state)
    assert len([row for row in figure.data.rows if row[2]]) == shapes and state in figure.title
    assert label_boxes.overlaps(figure.svg) == [] and label_boxes.outside(figure.svg) == []
    assert pages.heat_map(*one, "gemv", "s4", STATES[1]) is None


@pytest.mark.parametrize("kind", ["bf16", "e4m3"])
def test_the_curve_over_tokens_marks_where_ours_is_as_fast(one, kind):
    figure = pages.over_tokens(*one, kind)
    assert pages.AS_FAST[1] in figure.svg and figure.data.head[-2:] == ["low", "high"]
    assert len(figure.data.rows) == len(kernel_runs.LAYERS) * len(kernel_runs.TOKENS)
    assert label_boxes.overlaps(figure.svg) == []


@pytest.mark.parametrize("state", STATES)
def test_pairs_are_of_one_state_and_the_worst_come_first(one, state):
    figure = pairs.paired(*one, state)
    names = list(dict.fromkeys(row[0] for row in figure.data.rows))
    assert state in figure.title and f"the {pairs.MOST_KERNELS} of {len(names)} kernels" in figure.note
    assert state != STATES[0] or labels.case_words(names[0]) in figure.description


def test_pages_of_kernels_name_run_and_commit(tmp_path):
    run = kernel_runs.made()
    run.path = tmp_path / "2026-12-01-full" / "run.json"
    run.extra["run"] = {"started": "2026-12-01T08:00:00Z"}
    run.environment["assay"] = {"commit": "0123456789ab", "dirty": False}
    assert identity.of_commits([run]) == (
        "Measured on 2026-12-01 in run 2026-12-01-full with our kernels of commit 0123456789ab."
    )
    run.environment["assay"] = {}
    assert identity.of_commits([run]).endswith("with kernels of an unknown commit.")


def test_baselines_have_words():
    assert [labels.baseline(name) for name in ("cublaslt_best16", "cublaslt_first", "torch_addmm")] == [
        "cuBLASLt's best of 16",
        "cuBLASLt's first choice",
        "torch.addmm",
    ]


def test_what_torch_took_turns_with_is_measured_by_its_command_too(one):
    beside = model.build([load(committed.RESULTS / "h200/2026-11-29-torch-lasting-e4m3-block")])
    run = "assay run '^kernels/gemm(_block_scaled)?/'"
    for book, command in ((one[0], run), (beside, f"{run} && assay torch --set full --both")):
        assert [found.command for found in pages.evidence(book) if found.number == 22] == [command]
