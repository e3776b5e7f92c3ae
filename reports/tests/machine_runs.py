# SPDX-License-Identifier: Apache-2.0
"""Made-up measurements of instructions, pipes, matrix math and numerics, with series and counters, for the tests."""

from __future__ import annotations

from typing import Any

from report_runs import Maker

from assay.files import Axis, Measurement, Run, Series

# Instruction -> (cycles alone, pipe): POPC and MUFU share one, IADD3 and LOP3 another; FADD is limited by issue alone.
PIPES = {
    "fadd/f32": (1.0, "fma"),
    "imad/s32": (2.0, "fma"),
    "hfma2/f16x2": (2.0, "fma"),
    "iadd3/s32": (2.0, "alu"),
    "lop3/b32": (2.0, "alu"),
    "popc/b32": (8.0, "xu"),
    "ex2/f32": (8.0, "xu"),
}


def series(name: str, values: list[float | None], unit: str = "", **axes: list[Any]) -> Series:
    return Series(name, unit, [Axis(axis, points) for axis, points in axes.items()], values)


def counters(m: Measurement, **shares: float) -> None:
    """As CUPTI counts a loop of 32 instructions and 3 that control it."""
    m.sass["loop"] = {m.params.get("opcode", "FFMA"): 32, "BRA": 1, "ISETP.NE.U32.AND": 1, "UIADD3": 1}
    m.counters = {"smsp__inst_executed.sum": 35e6, "dram__bytes_read.sum": None}
    for pipe in ("alu", "fma", "fmaheavy", "fp64", "xu", "tensor"):
        executed = 32e6 * shares.get(pipe, 0) + (1e6 if pipe == "alu" else 0)
        m.counters[f"sm__inst_executed_pipe_{pipe}.sum"] = executed


def pipes(make: Maker, lie: str = "") -> None:
    """Pairs of the instructions of PIPES. The counters put the instruction `lie` on the tensor pipe."""
    names = list(PIPES)
    for i, name in enumerate(names):
        alone, pipe = PIPES[name]
        m = make.add(f"sass/pipes/{name}", cycles_per_instruction=alone, params={"opcode": name.split("/")[0].upper()})
        m.metrics["cycles_per_instruction"].value = alone
        partners = names[i + 1 :]
        together = [alone + PIPES[p][0] if PIPES[p][1] == pipe else max(alone, PIPES[p][0], 2.0) for p in partners]
        m.series = [series("pair_cycles", together, "cycle", partner=partners)]
        half = {"fma": 0.5, "tensor": 0.5} if name.startswith("hfma2") else {pipe: 1.0}
        counters(m, **({"tensor": 1.0} if name == lie else {**half, "fmaheavy": half.get("fma", 0)}))


def instructions(make: Maker) -> None:
    for name, opcode, rate, latency in (("sass/shf/b32", "SHF", 64, 4.1), ("sass/bfe/u32", "BFE", 16, 30.0)):
        m = make.add(
            name,
            limit=64,
            opcode=opcode,
            params={"warps": 8, "chains": 4, "opcode": opcode},
            ops_per_clock_per_sm=rate,
            latency_cycles=latency,
            issue_interval_cycles=2.0,
        )
        m.series = [series("ops_per_clock_per_sm", [8, 16, None, 32], "op/clk/SM", chains=[1, 2], warps=[4, 8])]
        counters(m, alu=1.0)
    m.sass.update(emulated=True, loop={"SHF.R": 8, "LOP3.LUT": 16, "BRA": 1, "S2R": 1})


def tensor_cores(make: Maker) -> None:
    for source in ("rs", "sparse_ss", "sparse_rs"):
        for n in (8, 64, 256):
            rate = 4096 * (2 if "sparse" in source else 1) * min(1, n / 64)
            name = f"tensor_core/wgmma/bf16/m64n{n}/{source}"
            make.add(name, limit=rate, flop_per_clock_per_sm=rate, latency_cycles=max(13, n / 2), tflops=rate * 132 * 1830e-6)
    make.add("tensor_core/wgmma/e4m3/m64n256/ss/acc_f16", flop_per_clock_per_sm=8192, params={"accumulate": "f16"})
    m = make.add(
        "tensor_core/wgmma_in_flight/bf16/ss",
        flop_per_clock_per_sm=4090,
        params={"smallest_n": 128, "smallest_chains": 1, "smallest_pending": 1, "smallest_warpgroups": 2},
    )
    rates = [2000.0, 4090, None, 4091, 4092, None, None, None]
    m.series = [
        series("flop_per_clock_per_sm", rates, "FLOP/clk/SM", n=[256], chains=[1, 2], pending=[0, 1], warpgroups=[1, 2])
    ]
    make.add("tensor_core/fp32_matmul/tf32x3", tflops=160.0, max_error=1e-6)
    for kind in ("bf16", "e4m3"):
        for data, share in (("zeros", 1.0), ("normal", 0.8), ("random_bits", 0.75)):
            m = make.add(f"tensor_core/power/{kind}/{data}", tflops=900 * share, power_w=690.0, clock=1980 * share)
            m.params["data"] = data


def numerics(make: Maker) -> None:
    for family, kind, bits in (("wgmma", "e4m3", 13), ("mma_sync", "bf16", 25), ("wgmma", "f16/acc_f16", 11)):
        m = make.add(f"numerics/accumulate/{family}/{kind}", model_agreement=1.0)
        m.metrics["accumulator_fraction_bits"] = make.metric("accumulator_fraction_bits", bits, width=0)
        m.metrics["products_per_sum"] = make.metric("products_per_sum", 32, width=0)
        m.params = {"finding": f"keeps {bits} bits and truncates", "addends": "truncated", "nan": "0x7fffffff"}
    m = make.add("numerics/multiply_add/fma_f32", fused_agreement=1.0)
    m.params = {"finding": "fused, rounded once"}
    ks = [32, 256, 2048]
    for kind, scale in (("e4m3", 1e-3), ("f16", 1e-6)):
        m = make.add(f"numerics/error_growth/wgmma/{kind}", promotion_gain=12.0)
        for variant, share in (("in_mma", 1.0), ("promoted", 0.1), ("float32", 0.01)):
            m.series.append(series(f"relative_error_positive_{variant}", [scale * share * k for k in ks], k=ks))
    # Two instructions of one map: element = row * 4 + column, two elements in a register.
    for kind in ("f16", "bf16"):
        m = make.add(f"numerics/fragment/mma_sync/{kind}/m16n8k8/a", matches_ptx_isa=1.0)
        m.metrics["matches_ptx_isa"].value = 1.0
        m.params = {"operand": "a", "rows": 2, "columns": 4}
        m.series = [series("map", [0, 1, 2, 3, 4, 5, 6, None], register=[0, 1], lane=[0, 1], element=[0, 1])]
    for way, added in (("shuffles", 400.0), ("permute_other_operand", 0.0)):
        make.add(f"numerics/fp8_permutation/{way}", cycles_per_tile=600 + added, added_cycles_per_tile=added)


def functions(make: Maker) -> None:
    for degree in (3, 5):
        m = make.add(
            f"special_function/exp2_polynomial_mix/degree{degree}", ops_per_clock_per_sm=28.0, speedup_over_mufu=1.7
        )
        m.params = {"degree": degree}
        sweep = [16, 20, 28 - degree, 20, 16, 20, 29, 21]
        m.series = [
            series(
                "results_per_clock_per_sm", sweep, argument=["scaled", "negated"], polynomial_sixteenths=[0, 4, 8, 16]
            )
        ]
        make.add(f"special_function/exp2_accuracy/degree{degree}", max_ulp=100.0 / degree, bf16_misrounded_share=0.01)
    for schedule, efficiency in (("one_warpgroup", 0.7), ("ping_pong", 0.95)):
        m = make.add(
            f"special_function/overlap/wgmma_bf16/{schedule}/ffma_ex2_fadd", overlap_efficiency=efficiency, overlap=0.8
        )
        steps = [8, 16, 32]
        m.series = [
            series("exp_to_mma_time", [0.5, 1.0, 2.0], exps=steps),
            series("overlap_efficiency", [0.9, efficiency, None], exps=steps),
        ]
    make.add(
        "special_function/interference/wgmma_bf16_f32",
        tensor_cycles_per_ex2=0.01,
        independent_efficiency_ffma_ex2_fadd=0.97,
    )


def machine(seed: int = 5) -> Run:
    """A run that has all of the above, beside an ex2 and an FFMA for what is derived from them."""
    make = Maker(seed)
    make.add("special_function/ex2/f32", limit=16, ops_per_clock_per_sm=16, latency_cycles=17)
    make.add("special_function/ffma/f32", limit=256, flop_per_clock_per_sm=254)
    make.add("tensor_core/wgmma/tf32/m64n256/ss", limit=2048, flop_per_clock_per_sm=2048, latency_cycles=128)
    make.add("tensor_core/mma_sync/e4m3/m16n8k32", flop_per_clock_per_sm=760, latency_cycles=84).flags.append(
        "emulated"
    )
    for part in (pipes, instructions, tensor_cores, numerics, functions):
        part(make)
    return make.run


ISA = {
    "schema": "assay.isa/1",
    "assembler": "ptxas 13.0",
    "targets": ["sm_90a", "sm_120a"],
    "forms": [
        {
            "name": "wgmma.f16",
            "group": "wgmma",
            "ptx": "",
            "targets": {"sm_90a": {"status": "native"}, "sm_120a": {"status": "rejected"}},
        },
        {
            "name": "mma.e4m3",
            "group": "mma",
            "ptx": "",
            "targets": {"sm_90a": {"status": "emulated"}, "sm_120a": {"status": "native"}},
        },
    ],
}
