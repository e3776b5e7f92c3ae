# SPDX-License-Identifier: Apache-2.0
"""The parts of the report, the questions that each opens with, and the rows that the answers rest on.

A question may name its rows by regular expressions over whole measurement names. Others are answered by the family that
measures what they ask, or by `suite`.
"""

from __future__ import annotations

from functools import lru_cache

from .question import Part, Pick, Question

UNMEASURED = "No probe of this suite measures it yet."  # a run of another program may

TENSOR_CORES = (
    Question(
        1,
        "What does each family of matrix instructions deliver, per clock and under lasting load?",
        "Rates of matrix instructions",
        "^tensor_core/(wgmma|mma_sync|tcgen05)/",
    ),
    Question(
        2,
        "How long does one MMA take, and what does it take to reach the peak?",
        "Latency of an MMA, and the way to the peak",
        "^tensor_core/(wgmma|mma_sync)",
        (
            Pick(r"tensor_core/wgmma/bf16/m64n(256|64|8)/ss", "latency_cycles", 3),
            Pick(r"tensor_core/wgmma/bf16/m64n256/ss", "completion_cycles", 1, "one alone, until it is waited for"),
            Pick(r"tensor_core/mma_sync/(bf16|f16)/m16n8k16", "latency_cycles", 2),
            Pick(r"tensor_core/tcgen05/(bf16|f16)/.*", "latency_cycles", 2),
        ),
    ),
    Question(
        3,
        "Does fp32 matmul run on tensor cores, and is fp8 mma.sync native?",
        "fp32 matmul and fp8 mma.sync",
        "^tensor_core/(fp32_matmul|mma_sync)/",
        (
            Pick(r"tensor_core/(wgmma/tf32/m64n256/ss|(mma_sync|tcgen05)/tf32/.*)", "flop_per_clock_per_sm", 2),
            Pick(r"tensor_core/fp32_matmul/\w+", "flop_per_clock_per_sm", 3),
            Pick(r"(special_function|sass)/ffma/.*", None, 1),
            Pick(r"tensor_core/mma_sync/e4m3/.*", "flop_per_clock_per_sm", 2),
        ),
    ),
    Question(
        5,
        "How much does throughput depend on the data?",
        "Power and throughput by data",
        "^tensor_core/power",
        (Pick(r"tensor_core/.*/(zeros|constant|uniform_bits)", "tflops", 6),),
    ),
    Question(33, "Where did the peak go?", "From the datasheet to our GEMM", "^(tensor_core/wgmma|kernels/gemm)/"),
)

SPECIAL_FUNCTIONS = (
    Question(
        7,
        "At which head dimension does exp2 become the bottleneck of attention?",
        "exp2 against matrix math",
        "^special_function/imbalance/",
    ),
    Question(
        8,
        "How far do MMA and exp2 overlap inside one SM?",
        "Overlap of MMA and exp2",
        "^special_function/(overlap|interference)/",
        (Pick(r"special_function/.*overlap.*", None, 5),),
    ),
    Question(
        9,
        "When does a polynomial beat the special-function unit at exp2?",
        "exp2 by polynomial, and two at once",
        "^special_function/exp2",
        (
            Pick(r"special_function/ex2/.*", "ops_per_clock_per_sm", 4),
            Pick(r"special_function/exp2_f16x2/.*", "ops_per_clock_per_sm", 3),
        ),
    ),
)

INSTRUCTIONS = (
    Question(
        10,
        "What do the common instructions cost, and which share a pipe?",
        "Latencies, operands and pipes",
        "^sass/",
        tuple(
            Pick(f"sass/{name}", "latency_cycles", 1)
            for name in ("ffma/f32", "hfma2/f16x2", "dfma/f64", "imad/s32", "iadd3/s32", "lop3/b32", "shfl/idx_b32")
        ),
    ),
    Question(12, "Did the compiler emit what was asked for?", "Checked machine code"),
    Question(
        32,
        "Which instruction exists on which target?",
        "Instructions by target",
        otherwise="The assembler tells: give the report what assay isa --json printed, by --isa.",
    ),
)

NUMERICS = (
    Question(
        4,
        "How do matrix instructions add, and what is lost?",
        "How matrix instructions add",
        "^numerics/(accumulate|error_growth|multiply_add)/",
        (Pick(r"numerics/(?!fragment|.*(layout|permutation)).*", None, 6),),
    ),
    Question(
        6,
        "What does it cost to feed an fp8 result into the next product?",
        "Layouts of operands, and the permutation",
        "^numerics/(fragment|fp8_permutation)/",
        (Pick(r".*(layout|permut)\w*.*", None, 4),),
    ),
)

MEMORY = (
    Question(13, "How fast is each level of memory?", "Latency and bandwidth of every level", "^memory/"),
    Question(
        16,
        "Do atomics beat a sum in shared memory?",
        "Atomics and ways to sum",
        "^memory/(atomics|reduction)/",
    ),
)

TMA = (
    Question(14, "How deep a pipeline does TMA need?", "TMA, cp.async and plain loads", "^tma/"),
    Question(15, "What does tensor memory cost?", "Tensor memory", "^tmem/"),
)

SYNC = (
    Question(20, "What do barriers cost?", "Barriers and fences", "^sync/"),
    Question(41, "What do fences and setmaxnreg cost?", "Fences and setmaxnreg", "^sync/(fence|setmaxnreg)"),
)

LAUNCH = (
    Question(18, "What are the fixed costs of a launch?", "Launches, graphs and small copies", "^launch/"),
    Question(19, "Where do CTAs land, and what does the tail cost?", "Placement, waves and tails", "^placement/"),
    Question(
        21,
        "Where does the throughput of many small workers saturate?",
        "Many small workers",
        "^launch/(workers|green_context|neighbour)",
    ),
)

LINKS = (
    Question(
        17,
        "What does it cost to move data between CPU and GPU?",
        "Copies between CPU and GPU",
        "^link/",
        tuple(
            Pick(f"host/dram_bandwidth/{how}", None, 1, f"the CPU's memory, {how}") for how in ("copy", "read", "triad")
        ),
    ),
    Question(
        30,
        "How fast are links between GPUs?",
        "Links between GPUs",
        "^link/peer/",
        (Pick(r"kernels/all_reduce/.*", None, 4),),
    ),
    Question(29, "How fast are collectives, and where are the knees?", "Collectives by size", "^collective/"),
    Question(
        31,
        "What does a running collective cost a GEMM?",
        "A collective beside a GEMM",
        picks=(Pick(r"(collective|kernels)/.*overlap.*", None, 4),),
        otherwise=UNMEASURED,
    ),
)

KERNELS = (
    Question(22, "How does our GEMM compare with the vendor's library?", "GEMM over shapes", "^kernels/gemm(_block_scaled)?/"),
    Question(42, "What clock does the GPU hold under a GEMM that lasts?", "Clock under a GEMM", "^kernels/gemm_over_time/"),
    Question(
        23,
        "Is the product of one token, or a few, at memory bandwidth?",
        "Products of few tokens",
        "^kernels/(gemv|gemm_curve)/",
    ),
    Question(
        24,
        "How fast is a grouped GEMM of mixture-of-experts layers?",
        "Grouped GEMM",
        "^kernels/grouped/",
    ),
    Question(
        25,
        "How fast are attention and MLA decode?",
        "Attention",
        picks=(Pick(r"kernels/(attention|mla_decode)/.*", None, 6),),
        otherwise=UNMEASURED,
    ),
    Question(
        26,
        "Which share of copy bandwidth do memory-bound steps reach?",
        "Memory-bound steps",
        picks=(
            Pick(
                r"kernels/(softmax|norm_quantize|rms_?norm\w*|transpose|reduction|hadamard|quantize\w*)/.*",
                "bandwidth_gb_per_s",
                6,
            ),
        ),
        otherwise=UNMEASURED,
    ),
    Question(
        27,
        "Is a small triangular inverse better by substitution or by block doubling?",
        "Triangular inverse",
        picks=(Pick(r"kernels/triangular\w*/.*", None, 4),),
        otherwise=UNMEASURED,
    ),
    Question(
        28,
        "What does batch invariance cost?",
        "Batch invariance",
        picks=(Pick(r"kernels/.*(batch_invariant|deterministic|fixed_order).*", None, 4),),
        otherwise=UNMEASURED,
    ),
    Question(
        11,
        "What bounds the hot loop of a kernel, and does the time agree?",
        "Hot loops",
        otherwise="The machine code tells: assay sass WHAT shows what bounds a loop.",
    ),
    Question(
        37,
        "Is a kernel right on a chip that is not at hand?",
        "Kernels in the host model",
        # docs/model.md, "Why to believe it", by commit 613b720.
        otherwise="No run of a GPU tells: assay model WHAT runs a kernel on the CPU, in many orders of its asynchronous "
        "work, and checks its result. 36 kernels of the suite left the right one in 2\u202f000 orders each, and broke no rule. "
        "That is the model's word, not silicon's.",
    ),
    Question(
        38,
        "Which rule would have caught the published races of asynchronous kernels?",
        "Rules of the host model",
        # harness/model/tests/wild_test.cpp, and the rules that its kernels name.
        otherwise="No run of a GPU tells: assay model WHAT names the rule that a kernel breaks, and where. Of 36 bugs of "
        "published kernels, made again, it names every one, most often async.overwritten_while_read (7), proxy.shared (4) "
        "and grid.before_wait (4). docs/model.md of the sources lists the rules with what each finds.",
    ),
)

PUBLISHED = (
    Question(
        40,
        "Do our figures agree with what others published?",
        "Published figures",
        otherwise="Nobody published a figure that can be compared with these.",
    ),
)

HOST = (
    Question(39, "What does the CPU bring?", "The CPU", "^host/"),
    Question(
        36,
        "What differs between two GPUs, drivers or machines?",
        "Runs compared",
        otherwise="One run cannot tell; of several, assay report leads with what differs beyond noise.",
    ),
    Question(
        34,
        "Is this GPU like its siblings?",
        "GPUs of one kind",
        otherwise="One run cannot tell; give assay report several.",
    ),
    Question(
        35,
        "Did this commit make a kernel slower?",
        "A gate for commits",
        otherwise="A report cannot tell; assay gate BASE CANDIDATE does.",
    ),
)

PARTS: tuple[Part, ...] = (
    Part(
        "tensor_core",
        "Tensor cores",
        "Matrix instructions: what one SM delivers per clock, and what the GPU delivers per second.",
        ("tensor_core",),
        TENSOR_CORES,
        ("power-over-time", "n-sweep"),
        "Per type and accumulator",
    ),
    Part(
        "special_function",
        "Special functions",
        "exp2, log2, reciprocal and their kin against matrix math, and what replaces them.",
        ("special_function",),
        SPECIAL_FUNCTIONS,
        ("imbalance",),
        "Results per clock",
    ),
    Part(
        "sass",
        "Instructions",
        "What each instruction costs, and which of them share a pipe.",
        ("sass",),
        INSTRUCTIONS,
        ("pipes",),
        "Common instructions",
    ),
    Part(
        "numerics",
        "Numerics",
        "What the arithmetic keeps: accumulators, rounding, subnormal numbers, layouts of operands.",
        ("numerics",),
        NUMERICS,
        ("error-growth",),
        "How each MMA adds",
    ),
    Part(
        "memory",
        "Memory",
        "Latency and bandwidth of every level, from shared memory to DRAM.",
        ("memory",),
        MEMORY,
        ("latency-curve", "ladder"),
        "Levels of memory",
    ),
    Part(
        "tma",
        "TMA and tensor memory",
        "Bulk asynchronous copies, and the memory that holds the accumulators of SM100.",
        ("tma", "tmem"),
        TMA,
        ("tma-depth",),
        "By TMA, by cp.async, by loads, from memory",
    ),
    Part(
        "sync",
        "Synchronization",
        "Barriers and fences, from a warp to the grid.",
        ("sync",),
        SYNC,
        ("barriers",),
        "Barriers and fences",
    ),
    Part(
        "launch",
        "Scheduling and launch",
        "Where work lands on the GPU, and the fixed costs that small kernels pay.",
        ("launch", "placement"),
        LAUNCH,
        ("workers-5us", "workers"),
        "An empty kernel",
    ),
    Part(
        "link",
        "Links and collectives",
        "Copies between CPU and GPU, between GPUs, and among many.",
        ("link", "collective"),
        LINKS,
        ("collective-all_reduce", "collective", "peer-write-copy_engine", "link-h2d"),
        "Copies by the kind",
    ),
    Part(
        "kernels",
        "Kernels",
        "Kernels that people run, each in turns with the best that a library offers.",
        ("kernels",),
        KERNELS,
        ("gemm-bf16", "gemm-", "gemv-", "paired", "clock-under-gemm"),
        "Matrix products beside",
    ),
    Part("published", "Published figures", "What others measured or promise, beside what was measured here.", (), PUBLISHED),
    Part(
        "host",
        "Machine and run",
        "The machine, its processor, what it did meanwhile, and what has no result.",
        ("host",),
        HOST,
        ("host-latency",),
        "The CPU's memory and arithmetic",
    ),
)


@lru_cache(maxsize=1)
def by_number() -> dict[int, Question]:
    """Every question, in the order of the parts."""
    return {question.number: question for part in PARTS for question in part.questions}
