# SPDX-License-Identifier: Apache-2.0
"""The GPU while a program runs that does not watch it itself: clock, power and what holds it back, by nvidia-smi.

It is asked ten times a second from the start of a process to its end. Only what it says while the GPU is busy counts:
a program also loads, compiles and fills its inputs. Which other processes have the GPU open it is asked before, about
twice a second meanwhile, and at the end.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
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
PROCESSES_S = 0.5  # between two questions about other processes: each starts an nvidia-smi
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


def _parent(pid: int) -> int | None:
    """None for a process that is gone, or of another namespace."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[1])


def _is_ours(pid: int) -> bool:
    """Whether we started it, or it is of a session that we started, whose leader is then a child of ours."""
    try:
        starts = [pid, os.getsid(pid)]
    except OSError:
        starts = [pid]
    for one in starts:
        above: int | None = one
        while above:
            if above == os.getpid():
                return True
            above = _parent(above)
    return False


def others_among(pids: Sequence[int]) -> int:
    """How many processes are not ours.

    In a container nvidia-smi may give the numbers that processes have outside. One such may be ours, if none of the
    numbers that are known here is.
    """
    known = [pid for pid in pids if _parent(pid) is not None]
    ours = sum(map(_is_ours, known))
    unknown = len(pids) - len(known)
    return len(known) - ours + max(0, unknown - (not ours))


@dataclass
class Watch:
    """Polls from `with` to its end; then `conditions` and the most `others` at a time are known."""

    program: str | None = field(default_factory=lambda: shutil.which("nvidia-smi"))
    gpu: str = "0"
    conditions: dict[str, Any] = field(default_factory=dict)
    others: int = 0

    def _pids(self) -> list[int]:
        """Processes that have the GPU open now."""
        if self.program is None:
            return []
        words = [self.program, "-i", self.gpu, "--query-compute-apps=pid", "--format=csv,noheader"]
        said = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        lines = said.stdout.splitlines() if said.returncode == 0 else []
        return [int(line) for line in lines if line.strip().isdigit()]

    def _poll(self) -> None:
        while not self._ended.wait(PROCESSES_S):
            self.others = max(self.others, others_among(self._pids()))

    def __enter__(self) -> Watch:
        self._process = None
        if self.program:
            self.others = len(self._pids())  # ours has not begun
            query = [f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
            self._output = tempfile.TemporaryFile("w+")
            self._process = subprocess.Popen(
                [self.program, "-i", self.gpu, *query, "-lms", str(PERIOD_MS)],
                stdout=self._output,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
            )
            self._ended = threading.Event()
            self._thread = threading.Thread(target=self._poll, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        self._ended.set()
        self._thread.join()
        self.others = max(self.others, others_among(self._pids()))
        self._process.terminate()
        self._process.wait()
        self._output.seek(0)
        self.conditions = conditions_of(self._output.read())
        self._output.close()
