# SPDX-License-Identifier: Apache-2.0
"""What an interval is of: one process says so, several say how far they differ."""

import report_runs
from test_page import Document, whole

from assay.files import Baseline, Estimate, Measurement, Metric, Run
from assay.report import site
from assay.report.answer import findings
from assay.report.book import interval, model


def repetition(i, value, ratio=None):
    m = Measurement("a/b/c", "kernel", primary="x", repetition=i)
    m.metrics = {"x": Metric("cycle", value, (value - 0.01, value + 0.01), "lower")}
    m.conditions = {"sm_clock_mhz": 1980.0}
    if ratio:
        m.baselines = [Baseline("lib", Estimate(ratio, (ratio - 0.001, ratio + 0.001)))]
    return m


def book(*values):
    return model.build([Run(report_runs.gpu(), [repetition(i, v, v / 10) for i, v in enumerate(values)])])


def test_one_process_says_that_the_others_are_not_known(tmp_path):
    one = book(10.0)
    assert one.row("a/b/c", "x").first.processes == ()
    site.write(one, tmp_path)
    html = "".join(Document(whole(tmp_path)).words)
    assert "95% confidence interval of the median, within one process; how far processes differ is not known" in html
    assert "1; how far processes differ is not known" in html
    assert "value ± 95% interval where it has a width, within one process" in html
    assert "± is the 95% confidence interval of the median, within one process" in (tmp_path / "report.md").read_text()


def test_several_processes_say_how_far_they_differ(tmp_path):
    several = book(10.0, 10.4, 10.1)
    n = several.row("a/b/c", "x").first
    assert (n.value, n.processes) == (10.1, (10.0, 10.4, 10.1))
    assert findings.stated(n, "cycle").endswith("cycles (3 processes: 10 to 10.4)")
    site.write(several, tmp_path)
    html = "".join(Document(whole(tmp_path)).words)
    assert "covers the 95% confidence intervals of all processes" in html and "is not known" not in html
    assert "up to 3; their figures differ by 3.96\u202f%, at most by 3.96\u202f% (a/b/c)" in html
    assert "value ± 95% interval where it has a width, of all processes" in html


def test_a_speed_up_is_of_all_processes_too():
    ((_, m),) = book(10.0, 10.4, 10.1).measurements
    speedup = m.baselines[0].speedup
    assert (speedup.value, interval.values_of(speedup)) == (1.01, (1.0, 1.04, 1.01))
    assert speedup.ci95 == (0.999, 1.041)
    assert findings.speedup(m.baselines[0]).endswith("(3 processes: 1 to 1.04)")


def test_columns_of_both_kinds_are_told_apart():
    runs = [Run(report_runs.gpu(), [repetition(i, 10.0 + i) for i in range(count)]) for count in (1, 2)]
    both = model.build(runs)
    assert "or covers those of all processes where several measured the case" in interval.legend(both.processes)
    assert interval.short(both.processes) == "within one process"
