# SPDX-License-Identifier: Apache-2.0
"""Equal facts are said once, and what one run cannot know is taken from a run that does."""

import re
from collections import Counter

import committed
import pytest
from report_runs import Maker

from assay.files import load
from assay.report.__main__ import load_published
from assay.report.answer.questions import by_number
from assay.report.book import headline, model
from assay.report.compare import findings, published
from assay.report.compare.figures import figures
from assay.report.compare.subjects import repeated_of, subjects
from assay.report.family.numerics import sums
from assay.report.family.tensor_core import sweeps

NEWEST = ["newest H200", "newest H100"]


@pytest.mark.parametrize("gpu", NEWEST)
def test_instructions_that_need_the_same_stand_in_one_row(gpu):
    book = committed.book(gpu)
    found = sweeps.reaching_peak(book, book.columns[0])
    (fold,) = sweeps.blocks(book)
    (table,) = fold.blocks
    needs = [row[0].said for row in table.rows]
    assert len(needs) == len(set(needs)) < len(found) / 4
    named = [span for row in table.rows for span in row[1].more]
    assert sorted(span.anchor for span in named) == sorted(anchor for _, _, anchor in found)
    assert "mma.sync bf16 m16n8k16" in {span.said.rstrip(";") for span in named}


@pytest.mark.parametrize("gpu", NEWEST)
def test_instructions_that_add_alike_stand_in_one_row(gpu):
    book = committed.book(gpu)
    cards = sums.cards(book, book.columns[0])
    (table,) = [b for b in sums.blocks(book) if getattr(b, "name", "").startswith("How each MMA adds")]
    cells = [row[0] for row in table.rows]
    anchors = [anchor for cell in cells for anchor in (cell.anchor, *(span.anchor for span in cell.more))]
    assert sorted(anchors) == sorted(card.anchor for card in cards) and len(cells) < len(cards)
    shown = {card.anchor: card.finding or card.headline for card in cards}
    assert all(row[3].said == shown[span.anchor] for row in table.rows for span in row[0].more)
    assert ("Predicted" in table.head) is any(card.agreement != 1 for card in cards)
    assert all(len(row) == len(table.head) for row in table.rows)


def test_headlines_of_one_process_say_how_far_processes_of_another_run_differ():
    one, many = (committed.book(name) for name in ("newest H200", "processes"))
    made = headline.headlines(one, one.columns[0], (many, many.columns[0]))
    theirs = {h.label: h.noise for h in headline.headlines(many, many.columns[0])}
    assert len(made) == 6
    for h in made:
        assert h.elsewhere == f"another H200: {theirs[h.label]}" and h.elsewhere.endswith("in 6 processes")
    assert not any(h.elsewhere for h in headline.headlines(many, many.columns[0], (one, one.columns[0])))


def test_the_run_of_most_processes_is_found_among_those_of_a_gpu_of_that_name():
    names = ("newest H200", "processes", "newest H100")
    whole, repeated, other = subjects([[load(committed.RESULTS / committed.RUNS[name])] for name in names])
    among = [whole, repeated, other]
    book, column = repeated_of(whole, among)
    assert book is repeated.book and column is repeated.book.columns[0]
    assert repeated_of(repeated, among) is None and repeated_of(other, among) is None


@pytest.fixture(scope="module")
def both():
    runs = [[committed.book(name).columns[0].run] for name in NEWEST]
    return subjects(runs, load_published(committed.RESULTS / "published"))


def test_a_datasheets_figure_stands_once_in_the_table_of_published_ones(both):
    found = published.table(both)
    theirs = [i for i, head in enumerate(found.head) if head.endswith(published.PUBLISHED)]
    rows = [(row[0].more[0].said, *(row[i].said for i in theirs)) for row in found.rows]
    assert len(rows) == len(set(rows)) == published.MOST_ROWS
    said = [row[0].said for row in found.rows]
    assert any(one.startswith("DRAM") for one in said) and not any("HBM" in one for one in said)


def test_what_the_host_explains_ranks_behind_what_is_of_the_gpus(both):
    found = [f for f in findings.findings(figures(both)) if f.lead.sure]
    (host,) = [i for i, f in enumerate(found) if f.cause == "host"]
    assert host >= 5 and {f.cause for f in found[:host]} >= {None, "memory", "L2"}


def test_a_headline_without_a_repeated_run_says_nothing_of_one():
    make = Maker(1)
    make.add("memory/dram/latency", latency_ns=340.0, latency_cycles=660)
    make.add("launch/empty/stream", time_us=3.0)
    book = model.build([make.run])
    assert [h.elsewhere for h in headline.headlines(book, book.columns[0])] == ["", ""]


def test_what_is_said_of_the_host_model_is_what_its_tests_and_its_page_say():
    root = committed.RESULTS.parent
    right, bugs = (by_number()[number].otherwise.replace("\u202f", ",") for number in (37, 38))
    page = (root / "docs/model.md").read_text()
    kernels, orders = re.search(r"(\d+) kernels of the suite under ([\d,]+) seeds each", page).groups()
    assert f"{kernels} kernels of the suite left the right one in {orders} orders each" in right
    tests = root / "harness/model/tests"
    listed = (tests / "wild_test.cpp").read_text().partition("// Of rules that those do not break")[0]
    rules = []
    for file, kernel in re.findall(r'"(wild_\w+)",\s*(?:\{|launched\()"(\w+)"', listed):
        source = (tests / f"kernels/{file}.cu").read_text()
        rules.append(re.search(rf" {kernel}\(.*?// <- ([\w.]+)", source, re.DOTALL)[1])
    assert f"Of {len(rules)} bugs of published kernels" in bugs
    often = [f"{rule} ({count})" for rule, count in Counter(rules).most_common(3)]
    assert f"most often {often[0]}, {often[1]} and {often[2]}." in bugs
