# SPDX-License-Identifier: Apache-2.0
"""What is said of fences: whether they leave the SM shows in how far SMs are apart."""

import re

import committed
import pytest
from report_runs import Maker

from assay.report.book import model
from assay.report.family import sync


def said(make, kind):
    book = model.build([make.run])
    return [words for words, _ in sync.ends(book, book.columns[0], kind)]


def fence(make, name, least, most):
    metric = make.add(name, latency_cycles=267).metrics["latency_cycles"]
    metric.value, metric.spread = least, {"min": least, "median": least, "max": most}


def test_a_fence_that_leaves_the_sm_takes_longer_from_some():
    make = Maker(1)
    fence(make, "sync/fence/acq_rel/gpu", 634, 703)
    fence(make, "sync/fence/acq_rel/cta", 11.8, 11.8)
    assert said(make, "fence") == [
        "acquire-release, scope of a CTA 11.8 cycles on every SM",
        "acquire-release, scope of the GPU 634 cycles (634 to 703, by SM)",
    ]


def test_the_parts_of_a_fence_are_named():
    make = Maker(1)
    fence(make, "sync/fence_parts/release", 11, 11)
    fence(make, "sync/fence_parts/acquire", 256, 256)
    make.add("sync/fence_parts/sc", latency_cycles=300).metrics["latency_cycles"].value = 300
    assert said(make, "fence_parts") == [
        "emptying L1 alone (CCTL.IVALL) 256 cycles on every SM",
        "the waiting alone (MEMBAR) 11 cycles on every SM",
        "sequentially consistent 300 cycles",
    ]


def test_the_table_stands_in_groups_of_who_takes_part():
    """Kinds of one group follow each other, also those that only a later run has."""
    one, other = Maker(1), Maker(2)
    for name in ("sync/fence/acq_rel/gpu", "sync/named_barrier/sync/32", "sync/syncwarp/whole"):
        one.add(name, latency_cycles=10)
    for name in ("sync/named_barrier/hand_over/64", "sync/fence/acq_rel/gpu"):
        other.add(name, latency_cycles=10)
    table = sync.overview(model.build([one.run, other.run]))
    assert table.groups == {0: "A warp", 1: "A CTA", 3: "Fences"}
    assert [row[0].said for row in table.rows] == [
        "__syncwarp, where no lane has left the others",
        "named barrier, its number in a register, 32 threads",
        "named barrier, handed over, 64 threads",
        "fence, acquire-release, scope of the GPU",
    ]


@pytest.mark.parametrize("gpu", ["newest H200", "newest H100"])
def test_no_row_is_cut_from_an_identifier(gpu):
    """Forms of mbarriers and grids are said in words, not by the names that probes give them."""
    names = [row[0].said for row in sync.overview(committed.book(gpu)).rows]
    assert len(names) > 30 and len(set(names)) == len(names)
    forms = re.compile(r"arrive spin|arrive wait|hand over|all to all|expect tx|by piece|\b(try|test) wait|, whole")
    assert not [name for name in names if forms.search(name)]


def test_a_named_barrier_has_a_row_for_each_way_to_give_its_number():
    rows = {row[0].said: row[1].said for row in sync.overview(committed.book("newest H200")).rows}
    assert rows["named barrier, its number a constant, 1024 threads"] == rows["__syncthreads, 1024 threads"] == "76.2"
    assert rows["named barrier, its number in a register, 1024 threads"] == "88.2"
