# SPDX-License-Identifier: Apache-2.0
"""Figures that cannot be: above a limit, contradicting each other, negative, or of a GPU that others used meanwhile.

`python -m assay.files.refused RUN...` lists those of run files. The harness refuses such figures when it measures; this
finds them in files from before, and from elsewhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.plain_text import one_line

from .errors import RunFileError
from .run_file import Measurement, Metric, Run, Series
from .storage import load

COUNTED = 1e-4  # of a limit: cycles are counted in whole ones at the begin and end of a loop
# By how much a figure per second may be off the one per clock times the clock: the time is that of the slowest SM, the
# cycles are the median SM's, and the clock moves within a case. harness/measure/figures/plausible.cpp has the same.
ABOVE, BELOW = 0.05, 0.10
POINT_COUNTED = 5e-3  # of a limit, the same for points: they come from short loops
NOISE = 1e-3  # of a series' largest value: how far below nothing a difference may be that is nothing

# (figure per second, figure per clock and SM, what 1 MHz on one SM makes of the second)
PAIRS = (
    ("bandwidth_gb_per_s", "bytes_per_clock_per_sm", 1e-3),
    ("tflops", "flop_per_clock_per_sm", 1e-6),
    ("gops", "ops_per_clock_per_sm", 1e-3),
)
# Whatever passes through L1 is no faster than it: cases whose metrics have no limit take the one of L1.
THROUGH_L1 = ("memory/bandwidth_curve/", "memory/l2/")
L1 = ("memory/l1/read", "bytes_per_clock_per_sm")


@dataclass(frozen=True)
class Refusal:
    """One figure that no reader shall use. `place` is the index of a series' point, None of a metric."""

    name: str
    repetition: int
    figure: str
    place: int | None
    unit: str
    said: str  # the figure with its unit, and at which point
    short: str  # "above the limit"
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.figure} {self.said}: {self.short}: {self.why}"


def refusals(run: Run) -> list[Refusal]:
    """Every figure of the run that cannot be."""
    known = {m.name: m for m in run.measurements if m.ok}
    return [refusal for m in run.measurements if m.ok for refusal in of_measurement(m, run, known)]


def of_measurement(m: Measurement, run: Run, known: dict[str, Measurement]) -> Iterator[Refusal]:
    """Those of one measurement; `known` are all of the run, by name."""
    found: dict[tuple[str, int | None], Refusal] = {}
    for refusal in (*_shared(m), *of_metrics(m, run), *_series(m, run, known)):
        found.setdefault((refusal.figure, refusal.place), refusal)  # the first reason is enough
    yield from found.values()


def of_metrics(m: Measurement, run: Run) -> Iterator[Refusal]:
    """Of its metrics alone, those that cannot be, whoever used the GPU."""
    yield from _metrics(m)
    yield from _pairs(m, run)


def without(m: Measurement, found: list[Refusal]) -> Measurement:
    """The measurement without the figures that were refused."""
    metrics = {r.figure for r in found if r.place is None}
    series = []
    for s in m.series:
        spots = {r.place for r in found if r.figure == s.name and r.place is not None}
        values = [None if i in spots else value for i, value in enumerate(s.values)]
        kept = s.ci95 and [None if i in spots else pair for i, pair in enumerate(s.ci95)]
        series.append(replace(s, values=values, ci95=kept) if spots else s)
    return replace(m, metrics={k: v for k, v in m.metrics.items() if k not in metrics}, series=series)


def _of_metric(m: Measurement, key: str, short: str, why: str) -> Refusal:
    metric = m.metrics[key]
    return Refusal(
        m.name, m.repetition or 0, key, None, metric.unit, f"{metric.value:.6g} {metric.unit}".strip(), short, why
    )


def _of_point(m: Measurement, s: Series, place: int, short: str, why: str) -> Refusal:
    at, rest = [], place
    for axis in reversed(s.axes):
        rest, index = divmod(rest, len(axis.points))
        at.insert(0, f"{axis.name} {axis.points[index]}")
    said = f"{s.values[place]:.6g} {s.unit}".strip() + f" at {', '.join(at)}"
    return Refusal(m.name, m.repetition or 0, s.name, place, s.unit, said, short, why)


def _shared(m: Measurement) -> Iterator[Refusal]:
    if "shared_gpu" in m.flags or m.conditions.get("other_processes"):
        why = "another process used the GPU meanwhile; measure again when it is free"
        for key in m.metrics:
            yield _of_metric(m, key, "unfit, of a shared GPU", why)
        for s in m.series:
            for place, value in enumerate(s.values):
                if value is not None:
                    yield _of_point(m, s, place, "unfit, of a shared GPU", why)


def _ends(metric: Metric) -> tuple[float, float]:
    return metric.ci95 or (metric.value, metric.value)


def _metrics(m: Measurement) -> Iterator[Refusal]:
    for key, metric in m.metrics.items():
        low, high = _ends(metric)
        if metric.limit is not None and metric.better != "lower" and low > metric.limit * (1 + COUNTED):
            yield _of_metric(m, key, "above the limit", f"no more than {metric.limit:.6g} is possible")
        if metric.limit is not None and metric.better == "lower" and high < metric.limit * (1 - COUNTED):
            yield _of_metric(m, key, "below the limit", f"no less than {metric.limit:.6g} is possible")
        if metric.unit and high < 0 and not metric.extra.get("signed"):
            yield _of_metric(m, key, "negative", "a quantity of this unit cannot be")


def _scale(m: Measurement, run: Run, of_one: float) -> float | None:
    """What a figure per clock and SM is times, to be one per second of the GPU."""
    clock, sms = m.conditions.get("sm_clock_mhz"), (run.gpu or {}).get("sm_count")
    return clock * sms * of_one if clock and sms else None


def _pairs(m: Measurement, run: Run) -> Iterator[Refusal]:
    for a, b, of_one in PAIRS:
        scale = _scale(m, run, of_one)
        if scale is None or a not in m.metrics or b not in m.metrics:
            continue
        (low, high), (least, most) = _ends(m.metrics[a]), (end * scale for end in _ends(m.metrics[b]))
        if low > most * (1 + ABOVE) or high < least * (1 - BELOW):
            why = _disagree(run, m, m.metrics[a].value, m.metrics[a].unit, m.metrics[b].value, m.metrics[b].unit, scale)
            yield _of_metric(m, a, "contradicts itself", why)
            yield _of_metric(m, b, "contradicts itself", why)


def _disagree(run: Run, m: Measurement, a: float, unit: str, b: float, per_clock: str, scale: float) -> str:
    sms, clock = (run.gpu or {})["sm_count"], m.conditions["sm_clock_mhz"]
    return f"{b:.5g} {per_clock} on {sms} SMs at {clock:.0f} MHz are {b * scale:.5g} {unit}, not {a:.5g}"


def _limit_of(m: Measurement, s: Series, known: dict[str, Measurement]) -> tuple[float, str] | None:
    """What no point of the series can be above, and whose limit it is."""
    if s.extra.get("limit"):
        return s.extra["limit"], "no more than {} is possible"
    own = [metric.limit for metric in m.metrics.values() if metric.unit == s.unit and metric.better != "lower"]
    if limits := [limit for limit in own if limit is not None]:
        return max(limits), "no more than {} is possible"
    above = known.get(L1[0])
    metric = above.metrics.get(L1[1]) if above and m.name.startswith(THROUGH_L1) and s.name == L1[1] else None
    return (metric.limit, "it passes through L1, whose limit is {}") if metric and metric.limit else None


def _series(m: Measurement, run: Run, known: dict[str, Measurement]) -> Iterator[Refusal]:
    for s in m.series:
        limit = _limit_of(m, s, known)
        least = -NOISE * max((abs(v) for v in s.values if v is not None), default=0.0)
        for place, value in enumerate(s.values):
            if value is None:
                continue
            if limit and value > limit[0] * (1 + POINT_COUNTED):
                yield _of_point(m, s, place, "above the limit", limit[1].format(f"{limit[0]:.6g} {s.unit}"))
            if s.unit and value < least and not s.extra.get("signed"):
                yield _of_point(m, s, place, "negative", "a quantity of this unit cannot be")
    for a, b, of_one in PAIRS:
        first, second, scale = m.series_named(a), m.series_named(b), _scale(m, run, of_one)
        if not (first and second and scale) or [x.points for x in first.axes] != [x.points for x in second.axes]:
            continue
        for place, (x, y) in enumerate(zip(first.values, second.values)):
            if x and y and not 1 - BELOW <= x / (y * scale) <= 1 + ABOVE:
                why = _disagree(run, m, x, first.unit, y, second.unit, scale)
                yield _of_point(m, first, place, "contradicts itself", why)
                yield _of_point(m, second, place, "contradicts itself", why)


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 no figure is refused, 1 some are, 2 a file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m assay.files.refused", description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run.json, or the folder `assay run --out` wrote")
    count = 0
    try:
        for path in parser.parse_args(arguments).runs:
            for refusal in refusals(load(path)):
                print(one_line(f"{path}: {refusal}"))
                count += 1
    except RunFileError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 2
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
