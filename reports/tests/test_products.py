# SPDX-License-Identifier: Apache-2.0
"""Matrix products beside the fastest library: sentences, the table under them, heat maps, and the curve over tokens."""

import re

import committed
import kernel_runs
import label_boxes
import pytest

from assay.files import load
from assay.report.book import identity, labels, model
from assay.report.book.model import STATES
from assay.report.book.products import against, called, middle, products
from assay.report.family.kernels import paired as pairs
from assay.report.family.kernels import products as pages
from assay.report.said import SENTENCES


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
        f"Over 18 shapes our bf16 GEMM runs at {burst} times the speed of the fastest library in a burst, and at "
        f"{lasting} under lasting load, in the median."
    )
    assert worst == (
        "The worst is the e4m3 GEMM of 64×57344×8192, in a burst, at 0.500 times the speed of cuBLASLt's best of 16."
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
        assert main.startswith(f"Over the {len(both)} shapes measured both ways our bf16 ")
        assert f" at {burst} times the speed" in main and f" at {lasting} under lasting load" in main
    notes = " ".join(pages.summary(*one).notes)
    assert "one state has shapes that the other lacks" in notes and re.search(r"up to \d+ calls in a row", notes)
    assert pages.summary(*committed_one()).notes == ["Sustained: each sample is a single call."]


def committed_one():
    book = committed.book("newest H200")
    return book, book.columns[0]


def test_few_tokens_beside_a_copy_and_beside_the_library(one):
    copy, library = said(one, 23)
    assert re.fullmatch(
        r"For one token our bf16 product moves data at [\d.]+.% to [\d.]+.% of the bandwidth of a copy\.", copy
    )
    assert re.fullmatch(
        r"Over 24 shapes and types it runs at \d\.\d+ times the speed of the fastest library in the median, and at "
        r"\d\.\d+ times cuBLASLt's best of 16 in the worst, \w+ \d+×\d+×\d+\.",
        library,
    )


def test_grouped_products_have_a_sentence(one):
    main, worst = said(one, 24)
    assert main.startswith("Over 6 shapes our bf16 grouped GEMM runs at ") and "contiguous uneven" in worst


def test_types_are_called_by_their_names_and_not_as_files_have_them():
    assert [called(*of) for of in (("gemm", "e4m3_e5m2"), ("gemm_block_scaled", "e4m3_block128"), ("grouped", "e4m3_block128"))] == [
        "e4m3 by e5m2 GEMM",
        "e4m3 GEMM with block scales",
        "e4m3 grouped GEMM with block scales",
    ]
    book = model.build([load(committed.RESULTS / "h200/2026-11-26-kernels-groups-places")])
    main, _ = said((book, book.columns[0]), 22)
    assert "our e4m3 GEMM with block scales runs at 1.059 times" in main


def test_the_worst_whose_interval_covers_one_is_as_fast():
    run = kernel_runs.made()
    run.measurements = [m for m in run.measurements if m.name == kernel_runs.WORST[0]]
    (m,) = run.measurements

    def worst(value, low, high):
        for baseline in m.baselines:
            baseline.speedup.value, baseline.speedup.ci95 = value, (low, high)
        book = model.build([run])
        return said((book, book.columns[0]), 22)[-1]

    start = "The worst is the e4m3 GEMM of 64×57344×8192, in a burst, "
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
    assert main.startswith("Over 18 shapes our bf16 GEMM runs at ") and f", {name}, " in worst


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
        "torch addmm",
    ]
