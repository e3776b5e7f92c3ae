# SPDX-License-Identifier: Apache-2.0
"""Few tokens by a layer's packed weights: packing, what packed weights stand for, and the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from assay_torch.library import KernelError

if TYPE_CHECKING:
    from assay_torch.library import Kernels

BITS = {"bf16": 16, "s8": 8, "e4m3": 8, "s4": 4, "s2": 2, "mxf4": 4, "nvf4": 4}
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


def skinny(kernels: Kernels, x: torch.Tensor, weights: Packed, out: torch.Tensor | None = None) -> torch.Tensor:
    """out[m, n] = x[m, k] @ weights.T for m from 1 to 64, bf16, on torch's current stream. Raises KernelError."""
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
