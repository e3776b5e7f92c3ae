# SPDX-License-Identifier: Apache-2.0
"""Groups of rows, each times a matrix of its own, in bf16: ours against torch._grouped_mm and a loop of torch.matmul."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from assay.files import Measurement
from assay_torch.gemm import CHECKED, IDLE_SECONDS, LOAD_SECONDS, OURS, StreamTimer
from assay_torch.library import KernelError, Kernels
from assay_torch.turns import Contender, take_turns, to_measurement

MASK = (1 << 64) - 1


@dataclass(frozen=True)
class GroupedShape:
    """m rows in all, sorted by group; n outputs and k inputs."""

    groups: int
    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"g{self.groups}m{self.m}n{self.n}k{self.k}"

    @classmethod
    def parse(cls, text: str) -> GroupedShape:
        match = re.fullmatch(r"g(\d+)m(\d+)n(\d+)k(\d+)", text)
        if not match:
            raise ValueError(f"{text!r} is no shape of groups; write g8m32768n4096k7168")
        return cls(*map(int, match.groups()))

    def ends(self) -> list[int]:
        """Where each group's rows end: uneven, every eighth group empty, as kernels/grouped/shapes.cpp draws them."""
        weights = [0 if group % 8 == 7 else 0.1 + _unit(group) ** 2 for group in range(self.groups)]
        before, ends = 0.0, []
        for weight in weights:
            before += weight
            ends.append(int(self.m * (before / sum(weights))))
        return ends


def _unit(seed: int) -> float:
    """splitmix64 as harness/measure/splitmix64.hpp has it, as a number in [0, 1)."""
    x = (seed + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return ((x ^ (x >> 31)) >> 11) * 2.0**-53


def require_right(who: str, out: torch.Tensor, a: torch.Tensor, b: torch.Tensor, ends: torch.Tensor,
                  seed: int) -> None:
    """Raises KernelError unless `out` was written everywhere and a sample of it agrees with float64.

    The bound is that of assay_torch.gemm.
    """
    if not bool(torch.isfinite(out).all()):
        raise KernelError(f"{who}: wrong result: an output is not finite, so it may never have been written")
    generator = torch.Generator(device=a.device).manual_seed(seed)
    rows = torch.randint(out.shape[0], (CHECKED,), device=a.device, generator=generator)
    columns = torch.randint(out.shape[1], (CHECKED,), device=a.device, generator=generator)
    groups = torch.searchsorted(ends, rows, right=True)
    products = a[rows].double() * b[groups, columns].double()
    reference = products.sum(1)
    bound = 2.0**-8 * reference.abs() + 2.0**-22 * -(-a.shape[1] // 16) * products.abs().sum(1)
    worst = float(((out[rows, columns].double() - reference).abs() / bound).max())
    if worst > 1:
        raise KernelError(f"{who}: wrong result: an error is {worst:.3g} times what rounding allows")


def measure(kernels: Kernels, shape: GroupedShape, rounds: int, seed: int, sustained: bool) -> Measurement:
    """Checks everybody, then lets them take turns on rotating inputs of normally distributed numbers."""
    groups, m, n, k = shape.groups, shape.m, shape.n, shape.k
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    sets = 2 + 2 * cache // (2 * (m * k + groups * n * k + m * n))
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def normal(*size: int) -> torch.Tensor:
        return torch.randn(*size, device="cuda", generator=generator, dtype=torch.bfloat16)

    a, b = [normal(m, k) for _ in range(sets)], [normal(groups, n, k) for _ in range(sets)]
    out = [torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(sets)]
    known = [0, *shape.ends()]  # to the loop alone
    ends = torch.tensor(known[1:], device="cuda", dtype=torch.int32)

    def loop(i: int) -> None:
        for group, (first, end) in enumerate(zip(known, known[1:], strict=False)):
            if end > first:
                torch.matmul(a[i][first:end], b[i][group].T, out=out[i][first:end])

    def grouped(i: int) -> None:
        out[i] = torch._grouped_mm(a[i], b[i].transpose(1, 2), offs=ends)

    contenders = [Contender(OURS, lambda i: kernels.grouped_nt(a[i], b[i], ends, out[i])),
                  Contender("torch_matmul_loop", loop)]
    if hasattr(torch, "_grouped_mm"):
        contenders.append(Contender("torch_grouped_mm", grouped))
    for contender in contenders:
        out[0].fill_(torch.nan)
        contender.launch(0)
        require_right(contender.name, out[0], a[0], b[0], ends, seed)

    timer = StreamTimer((lambda: contenders[0].launch(0)) if sustained else None)

    def time_round(launches: list[Callable[[], object]]) -> list[float]:
        if not sustained:
            time.sleep(IDLE_SECONDS)
        return timer(launches)

    end = time.monotonic() + LOAD_SECONDS
    while sustained and time.monotonic() < end:
        timer.busy()
        torch.cuda.synchronize()
    times = take_turns(contenders, sets, rounds, seed, time_round)
    state = "sustained" if sustained else "burst"
    return to_measurement(
        f"kernels/grouped/bf16/{shape}/contiguous_uneven" + ("/sustained" if sustained else ""),
        {"type": "bf16", "groups": groups, "m": m, "n": n, "k": k, "state": state, "torch": torch.__version__},
        2.0 * m * n * k, times, OURS, {"l2": "cold", "seed": seed}, "kernels/grouped")
