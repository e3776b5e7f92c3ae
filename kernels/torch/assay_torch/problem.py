# SPDX-License-Identifier: Apache-2.0
"""What a matrix product is, by the names that the suite's cases have."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

TYPES = ("bf16", "f16", "e4m3", "e5m2")
RESULTS = ("bf16", "f16", "f32")
LAYOUTS = ("nt", "nn", "tn", "tt")
EPILOGUES = ("none", "alpha_beta", "bias", "bias_gelu", "bias_gelu_tanh", "bias_silu")
SCALINGS = ("tensor", "row", "block")
BLOCK = 128  # of "block": along k of A, along n and k of B
BYTES = {"bf16": 2, "f16": 2, "f32": 4, "e4m3": 1, "e5m2": 1}


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


@dataclass(frozen=True)
class Problem:
    """D = activation(alpha * scale * A B + beta * C + bias); kernels/gemm/gemm.hpp has the layouts."""

    shape: Shape
    type: str = "bf16"  # of A
    type_b: str = "bf16"
    type_d: str = "bf16"
    layout: str = "nt"
    epilogue: str = "none"
    scaling: str = "none"  # of 8-bit operands: one of SCALINGS

    @classmethod
    def of(cls, shape: Shape, type: str, type_b: str | None = None, type_d: str | None = None, layout: str = "nt",
           epilogue: str = "none", scaling: str | None = None) -> Problem:
        """With the usual answers to what is not given. Raises ValueError for what no kernel does."""
        narrow = BYTES[type] == 1
        made = cls(shape, type, type_b or type, type_d or ("bf16" if narrow else type), layout, epilogue,
                   (scaling or "tensor") if narrow else "none")
        if narrow != (BYTES[made.type_b] == 1) or (not narrow and made.type_b != type):
            raise ValueError(f"there is no product of {type} and {made.type_b}")
        if narrow and layout != "nt":
            raise ValueError(f"8-bit operands are multiplied in layout nt only, not {layout}")
        if not narrow and scaling:
            raise ValueError(f"scales belong to 8-bit operands, not to {type}")
        if made.blocks and (made.type, made.type_b, made.type_d, epilogue) != ("e4m3", "e4m3", "bf16", "none"):
            raise ValueError("scales of blocks belong to e4m3 operands with a bf16 result and nothing after the sum")
        return made

    def at(self, shape: Shape) -> Problem:
        """The same of another shape."""
        return replace(self, shape=shape)

    @property
    def narrow(self) -> bool:
        return BYTES[self.type] == 1

    @property
    def blocks(self) -> bool:
        """1x128 elements of A, and 128x128 of B, have a scale each: kernels/gemm_block_scaled."""
        return self.scaling == "block"

    @property
    def alpha(self) -> float:
        return 1.25 if self.epilogue == "alpha_beta" else 1.0

    @property
    def beta(self) -> float:
        return -0.5 if self.epilogue == "alpha_beta" else 0.0

    @property
    def bias(self) -> bool:
        return self.epilogue.startswith("bias")

    @property
    def activation(self) -> str:
        return self.epilogue.removeprefix("bias_") if self.epilogue.startswith("bias_") else "identity"

    @property
    def bytes(self) -> int:
        """Of all operands."""
        m, n, k = self.shape.m, self.shape.n, self.shape.k
        result = m * n * BYTES[self.type_d] * (2 if self.beta else 1)
        return m * k * BYTES[self.type] + n * k * BYTES[self.type_b] + result

    @property
    def flop(self) -> float:
        return 2.0 * self.shape.m * self.shape.n * self.shape.k

    @property
    def name(self) -> str:
        """As the suite's case has it: "kernels/gemm/e4m3/m64n64k64/nt/row_bias"."""
        if self.blocks:
            return f"kernels/gemm_block_scaled/e4m3_block128/{self.shape}/nt"
        types = self.type if self.type_b == self.type else f"{self.type}_{self.type_b}"
        words = ["row"] if self.scaling == "row" else []
        if self.type_d != ("bf16" if self.narrow else self.type):
            words.append(self.type_d)
        if self.epilogue != "none":
            words.append(self.epilogue)
        return "/".join(["kernels/gemm", types, str(self.shape), self.layout, *(["_".join(words)] if words else [])])

    @property
    def probe(self) -> str:
        return "/".join(self.name.split("/")[:2])

    @property
    def params(self) -> dict:
        shape = self.shape
        return {"type": self.type, "type_b": self.type_b, "type_d": self.type_d, "layout": self.layout,
                "m": shape.m, "n": shape.n, "k": shape.k, "epilogue": self.epilogue, "scaling": self.scaling}


WEIGHTS = {"bf16": 16, "s8": 8, "e4m3": 8, "s4": 4, "s2": 2, "mxf4": 4, "nvf4": 4}  # bits: kernels/skinny/weights.hpp
MOST_TOKENS = 64
MOST_OUTPUTS, MOST_INPUTS = 2**30, 2**22  # n and k: kernels/skinny/skinny.hpp
K_STEP = {"bf16": 8, "s8": 16, "e4m3": 16, "s4": 128, "s2": 128, "mxf4": 32, "nvf4": 32}  # what k is a multiple of


@dataclass(frozen=True)
class SkinnyProblem:
    """Few tokens by a layer's weights, which may be packed: D[m, n] = X[m, k] W[n, k].T, X and D in bf16."""

    shape: Shape
    weights: str

    @classmethod
    def of(cls, shape: Shape, weights: str) -> SkinnyProblem:
        """Raises ValueError for what the kernel does not do."""
        if shape.m > MOST_TOKENS:
            raise ValueError(f"{shape}: weights in {weights} are multiplied by at most {MOST_TOKENS} tokens (m)")
        if shape.n > MOST_OUTPUTS or shape.k > MOST_INPUTS:
            raise ValueError(f"{shape}: n must be at most {MOST_OUTPUTS} and k at most {MOST_INPUTS}")
        if shape.k % K_STEP[weights]:
            raise ValueError(f"{shape}: k must be a multiple of {K_STEP[weights]} for weights in {weights}")
        return cls(shape, weights)

    @property
    def name(self) -> str:
        """As kernels/skinny/cases.cpp names it."""
        return f"kernels/gemv/{self.weights}/{self.shape}"

    @property
    def probe(self) -> str:
        return "kernels/gemv"

    @property
    def flop(self) -> float:
        return 2.0 * self.shape.m * self.shape.n * self.shape.k
