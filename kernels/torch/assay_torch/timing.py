# SPDX-License-Identifier: Apache-2.0
"""The GPU's time of launches, and turns of contenders from rest or under lasting load."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from assay_torch.turns import Contender, Turn, calls_in_a_row, load_of, rest_nanoseconds, take_turns
from assay_torch.watch import Nvml, Watch

LOAD_SECONDS = 1.2  # before a sustained figure
SPIN_CYCLES = 500_000  # a quarter of a millisecond and more: one round of launches
MOST_BUSY = 1024  # times that
TRIALS = 5  # by which the calls of a turn are known


class StreamTimer:
    """Times launches by events around them, without the time that Python takes for them.

    The GPU is kept busy while they are enqueued, by a kernel that spins, at little power; where the load is to last, by
    the work that is measured before that. Should the first event have come before the last was enqueued, the GPU may
    have waited: then all is done again behind twice as much, which is kept.
    """

    def __init__(self, watch: Watch, load: Callable[[], object] | None = None) -> None:
        self._watch, self._load = watch, load
        self._spins = 0 if load else 1

    def busy(self) -> None:
        """Enqueues what comes before."""
        if self._load:
            self._load()
        if self._spins:
            torch.cuda._sleep(self._spins * SPIN_CYCLES)

    def __call__(self, turns: list[Turn]) -> list[float]:
        """Nanoseconds of each, in their order. They may be launched several times."""
        while True:
            events = [torch.cuda.Event(enable_timing=True) for _ in range(2 * len(turns))]
            self.busy()
            for index, turn in enumerate(turns):
                turn.lead()
                events[2 * index].record()
                turn.launch()
                events[2 * index + 1].record()
            late = events[0].query()
            self._watch.look()
            torch.cuda.synchronize()
            if not late or self._spins >= MOST_BUSY:
                return [events[i].elapsed_time(events[i + 1]) * 1e6 for i in range(0, len(events), 2)]
            self._spins = max(1, 2 * self._spins)


def result_of(baseline: Contender, flags: list[str]) -> torch.Tensor | None:
    """What it makes of the first input set; none, and a flag that says why, where torch refuses."""
    try:
        made = baseline.launch(0)
        torch.cuda.synchronize()
    except RuntimeError as error:
        flags.append(f"no baseline: {baseline.name}: {str(error).splitlines()[0]}")
        return None
    return made


@dataclass
class Times:
    """Nanoseconds of each contender in each round, of how many calls in a row each is the mean, and what the GPU was
    like."""

    times: dict[str, list[float]]
    calls: int
    conditions: dict


def watch_here() -> Watch:
    """Of the current device; an empty one where there is no NVML."""
    try:
        uuid = str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid)
        return Watch(Nvml("GPU-" + uuid.removeprefix("GPU-")).read)
    except (OSError, AttributeError):  # a torch before 2.4 does not tell the UUID
        return Watch(None)


def time_contenders(contenders: Sequence[Contender], sets: int, rounds: int, seed: int, sustained: bool) -> Times:
    """Lets all have their turns.

    In a burst each turn comes after a rest and is one call. Under lasting load a turn is as many calls, one after the
    other, as ours does in a fifth of a millisecond; the turns of a round follow each other, and before them comes the
    same work for five milliseconds, so that the GPU is idle for little of the time and its power limit holds.
    """
    ours = contenders[0]
    calls = 1
    watch = watch_here()
    first, load = StreamTimer(Watch(None)), None
    for contender in contenders:
        contender.launch(1 % sets)  # what is done at the first call alone
    if sustained:
        trials = first([Turn(lambda: None, lambda i=i: ours.launch(i % sets)) for i in range(TRIALS)])
        usual = sorted(trials)[TRIALS // 2]
        calls = calls_in_a_row(usual)
        load = load_of(contenders, sets, calls, usual)
    timer = StreamTimer(watch, load)

    took = 0.0  # the turn before and what led it in

    def time_rested(turns: list[Turn]) -> list[float]:
        nonlocal took
        times = []
        for turn in turns:
            time.sleep(rest_nanoseconds(took) * 1e-9)
            times += timer([turn])
            took = 2 * times[-1]
        return times

    end = time.monotonic() + LOAD_SECONDS
    while sustained and time.monotonic() < end:
        timer.busy()
        torch.cuda.synchronize()
    times = take_turns(contenders, sets, rounds, seed, timer if sustained else time_rested, calls)
    return Times(times, calls, watch.conditions())
