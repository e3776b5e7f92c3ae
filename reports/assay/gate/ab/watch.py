# SPDX-License-Identifier: Apache-2.0
"""The GPU while a program runs that does not watch it itself: clock, power and what holds it back, by nvidia-smi.

It is asked ten times a second from the start of a process to its end. Only what it says while the GPU is busy counts:
a program also loads, compiles and fills its inputs.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import Any

FIELDS = (
    "utilization.gpu",
    "clocks.sm",
    "clocks.mem",
    "power.draw",
    "temperature.gpu",
    "clocks_throttle_reasons.active",
)
PERIOD_MS = 100
BUSY = 50  # percent of the time
# Bits of nvidia-smi's mask that hold the clock down, by the names that result files have.
REASONS = {
    0x0004: "sw_power_cap",
    0x0008: "hw_slowdown",
    0x0020: "sw_thermal_slowdown",
    0x0040: "hw_thermal_slowdown",
    0x0080: "hw_power_brake_slowdown",
}


def conditions_of(text: str) -> dict[str, Any]:
    """Conditions as a measurement has them, from lines that nvidia-smi printed; empty where it never was busy."""
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        try:
            if len(cells) == len(FIELDS) and float(cells[0]) >= BUSY:
                rows.append(([float(cell) for cell in cells[:-1]], int(cells[-1], 16)))
        except ValueError:
            continue  # a field that this GPU does not have
    if not rows:
        return {}
    _, sm, memory, watts, celsius = zip(*(numbers for numbers, _ in rows))
    seen = {name for _, mask in rows for bit, name in REASONS.items() if mask & bit}
    return {
        "sm_clock_mhz": statistics.median(sm),
        "memory_clock_mhz": statistics.median(memory),
        "power_w": statistics.mean(watts),
        "temperature_c": max(celsius),
        "throttle": sorted(seen),
    }


@dataclass
class Watch:
    """Polls from `with` to its end; then `conditions` are known."""

    program: str | None = field(default_factory=lambda: shutil.which("nvidia-smi"))
    gpu: str = "0"
    conditions: dict[str, Any] = field(default_factory=dict)

    def others(self) -> int:
        """Processes that have the GPU open now, before ours does."""
        if self.program is None:
            return 0
        words = [self.program, "-i", self.gpu, "--query-compute-apps=pid", "--format=csv,noheader"]
        said = subprocess.run(words, capture_output=True, text=True)
        return sum(line.strip().isdigit() for line in said.stdout.splitlines()) if said.returncode == 0 else 0

    def __enter__(self) -> Watch:
        self._process = None
        if self.program:
            query = [f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
            self._output = tempfile.TemporaryFile("w+")
            self._process = subprocess.Popen(
                [self.program, "-i", self.gpu, *query, "-lms", str(PERIOD_MS)],
                stdout=self._output,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        self._process.terminate()
        self._process.wait()
        self._output.seek(0)
        self.conditions = conditions_of(self._output.read())
        self._output.close()
