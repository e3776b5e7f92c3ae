# SPDX-License-Identifier: Apache-2.0
"""D = A B^T in bf16: ours against torch.matmul, on torch's tensors and stream."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from assay.files import Measurement
from assay_torch.library import KernelError, Kernels
from assay_torch.turns import Contender, take_turns, to_measurement

OURS = "assay"
CHECKED = 4096  # outputs compared with float64
LOAD_SECONDS = 1.2  # before a sustained figure
DELAY_CALLS = 4
IDLE_SECONDS = 0.05  # before each round of a burst figure


@dataclass(frozen=True)
class Shape:
    """m tokens, n outputs, k inputs."""

    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"

    @classmethod
    def parse(cls, text: str) -> Shape:
        match = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", text)
        if not match:
            raise ValueError(f"{text!r} is no shape; write m4096n4096k4096")
        return cls(*map(int, match.groups()))


def require_right(who: str, out: torch.Tensor, a: torch.Tensor, b: torch.Tensor, seed: int) -> None:
    """Raises KernelError unless `out` was written everywhere and a sample of it agrees with float64.

    The bound is that of kernels/gemm/reference.hpp: one bf16 rounding and the f32 accumulation,
    2^-8 |ref| + 2^-22 ceil(k / 16) sum |a| |b|.
    """
    if not bool(torch.isfinite(out).all()):
        raise KernelError(f"{who}: wrong result: an output is not finite, so it may never have been written")
    generator = torch.Generator(device=a.device).manual_seed(seed)
    rows = torch.randint(out.shape[0], (CHECKED,), device=a.device, generator=generator)
    columns = torch.randint(out.shape[1], (CHECKED,), device=a.device, generator=generator)
    products = a[rows].double() * b[columns].double()
    reference = products.sum(1)
    bound = 2.0**-8 * reference.abs() + 2.0**-22 * -(-a.shape[1] // 16) * products.abs().sum(1)
    worst = float(((out[rows, columns].double() - reference).abs() / bound).max())
    if worst > 1:
        raise KernelError(f"{who}: wrong result: an error is {worst:.3g} times what rounding allows")


def time_on_stream(launches: list[Callable[[], object]], delay: Callable[[], object]) -> list[float]:
    """Nanoseconds of each launch, by events around it. `delay` keeps the GPU busy while they are enqueued, so that
    the processor's time to launch does not count."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2 * len(launches))]
    delay()
    for index, launch in enumerate(launches):
        events[2 * index].record()
        launch()
        events[2 * index + 1].record()
    torch.cuda.synchronize()
    return [events[i].elapsed_time(events[i + 1]) * 1e6 for i in range(0, len(events), 2)]


def measure(kernels: Kernels, shape: Shape, rounds: int, seed: int, sustained: bool) -> Measurement:
    """Checks ours and torch.matmul, then lets them take turns on rotating inputs uniform in [-1, 1)."""
    m, n, k = shape.m, shape.n, shape.k
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    sets = 2 + 2 * cache // (2 * (m * k + n * k + m * n))
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def uniform(rows: int) -> torch.Tensor:
        values = torch.rand(rows, k, device="cuda", generator=generator)
        return (2 * values - 1).to(torch.bfloat16)

    a, b = [uniform(m) for _ in range(sets)], [uniform(n) for _ in range(sets)]
    out = [torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(sets)]
    contenders = [
        Contender(OURS, lambda i: kernels.gemm_bf16_nt(a[i], b[i], out[i])),
        Contender("torch_matmul", lambda i: torch.matmul(a[i], b[i].T, out=out[i])),
    ]
    for contender in contenders:
        out[0].fill_(torch.nan)
        contender.launch(0)
        require_right(contender.name, out[0], a[0], b[0], seed)

    def delay() -> None:  # keeps the GPU busy while Python enqueues what is timed
        for _ in range(DELAY_CALLS):
            torch.matmul(a[-1], b[-1].T, out=out[-1])

    def time_round(launches: list[Callable[[], object]]) -> list[float]:
        if not sustained:
            time.sleep(IDLE_SECONDS)
        return time_on_stream(launches, delay)

    end = time.monotonic() + LOAD_SECONDS
    while sustained and time.monotonic() < end:
        time_on_stream([lambda: contenders[0].launch(0)] * 8, delay)
    times = take_turns(contenders, sets, rounds, seed, time_round)

    state = "sustained" if sustained else "burst"
    return to_measurement(
        f"kernels/gemm/bf16/{shape}/nt" + ("/sustained" if sustained else ""),
        {"type": "bf16", "m": m, "n": n, "k": k, "state": state, "torch": torch.__version__},
        2.0 * m * n * k, times, OURS, {"l2": "cold", "seed": seed})
