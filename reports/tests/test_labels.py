# SPDX-License-Identifier: Apache-2.0
"""Labels and titles of all that committed runs measured: sizes and counts with what they are of, and no identifiers."""

import re

import committed
import pytest

from assay.files import load
from assay.report import site
from assay.report.book import labels, text
from assay.report.compare import subjects, words
from assay.report.compare.pages import Comparison

RUNS = tuple(
    f"{gpu}/2026-11-22-{of}"
    for gpu, of in (("h200", "complete"), ("h100", "complete"), ("h200", "kernels"), ("h200", "kernels-grouped"))
)
# A number of four digits or more that is no part of a shape and has no unit or noun behind it.
BARE = re.compile(r"(?<![\d×.m])\d{4,}(?![\d×])(?!\u202f\w)(?! [a-zA-Zµ])")
CODE = re.compile(r"_|\b(?:g\d+)?(?:m\d+)?n\d+k\d{4,}|\b\d+us\b|\b(?:mhz|gops)\b")


@pytest.fixture(scope="module")
def runs():
    return [load(committed.RESULTS / run) for run in RUNS]


def strange(said):
    return BARE.search(said) or CODE.search(said)


def test_labels_of_all_cases_and_their_quantities_can_be_read(runs):
    cases = {m.name for run in runs for m in run.measurements}
    metrics = {metric for run in runs for m in run.measurements for metric in m.metrics}
    assert len(cases) > 1500 and len(metrics) > 300
    said = {name: labels.case_words(name) for name in cases} | {name: labels.quantity(name) for name in metrics}
    assert not {name: label for name, label in said.items() if strange(label) or not label}


def test_titles_of_findings_can_be_read(runs):
    made = subjects.subjects(subjects.split([runs[1], runs[0]]))
    titles = [words.name(found) for found in Comparison(made, lambda v: "x.html").found]
    assert len(titles) > 10 and not [title for title in titles if strange(title)]


@pytest.mark.parametrize(
    "name, said",
    [
        ("host/cache_latency/2097152", "latency of the host's caches, 2 MiB"),
        ("kernels/gemm/bf16/m1000n5000k3000/nt", "GEMM, bf16, 1000×5000×3000, nt"),
        (
            "kernels/grouped/bf16/g8m512n7168k2048/masked_used64_uneven",
            "grouped GEMM, bf16, 8 groups, 512×7168×2048, masked, 64 rows used, uneven",
        ),
        ("kernels/gemm_curve/bf16/n4096k7168", "GEMM from 1 to 512 tokens, bf16, 4096×7168"),
        ("tensor_core/mma_sync/b1/m16n8k256/and", "mma.sync b1 m16n8k256 and"),
        ("placement/waves/1", "waves of CTAs, 1 CTA per SM"),
        ("sync/named_barrier/sync/128", "named barrier, sync, 128 threads"),
        ("launch/workers/threads_connections32/50us", "workers that launch at once, threads, 32 connections, 50 µs"),
        ("memory/distributed_async/bulk/latency", "copies to the shared memory of another SM, bulk, latency"),
        ("sync/mbarrier_remote/hand_over", "mbarrier of another CTA, hand over"),
        ("launch/call/memset/65536", "a call of the CUDA runtime, memset, 64 KiB"),
        ("tma/tensor_2d/bandwidth/bytes_32768", "TMA with 2-D boxes, bandwidth, 32 KiB"),
    ],
)
def test_what_a_number_counts_is_said(name, said):
    assert labels.case_words(name).replace(text.THIN, " ") == said


@pytest.mark.parametrize(
    ("said", "shown"),
    {
        "33.9998 ±0.0008 cycles": "33.9998_±0.0008_cycles",
        "128.000 +0.002 −0 B/clk/SM (100.0 % of the limit)": "128.000_+0.002_−0_B/clk/SM (100.0_% of the limit)",
        " TFLOP/s, in a burst": "_TFLOP/s, in a burst",  # behind a number that is a link
        "5 B of arguments, 16 Bytes, 2 GPUs, 4 WGs": "5_B of arguments, 16 Bytes, 2 GPUs, 4 WGs",
        "0.51 pJ/FLOP at 1980 MHz and 700 W": "0.51_pJ/FLOP at 1980_MHz and 700_W",
        "no number: GB/s, W": "no number: GB/s, W",
    }.items(),
)
def test_a_number_stays_with_its_interval_and_unit(said, shown):
    assert text.unbroken(said) == shown.replace("_", text.THIN)


def test_a_narrow_column_breaks_names_but_not_shapes_and_units():
    assert site._breakable("kernels/gemm") == "kernels/<wbr>gemm"
    assert site._breakable("8 groups, 4096×4096×14336") == '8 groups, <span class="nowrap">4096×4096×14336</span>'
    assert site._breakable("127.9 B/clk/SM, a/b") == (
        f'127.9{text.THIN}<span class="nowrap">B/clk/SM</span>, a/<wbr>b'
    )
