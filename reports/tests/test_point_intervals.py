# SPDX-License-Identifier: Apache-2.0
"""Intervals of the points of series: drawn as bands, written to CSV, refused with their points."""

import committed
import machine_runs
import pytest
import report_runs

from assay.files import Measurement, Run, load
from assay.files.refused import of_measurement, without
from assay.report.book import model
from assay.report.draw import curves, export
from assay.report.draw.curves import Axis
from assay.report.family.memory.partitions import loaded_latency
from assay.report.family.special_function.overlap import overlap_efficiency
from assay.report.family.special_function.polynomial import exp2_mix
from assay.report.family.tensor_core.sweeps import n_sweep

NODES = [1, 2, 4, 8]


def swept(ci95, values=(10.0, 20.0, 40.0, 80.0)):
    series = machine_runs.series("latency_us", list(values), "us", nodes=NODES)
    series.ci95 = ci95
    return series


def drawn(*lines):
    return curves.draw("k", "Title", lines, Axis("nodes", 2), Axis("µs"))


def test_a_band_is_drawn_and_said_where_points_have_intervals():
    with_ends = drawn(*curves.lines_of(swept([(9.0, 11.0), (19.0, 22.0), None, (79.0, 90.0)])))
    without_ends = drawn(*curves.lines_of(swept(None)))
    assert curves.BANDS in with_ends.note and curves.BANDS not in without_ends.note
    assert "opacity: 0.18" in with_ends.svg and "opacity: 0.18" not in without_ends.svg


def test_the_axis_reaches_to_the_ends_of_intervals():
    high = drawn(*curves.lines_of(swept([None, None, None, (79.0, 400.0)])))
    assert ">400<" in high.svg and ">400<" not in drawn(*curves.lines_of(swept(None))).svg


def test_intervals_are_in_the_csv_and_only_where_there_are_any():
    rows = export.table(drawn(*curves.lines_of(swept([(9.0, 11.0), None, None, (79.0, 90.0)], (10.0, 20.0, None, 80.0)))))
    assert rows.splitlines() == [
        "line,nodes,µs,low,high",
        "latency,1,10,9,11",
        "latency,2,20,,",
        "latency,8,80,79,90",
    ]
    assert export.table(drawn(*curves.lines_of(swept(None)))).splitlines()[0] == "line,nodes,µs"


def test_lines_of_a_grid_have_their_own_intervals():
    grid = machine_runs.series("latency_us", [1.0, 2.0, 3.0, 4.0], "us", form=["chain", "fork"], nodes=[1, 2])
    grid.ci95 = [None, (1.5, 2.5), (2.5, 3.5), None]
    chain, fork = curves.lines_of(grid)
    assert (chain.ends, fork.ends) == ({2.0: (1.5, 2.5)}, {1.0: (2.5, 3.5)})


def test_ends_go_with_the_values_they_are_of():
    (line,) = curves.lines_of(swept([(9.0, 11.0), None, None, (72.0, 88.0)]))
    per_node = line.with_values(lambda nodes, us: us / nodes)
    assert per_node.points == [(1, 10), (2, 10), (4, 10), (8, 10)] and per_node.ends == {1: (9, 11), 8: (9, 11)}
    turned = line.with_values(lambda _, us: -us)
    assert turned.ends[8] == (-88, -72)


@pytest.mark.parametrize("flag", [False, True])
def test_a_refused_point_loses_its_interval(flag):
    series = swept([(9.0, 11.0), None, None, (-90.0, -79.0)], (10, 20, 40, -80))
    m = Measurement("launch/graph/chain", "probe", series=[series])
    m.flags = ["shared_gpu"] if flag else []
    found = list(of_measurement(m, Run(report_runs.gpu(), [m]), {}))
    kept = without(m, found).series[0]
    assert kept.values == ([None] * 4 if flag else [10, 20, 40, None])
    assert kept.ci95 == ([None] * 4 if flag else [(9.0, 11.0), None, None, None])


@pytest.mark.parametrize(
    "draw, prefix, name",
    [
        (exp2_mix, "special_function/exp2_polynomial_mix/", "results_per_clock_per_sm"),
        (overlap_efficiency, "special_function/overlap/", "overlap_efficiency"),
        (loaded_latency, "memory/loaded_latency/", "latency_cycles"),
    ],
)
def test_curves_of_their_own_draw_the_intervals_that_series_carry(draw, prefix, name):
    run = load(committed.RESULTS / committed.RUNS["H200"])
    plain = draw(book := model.build([run]), book.columns[0])
    for m in run.measurements:
        if m.name.startswith(prefix) and (series := m.series_named(name)):
            series.ci95 = [None if v is None else (0.9 * v, 1.1 * v) for v in series.values]
    found = draw(book := model.build([run]), book.columns[0])
    assert curves.BANDS in found.note and curves.BANDS not in plain.note
    assert found.svg.count("opacity: 0.18") > plain.svg.count("opacity: 0.18")
    assert found.data.head[-2:] == ["low", "high"] and all(row[-2] < row[-3] < row[-1] for row in found.data.rows)


def test_points_that_are_cases_have_the_intervals_of_these():
    book = committed.book("H200")
    found = n_sweep(book, book.columns[0])
    assert curves.BANDS in found.note
    assert all(low <= value <= high for _, _, value, low, high, of in found.data.rows if of == "measured")


def test_lines_drawn_as_one_have_their_own_values_in_the_file():
    """Lines that lie on each other are one in the picture, under both names, but not in its data."""
    one, other = (curves.Line(name, [(1.0, y), (2.0, 2 * y)]) for name, y in (("one", 10.0), ("other", 10.05)))
    found = drawn(one, other)
    assert "one, other" in found.description
    assert found.data.rows == [["one", 1.0, 10.0], ["one", 2.0, 20.0], ["other", 1.0, 10.05], ["other", 2.0, 20.1]]
