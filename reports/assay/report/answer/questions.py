# SPDX-License-Identifier: Apache-2.0
"""The questions of the suite, and the rows that answer each.

A question may name its rows by regular expressions over whole measurement names. Others are answered by the family that
measures what they ask, or by `suite`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pick:
    """Rows that answer: a pattern of names, optionally one metric (else each case's headline), at most `limit`."""

    pattern: str
    metric: str | None = None
    limit: int = 4
    label: str | None = None  # where the name of the case does not say what the figure is


@dataclass(frozen=True)
class Question:
    number: int
    ask: str
    picks: tuple[Pick, ...] = ()


PARTS: dict[str, tuple[Question, ...]] = {
    "Tensor cores": (
        Question(1, "What does each MMA family really deliver, per clock and sustained?"),
        Question(
            2,
            "Latency of one MMA; how large an N, how many warps to reach the peak?",
            (
                Pick(r"tensor_core/wgmma/bf16/m64n(256|64|8)/ss", "latency_cycles", 3),
                Pick(r"tensor_core/wgmma/bf16/m64n256/ss", "completion_cycles", 1, "one alone, until it is waited for"),
                Pick(r"tensor_core/mma_sync/(bf16|f16)/m16n8k16", "latency_cycles", 2),
                Pick(r"tensor_core/tcgen05/(bf16|f16)/.*", "latency_cycles", 2),
            ),
        ),
        Question(
            3,
            "What of fp32 matmul runs on tensor cores? Is fp8 mma.sync native?",
            (
                Pick(r"tensor_core/(wgmma/tf32/m64n256/ss|(mma_sync|tcgen05)/tf32/.*)", "flop_per_clock_per_sm", 2),
                Pick(r"tensor_core/fp32_matmul/\w+", "flop_per_clock_per_sm", 3),
                Pick(r"(special_function|sass)/ffma/.*", None, 1),
                Pick(r"tensor_core/mma_sync/e4m3/.*", "flop_per_clock_per_sm", 2),
            ),
        ),
        Question(
            4,
            "Numerics: accumulator width, rounding, subnormals",
            (Pick(r"numerics/(?!fragment|.*(layout|permutation)).*", None, 6),),
        ),
        Question(
            5,
            "How much do TFLOP/s depend on the data?",
            (Pick(r"tensor_core/.*/(zeros|constant|uniform_bits)", "tflops", 6),),
        ),
        Question(
            6,
            "FP8 operand layouts, and what the permutation costs",
            (Pick(r".*(layout|permut)\w*.*", None, 4),),
        ),
    ),
    "Special functions against matrix math": (
        Question(7, "At which head dimension does exp2 become the bottleneck of attention?"),
        Question(
            8,
            "How far do MMA and exp2 overlap inside one SM?",
            (Pick(r"special_function/.*overlap.*", None, 5),),
        ),
        Question(
            9,
            "When does a polynomial exp2, or a 2-wide one, beat MUFU.EX2?",
            (
                Pick(r"special_function/ex2/.*", "ops_per_clock_per_sm", 4),
                Pick(r"special_function/exp2_f16x2/.*", "ops_per_clock_per_sm", 3),
            ),
        ),
    ),
    "SASS pipelines": (
        Question(
            10,
            "Latency and issue rate of the common instructions; shared pipes",
            tuple(
                Pick(f"sass/{name}", "latency_cycles", 1)
                for name in ("ffma/f32", "hfma2/f16x2", "dfma/f64", "imad/s32", "iadd3/s32", "lop3/b32", "shfl/idx_b32")
            ),
        ),
        Question(
            11,
            "What bounds the hot loop of a kernel, and does the time agree?",
        ),
        Question(12, "Did the compiler emit what was asked for?"),
    ),
    "Memory, TMA, TMEM": (
        Question(13, "Latency and bandwidth of every level"),
        Question(14, "TMA: latency, bandwidth, and how deep a pipeline hides it"),
        Question(15, "TMEM: load, store and copy"),
        Question(16, "Atomics against a shared-memory reduction"),
        Question(
            17,
            "Host transfers: what offloading costs",
            tuple(
                Pick(f"host/dram_bandwidth/{how}", None, 1, f"the CPU's memory, {how}")
                for how in ("copy", "read", "triad")
            ),
        ),
    ),
    "Scheduling and launch": (
        Question(18, "Fixed costs: launch, graph, dependent launch, event, memset"),
        Question(19, "Where do CTAs land? Waves and tails"),
        Question(20, "Barriers: cycles each; cost of setmaxnreg"),
        Question(21, "Many small workers: where does throughput saturate?"),
    ),
    "Kernels people actually run": (
        Question(22, "GEMM against the vendor library, over LLM shapes"),
        Question(
            23, "Batch-1 decode: is GEMV at memory bandwidth?", (Pick(r"kernels/gemv/.*", "bandwidth_gb_per_s", 5),)
        ),
        Question(24, "Grouped GEMM of mixture-of-experts layers", (Pick(r"kernels/grouped_gemm/.*", None, 4),)),
        Question(25, "Attention forward and MLA decode", (Pick(r"kernels/(attention|mla_decode)/.*", None, 6),)),
        Question(
            26,
            "Memory-bound steps: share of copy bandwidth",
            (
                Pick(
                    r"kernels/(softmax|norm_quantize|rms_?norm\w*|transpose|reduction|hadamard|quantize\w*)/.*",
                    "bandwidth_gb_per_s",
                    6,
                ),
            ),
        ),
        Question(
            27,
            "Small triangular inverse: substitution or block doubling?",
            (Pick(r"kernels/triangular\w*/.*", None, 4),),
        ),
        Question(
            28,
            "What does batch invariance cost?",
            (Pick(r"kernels/.*(batch_invariant|deterministic|fixed_order).*", None, 4),),
        ),
    ),
    "Several GPUs": (
        Question(29, "Collective bus bandwidth and latency; where are the knees?"),
        Question(
            30,
            "Peer links; one-shot and two-shot all-reduce against NCCL",
            (Pick(r"kernels/all_reduce/.*", None, 4),),
        ),
        Question(
            31, "What does a running collective cost a GEMM?", (Pick(r"(collective|kernels)/.*overlap.*", None, 4),)
        ),
    ),
    "The map": (
        Question(32, "Which instruction exists on which target?"),
        Question(33, "Where did the peak go?"),
        Question(34, "Is this GPU like its siblings?"),
        Question(35, "Did this commit make a kernel slower?"),
    ),
}
