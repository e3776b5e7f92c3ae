# SPDX-License-Identifier: Apache-2.0
"""What a GPU is like while something is timed: clocks, power and throttling, as NVML tells them."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

LIBRARY = "libnvidia-ml.so.1"
PERIOD_SECONDS = 0.03  # at least, between two readings: the driver's calls must not delay launches
SM_CLOCK, MEMORY_CLOCK = 1, 2  # nvmlClockType_t
GPU_TEMPERATURE = 0  # nvmlTemperatureSensors_t
# nvmlClocksEventReason...: what takes clock away. Names as harness/machine/nvml.cpp has them.
REASONS = {0x4: "sw_power_cap", 0x8: "hw_slowdown", 0x10: "sync_boost", 0x20: "sw_thermal_slowdown",
           0x40: "hw_thermal_slowdown", 0x80: "hw_power_brake", 0x100: "display_clock", 0x200: "board_limit",
           0x400: "reliability"}


@dataclass
class Reading:
    """Of one moment. None: the driver does not tell it."""

    sm_clock_mhz: float | None
    memory_clock_mhz: float | None
    power_w: float | None
    temperature_c: float | None
    reasons: int | None


class Nvml:
    """A GPU by its UUID ("GPU-..."). Raises OSError if there is no NVML or it does not know the GPU."""

    def __init__(self, uuid: str, library: ctypes.CDLL | None = None) -> None:
        self._library = library or ctypes.CDLL(LIBRARY)
        self._gpu = ctypes.c_void_p()
        if self._library.nvmlInit_v2() != 0:
            raise OSError("NVML does not start")
        if self._library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(self._gpu)) != 0:
            raise OSError(f"NVML does not know {uuid}")

    def _number(self, function: str, kind: type, *arguments: int) -> int | None:
        value = kind()
        status = getattr(self._library, function)(self._gpu, *arguments, ctypes.byref(value))
        return int(value.value) if status == 0 else None

    def read(self) -> Reading:
        milliwatts = self._number("nvmlDeviceGetPowerUsage", ctypes.c_uint)
        return Reading(self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, SM_CLOCK),
                       self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, MEMORY_CLOCK),
                       None if milliwatts is None else milliwatts / 1e3,
                       self._number("nvmlDeviceGetTemperature", ctypes.c_uint, GPU_TEMPERATURE),
                       self._number("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong))


class Watch:
    """Readings at moments when the GPU is busy, which whoever times it knows."""

    def __init__(self, read: Callable[[], Reading] | None, now: Callable[[], float] = time.monotonic) -> None:
        """read: None where there is no NVML; conditions() is empty then."""
        self._read, self._now = read, now
        self._readings: list[Reading] = []
        self._next = 0.0

    def look(self) -> None:
        """A reading, unless the last one was a moment ago."""
        if self._read and self._now() >= self._next:
            self._readings.append(self._read())
            self._next = self._now() + PERIOD_SECONDS

    def conditions(self) -> dict:
        """As the schema of results has them: medians of clocks, the mean and the highest power, the highest temperature,
        and every reason seen that took clock away."""
        def values(name: str) -> list[float]:
            return [value for reading in self._readings if (value := getattr(reading, name)) is not None]

        found: dict = {}
        if clocks := values("sm_clock_mhz"):
            found |= {"sm_clock_mhz": statistics.median(clocks), "sm_clock_min_mhz": min(clocks),
                      "sm_clock_max_mhz": max(clocks)}
        if clocks := values("memory_clock_mhz"):
            found["memory_clock_mhz"] = statistics.median(clocks)
        if watts := values("power_w"):
            found |= {"power_w": statistics.mean(watts), "power_max_w": max(watts)}
        if temperatures := values("temperature_c"):
            found["temperature_c"] = max(temperatures)
        if reasons := values("reasons"):
            seen = {name for bit, name in REASONS.items() if any(int(reason) & bit for reason in reasons)}
            found["throttle"] = sorted(seen)
        return found
