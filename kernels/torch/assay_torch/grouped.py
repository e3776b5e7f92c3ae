# SPDX-License-Identifier: Apache-2.0
"""Groups of rows, each times a matrix of its own, in bf16: ours against torch._grouped_mm and a loop of torch.matmul."""

from __future__ import annotations

import torch

from assay.files import Measurement
from assay_torch.gemm import CHECKED, OURS
from assay_torch.groups import GroupedShape
from assay_torch.library import KernelError, Kernels, padded, require
from assay_torch.problem import BLOCK
from assay_torch.timing import time_contenders
from assay_torch.turns import Contender, to_measurement


def grouped(kernels: Kernels, a: torch.Tensor, b: torch.Tensor, sizes: torch.Tensor, out: torch.Tensor,
            scales: tuple[torch.Tensor, torch.Tensor] | None = None) -> torch.Tensor:
    """Groups of rows of `a`, each times its own b[group].T. Raises KernelError.

    a [rows, k] and out [rows, n] sorted by group: sizes[g] is where group g's rows end, as torch._grouped_mm's `offs`.
    a [groups, rows, k] and out [groups, rows, n]: the first sizes[g] rows of group g are used. b is [groups, n, k],
    sizes int32. bfloat16, or float8_e4m3fn with `scales` of a and of b: one group's after the other of what
    assay_torch.gemm.gemm_block_scaled takes (for a [rows, k] all rows are as one group's).
    """
    groups, n, k = b.shape
    rows, masked = a.shape[-2], a.dim() == 3
    shape = (groups, rows) if masked else (rows,)
    blocks = (-(-k // BLOCK), -(-n // BLOCK))
    element = torch.float8_e4m3fn if scales else torch.bfloat16
    wanted = [("a", a, element, (*shape, k)), ("b", b, element, (groups, n, k)),
              ("out", out, torch.bfloat16, (*shape, n)), ("sizes", sizes, torch.int32, (groups,))]
    if scales:
        first = (groups,) if masked else ()
        wanted += [("scale_a", scales[0], torch.float32, (*first, blocks[0], padded(rows))),
                   ("scale_b", scales[1], torch.float32, (groups, blocks[1], padded(blocks[0])))]
    require("grouped", wanted)
    name = "assay_grouped_e4m3_block128_nt" if scales else "assay_grouped_bf16_nt"
    kernels.call(name, [out, a, b, *(scales or ()), sizes], [int(masked), groups, rows, n, k])
    return out


def gradient(kernels: Kernels, a: torch.Tensor, b: torch.Tensor, ends: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """out[g] = a[rows of g].T @ b[rows of g], bfloat16; ends[g] is where group g's rows end. Raises KernelError."""
    (rows, k), n, groups = a.shape, b.shape[1], ends.shape[0]
    require("gradient", [("a", a, torch.bfloat16, (rows, k)), ("b", b, torch.bfloat16, (rows, n)),
                         ("ends", ends, torch.int32, (groups,)), ("out", out, torch.bfloat16, (groups, k, n))])
    kernels.call("assay_grouped_gradient_bf16", [out, a, b, ends], [groups, rows, n, k])
    return out


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
    if not worst <= 1:
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

    def theirs(i: int) -> None:
        out[i] = torch._grouped_mm(a[i], b[i].transpose(1, 2), offs=ends)

    contenders = [Contender(OURS, lambda i: grouped(kernels, a[i], b[i], ends, out[i])),
                  Contender("torch_matmul_loop", loop)]
    if hasattr(torch, "_grouped_mm"):
        contenders.append(Contender("torch_grouped_mm", theirs))
    for contender in contenders:
        out[0].fill_(torch.nan)
        contender.launch(0)
        require_right(contender.name, out[0], a[0], b[0], ends, seed)

    taken = time_contenders(contenders, sets, rounds, seed, sustained)
    state = "sustained" if sustained else "burst"
    return to_measurement(
        shape.name + ("/sustained" if sustained else ""),
        {"type": "bf16", "groups": groups, "m": m, "n": n, "k": k, "state": state, "torch": str(torch.__version__)},
        2.0 * m * n * k, taken.times, OURS,
        {"l2": "cold", "seed": seed, "iterations": taken.calls, **taken.conditions}, shape.probe)
