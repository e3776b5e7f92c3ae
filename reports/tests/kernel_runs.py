# SPDX-License-Identifier: Apache-2.0
"""A run of every matrix product: types, shapes of a model's layers, states, baselines, and the curves over tokens."""

import itertools

import report_runs
from machine_runs import series

from assay.files import Baseline, Estimate, Run

LAYERS = ((6144, 4096), (4096, 14336), (10240, 8192), (57344, 8192), (8192, 28672), (7168, 16384))
TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512)
STATES = ("", "/sustained")
WORST = ("kernels/gemm/e4m3/m64n57344k8192/nt", 0.5)  # its ratio to the best baseline, in a burst


def made(seed: int = 3) -> Run:
    make = report_runs.Maker(seed, report_runs.gpu("NVIDIA H200"))
    make.add("memory/hbm/copy", limit=4800, opcode="LDG.E.128", bandwidth_gb_per_s=4300)

    def pair(name: str, state: str, baselines: tuple[str, ...], **values: float) -> None:
        m = make.add(name + state, kind="kernel", **values)
        ratio = WORST[1] if name + state == WORST[0] else make.random.uniform(0.9, 1.1) + (0.2 if not state else 0)
        for step, baseline in enumerate(baselines):
            found = ratio * (1 + 0.05 * step)
            ends = (found * 0.99, found * 1.01)
            m.baselines.append(Baseline(baseline, Estimate(found, ends), Estimate(100.0, (99.0, 101.0))))

    tuned = ("cublaslt_best16", "cublaslt_first")
    for (n, k), state in itertools.product(LAYERS, STATES):
        for kind, m in itertools.product(("bf16", "e4m3"), (64, 512, 4096)):
            pair(f"kernels/gemm/{kind}/m{m}n{n}k{k}/nt", state, tuned, tflops=600 if kind == "bf16" else 1100)
        for m in (512, 4096):
            pair(f"kernels/gemm_block_scaled/e4m3_block128/m{m}n{n}k{k}/nt", state, tuned, tflops=1000)
        pair(f"kernels/grouped/bf16/g8m16384n{n}k{k}/contiguous_uneven", state, ("cublaslt_loop",), tflops=500)
    for (n, k), kind, m in itertools.product(LAYERS, ("bf16", "s4"), (1, 16)):
        pair(f"kernels/gemv/{kind}/m{m}n{n}k{k}", "", ("cublaslt_best16",), bandwidth_gb_per_s=3000 + n / 100)
    for (n, k), kind in itertools.product(LAYERS, ("bf16", "e4m3")):
        m = make.add(f"kernels/gemm_curve/{kind}/n{n}k{k}", kind="kernel", speedup_geometric_mean=1.1)
        curve = series("speedup", [make.random.uniform(0.8, 1.3) for _ in TOKENS], "", m=list(TOKENS))
        curve.ci95 = [(value * 0.98, value * 1.02) for value in curve.values]
        m.series = [curve]
    return make.run
