# SPDX-License-Identifier: Apache-2.0
"""Operations on integers are no FLOP; a TLB's miss follows from a fit that is stated."""

import pytest
import report_runs
from machine_runs import series

from assay.files import Measurement, Metric, Run
from assay.report.book import model, units
from assay.report.family.memory import partitions
from assay.report.family.numerics import sums


@pytest.mark.parametrize(
    ("name", "integer"),
    [
        ("tensor_core/wgmma/s8/m64n256/ss", True),
        ("tensor_core/wgmma/u8/m64n256/ss/sustained", True),
        ("tensor_core/mma_sync/b1/m16n8k256", True),
        ("special_function/imbalance/wgmma_s8", True),
        ("kernels/gemm/s8/m4096n4096k4096/nt", True),
        ("s8", True),
        ("tensor_core/wgmma/bf16/m64n256/ss", False),
        ("tensor_core/wgmma/e4m3/m64n8/ss", False),
        ("kernels/gemv/s4/m1n8192k8192", False),  # its weights alone are integers
        ("memory/l2/read_chunks/8mib", False),
    ],
)
def test_integers_are_known_by_their_names(name, integer):
    assert units.is_integer(name) is integer


def test_integers_have_operations_on_pages_and_their_names_in_files():
    run = report_runs.measured()
    book = model.build([run])
    shown = {row.metric: row.unit for row in book.rows if row.name == "tensor_core/wgmma/s8/m64n256/ss"}
    assert shown["flop_per_clock_per_sm"] == "OP/clk/SM" and shown["tflops"] == "TOP/s"
    assert book.row("tensor_core/wgmma/bf16/m64n256/ss", "tflops").unit == "TFLOP/s"
    m = next(m for m in run.measurements if m.name == "tensor_core/wgmma/s8/m64n256/ss")
    assert m.metrics["tflops"].unit == "TFLOP/s"  # the file is as it was


def test_published_figures_of_integers_stay_comparable():
    def s8(unit):
        metrics = {"tflops": Metric(unit, 1979.0)}
        return Measurement("tensor_core/wgmma/s8/m64n256/ss", "probe", primary="tflops", metrics=metrics)

    book = model.build([Run(report_runs.gpu(), [s8("TFLOP/s")])], [Run(report_runs.gpu(), [s8("TFLOP/s")])])
    assert book.rows[0].unit == book.published[0].unit == "TOP/s"


def tlb(reach, miss, hit=290.0, ranges=(2**30, 2**31, 2**32)):
    points = [reach // 4, reach // 2, reach, *ranges]
    values = [hit + miss * max(0.0, 1 - reach / f) for f in points]
    m = Measurement("memory/tlb", "probe", metrics={"tlb_reach_bytes": Metric("byte", reach)})
    m.series = [series("latency_cycles", values, "cycle", footprint_bytes=points)]
    return m


def test_a_tlb_miss_is_the_whole_miss_and_not_the_share_that_was_reached():
    cycles, beyond = partitions.tlb_miss(tlb(2**29, 102.0))
    assert cycles == pytest.approx(102.0) and beyond == 3
    cycles, _ = partitions.tlb_miss(tlb(2**29, 102.0, ranges=(int(1.2 * 2**29), int(1.4 * 2**29))))
    assert cycles == pytest.approx(102.0)  # though the widest range shows 29 cycles of it
    assert partitions.tlb_miss(tlb(2**29, 102.0, ranges=(2**30,))) is None


def test_without_an_end_in_sight_the_tlb_reaches_all_and_no_miss_is_told():
    """As of an H100, whose files also give the chance differences of a flat curve as the cost of a miss."""
    m = tlb(2**36, 0.0, ranges=())
    m.metrics = {"tlb_miss_cycles": Metric("cycle", 0.77)}
    book = model.build([Run(report_runs.gpu(), [m])], [])
    ((words, _),) = partitions._tlb(book, book.columns[0])
    assert words.replace("\u202f", " ") == "reaches all of the 64 GiB that were tried"
    assert partitions.tlb_miss(m) is None


def test_an_emulated_mma_says_whose_sums_these_are():
    m = Measurement("numerics/accumulate/mma_sync/e4m3", "probe", params={"c": "added last", "addends": "truncated"})
    m.metrics = {"accumulator_fraction_bits": Metric("bit", 25)}
    m.sass = {"emulated": True, "loop": {"HMMA.16816.F32": 2, "F2FP.F16.E4M3.UNPACK_B": 12, "FADD": 4}}
    assert sums.headline(m) == (
        "keeps 25 fraction bits, truncated; not by FP8 hardware but by HMMA.16816.F32 on operands unpacked to f16; C added last"
    )
    m.sass["emulated"] = False
    assert sums.headline(m) == "keeps 25 fraction bits, truncated"
