# SPDX-License-Identifier: Apache-2.0
"""Figures that cannot be are found in files, marked on pages and used for nothing."""

import pytest
import report_runs
from machine_runs import series
from test_page import whole

from assay.files import Measurement, Metric, Run, save
from assay.files.refused import main, refusals
from assay.report import site
from assay.report.book import model
from assay.report.page.answers import answers

SMS, MHZ = 132, 1980.0
POINTS = [8, 34, 52]


def metric(unit, value, width=0.001, **more):
    more.setdefault("better", "higher")
    return Metric(unit, value, tuple(sorted((value * (1 - width), value * (1 + width)))), **more)


def case(name="memory/l2/read", flags=(), curves=(), **metrics):
    first = next(iter(metrics))
    m = Measurement(name, "probe", primary=first, metrics=metrics, series=list(curves), flags=list(flags))
    m.conditions = {"sm_clock_mhz": MHZ}
    return m


def found(*measurements):
    return [(r.figure, r.place, r.short) for r in refusals(Run(report_runs.gpu(), list(measurements)))]


def rate(per_clock):
    return {
        "bytes_per_clock_per_sm": metric("B/clk/SM", per_clock),
        "bandwidth_gb_per_s": metric("GB/s", per_clock * SMS * MHZ * 1e-3),
    }


L1 = case("memory/l1/read", bytes_per_clock_per_sm=metric("B/clk/SM", 127.9, limit=128.0))


def curve(rates, per_clock):
    axes = {"footprint_bytes": POINTS}
    return (
        series("bandwidth_gb_per_s", rates, "GB/s", **axes),
        series("bytes_per_clock_per_sm", per_clock, "B/clk/SM", **axes),
    )


def test_what_agrees_is_not_refused():
    both = [v * SMS * MHZ * 1e-3 for v in (126.0, 100.0, 40.0)]
    curves = curve(both, [126.0, 100.0, 40.0])
    assert found(L1, case(**rate(64.0)), case("memory/bandwidth_curve/read/b128", curves=curves, **rate(20.0))) == []


@pytest.mark.parametrize("factor", [1.2, 0.8, 100])
def test_operations_per_second_and_per_clock_must_agree(factor):
    def both(scale):
        per_clock = metric("op/clk/SM", 126.0)
        return case("sass/ffma/f32", ops_per_clock_per_sm=per_clock, gops=metric("Gop/s", scale * 126.0 * SMS * MHZ * 1e-3))

    assert found(both(1)) == []
    assert found(both(factor)) == [
        ("gops", None, "contradicts itself"),
        ("ops_per_clock_per_sm", None, "contradicts itself"),
    ]


@pytest.mark.parametrize(
    ("planted", "refused"),
    [
        ({"x": metric("GB/s", 4900.0, limit=4800.0)}, [("x", None, "above the limit")]),
        ({"x": metric("GB/s", 4801.0, limit=4800.0)}, []),  # within its interval
        ({"x": metric("FLOP/clk/SM", 4096.01, 0.0, limit=4096.0)}, []),  # whole cycles are counted
        ({"x": metric("cycle", 3.0, better="lower", limit=4.0)}, [("x", None, "below the limit")]),
        ({"x": metric("us", -2.0)}, [("x", None, "negative")]),
        ({"x": metric("", -0.2)}, []),  # a share or a difference
        ({"x": Metric("us", -0.1, (-0.3, 0.1))}, []),  # may be nothing
    ],
)
def test_a_metric_beyond_its_limit_is_refused(planted, refused):
    assert found(case(**planted)) == refused


def test_figures_per_second_and_per_clock_that_contradict_each_other_are_both_refused():
    broken = {**rate(54.0), "bandwidth_gb_per_s": metric("GB/s", 36000.0)}
    assert found(case("memory/l2/read/same_lines", **broken)) == [
        ("bandwidth_gb_per_s", None, "contradicts itself"),
        ("bytes_per_clock_per_sm", None, "contradicts itself"),
    ]
    mma = {"tflops": metric("TFLOP/s", 900.0), "flop_per_clock_per_sm": metric("FLOP/clk/SM", 4096.0)}
    assert len(found(case("tensor_core/x", **mma))) == 2
    (why,) = {r.why for r in refusals(Run(report_runs.gpu(), [case("tensor_core/x", **mma)]))}
    assert why == "4096 FLOP/clk/SM on 132 SMs at 1980 MHz are 1070.5 TFLOP/s, not 900"


def test_points_of_a_curve_are_refused_one_by_one():
    curves = curve([32900.0, 30000.0, 39200.0], [126.0, 100.0, 150.0])
    curve_case = case("memory/bandwidth_curve/read/b128", curves=curves, **rate(20.0))
    assert found(L1, curve_case) == [
        ("bytes_per_clock_per_sm", 2, "above the limit"),
        ("bandwidth_gb_per_s", 1, "contradicts itself"),
        ("bytes_per_clock_per_sm", 1, "contradicts itself"),
    ]
    book = model.build([Run(report_runs.gpu(), [L1, curve_case])])
    m = book.measurement(book.columns[0], curve_case.name)
    assert m.series_named("bytes_per_clock_per_sm").values == [126.0, None, None]
    assert curve_case.series[1].values == [126.0, 100.0, 150.0]  # the run itself is as it was


def test_a_series_is_held_to_the_limit_that_it_carries():
    """Whatever its case has of its unit, if anything."""
    (both, single) = curve([9000.0, 9300.0, None], [34.0, 35.0, None])
    both.extra["limit"] = 9100.0
    assert found(case("launch/x", curves=[both], time_us=metric("us", 3.0))) == [
        ("bandwidth_gb_per_s", 1, "above the limit")
    ]
    single.extra["limit"] = 34.9  # and half a percent, as points are counted
    assert found(case("launch/x", curves=[single], **{"x": metric("B/clk/SM", 20.0, limit=30.0)})) == []


def test_nothing_of_a_shared_gpu_is_used():
    shared = case("memory/hbm/copy", flags=["shared_gpu"], **rate(16.0))
    assert found(shared) == [
        ("bytes_per_clock_per_sm", None, "unfit, of a shared GPU"),
        ("bandwidth_gb_per_s", None, "unfit, of a shared GPU"),
    ]


def test_a_page_marks_what_is_refused_and_answers_nothing_with_it(tmp_path):
    broken = case("memory/l2/read", **{**rate(54.0), "bandwidth_gb_per_s": metric("GB/s", 36000.0)})
    book = model.build([Run(report_runs.gpu(), [broken, L1])])
    site.write(book, tmp_path)
    html = whole(tmp_path).replace("\u202f", " ")
    assert "refused: contradicts itself</span>" in html and "Refused figures" in html
    assert "54 B/clk/SM on 132 SMs at 1980 MHz are 14113 GB/s, not 36000" in html
    assert "| refused: contradicts itself |" in (tmp_path / "report.md").read_text()
    said = " ".join(
        p for _, part in answers(book) for a in part for f in a.findings for _, ps in f.lines for p, _ in ps
    )
    assert "36" not in said and "54" not in said and "127.9" in said


def test_a_whole_run_of_a_shared_gpu_makes_a_page_that_says_so(tmp_path):
    run = report_runs.measured()
    for m in run.measurements:
        m.flags.append("shared_gpu")
    site.write(model.build([run]), tmp_path)
    html = whole(tmp_path).replace("\u202f", " ")
    assert "unfit, of a shared GPU" in html
    assert not any(
        a.findings for _, part in answers(model.build([run])) for a in part if a.question.number in (1, 13, 22)
    )


def test_the_command_lists_them(tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    run = report_runs.measured()
    save(Run(run.environment, [L1]), good)
    save(Run(run.environment, [case(x=metric("GB/s", 4900.0, limit=4800.0))]), bad)
    assert main([str(good)]) == 0 and capsys.readouterr().out == ""
    assert main([str(good), str(bad)]) == 1
    said = capsys.readouterr().out
    assert said == f"{bad}: memory/l2/read: x 4900 GB/s: above the limit: no more than 4800 is possible\n"
    assert main([str(tmp_path / "none.json")]) == 2
