# SPDX-License-Identifier: Apache-2.0
"""Pictures of GEMM against the library, of collectives, of pairs, of clocks over time and of repeated runs."""

import re

import committed
import data_runs
import label_boxes
import numpy as np
import pytest
import report_runs

from assay.files import load
from assay.report.block import over_time
from assay.report.book import model
from assay.report.draw import repeated
from assay.report.family import collective, link
from assay.report.family.kernels import products
from assay.report.family.numerics import sums
from assay.report.family.sass import pipes

GPUS = ["H200", "H100"]


@pytest.fixture(params=GPUS)
def gpu(request):
    book = committed.book(request.param)
    return book, book.columns[0]


def is_sound(figure, words):
    """Its finding comes first and reads as `words` say, it has data, and no label lies on another."""
    finding = re.split(r"(?<=\.) (?=[A-Z0-9])", figure.description)[0]
    assert re.fullmatch(words, finding), finding
    assert figure.data.rows and all(len(row) == len(figure.data.head) for row in figure.data.rows)
    assert label_boxes.overlaps(figure.svg) == [] and label_boxes.outside(figure.svg) == []
    return True


@pytest.mark.parametrize("state", model.STATES)
def test_gemm_against_the_library_over_shapes(gpu, state):
    figure = products.heat_map(*gpu, "gemm", "bf16", state)
    assert is_sound(figure, r"Beyond its interval ours is slower .* in \d+ of \d+ shapes, and faster in \d+\.")
    ratios = [g.best.speedup for g in products.products(*gpu, state, "gemm", "bf16") if g.best]
    slower, faster = sum(max(r.ci95) < 1 for r in ratios), sum(min(r.ci95) > 1 for r in ratios)
    assert slower > 0 and f"in {slower} of {len(ratios)} shapes, and faster in {faster}" in figure.description


def test_clock_and_power_while_a_load_lasts():
    book = committed.book("H200")
    figure = over_time.picture(book, book.columns[0])
    assert ">SMs<" in figure.svg and ">driver<" in figure.svg
    assert {row[1] for row in figure.data.rows} == {"clock counted by the SMs", "clock reported", "power"}
    assert label_boxes.overlaps(figure.svg) == []


def test_pairs_of_pipes_are_few_enough_to_read(gpu):
    figure = pipes.summary(*gpu)
    assert is_sound(figure, r"\d+ instructions run on \d+ pipes, of which \d hardly slow any other\.")
    assert len(figure.data.rows) <= 144


def test_processes_are_shown_around_their_median():
    book = committed.book("processes")
    figure = repeated.run_to_run(book, book.columns[0])
    assert is_sound(figure, r"Half of 109 cases differ by .* between processes; .* differs most, by .*%\.")
    by_case = {}
    for case, _, apart in figure.data.rows:
        by_case.setdefault(case, []).append(apart)
    assert {len(values) for values in by_case.values()} == {6}
    assert all(abs(np.median(values)) < 1e-12 for values in by_case.values())


def test_one_process_has_no_spread(gpu):
    assert repeated.run_to_run(*gpu) is None


def test_collectives_wait_first_and_move_then():
    book = model.build([load(committed.RESULTS / "h200" / "2026-11-21-collectives-4gpus")])
    drawn = collective.latencies(book)
    assert len(drawn) == 2
    for figure in drawn:
        assert is_sound(figure, r".* ends highest, at .*, and .* lowest, at .*\.")
    first = {figure.key.rpartition("-")[2]: figure.note.replace("\u202f", " ") for figure in drawn}
    said = "{} is the first size here that takes at least twice as long, {} µs."
    assert said.format("16 MiB", "54.7") in first["all_gather"] and said.format("2 MiB", "28.9") in first["all_reduce"]


def test_errors_of_sums_have_a_panel_for_each_type(gpu):
    figure = sums.error_growth(*gpu)
    assert is_sound(figure, r"wgmma e4m3 errs most, by .* at K = 16\u202f384, promoted by .*\.")
    shown = [label.words for label in label_boxes.labels(figure.svg)[1]]
    types = [words for words in shown if words.startswith(("wgmma", "mma.sync"))]
    assert 2 <= len(types) == len(set(types)) <= 6
    assert all(shown.count(name) == 1 for name in sums.NAMES.values())


def test_bus_bandwidth_shows_and_names_every_line_with_its_interval():
    """Types are panels: a panel has at most six lines, and none is left out."""
    book = model.build([load(committed.RESULTS / "h200" / "2026-11-21-collectives-4gpus")])
    drawn = collective.curves(book)
    assert len(drawn) == 2
    for figure in drawn:
        assert is_sound(figure, r".* ends highest, at .*, and .* lowest, at .*\.")
        shown = " ".join(label.words for label in label_boxes.labels(figure.svg)[1])
        assert shown.count("bus bandwidth, GB/s") == 2 and "low" in figure.data.head
        names = {row[0] for row in figure.data.rows}
        # A panel's heading says what the names of its lines share.
        assert len(names) == 8 and all(part in shown for name in names for part in name.split(", ")), shown


def test_a_pair_of_gpus_that_is_slower_is_named():
    make = data_runs.Exact(1)
    data_runs.link(make, gpus=3)
    for m in make.run.measurements:
        for series in m.series:
            if m.name == "link/peer/write/copy_engine" and [axis.name for axis in series.axes] == ["gpu", "peer"]:
                series.values[:] = [None, 400, 400, 400, None, 300, 400, 400, None]
    book = model.build([make.run])
    figure = next(f for f in link.matrices(book, book.columns[0]) if "write by copy engine" in f.title)
    assert is_sound(figure, r"6 pairs have 400 GB/s in the middle; GPU 1 to GPU 2 is furthest from it, 25\.0\u202f%\.")


def test_little_makes_no_picture():
    book = model.build([report_runs.offline()])
    assert collective.latencies(book) == []
