# SPDX-License-Identifier: Apache-2.0
"""Few tokens by a layer's packed weights: packing, what packed weights stand for, the call, and torch's beside it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from assay_torch.library import KernelError, require
from assay_torch.problem import WEIGHTS as BITS
from assay_torch.timing import result_of, time_contenders
from assay_torch.turns import Contender, to_measurement

if TYPE_CHECKING:
    from assay.files import Measurement
    from assay_torch.library import Kernels
    from assay_torch.problem import SkinnyProblem

OURS = "assay"
CHECKED_ROWS = 512  # of the weights, whose outputs are compared with float64
ROWS_AT_ONCE = 4096
BLOCK = {"s4": 128, "s2": 128, "mxf4": 32, "nvf4": 16}  # elements that share a scale; else a row has one
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


@dataclass(frozen=True)
class Packed:
    """Weights [n, k] as kernels/skinny/weights.hpp has them."""

    type: str
    n: int
    k: int
    data: torch.Tensor  # bytes [n, k * bits / 8], or bf16 [n, k]
    scales: torch.Tensor | None = None
    scale: torch.Tensor | None = None  # nvf4: one f32


def pack_codes(codes: torch.Tensor, bits: int) -> torch.Tensor:
    """Codes [n, k], the first of a byte in its low bits."""
    each = 8 // bits
    parts = codes.to(torch.uint8).reshape(codes.shape[0], -1, each)
    shifts = torch.arange(each, device=codes.device, dtype=torch.uint8) * bits
    return ((parts & (1 << bits) - 1) << shifts).sum(2, dtype=torch.uint8)


def unpack_codes(data: torch.Tensor, bits: int) -> torch.Tensor:
    shifts = torch.arange(8 // bits, device=data.device, dtype=torch.uint8) * bits
    return ((data.unsqueeze(2) >> shifts) & (1 << bits) - 1).flatten(1)


def _largest(values: torch.Tensor, block: int) -> torch.Tensor:
    return values.reshape(values.shape[0], -1, block).abs().amax(2).clamp_min(2.0**-100)


def _e2m1_codes(values: torch.Tensor) -> torch.Tensor:
    """The nearest of the eight magnitudes, with the sign."""
    table = torch.tensor(E2M1, device=values.device)
    middles = (table[1:] + table[:-1]) / 2
    return torch.bucketize(values.abs(), middles) + 8 * (values < 0)


def _aligned_rows(scales: torch.Tensor) -> torch.Tensor:
    """Scales [n, count] with rows of whole 16 bytes; zeros fill them up."""
    short = -scales.shape[1] % (16 // scales.element_size())
    return torch.cat([scales, scales.new_zeros(scales.shape[0], short)], 1) if short else scales


def quantize(weights: torch.Tensor, kind: str) -> Packed:
    """Float weights [n, k] packed: the greatest magnitude that shares a scale becomes the greatest code."""
    w = weights.float()
    n, k = w.shape
    if kind == "bf16":
        return Packed(kind, n, k, weights.to(torch.bfloat16).contiguous())
    block = BLOCK.get(kind, k)
    largest = _largest(w, block)
    scale = None
    if kind == "mxf4":
        exponents = (torch.ceil(torch.log2(largest / E2M1[-1])) + 127).clamp(0, 252)
        scales, steps = exponents.to(torch.uint8), torch.exp2(exponents - 127)
    elif kind == "nvf4":
        scale = (largest.max() / (E2M1[-1] * 448)).reshape(1)
        scales = (largest / (E2M1[-1] * scale)).to(torch.float8_e4m3fn)
        steps = (scales.float() * scale).clamp_min(2.0**-100)
    else:
        greatest = {"s8": 127, "e4m3": 448, "s4": 7, "s2": 1}[kind]
        scales = largest / greatest
        scales = scales.flatten() if kind in ("s8", "e4m3") else scales.to(torch.bfloat16)
        steps = scales.float().reshape(n, -1)
    values = w / steps.repeat_interleave(block, 1)
    if kind == "e4m3":
        data = values.clamp(-448, 448).to(torch.float8_e4m3fn).view(torch.uint8)
    elif kind in ("mxf4", "nvf4"):
        data = pack_codes(_e2m1_codes(values), 4)
    else:
        half = 1 << BITS[kind] - 1
        codes = values.round().clamp(-half, half - 1).to(torch.int16) & 2 * half - 1
        data = pack_codes(codes, BITS[kind])
    scales = _aligned_rows(scales.view(torch.uint8) if kind == "nvf4" else scales) if kind in BLOCK else scales
    return Packed(kind, n, k, data.contiguous(), scales.contiguous(), scale)


def expand(packed: Packed) -> torch.Tensor:
    """What packed weights stand for, in float64."""
    kind = packed.type
    if kind == "bf16":
        return packed.data.double()
    if kind == "e4m3":
        values = packed.data.view(torch.float8_e4m3fn).double()
    else:
        codes = unpack_codes(packed.data, BITS[kind]).long()
        if kind in ("mxf4", "nvf4"):
            table = torch.tensor(E2M1, device=codes.device, dtype=torch.float64)
            values = table[codes & 7] * (1 - 2 * (codes >> 3))
        else:
            half = 1 << BITS[kind] - 1
            values = ((codes ^ half) - half).double()
    scales = packed.scales.view(torch.float8_e4m3fn) if kind == "nvf4" else packed.scales
    scales = torch.exp2(scales.double() - 127) if kind == "mxf4" else scales.double()
    if packed.scale is not None:
        scales = scales * packed.scale.double()
    return values * scales.reshape(packed.n, -1).repeat_interleave(BLOCK.get(kind, packed.k), 1)[:, : packed.k]


def _require_packed(weights: Packed) -> None:
    """Raises KernelError for tensors that are not what kernels/skinny/weights.hpp has of such weights."""
    kind, n, k = weights.type, weights.n, weights.k
    if kind not in BITS:
        raise KernelError(f"skinny: there are no weights in {kind}; there are {', '.join(BITS)}")
    wanted = [("data", torch.bfloat16, (n, k)) if kind == "bf16" else ("data", torch.uint8, (n, k * BITS[kind] // 8))]
    if kind in ("s8", "e4m3"):
        wanted.append(("scales", torch.float32, (n,)))
    elif kind in BLOCK:
        element = torch.bfloat16 if kind in ("s4", "s2") else torch.uint8
        each = 16 // element.itemsize  # rows are of whole 16 bytes
        wanted.append(("scales", element, (n, -(-(k // BLOCK[kind]) // each) * each)))
    if kind == "nvf4":
        wanted.append(("scale", torch.float32, (1,)))
    for name, element, shape in wanted:
        tensor = getattr(weights, name)
        if tensor is None:
            raise KernelError(f"skinny: weights in {kind} need {name}, {element} {[*shape]}")
        if element is torch.uint8 and tensor.dtype.itemsize == 1:
            tensor = tensor.view(torch.uint8)  # whatever the bytes are called
        require("skinny", [(name, tensor, element, shape)])


def skinny(kernels: Kernels, x: torch.Tensor, weights: Packed, out: torch.Tensor | None = None) -> torch.Tensor:
    """out[m, n] = x[m, k] @ weights.T for m from 1 to 64, bf16, on torch's current stream. Raises KernelError."""
    _require_packed(weights)
    if x.dim() != 2 or x.shape[1] != weights.k:
        raise KernelError(f"skinny: x {[*x.shape]} does not fit weights {[weights.n, weights.k]}")
    out = x.new_empty(x.shape[0], weights.n) if out is None else out
    if out.shape != (x.shape[0], weights.n):
        raise KernelError(f"skinny: out is {[*out.shape]}, not {[x.shape[0], weights.n]}")
    for tensor in (x, out):
        if tensor.dtype != torch.bfloat16:
            raise KernelError("skinny: x and out must be bfloat16")
    for tensor in (x, out, weights.data, weights.scales, weights.scale):
        if tensor is not None and (not tensor.is_contiguous() or tensor.device != x.device):
            raise KernelError("skinny: needs contiguous tensors on one GPU")
    kernels.skinny(weights.type, out, x, weights.data, weights.scales, weights.scale,
                   x.shape[0], weights.n, weights.k)
    return out


def to_tinygemm(packed: Packed) -> tuple[torch.Tensor, torch.Tensor]:
    """s4 weights as torch._weight_int4pack_mm takes them: packed by torch, and a scale and a zero for each group.

    Its weight is (code - 8) scale + zero with codes 0 to 15, the first of a byte in its high bits; ours is two's
    complement, so codes differ by 8 and zeros are 0 (aten/src/ATen/native/cuda/int4mm.cu).
    """
    codes = unpack_codes(packed.data, 4) ^ 8
    data = torch._convert_weight_to_int4pack(codes[:, ::2] << 4 | codes[:, 1::2], 8)
    scales = packed.scales[:, : packed.k // BLOCK["s4"]].T
    return data, torch.stack([scales, torch.zeros_like(scales)], 2).contiguous()


def rows_of(packed: Packed, rows: torch.Tensor | slice) -> Packed:
    """Some rows of the weights."""
    data, scales = packed.data[rows], None if packed.scales is None else packed.scales[rows]
    return replace(packed, n=data.shape[0], data=data, scales=scales)


def whole(packed: Packed) -> torch.Tensor:
    """What they stand for in bf16, [n, k]; a part of the rows after the other, for float64 takes room."""
    if packed.type == "bf16":
        return packed.data
    made = torch.empty(packed.n, packed.k, device=packed.data.device, dtype=torch.bfloat16)
    for first in range(0, packed.n, ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        made[rows] = expand(rows_of(packed, rows)).to(torch.bfloat16)
    return made


def require_right(who: str, out: torch.Tensor, x: torch.Tensor, packed: Packed, seed: int, rounded: bool) -> None:
    """Raises KernelError unless `out` was written everywhere and some rows of it agree with float64.

    The bound is that of kernels/skinny/reference.hpp, and where weights are rounded to bf16 half a unit of them more.
    """
    if not bool(torch.isfinite(out).all()):
        raise KernelError(f"{who}: wrong result: an output is not finite, so it may never have been written")
    generator = torch.Generator(device=out.device).manual_seed(seed)
    rows = torch.randint(packed.n, (min(packed.n, CHECKED_ROWS),), device=out.device, generator=generator)
    out, weights = out[:, rows], expand(rows_of(packed, rows))
    reference, magnitude = x.double() @ weights.T, x.double().abs() @ weights.abs().T
    error = 2.0**-22 * -(-x.shape[1] // 16) + 2.0**-24 * 260 + (2.0**-8 if rounded else 0)
    worst = float(((out.double() - reference).abs() / (2.0**-8 * reference.abs() + error * magnitude)).max())
    if not worst <= 1:
        raise KernelError(f"{who}: wrong result: an error is {worst:.3g} times what rounding allows")


def measure(kernels: Kernels, problem: SkinnyProblem, rounds: int, seed: int, sustained: bool) -> Measurement:
    """Checks everybody, then lets them take turns on rotating normal tokens and weights."""
    m, n, k = problem.shape.m, problem.shape.n, problem.shape.k
    kind, flags = problem.weights, []
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def normal(*size: int) -> torch.Tensor:
        return torch.randn(*size, device="cuda", generator=generator)

    packed = [quantize(normal(n, k), kind)]
    scale_bytes = 0 if packed[0].scales is None else packed[0].scales.nbytes
    moved = packed[0].data.nbytes + scale_bytes + 2 * m * (k + n)  # as SkinnyProblem::bytes()
    sets = 2 + 2 * torch.cuda.get_device_properties(0).L2_cache_size // moved
    packed += [quantize(normal(n, k), kind) for _ in range(sets - 1)]
    x = [normal(m, k).to(torch.bfloat16) for _ in range(sets)]
    out = [torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(sets)]
    unpacked = [whole(each) for each in packed]

    def theirs() -> list[Contender]:
        found = [Contender("torch_matmul", lambda i: torch.matmul(x[i], unpacked[i].T, out=out[i]))]
        if kind == "s4" and hasattr(torch, "_weight_int4pack_mm"):
            repacked = functools.cache(lambda: [to_tinygemm(each) for each in packed])  # all when it is checked

            def tinygemm(i: int) -> torch.Tensor:
                data, scales = repacked()[i]
                return torch._weight_int4pack_mm(x[i], data, BLOCK[kind], scales)

            found.append(Contender("torch_int4pack_mm", tinygemm))
        return found

    contenders = [Contender(OURS, lambda i: skinny(kernels, x[i], packed[i], out[i]))]
    out[0].fill_(torch.nan)
    require_right(OURS, contenders[0].launch(0), x[0], packed[0], seed, False)
    for contender in theirs():
        out[0].fill_(torch.nan)
        made = result_of(contender, flags)
        if made is not None:
            require_right(contender.name, made, x[0], packed[0], seed, True)
            contenders.append(contender)
    taken = time_contenders(contenders, sets, rounds, seed, sustained)
    found = to_measurement(
        problem.name + ("/sustained" if sustained else ""),
        {"type": kind, "m": m, "n": n, "k": k, "state": "sustained" if sustained else "burst",
         "torch": str(torch.__version__)},
        problem.flop, taken.times, OURS,
        {"l2": "cold", "seed": seed, "iterations": taken.calls, **taken.conditions}, problem.probe, moved)
    found.flags += flags
    return found
