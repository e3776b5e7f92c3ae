# SPDX-License-Identifier: Apache-2.0
"""Made-up runs for the tests of the report. Plausible shapes, invented values: nothing here was measured."""

from __future__ import annotations

import hashlib
import io
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from assay.files import Baseline, Estimate, Measurement, Metric, Run


# CPU seconds that _yardstick() takes on the machine that limits of time are of: two idle cores of an AMD EPYC of 2024.
YARDSTICK = 0.45


def _yardstick() -> float:
    """CPU seconds of a fixed piece of work that is like a report's: a drawing of six panels."""
    start = time.process_time()
    figure = Figure(layout="constrained")
    FigureCanvasSVG(figure)
    for panel in figure.subplots(2, 3).flat:
        panel.plot(range(1, 40), [k * k for k in range(1, 40)])
        panel.set_xscale("log")
    figure.savefig(io.StringIO(), format="svg")
    return time.process_time() - start


def _cpu_seconds(cores: int) -> float:
    times = os.times()
    return times.user + times.system + (times.children_user + times.children_system) / cores


@contextmanager
def within(seconds: float, cores: int = 1) -> Iterator[None]:
    """Fails where what stands in it takes more CPU time than `seconds`, that of processes it waited for shared by so many
    cores: what passes on an idle machine.

    A slower machine, or one whose caches others use too, has longer, by as much as the yardstick took longer beside it.
    """
    _yardstick()  # the first imports and reads fonts
    before, start = _yardstick(), _cpu_seconds(cores)
    yield
    taken = _cpu_seconds(cores) - start
    slowness = max(1.0, (before + _yardstick()) / 2 / YARDSTICK)
    assert taken / slowness < seconds, f"{taken:.2f} s of CPU time on a machine {slowness:.2f} times as slow"


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
    "accumulator_bits": "bit",
}
LOWER = {"latency_cycles", "latency_ns", "time_us"}

MMA = {
    "e4m3": (8192, "wgmma"),
    "s8": (8192, "wgmma"),
    "bf16": (4096, "wgmma"),
    "f16": (4096, "wgmma"),
    "tf32": (2048, "wgmma"),
}


def gpu(name: str = "NVIDIA H200", architecture: str = "sm_90", sms: int = 132) -> dict[str, Any]:
    return {
        "gpu": {
            "name": name,
            "architecture": architecture,
            "sm_count": sms,
            "memory_bytes": 150754820096,
            "l2_bytes": 62914560,
            "sm_clock_max_mhz": 1980,
            "power_limit_w": 700,
        },
        "driver": "580.00",
        "cuda": "13.0",
        "host": {"cpu": "made up for the tests", "cores": 16},
        "assay": {"version": "0.0.0", "commit": "0" * 40},
    }


class Maker:
    """Appends measurements to a run; every value gets an interval of about 0.1 %."""

    def __init__(self, seed: int, environment: dict[str, Any] | None = None) -> None:
        self.random = random.Random(seed)
        self.run = Run(environment or gpu())

    def metric(self, name: str, value: float, limit: float | None = None, width: float = 1e-3) -> Metric:
        value *= self.random.gauss(1, width)
        value = value if limit is None else min(value, limit)
        unit = UNITS.get(name, name)
        return Metric(
            unit,
            value,
            (value * (1 - width), value * (1 + width)),
            "lower" if name in LOWER else "higher",
            limit,
            "made up" if limit else None,
        )

    def add(
        self,
        name: str,
        kind: str = "probe",
        limit: float | None = None,
        clock: float = 1830.0,
        opcode: str = "FFMA",
        params: dict[str, Any] | None = None,
        **values: float,
    ) -> Measurement:
        """One measurement; the first metric is the headline and has the limit."""
        metrics = {
            key: self.metric(key, value, limit if i == 0 else None) for i, (key, value) in enumerate(values.items())
        }
        times = [1e5 * self.random.gauss(1, 2e-3) for _ in range(60)]
        m = Measurement(
            name,
            kind,
            probe="/".join(name.split("/")[:2]),
            params=params or {},
            primary=next(iter(values)),
            metrics=metrics,
            samples={"time_ns": times},
            duration_s=0.4,
            conditions={
                "sm_clock_mhz": clock,
                "memory_clock_mhz": 3201.0,
                "power_w": 512.0,
                "temperature_c": 51.0,
                "throttle": [],
                "l2": "warm",
                "stop": "converged",
                "sample_count": 60,
                "seed": 1,
            },
            sass={
                "sha256": hashlib.sha256(name.encode()).hexdigest(),
                "verified": True,
                "kernel": "k",
                "target": "sm_90a",
                "loop": {opcode: 64, "IADD3": 2, "BRA": 1},
                "text": "  FFMA R0, R1, R2, R0 ;\n  BRA 0x10 ;",
            },
        )
        self.run.measurements.append(m)
        return m

    def without(self, name: str, status: str, reason: str, target: str | None = None, verified: bool = True) -> None:
        m = Measurement(name, "probe", status=status, reason=reason)
        if target:
            m.params, m.sass = (
                {"target": target},
                {"sha256": "0" * 64, "target": target, "verified": verified, "loop": {"HMMA": 8}},
            )
        self.run.measurements.append(m)


def _compute(make: Maker) -> None:
    for kind, (rate, family) in MMA.items():
        for n in (8, 64, 256):
            share = {8: 0.24, 64: 0.94, 256: 0.995}[n]
            tflops = rate * share * 132 * 1.83e-3
            name = f"tensor_core/{family}/{kind}/m64n{n}/ss"
            make.add(
                name,
                limit=rate,
                opcode=f"HGMMA.64x{n}",
                flop_per_clock_per_sm=rate * share,
                tflops=tflops,
                latency_cycles=n / 2 + 14,
            )
            if n == 256:
                make.add(name + "/sustained", clock=1480.0, flop_per_clock_per_sm=rate * share, tflops=tflops * 0.81)
    for kind, shape, rate in (("bf16", "m16n8k16", 4096), ("tf32", "m16n8k8", 2048), ("s8", "m16n8k32", 8192)):
        make.add(
            f"tensor_core/mma_sync/{kind}/{shape}",
            limit=rate,
            opcode="HMMA.16816",
            flop_per_clock_per_sm=rate * 0.65,
            tflops=rate * 0.65 * 132 * 1.83e-3,
            latency_cycles=24,
        )
    make.add("tensor_core/mma_sync/e4m3/m16n8k32", flop_per_clock_per_sm=2600, latency_cycles=60).flags.append(
        "emulated"
    )
    for function, rate, latency in (("ex2", 16, 18), ("lg2", 16, 18), ("rcp", 16, 40), ("tanh", 16, 18)):
        make.add(
            f"special_function/{function}/f32",
            limit=16,
            opcode="MUFU.EX2",
            ops_per_clock_per_sm=rate * 0.99,
            latency_cycles=latency,
        )
    make.add("special_function/ffma/f32", limit=256, flop_per_clock_per_sm=253.4, tflops=253.4 * 132 * 1.83e-3)
    make.add("special_function/ex2/f16x2", limit=32, ops_per_clock_per_sm=31.5)
    make.add("special_function/poly3/f32", ops_per_clock_per_sm=25.0)
    for opcode, rate, latency in (
        ("ffma", 128, 4.0),
        ("dfma", 64, 8.0),
        ("imad", 64, 4.1),
        ("iadd3", 64, 4.1),
        ("lop3", 64, 4.1),
        ("shfl", 32, 23.0),
        ("popc", 16, 13.0),
    ):
        make.add(
            f"sass/{opcode}/{'f64' if opcode == 'dfma' else 'f32' if opcode == 'ffma' else 'u32'}",
            limit=rate,
            opcode=opcode.upper(),
            ops_per_clock_per_sm=rate * 0.99,
            latency_cycles=latency,
        )
    make.add("numerics/accumulator/e4m3", accumulator_bits=14)


def _memory(make: Maker) -> None:
    for level, cycles in (("shared", 29), ("l1", 34), ("l2_near", 258), ("l2_far", 410), ("dram", 640)):
        make.add(f"memory/{level}/latency", opcode="LDG.E.64", latency_cycles=cycles, latency_ns=cycles / 1.83)
    for level in ("shared", "l1"):
        make.add(
            f"memory/{level}/read", limit=128, opcode="LDS.128", bytes_per_clock_per_sm=126.8, bandwidth_gb_per_s=30600
        )
    make.add("memory/l2/read", limit=64, bytes_per_clock_per_sm=41.0, bandwidth_gb_per_s=9900)
    for operation, rate in (("read", 4480), ("write", 4420), ("copy", 4300), ("triad", 4360)):
        make.add(f"memory/hbm/{operation}", limit=4800, opcode="LDG.E.128", bandwidth_gb_per_s=rate)
    make.add("tma/bulk_16b/latency", latency_cycles=640)
    make.add("tma/tensor_2d/bandwidth", limit=4800, opcode="UTMALDG.2D", bandwidth_gb_per_s=4300)
    make.add("memory/atomic/shared/f32", ops_per_clock_per_sm=31.0)
    for name, cycles in (("syncthreads/w4", 30), ("named/w4", 32), ("mbarrier/arrive_wait", 40), ("cluster/2", 190)):
        make.add(f"sync/{name}", latency_cycles=cycles)
    for name, us in (("empty/stream", 2.1), ("empty/graph", 1.2), ("event/record", 0.6)):
        make.add(f"launch/{name}", time_us=us)
    for direction, rate in (("h2d", 55.0), ("d2h", 53.0)):
        make.add(f"link/{direction}/pinned/268435456", limit=64, bandwidth_gb_per_s=rate)
    for size in (1 << s for s in range(12, 31, 3)):
        for operation, top in (("all_reduce", 360.0), ("all_gather", 340.0)):
            rate = top * size / (size + 2**22)
            make.add(
                f"collective/{operation}/bf16/{size}/8gpus",
                kind="collective",
                time_us=8 + size / rate / 1e3,
                bus_bandwidth_gb_per_s=rate,
                params={"gpus": 8},
            )
    make.add("host/clock/read", time_us=0.02)


def _kernels(make: Maker, speed: float) -> None:
    def pair(m: Measurement, *baselines: tuple[str, float]) -> None:
        for name, ratio in baselines:
            ratio *= make.random.gauss(1, 0.01)
            m.baselines.append(
                Baseline(name, Estimate(ratio, (ratio * 0.994, ratio * 1.005)), Estimate(100.0, (99.0, 101.0)))
            )

    for size in (2048, 4096, 8192):
        for kind, top, ratio in (("bf16", 760, 1.01), ("e4m3", 1400, 0.96)):
            m = make.add(
                f"kernels/gemm/{kind}/m{size}n{size}k{size}/nt",
                kind="kernel",
                limit=989 if kind == "bf16" else 1979,
                tflops=top * size / (size + 250) * speed,
                time_us=2e-6 * size**3 / top,
            )
            pair(m, ("cublaslt_best16", ratio), ("torch", ratio * 1.02))
    for kind, scale in (("bf16", 1), ("nvf4", 3.2)):
        m = make.add(
            f"kernels/gemv/{kind}/m1n8192k8192",
            kind="kernel",
            limit=4800,
            bandwidth_gb_per_s=4050,
            time_us=33 / scale,
            tflops=4.1 * scale,
        )
        pair(m, ("cublaslt", 1.12))
    m = make.add("kernels/attention/bf16/b4h16s8192d128", kind="kernel", tflops=640 * speed, time_us=3400)
    pair(m, ("cudnn", 0.99))
    m = make.add("kernels/attention/bf16/b4h16s8192d128/causal", kind="kernel", tflops=560 * speed, time_us=1950)
    pair(m, ("cudnn", 1.03))
    for operation, rate in (("softmax", 4020), ("norm_quantize", 3900), ("transpose", 3800)):
        m = make.add(
            f"kernels/{operation}/bf16/m16384n8192", kind="kernel", limit=4800, bandwidth_gb_per_s=rate, time_us=120
        )
        pair(m, ("torch", 1.3))


def measured(seed: int = 1, name: str = "NVIDIA H200", speed: float = 1.0) -> Run:
    """A run of one GPU that touches every family, with a failed and a skipped case."""
    make = Maker(seed, gpu(name))
    _compute(make)
    _memory(make)
    _kernels(make, speed)
    make.add("memory/shared/latency/address", latency_cycles=23.0, latency_ns=23.0 / 1.83)
    make.without("tma/tensor_5d/latency", "failed", "the chain ended at 3, not at 7")
    make.without("tmem/load/32x32b", "skipped", "needs sm_100a, this is sm_90")
    return make.run


def offline() -> Run:
    """An offline check: nothing measured, machine code verified per target."""
    make = Maker(7, {"gpu": None, "driver": None, "cuda": "13.0", "host": None, "assay": None})
    for target in ("sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"):
        for kind in ("bf16", "tf32"):
            make.without(
                f"tensor_core/mma_sync/{kind}/m16n8k16",
                "not_run",
                "no GPU here",
                target,
                verified=(target, kind) != ("sm_120a", "tf32"),
            )
        if target in ("sm_100a", "sm_103a"):
            make.without("tmem/load/32x32b", "not_run", "no GPU here", target)
    return make.run


def large(count: int = 300) -> Run:
    """`measured` grown to `count` measurements."""
    make = Maker(3)
    for run in (measured(),):
        make.run.measurements += run.measurements
    for i in range(count - len(make.run.measurements)):
        make.add(f"sass/op{i // 4}/case{i % 4}", limit=64, ops_per_clock_per_sm=63.5, latency_cycles=4.2)
    return make.run
