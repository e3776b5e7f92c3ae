# SPDX-License-Identifier: Apache-2.0
"""What the torch runner reads of the GPU beside times, without one."""

import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "kernels" / "torch")]

from assay_torch.watch import Nvml, Reading, Watch  # noqa: E402


def test_conditions_are_those_of_the_moments_looked_at():
    readings = [Reading(1980, 3201, 400.0, 40, 0), Reading(1500, 3201, 690.0, 52, 0x4), Reading(1520, None, 710.0, 50, 0x24)]
    clock = iter([0.0, 0.0, 0.01, 0.05, 0.05, 0.1, 0.1])  # the second look comes too soon
    watch = Watch(iter(readings).__next__, lambda: next(clock))
    for _ in range(4):
        watch.look()
    assert watch.conditions() == {
        "sm_clock_mhz": 1520, "sm_clock_min_mhz": 1500, "sm_clock_max_mhz": 1980, "memory_clock_mhz": 3201, "power_w": 600.0,
        "power_max_w": 710.0, "temperature_c": 52, "throttle": ["sw_power_cap", "sw_thermal_slowdown"]}
    silent = Watch(lambda: Reading(None, None, None, None, None))
    silent.look()
    assert silent.conditions() == {} == Watch(None).conditions()


def test_nvml_is_asked_for_the_gpu_by_its_uuid():
    def write(value, status=0):
        def function(*arguments):
            arguments[-1]._obj.value = value
            return status
        return function

    library = types.SimpleNamespace(
        nvmlInit_v2=lambda: 0, nvmlDeviceGetHandleByUUID=lambda uuid, gpu: 0 if uuid == b"GPU-1" else 6,
        nvmlDeviceGetPowerUsage=write(123456), nvmlDeviceGetClockInfo=write(1410), nvmlDeviceGetTemperature=write(0, 3),
        nvmlDeviceGetCurrentClocksThrottleReasons=write(4))
    assert Nvml("GPU-1", library).read() == Reading(1410, 1410, 123.456, None, 4)
    with pytest.raises(OSError, match="does not know GPU-2"):
        Nvml("GPU-2", library)
