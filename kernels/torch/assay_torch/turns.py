# SPDX-License-Identifier: Apache-2.0
"""Contenders that take turns, and the measurement that their times make."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.files import Baseline, Estimate, Measurement, Metric
from assay.statistics import Interval, median_interval, paired_ratio_interval

Launch = Callable[[int], object]  # enqueues one unit of work on input set i
ROW_NANOSECONDS = 2e5
MOST_IN_A_ROW = 100
LOAD_NANOSECONDS = 5e6  # before a round under lasting load
RESTS, LEAST_REST_NANOSECONDS, MOST_REST_NANOSECONDS = 5, 1e7, 1e8


@dataclass
class Contender:
    """Somebody's kernel, by name."""

    name: str
    launch: Launch


@dataclass
class Turn:
    """What is timed, and the call before it that is not."""

    lead: Callable[[], object]
    launch: Callable[[], object]


def calls_in_a_row(nanoseconds: float) -> int:
    """How many calls that take so long each make a row of 0.2 ms: harness/measure/busy_timer.hpp says the same."""
    return int(min(max(ROW_NANOSECONDS / nanoseconds, 1), MOST_IN_A_ROW))


def rest_nanoseconds(nanoseconds: float) -> float:
    """Of rest before the turn of a burst, if the turn before it took so long: as in harness/measure/busy_timer.hpp."""
    return min(max(RESTS * nanoseconds, LEAST_REST_NANOSECONDS), MOST_REST_NANOSECONDS)


def load_of(contenders: Sequence[Contender], sets: int, calls: int, nanoseconds: float) -> Callable[[], None]:
    """What enqueues rows of so many calls, of all contenders in turn, for 5 ms by the time that a call takes."""
    rows = max(1, round(LOAD_NANOSECONDS / (calls * nanoseconds)))

    def load() -> None:
        for row in range(rows):
            for call in range(calls):
                contenders[row % len(contenders)].launch((row * calls + call) % sets)

    return load


def take_turns(contenders: Sequence[Contender], sets: int, rounds: int, seed: int,
               time_round: Callable[[list[Turn]], list[float]], calls: int = 1) -> dict[str, list[float]]:
    """Nanoseconds that a call of each contender takes in each round.

    Every round all of them have a turn of so many calls, in an order drawn anew for every second round and reversed in
    that after it, so that who comes first is so as often as anybody. A turn is led in by a call of its own that is not
    timed: everybody then follows the same. Each call has the next input set: on that of the call before it would find
    its inputs in the cache. `time_round` runs the given turns in order and returns the time of each.
    """

    def turn(contender: Contender, first: int) -> Turn:
        def launch() -> None:
            for call in range(1, calls + 1):
                contender.launch((first + call) % sets)

        return Turn(lambda: contender.launch(first % sets), launch)

    draw = random.Random(seed)
    times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    order = list(contenders)
    for number in range(rounds):
        if number % 2:
            order.reverse()
        else:
            draw.shuffle(order)
        first = number * len(order)
        measured = time_round([turn(contender, (first + place) * (calls + 1)) for place, contender in enumerate(order)])
        for contender, nanoseconds in zip(order, measured, strict=True):
            times[contender.name].append(nanoseconds / calls)
    return times


def _metric(unit: str, interval: Interval, better: str) -> Metric:
    return Metric(unit, interval.value, (interval.low, interval.high), better)


def to_measurement(name: str, params: dict, flop: float, times: dict[str, list[float]], ours: str,
                   conditions: dict, probe: str = "kernels/gemm", moved: float = 0) -> Measurement:
    """Ours as a kernel measurement, everybody else as its baselines. Times in nanoseconds, at least 6 rounds.

    Where ours is judged by the bytes that it must move, `moved` are those of a call.
    """
    mine = times[ours]
    micros = {who: [t / 1e3 for t in samples] for who, samples in times.items()}
    baselines = []
    for who, samples in times.items():
        if who == ours:
            continue
        speedup, took = paired_ratio_interval(samples, mine), median_interval(micros[who])
        baselines.append(Baseline(who, Estimate(speedup.value, (speedup.low, speedup.high)),
                                  Estimate(took.value, (took.low, took.high))))
    metrics = {"tflops": _metric("TFLOP/s", median_interval([flop / t / 1e3 for t in mine]), "higher"),
               "time_us": _metric("us", median_interval(micros[ours]), "lower")}
    if moved:
        metrics["bandwidth_gb_per_s"] = _metric("GB/s", median_interval([moved / t for t in mine]), "higher")
    return Measurement(
        name=name, kind="kernel", probe=probe, params=params, primary="bandwidth_gb_per_s" if moved else "tflops",
        metrics=metrics,
        samples={"time_ns": mine, **{f"time_ns/{who}": s for who, s in times.items() if who != ours}},
        conditions={**conditions, "sample_count": len(mine)}, baselines=baselines)
