# SPDX-License-Identifier: Apache-2.0
"""The answers as sentences: for each question a function of a run, which says at most two, of products of few
tokens five."""

from __future__ import annotations

from collections.abc import Callable

from ..answer.findings import Sentence
from ..book.model import Book, Column
from ..book.products import GEMM
from . import few_tokens, kernels, memory, numerics, published, sass, special_function, system, tensor_core

SENTENCES: dict[int, Callable[[Book, Column], list[Sentence | None]]] = {
    1: tensor_core.rates,
    2: tensor_core.to_peak,
    3: tensor_core.fp32,
    4: numerics.adding,
    5: tensor_core.by_data,
    6: numerics.permuting,
    7: special_function.bottleneck,
    8: special_function.overlap,
    9: special_function.polynomial,
    10: sass.costs,
    11: kernels.hot_loops,
    12: sass.checked,
    13: memory.levels,
    14: memory.tma,
    15: memory.tensor_memory,
    16: memory.atomics,
    17: system.host_links,
    18: system.launches,
    19: system.placement,
    20: memory.barriers,
    21: system.workers,
    22: kernels.beside_library(GEMM),
    23: few_tokens.few_tokens,
    24: kernels.beside_library(("grouped",)),
    25: kernels.fastest(r"kernels/(attention|mla_decode)/.*", "tflops", "Our attention"),
    26: kernels.of_copy(
        r"kernels/(softmax|norm_quantize|rms_?norm\w*|transpose|reduction|hadamard|quantize\w*)/.*",
        "A memory-bound step",
    ),
    27: kernels.fastest(r"kernels/triangular\w*/.*", "tflops", "Our triangular inverse"),
    28: kernels.fastest(
        r"kernels/.*(batch_invariant|deterministic|fixed_order).*", "tflops", "Our kernel of fixed order"
    ),
    29: system.collectives,
    30: system.peers,
    31: system.beside_gemm,
    32: sass.targets,
    33: tensor_core.peak,
    39: system.cpu,
    40: published.agreement,
    41: memory.fences,
    42: kernels.clock,
}
