# SPDX-License-Identifier: Apache-2.0
"""What is said of copies and accesses over the link."""

import committed
import pytest
from report_runs import Maker

from assay.report.book import machine, model
from assay.report.family import link
from assay.report.said import system


def said(lines, make):
    book = model.build([make.run])
    return [words for words, _ in lines(book, book.columns[0])]


def test_each_way_of_copying_both_ways_is_named():
    make = Maker(1)
    for name in ("copy_engine", "sm", "sm_one_kernel"):
        make.add(f"link/both_ways/{name}", bandwidth_gb_per_s=80, h2d_gb_per_s=40, d2h_gb_per_s=40)
    assert [words.split(" 4")[0] for words in said(link.both_ways, make)] == [
        "by copy engine",
        "by SMs in two kernels, one for each direction",
        "by SMs in one kernel whose warps do both",
    ]


def test_a_load_from_every_sm_is_not_the_one_from_a_single_sm():
    make = Maker(1)
    make.add("link/zero_copy/latency", latency_ns=1000)
    times = {"mean_latency_ns": 1100, "least_latency_ns": 990, "most_latency_ns": 1250, "mean_latency_ns_at_once": 1300}
    m = make.add("link/zero_copy/latency/by_sm", latency_ns=1000, **times)
    for name, value in times.items():
        m.metrics[name].value = value
    one, all_of_them = said(link.zero_copy, make)
    assert one.endswith("from the SM where the only CTA lands")
    assert all_of_them.replace("\u202f", "") == (
        "a dependent load takes 1100 ns, the mean of all SMs, one at a time (990 to 1250); 1300 while all load at once"
    )


@pytest.mark.parametrize("gpu", ["newest H200", "newest H100"])
def test_a_bandwidth_of_pinned_memory_is_the_same_wherever_it_is_said(gpu):
    """In the answer, in what it rests on, in the table and in the picture of the machine: of 256 MiB, of the sweep."""
    book = committed.book(gpu)
    column = book.columns[0]
    answer, _ = system.host_links(book, column)
    (to_gpu, *_), (from_gpu, *_) = (link.largest(book, column, way) for way in link.WAYS)
    table = link.kinds_table(book, column)
    in_table = {row[0].said: row[1].said for row in table.rows}
    pinned = {way: in_table[f"pinned {words}"] for way, words in link.WAYS.items()}
    assert to_gpu[0] == f"pinned {float(pinned['h2d']):.1f} GB/s" and from_gpu[0] == f"pinned {float(pinned['d2h']):.1f} GB/s"
    assert f"run at {pinned['h2d']} GB/s from pinned memory" in "".join(words for words, _ in answer)
    host = next(level for level in machine.levels(book, column) if level.key == "host")
    assert f"{host.bandwidth.value:.1f}" == f"{max(map(float, pinned.values())):.1f}"


def test_single_sizes_count_where_none_was_swept():
    make = Maker(1)
    for size, rate in ((1 << 20, 48), (1 << 30, 55)):
        make.add(f"link/h2d/pinned/{size}", bandwidth_gb_per_s=rate).metrics["bandwidth_gb_per_s"].value = rate
    assert said(lambda b, c: link.largest(b, c, "h2d"), make) == ["pinned 55.0 GB/s"]


def test_that_two_ways_add_up_to_more_than_both_is_explained():
    book = committed.book("newest H200")
    table = link.others_table(book, book.columns[0])
    row = next(row for row in table.rows if row[0].said == "both ways by SMs")
    both, to, back = (float(cell.said) for cell in row[1:4])
    assert both < to + back and abs(both - 2 * min(to, back)) < 0.1
    assert table.head[1:4] == ["GB/s", "to the GPU, GB/s", "from it, GB/s"] and link.OVER_THE_SLOWER in table.notes
