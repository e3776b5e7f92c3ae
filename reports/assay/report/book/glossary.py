# SPDX-License-Identifier: Apache-2.0
"""The terms of the report in plain words, and where a text first uses them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import text

TERMS: dict[str, str] = {
    "accumulator": "The register or memory cell that a sum of products is added up in.",
    "atomic": "A read, a change and a write of memory that nothing else comes between.",
    "bank conflict": "Several threads of a warp want different words of one of the 32 banks of shared memory, which then "
    "takes them one after another.",
    "baseline": "What a kernel is compared with: another library's kernel for the same work, in turns with ours.",
    "bf16": "A 16-bit floating-point format with the range of f32 and 8 bits of precision.",
    "boost clock": "The SM clock that a datasheet's peak is stated at. Under load the clock is often lower.",
    "box": "The part of an array that one TMA copy moves.",
    "burst": "A load of a fraction of a second, over before the power limit lowers the clock.",
    "cluster": "Several CTAs that run at the same time on one GPC and can reach each other's shared memory.",
    "confidence interval": "A range that covers the true median in 95 of 100 measurements.",
    "copy engine": "The unit that copies memory without an SM.",
    "cp.async": "An instruction that copies from global to shared memory without waiting and without a register.",
    "CTA": "Cooperative thread array, also thread block: threads that run on one SM and share its shared memory.",
    "datasheet": "What the maker states of a GPU.",
    "dependent load": "A load whose address is the result of the load before it, so that latency cannot hide.",
    "DFMA": "The instruction of one multiply-add in f64.",
    "DRAM": "The memory of the GPU outside the chip, of kind HBM or GDDR.",
    "e4m3": "An 8-bit floating-point format with 4 bits of exponent and 3 of fraction.",
    "e5m2": "An 8-bit floating-point format with 5 bits of exponent and 2 of fraction.",
    "emulated": "An instruction that the chip lacks and the assembler replaces by several others.",
    "exp2": "2 to the power of x, which softmax needs once for each element.",
    "fence": "An instruction that orders a thread's accesses to memory before others may see what follows.",
    "FFMA": "The instruction of one multiply-add in f32: two FLOP.",
    "FLOP": "A floating-point operation; a multiply-add counts as two.",
    "footprint": "How many bytes a program reads again and again; if they fit into a cache, it serves them.",
    "fp8": "The 8-bit floating-point formats e4m3 and e5m2.",
    "fragment": "The part of a matrix operand that one thread holds in its registers.",
    "GEMM": "General matrix multiplication, the product of two matrices.",
    "GEMV": "The product of a matrix and a vector.",
    "GPC": "Graphics processing cluster: a group of SMs. A cluster of CTAs never spans two.",
    "graph": "Launches that were recorded once and are submitted together.",
    "green context": "A part of the GPU's SMs that some launches are confined to.",
    "HMMA": "The machine instruction of mma.sync for 16-bit types.",
    "in flight": "Asked for and not yet there.",
    "issue slot": "The chance of a scheduler to start one instruction, once in each clock.",
    "kernel": "A program that the GPU runs, by many threads at once.",
    "L1": "The cache inside each SM.",
    "L2": "The cache that all SMs share. On large chips it has two partitions, a near one and a far one.",
    "latency": "The time from asking until the answer can be used.",
    "launch": "The submission of a kernel by the CPU.",
    "limit": "What the hardware cannot exceed, from its documented rate and its clock.",
    "mbarrier": "A barrier in shared memory that counts arrivals and the bytes of asynchronous copies.",
    "MMA": "Matrix multiply-accumulate: the product of two small matrices, added to a third.",
    "mma.sync": "The MMA of one warp, with all operands in registers.",
    "MPS": "A service that lets several processes share one GPU at the same time.",
    "MUFU": "The instruction of the special-function unit.",
    "multicast": "One read of L2 that arrives at several CTAs of a cluster.",
    "pageable": "Ordinary memory of the CPU, which the driver copies through a pinned buffer.",
    "persistent": "A kernel of as many CTAs as run at once, each of which takes one piece of work after another.",
    "pinned": "Memory of the CPU that stays where it is, so that the GPU can copy it by itself.",
    "pipe": "A unit of an SM that carries out instructions of one kind.",
    "power limit": "The watts a GPU may draw. Near it, the driver lowers the clock.",
    "programmatic dependent launch": "A launch whose kernel may begin before the one ahead of it has ended.",
    "PTX": "NVIDIA's portable assembly language, which an assembler turns into machine code.",
    "roofline": "A picture of what bounds kernels: memory to the left, arithmetic to the right.",
    "SASS": "The machine code of NVIDIA's GPUs.",
    "setmaxnreg": "The instruction by which a warpgroup gives registers up or asks for more.",
    "shared memory": "Memory inside each SM that the threads of a CTA share.",
    "SHFL": "The instruction by which the threads of a warp exchange registers.",
    "SM": "Streaming multiprocessor: the core of a GPU; an H200 has 132.",
    "sparse": "Of four neighbouring elements two are zero and left out, so that an MMA does twice the work.",
    "subnormal": "A floating-point number too small for the usual form, which keeps fewer bits.",
    "sustained": "Measured under a load that lasts, by assay run until power and temperature have settled; of a kernel, in calls "
    "that follow each other for 0.2 ms or longer (conditions.iterations).",
    "swizzle": "An order of bytes in shared memory that avoids bank conflicts.",
    "tail": "The time at the end of a kernel in which some SMs have no work left.",
    "tensor core": "The unit of an SM that carries out MMAs.",
    "tensor map": "A description of an array in memory that TMA copies by.",
    "tensor memory": "The memory of SM100's SMs that holds accumulators, also TMEM.",
    "tf32": "A format for MMAs with the range of f32 and 11 bits of precision.",
    "throttle": "The driver lowers the clock, and states a reason.",
    "TLB": "The cache of translations from virtual to physical addresses.",
    "TMA": "Tensor Memory Accelerator: the unit of an SM that copies parts of arrays by itself.",
    "ulp": "Unit in the last place: the distance between two neighbouring floating-point numbers.",
    "warp": "32 threads that run in step.",
    "warpgroup": "Four warps that issue a wgmma together.",
    "wave": "As many CTAs as fit on the GPU at once.",
    "wgmma": "The MMA of Hopper that four warps issue together, with B in shared memory.",
}
_ANY = re.compile(
    r"(?<![\w.])(" + "|".join(sorted(map(re.escape, TERMS), key=len, reverse=True)) + r")(?:s|es)?(?![\w]|\.\w)"
)
# Ordinary words too, which a reader knows or meets everywhere.
UNLINKED = frozenset(
    {"graph", "limit", "launch", "kernel", "latency", "box", "sparse", "pipe", "tail", "wave", "baseline"}
)


def anchor(term: str) -> str:
    return f"term-{text.slug(term.replace(' ', '_'))}"


def found(said: str) -> Iterator[tuple[str, str]]:
    """The text in pieces: (piece, the term that it is, or "")."""
    at = 0
    for match in _ANY.finditer(said):
        if match[1] in UNLINKED:
            continue
        if match.start() > at:
            yield said[at : match.start()], ""
        yield match[0], match[1]
        at = match.end()
    if at < len(said):
        yield said[at:], ""
