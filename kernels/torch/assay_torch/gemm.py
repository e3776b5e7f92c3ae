# SPDX-License-Identifier: Apache-2.0
"""Matrix products, ours against torch's, on torch's tensors and stream."""

from __future__ import annotations

import math

import torch

from assay.files import Measurement
from assay_torch.library import KernelError, Kernels, Operands, expected_shapes, expected_types, torch_type
from assay_torch.problem import BLOCK, Problem, Shape
from assay_torch.rivals import DEEP_GEMM, activated, deep_gemm, factors, rivals
from assay_torch.timing import result_of, time_contenders
from assay_torch.turns import Contender, to_measurement

OURS = "assay"
CHECKED = 4096  # outputs compared with float64
PRODUCTS_AT_ONCE = 1 << 25  # of the check


def gemm_block_scaled(kernels: Kernels, a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor,
                      scale_b: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """out[m, n] = a[m, k] @ b[n, k].T, a and b float8_e4m3fn with a scale for each block, out bfloat16.

    scale_a[kb, m] belongs to a[m, 128 kb : 128 kb + 128], scale_b[nb, kb] to 128 x 128 elements of b. Rows of both are
    padded to multiples of 4 floats: scale_a is [ceil(k / 128), m rounded up], scale_b [ceil(n / 128), ceil(k / 128)
    rounded up]. Raises KernelError.
    """
    problem = Problem.of(Shape(a.shape[0], b.shape[0], a.shape[1]), "e4m3", scaling="block")
    return kernels.gemm(problem, Operands(out, a, b, scale_a=scale_a, scale_b=scale_b))


def make_operands(problem: Problem, generator: torch.Generator) -> Operands:
    """Normal random values, scales between a half and one and a half, D poisoned."""

    def make(name: str, shape: tuple[int, ...]) -> torch.Tensor:
        kind = torch_type(expected_types(problem)[name])
        if name == "d":
            return torch.full(shape, math.nan, device="cuda", dtype=kind)
        if name.startswith("scale"):
            return 0.5 + torch.rand(shape, device="cuda", generator=generator)
        return torch.randn(shape, device="cuda", generator=generator).to(kind)

    return Operands(**{name: make(name, shape) for name, shape in expected_shapes(problem).items()})


def sum_error(products: torch.Tensor, narrow: bool) -> torch.Tensor:
    """How far each row's sum may be from the exact one: kernels/gemm/bound.hpp derives it."""
    k = products.shape[1]
    groups = torch.nn.functional.pad(products, (0, -k % 32)).view(products.shape[0], -1, 32)
    partial = torch.nn.functional.pad(groups.sum(2).cumsum(1), (1, 0))
    greatest = partial.amax(1) - partial.amin(1) + groups.abs().sum(2).amax(1)
    steps = -(-k // 32) if narrow else -(-k // 16)
    plain = 21 * 2.0**-25 * (4 if narrow else steps + 4)
    return greatest * (plain + (2.0**-13 * (2 * steps + 27 * math.sqrt(steps)) if narrow else 0))


def block_sums(products: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Each row's sum of each block of 128 products, and how far a right one may be: error_bound.hpp derives it."""
    blocks = torch.nn.functional.pad(products, (0, -products.shape[1] % BLOCK)).view(products.shape[0], -1, BLOCK)
    total = torch.zeros(blocks.shape[:2], dtype=products.dtype, device=products.device)
    error = torch.zeros_like(total)
    for step in blocks.split(32, 2):  # what the tensor core adds at once
        greatest = torch.maximum(step.abs().amax(2), total.abs() + error)
        total = total + step.sum(2)
        error = error + 33 * 2.0**-13 * greatest
        error = error + 2.0**-13 * (total.abs() + error)
    return total, error


def expected_of_blocks(products: torch.Tensor, scales: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The values of rows of products whose blocks have these scales, and how far a right kernel may be from each."""
    sums, errors = block_sums(products)
    value, magnitude = (scales * sums).sum(1), (scales.abs() * (sums.abs() + errors)).sum(1)
    error = (scales.abs() * errors).sum(1) + (scales.shape[1] + 2) * 2.0**-24 * magnitude
    return value, error + 2.0**-8 * (value.abs() + error)


def expected(problem: Problem, o: Operands, rows: torch.Tensor, columns: torch.Tensor,
             rounds_before: bool = False) -> tuple[torch.Tensor, ...]:
    """The outputs at these places in float64, and how far a right kernel may be from each. `rounds_before`: Rival's."""
    a, b = factors(problem, o)
    products = a[rows].double() * b.T[columns].double()
    if problem.blocks:
        along_k = -(-problem.shape.k // BLOCK)
        return expected_of_blocks(
            products, o.scale_a.T[rows, :along_k].double() * o.scale_b[columns // BLOCK, :along_k].double())
    scale: torch.Tensor | float = problem.alpha
    if problem.scaling == "row":
        scale = scale * o.scale_a[rows, 0].double() * o.scale_b[0, columns].double()
    elif problem.scaling == "tensor":
        scale = scale * o.scale_a.double() * o.scale_b.double()
    product = scale * products.sum(1)
    from_c = problem.beta * o.c[rows, columns].double() if problem.beta else torch.zeros_like(product)
    from_bias = o.bias[columns].double() if problem.bias else torch.zeros_like(product)
    value = product + from_c + from_bias
    error = abs(scale) * sum_error(products, problem.narrow)
    error = error + 2.0**-21 * (product.abs() + from_c.abs() + from_bias.abs())
    unit = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24}[problem.type_d]
    if rounds_before:
        error = error + unit * (value.abs() + error)
    if problem.activation != "identity":
        approximated = 1.0625 * 2.0**-12 if problem.activation == "gelu_tanh" else 2.0**-20
        error = 1.13 * error + approximated * value.abs()
        value = activated(problem, value)
    least = 2.0**-25 if problem.type_d == "f16" else 0.0
    return value, error + unit * (value.abs() + error) + least


def require_right(who: str, problem: Problem, o: Operands, out: torch.Tensor, seed: int,
                  rounds_before: bool = False) -> None:
    """Raises KernelError unless `out` was written everywhere and a sample of it agrees with float64."""
    if not bool(torch.isfinite(out).all()):
        raise KernelError(f"{who}: wrong result: an output is not finite, so it may never have been written")
    generator = torch.Generator(device=out.device).manual_seed(seed)
    count = max(64, min(CHECKED, PRODUCTS_AT_ONCE // problem.shape.k))
    rows, columns = (torch.randint(size, (count,), device=out.device, generator=generator) for size in out.shape)
    value, bound = expected(problem, o, rows, columns, rounds_before)
    worst = float(((out[rows, columns].double() - value).abs() / bound).max())
    if not worst <= 1:
        raise KernelError(f"{who}: wrong result: an error is {worst:.3g} times what rounding allows")


def contenders_of(kernels: Kernels, problem: Problem, sets: list[Operands], seed: int, compiled: bool,
                  flags: list[str]) -> list[Contender]:
    """Ours and what torch has, each checked; one that torch cannot do becomes a flag."""
    found = [Contender(OURS, lambda i: kernels.gemm(problem, sets[i]))]
    out = found[0].launch(0)
    require_right(OURS, problem, sets[0], out, seed)
    for rival in rivals(problem, compiled):
        contender = Contender(rival.name, lambda i, rival=rival: rival.call(sets[i]))
        sets[0].d.fill_(math.nan)
        out = result_of(contender, flags)
        if out is None:
            continue
        if rival.differs:
            flags.append(f"{rival.name} takes part with its time alone: {rival.differs}")
        else:
            require_right(rival.name, problem, sets[0], out, seed, rival.rounds_before)
        found.append(contender)
    return found


def measure(kernels: Kernels, problem: Problem, rounds: int, seed: int, sustained: bool,
            compiled: bool = False) -> Measurement:
    """Checks ours and torch's, then lets them take turns on rotating normal inputs."""
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    generator = torch.Generator(device="cuda").manual_seed(seed)
    sets = [make_operands(problem, generator) for _ in range(2 + 2 * cache // problem.bytes)]
    flags: list[str] = []
    contenders = contenders_of(kernels, problem, sets, seed, compiled, flags)
    taken = time_contenders(contenders, len(sets), rounds, seed, sustained)

    params = {**problem.params, "state": "sustained" if sustained else "burst", "torch": str(torch.__version__)}
    if DEEP_GEMM in taken.times:
        params[DEEP_GEMM] = str(deep_gemm().__version__)
    found = to_measurement(
        problem.name + ("/sustained" if sustained else ""), params, problem.flop, taken.times, OURS,
        {"l2": "cold", "seed": seed, "iterations": taken.calls, **taken.conditions}, problem.probe)
    found.flags += flags
    return found
