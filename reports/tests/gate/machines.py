# SPDX-License-Identifier: Apache-2.0
"""A simulated GPU on which sides take turns, with known truth.

Each process has a level of its own (0.3%: where its memory lies), what changes slowly drifts from process to process
(a random walk of 0.2% a step), and samples have 0.4% jitter. A process takes part through `process`, as one of a
program does, so all that a campaign does is done.
"""

from dataclasses import dataclass, field

import numpy as np
import runs

from assay.files import Measurement, Metric, Run
from assay.statistics import median_interval

ENVIRONMENT = runs.run()["environment"]


@dataclass
class Machine:
    """What all sides share: the drift, and noise from one seed."""

    seed: int = 1
    process_sd: float = 0.003
    drift_sd: float = 0.002
    level: float = 1.0
    rng: np.random.Generator = field(init=False)
    started: int = 0

    def __post_init__(self):
        self.rng = np.random.default_rng(self.seed)

    def process(self):
        self.started += 1
        self.level *= 1 + self.rng.normal(0, self.drift_sd)


@dataclass
class Side:
    """A program on the machine: time, clock and power of its cases; `disturbed` may change conditions and flags."""

    label: str
    machine: Machine
    slowdown: float = 0.0
    cases: int = 20
    domain: str = "dram"
    cycles: float = 1.0  # of one unit of work, relative to the other side's
    clock: float = 1.0
    clock_sd: float = 0.0  # of the clock from process to process
    watts: float = 1.0
    throttle: tuple[str, ...] = ()
    disturb: object = None
    alarms: object = None  # called with the measurement
    words: tuple[str, ...] = ("program",)  # the command; one program on both sides unless a test says otherwise

    def process(self, seed, names=None):
        self.machine.process()
        found = []
        for i in range(self.cases):
            name = f"case/{i}"
            if names is None or name in names:
                found.append(self.measure(name))
        return Run(ENVIRONMENT, found)

    def measure(self, name):
        rng = self.machine.rng
        clock = self.clock * (1 + rng.normal(0, self.clock_sd))
        level = 100 * self.machine.level * (1 + self.slowdown) * self.cycles / clock
        level *= 1 + rng.normal(0, self.machine.process_sd)
        value, low, high = median_interval(level * (1 + rng.normal(0, 0.004, 24)))
        conditions = {
            "clock_domain": self.domain,
            "memory_clock_mhz": 3201,
            "sm_clock_mhz": 1500 * clock / self.machine.level,
            "power_w": 690 * self.watts * (1 + rng.normal(0, 0.003)),
            "throttle": list(self.throttle),
        }
        metrics = {"time_us": Metric("us", value, (low, high), "lower")}
        m = Measurement(name, "kernel", primary="time_us", metrics=metrics, conditions=conditions)
        if self.disturb:
            self.disturb(m, self.machine.started)
        return m
