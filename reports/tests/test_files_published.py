# SPDX-License-Identifier: Apache-2.0
"""The published figures: every one has a source, and none is one that its own source contradicts."""

from pathlib import Path

import pytest

from assay.files import load

FOLDER = Path(__file__).parents[2] / "results" / "published"
FILES = sorted(FOLDER.glob("*.json"))
UNITS = {
    "flop_per_clock_per_sm": "FLOP/clk/SM",
    "tflops": "TFLOP/s",
    "latency_cycles": "cycle",
    "latency_ns": "ns",
    "ops_per_clock_per_sm": "op/clk/SM",
    "bytes_per_clock_per_sm": "B/clk/SM",
    "bandwidth_gb_per_s": "GB/s",
    "bus_bandwidth_gb_per_s": "GB/s",
    "time_us": "us",
    "tera_ops_per_s": "Top/s",
    "l2_gb_per_s": "GB/s",
    "cycles": "cycle",
    "bytes": "byte",
}


def unit_of(metric: str) -> str:
    """Of a name in UNITS, or of one that says more before or after it: of a level, of a cluster of so many CTAs."""
    return UNITS.get(metric) or next(unit for name, unit in UNITS.items() if name in metric)


def test_there_are_some():
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_figure_names_its_source(path):
    run = load(path)
    for m in run.measurements:
        assert m.source["title"] and m.source["url"].startswith("https://"), m.name
        assert m.source["gpu"] == run.gpu["name"], m.name
        assert m.params["basis"] in ("measured", "datasheet"), m.name
        assert {key: metric.unit for key, metric in m.metrics.items()} == {key: unit_of(key) for key in m.metrics}, m.name
    names = [m.name for m in run.measurements]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_rates_do_not_exceed_what_the_datasheet_allows(path):
    """Per clock and SM nothing beats the architecture: a figure that does counts something else."""
    limits = {"sm_89": 4096, "sm_90": 8192, "sm_100": 32768, "sm_103": 49152, "sm_120": 4096}
    run = load(path)
    for m in run.measurements:
        rate = m.metrics.get("flop_per_clock_per_sm")
        assert rate is None or rate.value <= limits[run.gpu["architecture"]], m.name
