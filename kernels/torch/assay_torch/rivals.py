# SPDX-License-Identifier: Apache-2.0
"""What torch has for a matrix product: the calls that a program would make, and their compiled form. And DeepGEMM."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import torch

from assay_torch.library import Operands, torch_type
from assay_torch.problem import BLOCK, Problem

Call = Callable[[Operands], torch.Tensor]
DEEP_GEMM = "deep_gemm"


@dataclass(frozen=True)
class Rival:
    """A call by name. `differs`: why its result is another one, though it does the same work; "" if it is not.
    `rounds_before`: it rounds to D's type what the activation reads."""

    name: str
    call: Call
    differs: str = ""
    rounds_before: bool = False


def factors(problem: Problem, o: Operands) -> tuple[torch.Tensor, torch.Tensor]:
    """A as [m, k] and B as [k, n], views of what is stored."""
    return o.a if problem.layout[0] == "n" else o.a.T, o.b if problem.layout[1] == "n" else o.b.T


def activated(problem: Problem, values: torch.Tensor) -> torch.Tensor:
    """What torch makes of them by the problem's activation."""
    if problem.activation == "silu":
        return torch.nn.functional.silu(values)
    if problem.activation.startswith("gelu"):
        return torch.nn.functional.gelu(values, approximate="tanh" if problem.activation == "gelu_tanh" else "none")
    return values


def _matmul(problem: Problem, o: Operands) -> torch.Tensor:
    a, b = factors(problem, o)
    if problem.type_d != problem.type:
        return torch.mm(a, b, out_dtype=torch_type(problem.type_d))
    return torch.matmul(a, b, out=o.d)


def _addmm(problem: Problem, o: Operands) -> torch.Tensor:
    a, b = factors(problem, o)
    return torch.addmm(o.c, a, b, beta=problem.beta, alpha=problem.alpha, out=o.d)


def _linear(problem: Problem, o: Operands) -> torch.Tensor:
    a, b = factors(problem, o)
    if problem.epilogue == "bias":
        return torch.addmm(o.bias, a, b, out=o.d)
    return activated(problem, torch.addmm(o.bias, a, b))


def _fused_gelu(problem: Problem, o: Operands) -> torch.Tensor:
    a, b = factors(problem, o)
    return torch._addmm_activation(o.bias, a, b, use_gelu=True, out=o.d)


def _scaled(problem: Problem, o: Operands) -> torch.Tensor:
    a, b = factors(problem, o)
    return torch._scaled_mm(a, b, scale_a=o.scale_a, scale_b=o.scale_b, bias=o.bias,
                            out_dtype=torch_type(problem.type_d), use_fast_accum=True)


def _block_scales(problem: Problem, o: Operands) -> tuple[torch.Tensor, torch.Tensor]:
    """Of A as [m, blocks of k] and of B as [blocks of n, blocks of k], views of what is stored."""
    along_k = -(-problem.shape.k // BLOCK)
    return o.scale_a.T[:problem.shape.m], o.scale_b[:, :along_k]


def _block_scaled(problem: Problem, o: Operands) -> torch.Tensor:
    a, b = factors(problem, o)
    scale_a, scale_b = _block_scales(problem, o)
    return torch._scaled_mm(a, b, scale_a=scale_a, scale_b=scale_b.T, out_dtype=torch.bfloat16, use_fast_accum=False)


def deep_gemm() -> ModuleType | None:
    """DeepGEMM (github.com/deepseek-ai/DeepGEMM), where it is installed."""
    try:
        return importlib.import_module(DEEP_GEMM)
    except ImportError:
        return None


def _deep_gemm(problem: Problem) -> Rival | None:
    """The best known open kernels of the products that they do, on the layouts of their own that ours has too."""
    module = deep_gemm()
    if module is None or problem.layout != "nt" or problem.epilogue != "none" or problem.type_d != "bf16":
        return None

    def plain(o: Operands) -> torch.Tensor:
        module.bf16_gemm_nt(o.a, o.b, o.d)
        return o.d

    def scaled(o: Operands) -> torch.Tensor:
        scale_a, scale_b = _block_scales(problem, o)
        module.fp8_gemm_nt((o.a, scale_a), (o.b, scale_b), o.d, disable_ue8m0_cast=True)
        return o.d

    if problem.blocks:
        return Rival(DEEP_GEMM, scaled)
    return Rival(DEEP_GEMM, plain) if problem.type == "bf16" else None


def _functional(problem: Problem) -> Callable[..., torch.Tensor]:
    """The whole product without `out`, for the compiler to fuse."""

    def product(a, b, c, bias, scale_a, scale_b):
        if problem.narrow:
            return torch._scaled_mm(a, b, scale_a=scale_a, scale_b=scale_b, bias=bias,
                                    out_dtype=torch_type(problem.type_d), use_fast_accum=True)
        if c is not None:
            return torch.addmm(c, a, b, beta=problem.beta, alpha=problem.alpha)
        made = a @ b if bias is None else torch.addmm(bias, a, b)
        return activated(problem, made)

    return product


def _compiled(problem: Problem) -> Call:
    # Of this shape alone, and tuned as far as it goes. Without CUDA graphs, which would copy the inputs that rotate.
    made = torch.compile(_functional(problem), mode="max-autotune-no-cudagraphs", dynamic=False)

    def call(o: Operands) -> torch.Tensor:
        return made(*factors(problem, o), o.c, o.bias, o.scale_a, o.scale_b)

    return call


def rivals(problem: Problem, compiled: bool) -> list[Rival]:
    """Of a problem; none where torch has nothing but a chain of other kernels."""

    def eager(name: str, function: Callable[[Problem, Operands], torch.Tensor], differs: str = "",
              rounds_before: bool = False) -> Rival:
        return Rival(name, lambda o: function(problem, o), differs, rounds_before)

    if problem.blocks:
        found = [eager("torch_scaled_mm", _block_scaled)]
    elif problem.narrow:
        simple = problem.epilogue in ("none", "bias")
        found = [eager("torch_scaled_mm", _scaled)] if simple else []
    elif problem.epilogue == "none":
        found = [eager("torch_matmul", _matmul)]
    elif problem.epilogue == "alpha_beta":
        found = [eager("torch_addmm", _addmm)]
    else:
        found = [eager("torch_addmm", _linear, rounds_before=problem.activation != "identity")]
        if problem.activation == "gelu":
            found.append(eager("torch_addmm_gelu", _fused_gelu, "its GELU is by tanh"))
        elif problem.activation == "gelu_tanh":
            found.append(eager("torch_addmm_gelu", _fused_gelu))
    if other := _deep_gemm(problem):
        found.append(other)
    if compiled and found and not problem.blocks and problem.type_d == ("bf16" if problem.narrow else problem.type):
        found.append(Rival("torch_compile", _compiled(problem)))
    return found
