# SPDX-License-Identifier: Apache-2.0
"""Text, rows, and what follows from them."""

import math

import pytest
import report_runs

from assay.files import Estimate, Measurement, Metric, Run
from assay.report.answer import findings
from assay.report.book import labels, mma, model, roofs, text
from assay.report.book.published import comparable
from assay.report.family.memory import overview as memory_overview
from assay.report.family.special_function import balance
from assay.report.page.answers import answers
from assay.report.page.sections import cases, grouped


def metric(value, unit="cycle", low=None, high=None, **more):
    return Metric(unit, value, (value if low is None else low, value if high is None else high), better="lower", **more)


def run_of(*measurements, name="NVIDIA H200"):
    return Run(report_runs.gpu(name), list(measurements))


def case(name, value=1.0, key="latency_cycles", **more):
    return Measurement(name, "probe", primary=key, metrics={key: metric(value)}, **more)


@pytest.mark.parametrize(
    ("value", "half_width", "shown"),
    [
        (4093.21, 1.8, "4\u202f093.2"),
        (4096.0, None, "4\u202f096"),
        (0.0, None, "0"),
        (-1.5, None, "\u22121.5"),
        (29.0153, 0.0004, "29.0153"),
        (3.0e9, 1e3, "3\u202f000\u202f000\u202f000"),
        (2.1e-7, None, "2.1e\u221207"),
        (1.04, 0.006, "1.0400"),
        (100.0, 40.0, "100"),
    ],
)
def test_numbers_show_two_digits_of_their_uncertainty(value, half_width, shown):
    assert text.number(value, half_width) == shown


def test_intervals_are_symmetric_unless_they_are_not():
    assert text.plus_minus(10.0, 9.8, 10.2) == "±0.20"
    assert text.plus_minus(10.0, 9.9, 11.0) == "+1.0 \u22120.10"
    assert text.plus_minus(10.0, 10.0, 10.0) == ""
    assert text.plus_minus(10.0, None, None) == ""
    assert text.plus_minus(18.0, 17.99998, 18.00002) == "±0.00002"  # never 2e-05


def test_shares_and_deviations():
    assert text.percent(0.9934) == "99.3\u202f%"
    assert text.deviation(90.0, 100.0) == "\u221210.0\u202f%"
    assert text.size(3 * 2**20) == "3\u202fMiB"
    sizes = (1023, 1000 * 1024, 1023.4 * 1024, 1023.6 * 1024, 1000 * 2**40)  # never with an exponent
    assert [text.size(v).replace("\u202f", " ") for v in sizes] == ["1023 B", "1000 KiB", "1023 KiB", "1 MiB", "1000 TiB"]
    assert labels.case_words("link/h2d/pinned/268435456") == "copies to the GPU, pinned, 256\u202fMiB"
    assert labels.case_words("sass/ffma/4096") == "ffma 4096"


def test_a_probe_nobody_heard_of_gets_its_row_and_its_family():
    run = run_of(case("quantum/entangle/pair", 7.5, "wobble_per_fortnight"))
    book = model.build([run])
    ((key, found),) = cases(book).items()
    rows = found.rows
    assert (key, found.title) == ("quantum", "Quantum")
    assert rows[0].metric == "wobble_per_fortnight" and rows[0].first.value == 7.5
    assert labels.quantity(rows[0].metric) == "wobble per fortnight"


def test_repetitions_become_their_median_and_an_interval_over_all():
    reps = [
        Measurement("a/b/c", "probe", primary="x", metrics={"x": metric(v, low=v - 1, high=v + 1)}, repetition=i)
        for i, v in enumerate((10.0, 30.0, 11.0))
    ]
    n = model.build([run_of(*reps)]).row("a/b/c", "x").first
    assert (n.value, n.low, n.high) == (11.0, 9.0, 31.0)


def test_a_failed_repetition_does_not_count_beside_good_ones():
    bad = Measurement("a/b/c", "probe", status="failed", reason="hung", repetition=1)
    book = model.build([run_of(case("a/b/c", 3.0, repetition=0), bad)])
    assert book.row("a/b/c", "latency_cycles").first.value == 3.0
    assert not book.unmeasured


def test_sustained_stands_beside_burst():
    book = model.build([run_of(case("a/b/c", 3.0), case("a/b/c/sustained", 4.0), case("a/b/d/sustained", 5.0))])
    row = book.row("a/b/c", "latency_cycles")
    assert (row.first.value, row.sustained[0].value) == (3.0, 4.0)
    assert book.row("a/b/c/sustained", "latency_cycles") is None
    assert book.row("a/b/d/sustained", "latency_cycles").first.value == 5.0  # nothing to stand beside


def test_columns_keep_order_and_are_told_apart():
    book = model.build([run_of(case("a/b", 1.0)), run_of(case("a/b", 2.0)), run_of(case("a/c", 3.0), name="Other")])
    assert [(c.tag, c.label) for c in book.columns] == [
        ("A", "NVIDIA H200 #1"),
        ("B", "NVIDIA H200 #2"),
        ("C", "Other"),
    ]
    assert [n and n.value for n in book.row("a/b", "latency_cycles").numbers] == [1.0, 2.0, None]


def test_an_offline_check_has_no_column_but_a_place_in_the_matrix():
    book = model.build([report_runs.offline()])
    assert not book.columns and not book.rows
    assert book.targets == ["sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"]
    assert set(book.not_run["tmem/load/32x32b"]) == {"sm_100a", "sm_103a"}


def published(name, value, gpu="NVIDIA H200", unit="cycle", basis="measured", architecture="sm_90"):
    m = Measurement(
        name,
        "probe",
        params={"basis": basis},
        metrics={"latency_cycles": Metric(unit, value)},
        source={"title": "Somebody", "url": "https://example.org", "gpu": gpu},
    )
    return Run({"gpu": {"name": gpu, "architecture": architecture}}, [m])


def test_published_figures_stand_beside_ours_and_never_among_them():
    book = model.build(
        [run_of(case("a/b", 100.0))],
        [
            published("a/b", 110.0, "NVIDIA H800 PCIe"),
            published("a/b", 99.0),
            published("a/b", 50.0, "B200", architecture="sm_100"),
            published("a/b", 90.0, "NVIDIA H100", basis="datasheet"),
        ],
    )
    row = book.row("a/b", "latency_cycles")
    assert [p.value for p in row.related] == [
        99.0,
        110.0,
    ]  # this GPU first; no other GPU's datasheet, no other architecture
    assert row.numbers[0].value == 100.0 and len(book.measurements) == 1


def test_deviations_are_stated_only_where_they_say_something():
    column = model.build([run_of(case("a/b"))]).columns[0]
    of = {
        unit: model.build([run_of(case("a/b"))], [published("a/b", 1.0, "NVIDIA H800 PCIe", unit)]).published[0]
        for unit in ("cycle", "B/clk/SM", "GB/s")
    }
    assert [of[u].comparable(column) for u in ("cycle", "B/clk/SM", "GB/s")] == [True, True, False]


def test_nothing_deviates_from_a_published_zero():
    book = model.build([run_of(case("a/b"))], [published("a/b", 0.0, unit=unit) for unit in ("cycle", "ns")])
    column = book.columns[0]
    assert len(book.published) == 2
    assert not any(p.comparable(column) or comparable(p, column) for p in book.published)


def test_share_of_a_limit_points_up_for_both_directions():
    assert model.Number(90, None, None, 100, None, "higher", "").share == pytest.approx(0.9)
    assert model.Number(125, None, None, 100, None, "lower", "").share == pytest.approx(0.8)
    assert model.Number(1, None, None, None, None, "lower", "").share is None


def test_probes_with_few_cases_share_a_part_without_heading():
    book = model.build([run_of(*(case(f"sass/{n}/f32") for n in "abc"), *(case(f"sass/big/{i}") for i in range(3)))])
    assert [(heading, [c for c, _ in cases]) for heading, cases in grouped(book.rows)] == [
        ("", ["a/f32", "b/f32", "c/f32"]),
        ("sass/big", ["0", "1", "2"]),
    ]


def imbalance_run(mma, exp2):
    return run_of(
        case("tensor_core/wgmma/bf16/m64n256/ss", mma, "flop_per_clock_per_sm"),
        case("special_function/ex2/f32", exp2, "ops_per_clock_per_sm"),
    )


def test_exp2_overtakes_the_products_at_the_head_dimension_of_the_arithmetic():
    (found,) = balance.imbalances(model.build([imbalance_run(4096.0, 16.0)]))
    assert found.head_dimension == 64  # 4 d FLOP at 4096 FLOP/clk take as long as one exp2 at 16 op/clk when d = 64
    assert (
        balance.imbalances(
            model.build([run_of(case("tensor_core/wgmma/bf16/m64n256/ss", 1.0, "flop_per_clock_per_sm"))])
        )
        == []
    )


def test_zeros_and_sparse_are_no_dense_peak():
    run = run_of(
        case("tensor_core/wgmma/bf16/m64n256/ss", 4000.0, "flop_per_clock_per_sm"),
        case("tensor_core/wgmma/bf16/m64n256/sparse_ss", 8000.0, "flop_per_clock_per_sm"),
        case("tensor_core/wgmma/bf16/m64n256/ss/zeros", 4095.0, "flop_per_clock_per_sm"),
    )
    assert mma.best_mma(model.build([run]), "flop_per_clock_per_sm", 0)["bf16"][1].value == 4000.0


@pytest.mark.parametrize(
    ("name", "kind", "flop_per_byte"),
    [
        ("kernels/gemm/bf16/m4096n4096k4096/nt", "bf16", 2 * 4096**3 / (3 * 2 * 4096**2)),
        ("kernels/gemv/s4/m1n4096k4096", "s4", 2 * 4096**2 / (0.5 * 4096**2 + 2 * 4096 + 2 * 4096)),
        ("kernels/attention/bf16/b1h2s1024d64", "bf16", 4 * 1024 / (4 * 2)),
        ("kernels/attention/bf16/b1h2s1024d64/causal", "bf16", 2 * 1024 / (4 * 2)),
    ],
)
def test_arithmetic_intensity_follows_from_the_name(name, kind, flop_per_byte):
    found = roofs.intensity(name)
    assert found[0] == kind and math.isclose(found[1], flop_per_byte)


def test_unknown_shapes_have_no_intensity():
    assert roofs.intensity("kernels/softmax/bf16/m16384n8192") is None
    assert roofs.intensity("kernels/gemm/bf7/m1n1k1") is None


def test_roofs_of_one_height_are_one_line():
    found = roofs.roofline(book := model.build([report_runs.measured()]), book.columns[0], model.BURST).roofs
    assert [sorted([r.kind, *r.also]) for r in found] == [["e4m3", "s8"], ["bf16"], ["tf32"], ["f32"]]
    assert found[-1].tflops == pytest.approx(2 * 128 * 0.99 * 132 * 1830e-6, rel=0.01)  # FFMA counted as two


def test_words_of_a_quantity_leave_out_the_unit_that_stands_beside_them():
    assert labels.quantity("latency_us_alone_p99") == "latency alone, 99th percentile"
    assert labels.quantity("cpu_us_24") == "CPU time, 24\u202fB of arguments"
    assert labels.quantity("latency_cycles") == "latency" and labels.quantity("wobble") == "wobble"


def test_of_bandwidths_with_variants_the_plain_one_is_drawn():
    rate = {"bandwidth_gb_per_s": Metric("GB/s", 4000.0, limit=4800.0)}
    names = ("memory/hbm/copy", "memory/hbm/copy/x1_cached", "tma/bulk/bandwidth", "memory/hbm/write/x2_cached")
    run = run_of(*(Measurement(name, "probe", metrics=rate) for name in names))
    shown = [row.name for row, _ in memory_overview.bandwidth_shares(model.build([run]))]
    assert sorted(shown) == ["memory/hbm/copy", "memory/hbm/write/x2_cached", "tma/bulk/bandwidth"]


def test_of_two_bandwidths_the_one_that_its_limit_binds_is_drawn():
    """What comes from memory is bound by its pins, not by an SM's path to L1."""
    both = {
        "bytes_per_clock_per_sm": Metric("B/clk/SM", 17.7, limit=128.0),
        "bandwidth_gb_per_s": Metric("GB/s", 4609.6, limit=4814.3),
    }
    near = {**both, "bytes_per_clock_per_sm": Metric("B/clk/SM", 127.9, limit=128.0)}
    run = run_of(
        Measurement("memory/hbm/read", "probe", metrics=both), Measurement("memory/l1/read", "probe", metrics=near)
    )
    shares = {row.name: numbers[0].share for row, numbers in memory_overview.bandwidth_shares(model.build([run]))}
    assert shares == {
        "memory/hbm/read": pytest.approx(0.9575, abs=1e-4),
        "memory/l1/read": pytest.approx(0.9992, abs=1e-4),
    }


def test_a_run_without_the_fastest_mma_has_no_peak_to_lose():
    slow = run_of(
        case("tensor_core/mma_sync/bf16/m16n8k16", 2730.0, "flop_per_clock_per_sm"),
        case("memory/dram/latency"),  # of both, so that they stay two columns
    )
    book = model.build([report_runs.measured(), slow])
    assert [mma.measured_fastest(book, column, "bf16") for column in book.columns] == [True, False]
    first, second = (roofs.waterfall(book, column, model.BURST) for column in book.columns)
    assert first and second == []
    assert not mma.measured_fastest(book, book.columns[1], "tf32")


def test_all_questions_are_asked_once_and_answered_or_not():
    said = [
        a for _, part in answers(model.build([report_runs.measured(), report_runs.offline()])) for a in part
    ]
    assert sorted(a.question.number for a in said) == list(range(1, 43))
    answered = {a.question.number for a in said if a.findings}
    assert {1, 2, 3, 4, 7, 9, 10, 12, 13, 14, 15, 17, 18, 20, 22, 23, 25, 26, 29, 32, 33} == answered
    empty = [a for _, part in answers(model.build([])) for a in part]
    assert len(empty) == 42 and not any(a.findings for a in empty)


def test_every_answer_carries_its_uncertainty():
    book = model.build([run_of(case("memory/dram/latency", 640.0))])
    found = findings.of_row(book, book.row("memory/dram/latency", "latency_cycles"))
    assert found.lines == [("", [("640 cycles", "m0-memory-dram-latency")])]


def test_speedups_name_the_strongest_baseline():
    run = report_runs.measured()
    gemm = next(m for m in run.measurements if m.name.startswith("kernels/gemm/bf16/m4096"))
    gemm.baselines[0].speedup = Estimate(0.9, (0.89, 0.91))
    said = [
        part
        for _, al in answers(model.build([run]))
        for a in al
        for f in a.findings
        for _, p in f.lines
        for part in p
    ]
    assert any(t.startswith("worst 0.900 ±0.010 × cuBLASLt's best of 16") for t, anchor in said if "m4096" in anchor)


@pytest.mark.parametrize(
    "name, said",
    [
        ("tensor_core", "tensor core"),
        ("l2_near", "L2 near"),
        ("threads_connections32", "threads, 32 connections"),
        ("latency_4mib", "latency, 4 MiB"),
        ("latency_line_of_64kib", "latency line of 64 KiB"),
        ("bulk_16b", "bulk 16 B"),
        ("tensor_2d", "tensor 2-D"),
        ("ca_stride256", "ca, stride 256"),
        ("gpu_gap_cluster16", "GPU gap, clusters of 16"),
        ("time_ns/cublaslt_best16", "time in ns, cuBLASLt, best of 16"),
        ("latency_8192_tensor_2d", "latency, 8192, tensor 2-D"),
        ("workers_at_95_percent", "workers at 95 %"),
        ("kernels_per_s_unpartitioned", "kernels per second, unpartitioned"),
        ("ops_per_clock_one_address", "ops per clock, one address"),
        ("box_bytes_95_bulk", "bytes of a box for 95 %, bulk"),
        ("box_bytes_95", "bytes of a box for 95 %"),
        ("matrix_rows_of_512", "matrix rows of 512"),
        ("swizzle_128", "swizzle 128"),
        ("mma_sync_bf16 two_warps", "mma.sync bf16 two warps"),
        ("gpu_pcie_width", "GPU PCIe width"),
        ("4mib", "4 MiB"),
        ("", ""),
    ],
)
def test_labels_read_well(name, said):
    assert labels.words(name).replace(text.THIN, " ") == said


@pytest.mark.parametrize(
    "metric, said",
    [
        ("latency_cycles_4mib", "latency, 4 MiB"),
        ("energy_pj_per_flop", "energy per operation, whole board"),
        ("energy_pj_per_load", "energy per load"),
        ("tensor_cycles_per_ex2", "tensor cycles per ex2"),
        ("ctas_per_us_32", "CTAs per µs, 32 threads in each"),
        ("interval_us_cta_per_sm_256", "interval, a CTA per SM, 256 threads in each"),
        ("latency_cycles_8192_tensor_2d", "latency, 8192 B, tensor 2-D"),
        ("settled_clock_mhz", "settled clock"),
        ("l1_capacity_bytes", "L1 capacity"),
        ("sms_idle_of_16", "SMs idle, clusters of 16"),
        ("bytes_per_clock_per_sm_of_2", "rate, clusters of 2"),
        ("time_us_one_cta_per_sm", "time, one CTA per SM"),
    ],
)
def test_a_quantity_leaves_its_unit_to_what_stands_beside(metric, said):
    assert labels.quantity(metric).replace(text.THIN, " ") == said


def test_figures_are_named_once():
    assert labels.figure_words("memory/l2/read_chunks/30mib", "bytes_per_clock_per_sm").replace(text.THIN, " ") == (
        "L2 read chunks, 30 MiB, rate"
    )
    assert labels.figure_words("memory/l1/latency", "latency_cycles") == "L1 latency"
    assert labels.figure_words("memory/distributed_shared/load_latency", "latency_cycles_of_2") == (
        "shared memory of another SM, load latency, clusters of 2"
    )
