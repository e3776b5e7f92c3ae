# SPDX-License-Identifier: Apache-2.0
"""Where a figure changed for good along a history: change points, by the library ruptures.

PELT finds the division into stretches of one level each that costs least (Killick, Fearnhead and Eckley, JASA 2012): their
squared distance from their means, and a penalty. It is the library's form of it in C, with a linear kernel: the one in
Python took minutes for 2,000 runs.
Values are logarithms over the noise between neighbours, so that the penalty, 3 log n, means the same for every case.
A stretch has at least three runs: one run that is off is an outlier, and no change.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHORTEST = 3  # runs of one level
LEAST = 0.005  # of a change: what is smaller is left unsaid
FLOOR = 1e-4  # noise of a figure that repeats exactly


@dataclass(frozen=True)
class Change:
    """From run `index` on the figure is `ratio` times what it was before."""

    index: int
    ratio: float


def noise(logs: np.ndarray) -> float:
    """Standard deviation of a value about its level: of differences of neighbours, which a step hardly touches.

    The median absolute difference of two normal values is 0.6745 x sqrt(2) of their standard deviation.
    """
    return max(float(np.median(np.abs(np.diff(logs)))) / (0.6745 * math.sqrt(2)), FLOOR)


def _divided(signal: np.ndarray, penalty: float) -> list[int]:
    """The ends of the stretches, the last one's included."""
    import ruptures  # here, for it is needed by few commands and takes long to load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST).fit(signal.reshape(-1, 1))
        return [int(end) for end in search.predict(pen=penalty)]


def changes(values: Sequence[float]) -> list[Change]:
    """Steps of a series of positive values, the oldest first."""
    if len(values) < 2 * SHORTEST:
        return []
    logs = np.log(np.asarray(values, dtype=float))
    signal = (logs - np.median(logs)) / noise(logs)
    found = _divided(signal, 3 * math.log(len(values)))
    bounds = [0, *found]
    medians = [float(np.median(logs[a:b])) for a, b in zip(bounds, bounds[1:])]
    steps = [Change(at, math.exp(after - before)) for at, before, after in zip(found, medians, medians[1:])]
    return [step for step in steps if abs(math.log(step.ratio)) >= LEAST]
