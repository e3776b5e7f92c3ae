# SPDX-License-Identifier: Apache-2.0
"""What is said of copies and accesses over the link."""

from report_runs import Maker

from assay.report.book import model
from assay.report.family import link


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
