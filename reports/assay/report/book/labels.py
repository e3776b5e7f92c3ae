# SPDX-License-Identifier: Apache-2.0
"""Labels from the names of metrics, cases and parameters: "threads_connections32" is "threads, 32 connections".

Names are words joined by "_" and "/". A table says how words and phrases are written, a few rules how sizes, counts and
percentiles are. A comma sets off what qualifies the words before it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from . import text

# Quantities by metric name: the words for a table cell. Unknown metrics fall back to their own name.
QUANTITIES = {
    "flop_per_clock_per_sm": "rate",
    "ops_per_clock_per_sm": "rate",
    "bytes_per_clock_per_sm": "rate",
    "tflops": "throughput",
    "tera_ops_per_s": "throughput",
    "latency_cycles": "latency",
    "latency_ns": "latency",
    "bandwidth_gb_per_s": "bandwidth",
    "bus_bandwidth_gb_per_s": "bus bandwidth",
    "time_us": "time",
    "cpu_us": "CPU time",
    "gpu_gap_us": "gap on the GPU",
    "gops": "throughput",
    "energy_pj_per_byte": "energy per byte, whole board",
    "energy_pj_per_flop": "energy per operation, whole board",
    "tlb_miss_cycles": "cycles more at the widest range, of hits and misses in the mean",
    "half_bandwidth_bytes": "size for half the bandwidth",
    "loads_percent": "share of loads",
    "late_loads_percent": "share of late loads",
    "line_bytes": "size of a line",
    "sector_bytes": "size of a sector",
    "most_set_aside_bytes": "most that can be set aside",
    "tlb_level_1_latency_cycles": "latency of the first level",
    "tlb_level_1_reach_bytes": "reach of the first level",
    "tlb_reach_bytes": "reach of the TLB",
    "tma_of_plain_loads": "TMA's share of the speed of plain loads",
    "get_kernel_us": "finding the kernel",
    "two_waves_over_one": "time of two waves over one",
    "one_cta_more_over_full_wave": "time of a wave and one CTA over a wave",
    "even_fraction": "share of launches with one CTA per SM",
    "c_fraction_bits": "fraction bits of C",
    "exp_to_mma_time": "time of the exponentials over that of the MMA",
    "prefetch_saves_cycles": "saved by a prefetch",
    "read_gb_per_s": "reads",
    "write_gb_per_s": "writes",
    "late_by_cycles": "late by",
    "most_cycles": "the longest",
}

# Stands beside a quantity as its unit, so its words need not say it; but of "cycles per exp2" or "CTAs per us".
UNIT_IN_NAME = re.compile(r"(?<!_per)_(us|ns|cycles(?!_per)|gb_per_s|tflops|pj|w|mhz|bytes(?=$))(?=_|$)")

# What a plain number in the name of a metric counts.
COUNTED_IN_METRICS = (
    (re.compile(r"(interval_us_(?:one_cta|cta_per_sm)|ctas_per_us)_(\d+)"), "{} threads in each"),
    (re.compile(r"(cpu_us|gpu_gap_us)_(\d+)"), "{} B of arguments"),
    (re.compile(r"(interval_us)_(\d+)"), "{} launches waiting"),
    (re.compile(r"(latency_cycles)_(\d+)_(\w+)"), "{} B"),
    (re.compile(r"(bytes_in_flight_95|best_gb_per_s)_(\d+)"), "{} CTAs per SM"),
    (re.compile(r"(\w+)_cluster_(\d+)"), "clusters of {}"),
    (re.compile(r"(l2_fill_bytes)_of_(\d+)"), "prefetch of {} B"),
    (re.compile(r"(\w+)_(\d+)_residents"), "{} at a time on an SM"),
    (re.compile(r"(\w+(?<!clusters)(?<!bank)(?<!rows)(?<!clusters_at_once))_of_(\d+)"), "clusters of {}"),
)

# How words and phrases are written that are not written as they are. The longest one that fits is taken.
PHRASES = {
    "acq_rel": "acquire-release",
    "alike_fraction": "share of launches placed alike",
    "at_80_percent": "at 80 %",
    "at_95_percent": "at 95 %",
    "box_bytes_95": "bytes of a box for 95 %,",
    "bytes_in_flight_95": "bytes in flight for 95 %,",
    "copy_bytes_95": "bytes of a copy for 95 %,",
    "cuda_c": "CUDA C",
    "map_fenced": ", map fenced",
    "map_in_dram": ", map in DRAM",
    "map_in_l2": ", map in L2",
    "map_prefetched": ", map prefetched",
    "map_used": ", map used before",
    "sys": "system",
    "tpcs": "TPCs",
    "torch_addmm": "torch.addmm",
    "torch_addmm_gelu": "torch._addmm_activation",
    "torch_compile": "torch.compile",
    "torch_grouped_mm": "torch._grouped_mm",
    "torch_int4pack_mm": "torch._weight_int4pack_mm",
    "torch_matmul": "torch.matmul",
    "torch_scaled_mm": "torch._scaled_mm",
    "deep_gemm": "DeepGEMM",
    "cp_async": "cp.async",
    "ctas_per_sm": "CTAs per SM",
    "cta_per_sm": ", a CTA per SM",
    "d2d": "on the GPU",
    "d2h": "to the host",
    "gb_per_s": "GB/s",
    "h2d": "to the GPU",
    "hbm": "DRAM",
    "assay_compiler": "host compiler",
    "assay_dirty": "sources changed since that commit",
    "assay_nvcc": "nvcc",
    "gpu_ecc": "memory with ECC",
    "gpu_memory_bus_bits": "memory bus, bits",
    "gpu_memory_clock_max": "memory clock, highest",
    "gpu_mig": "MIG in use",
    "gpu_other_processes": "other processes on the GPU",
    "gpu_pcie_generation_max": "PCIe generation, highest",
    "gpu_persistence": "persistence mode",
    "gpu_power_limit_default": "power limit by default",
    "gpu_registers_per_sm": "registers of an SM",
    "gpu_shared_bytes_per_block": "shared memory of a CTA, at most",
    "gpu_shared_bytes_per_sm": "shared memory of an SM",
    "gpu_threads_per_sm": "threads of an SM",
    "gpu_uncorrected_errors": "uncorrected errors of memory",
    "host_logical_cores": "logical cores of the host",
    "host_memory_bytes": "memory of the host",
    "host_usable_cores": "cores of the host that may be used",
    "hw_power_brake": "power brake of the board",
    "hw_slowdown": "slowdown by the hardware",
    "hw_thermal_slowdown": "too hot, by the hardware",
    "sw_power_cap": "power limit",
    "sw_thermal_slowdown": "too hot, by the driver",
    "kernels_per_s": "kernels per second,",
    "least_clock_mhz": "least clock",
    "mma_sync": "mma.sync",
    "one_address": ", one address",
    "own_addresses": ", own addresses",
    "one_cta": ", one CTA",
    "one_cta_per_sm": ", one CTA per SM",
    "per_clock_per_sm": "per clock and SM",
    "per_us": "per µs",
    "sc": "sequentially consistent",
    "sparse_2_4": "sparse 2:4",
    "st_async": "st.async",
    "time_ns": "time in ns",
    "time_us": "time in µs",
    **{
        word.lower(): word
        for word in (
            *(
                "CPU",
                "CTA",
                "CTAs",
                "CUDA",
                "DRAM",
                "ECC",
                "FLOP",
                "GPC",
                "GPCs",
                "GPU",
                "GPUs",
                "ISA",
                "KiB",
                "L1",
            ),
            *("L2", "MIG", "MMA", "MPS", "MUFU", "NUMA", "NVLink", "PCIe", "PTX", "SASS", "SM", "SMs", "TLB", "TMA"),
            *("TMEM", "VBIOS", "cuBLASLt"),
        )
    },
    "l15": "L1.5",
}
LONGEST = max(phrase.count("_") + 1 for phrase in PHRASES)

# How a word is written that ends in a number, or begins with one.
NUMBERED = (
    (re.compile(r"(\d+)(ki|mi|gi)b"), lambda m: f", {m[1]}{text.THIN}{m[2].capitalize()}B"),
    (re.compile(r"(\d+)b"), lambda m: f"{m[1]}{text.THIN}B"),
    (re.compile(r"([1-9])d"), lambda m: f"{m[1]}-D"),
    (re.compile(r"p(\d\d)"), lambda m: f", {m[1]}th percentile"),
    (re.compile(r"(\d+)gpus"), lambda m: f", {m[1]} GPUs"),
    (re.compile(r"connections(\d+)"), lambda m: f", {m[1]} connections"),
    (re.compile(r"cluster(\d+)"), lambda m: f", clusters of {m[1]}"),
    (re.compile(r"stride(\d+)"), lambda m: f", stride {m[1]}"),
    (re.compile(r"best(\d+)"), lambda m: f", best of {m[1]}"),
    (re.compile(r"degree(\d+)"), lambda m: f", degree {m[1]}"),
    (re.compile(r"(\d+)us"), lambda m: f", {m[1]}{text.THIN}µs"),
    (re.compile(r"used(\d+)"), lambda m: f", {m[1]} rows used,"),
)
# A number of its own behind one of these is what they were measured with, and set off; behind others it belongs to them.
MEASURED_WITH = ("latency", "cpu", "gap", "interval", "sm", "cta", "us")
OF_BYTES = ("link", "collective")  # families whose cases say their bytes as a plain number


# Of cases whose name does not say what they are: the words for its family and what follows it.
SUBJECTS = {
    "host/cache_latency": "latency of the host's caches",
    "host/dram_bandwidth": "bandwidth of the host's memory",
    "host/dram_latency": "latency of the host's memory",
    "host/peak_fma": "FMAs of the host",
    "kernels/gemm": "GEMM",
    "kernels/gemm_block_scaled": "GEMM with block scales",
    "kernels/gemm_curve": "GEMM from 1 to 512 tokens",
    "kernels/gemm_over_time": "clock under GEMM",
    "kernels/grouped": "grouped GEMM",
    "launch/arguments": "arguments of an empty kernel",
    "launch/call": "a call of the CUDA runtime",
    "launch/cluster": "empty kernels in clusters",
    "launch/empty": "an empty kernel",
    "launch/graph": "a graph of kernels that write a time stamp",
    "launch/graph_interval": "kernels of a graph",
    "launch/green_context": "green contexts",
    "launch/grid": "empty kernels in a row",
    "launch/module": "loading a module",
    "launch/neighbour": "a quick kernel beside a crowd",
    "launch/queue": "launches that wait in a queue",
    "launch/workers": "workers that launch at once",
    "link/both_ways": "copies both ways at once",
    "link/d2h": "copies to the host",
    "link/h2d": "copies to the GPU",
    "link/peer": "between GPUs",
    "link/zero_copy": "the host's memory from a kernel",
    "memory/atomics": "atomics",
    "memory/bandwidth_curve": "bandwidth over footprint",
    "memory/distributed_async": "copies to the shared memory of another SM",
    "memory/distributed_shared": "shared memory of another SM",
    "memory/l2_residency": "what stays in L2 beside a stream",
    "memory/latency_curve": "latency over footprint",
    "memory/lines": "lines of a cache",
    "memory/loaded_latency": "latency under load",
    "memory/pages": "pages by kind",
    "memory/read_write_mix": "reads and writes of memory mixed",
    "memory/reduction": "sum of an array",
    "memory/shared_access": "access to shared memory",
    "memory/timed_loads": "a single timed load",
    "placement/one_each": "one CTA for each SM",
    "placement/order": "order in which CTAs are placed",
    "placement/schedule": "tiles given to CTAs",
    "placement/waves": "waves of CTAs",
    "special_function/exp2_accuracy": "accuracy of exp2 by polynomial",
    "special_function/exp2_polynomial_mix": "exp2, some of it by polynomial",
    "special_function/imbalance": "exp2 and matrix math of attention",
    "special_function/interference": "exp2 beside matrix math",
    "special_function/overlap": "matrix math and softmax at once",
    "sync/cluster": "barrier of a cluster",
    "sync/fence": "fence",
    "sync/fence_parts": "fence of GPU scope",
    "sync/grid": "barrier of the grid",
    "special_function/ffma": "FFMA",
    "sync/mbarrier": "mbarrier",
    "sync/mbarrier_remote": "mbarrier of another CTA",
    "sync/syncthreads": "syncthreads",
    "sync/syncwarp": "syncwarp",
    "tensor_core/power": "power of matrix math",
    "tensor_core/power_over_time": "clock under matrix math",
    "tma/box": "TMA copies by the size of a box",
    "tma/bulk": "TMA in bulk",
    "tma/bulk_16b": "TMA in bulk, 16 B each",
    "tma/ctas_per_sm": "TMA copies by CTAs per SM",
    "tma/descriptor": "descriptor of a TMA copy",
    "tma/im2col": "TMA with im2col",
    "tma/latency": "TMA latency",
    "tma/multicast": "TMA multicast",
    "tma/pipeline": "TMA copies by the bytes in flight",
    "tma/store": "TMA stores",
    **{f"tma/tensor_{n}d": f"TMA with {n}-D boxes" for n in range(1, 6)},
}
# What a plain number in the name of a case counts; "" is bytes. The longest beginning that fits is taken.
COUNTED_IN_CASES = {
    "collective": "",
    "host/cache_latency": "",
    "launch/call": "",
    "launch/green_context": "{} parts",
    "launch/module": "{} instructions",
    "link": "",
    "placement/order": "{} CTAs per SM",
    "placement/waves": "{} CTAs per SM",
    "sync/cluster": "clusters of {}",
    "sync/mbarrier": "{} threads",
    "sync/mbarrier_remote": "clusters of {}",
    "sync/named_barrier": "{} threads",
    "sync/setmaxnreg": "{} warpgroups",
    "sync/syncthreads": "{} threads",
    "sync/syncwarp": "{} lanes",
}


def product(shape: str) -> str:
    """The shape of a matrix product: "g32m256n4096k7168" is "32 groups, 256×4096×7168". Others are left as they are:
    those of instructions are names."""
    found = re.fullmatch(r"(?:g(\d+))?(?:m(\d+))?n(\d+)k(\d+)", shape)
    if not found:
        return shape
    groups, *sizes = found.groups()
    said = "×".join(filter(None, sizes))
    return f"{groups} groups, {said}" if groups else said


@lru_cache(maxsize=8192)  # the same metrics and parameters come by the thousand
def words(name: str) -> str:
    """A name as words: "tensor_core" is "tensor core", "l2_near" "L2 near", "latency_4mib" "latency, 4 MiB"."""
    said = ", ".join(" ".join(_written(part.replace(" ", "_").split("_"))) for part in name.split("/"))
    said = re.sub(
        r"\b(of|to|by),\s*", r"\1 ", re.sub(r"[\s,]*,\s*", ", ", said)
    )  # no comma twice, or where none belongs
    return said.strip(", ")


def _written(parts: list[str]) -> list[str]:
    found, at = [], 0
    parts = [part for part in parts if part]
    while at < len(parts):
        for length in range(min(LONGEST, len(parts) - at), 0, -1):
            if (phrase := PHRASES.get("_".join(parts[at : at + length]))) is not None:
                found.append(phrase)
                at += length
                break
        else:
            if parts[at].isdigit() and at and parts[at - 1] in MEASURED_WITH:
                found.append(f", {parts[at]},")
                at += 1
                continue
            ways = (write(match) for rule, write in NUMBERED if (match := rule.fullmatch(parts[at])))
            found.append(next(ways, parts[at]))
            at += 1
    return found


@lru_cache(maxsize=8192)
@lru_cache(maxsize=1 << 12)
def quantity(metric: str) -> str:
    """The words for a metric name, without the unit that stands beside: "latency_cycles_of_4" is "latency, clusters
    of 4"."""
    if metric in QUANTITIES:
        return QUANTITIES[metric]
    for rule, counted in COUNTED_IN_METRICS:
        if found := rule.fullmatch(metric):
            what, count, *more = found.groups()
            return ", ".join([quantity(what), _count(counted, count), *map(words, more)])
    return words(UNIT_IN_NAME.sub("", metric)) or words(metric)


def baseline(name: str) -> str:
    """ "cublaslt_best16" is "cuBLASLt's best of 16", "cublaslt_first" its first choice, "cublaslt_loop" a loop
    of its calls; others in their words."""
    found = re.fullmatch(r"(\w+?)_(first|loop|best(\d+))", name)
    if not found:
        return words(name)
    if found[2] == "loop":
        return f"a loop of {words(found[1])} calls"
    return f"{words(found[1])}'s {f'best of {found[3]}' if found[3] else 'first choice'}"


def subject_of(name: str) -> str:
    """What a case is about, where a table has words for it."""
    return SUBJECTS.get("/".join(name.split("/")[:2]), "")


def counts(name: str) -> str | None:
    """What a plain number in a case's name counts: "{} threads"; "" of bytes; None where nothing says."""
    parts = name.split("/")
    return COUNTED_IN_CASES.get("/".join(parts[:2]), COUNTED_IN_CASES.get(parts[0]))


def _count(counted: str, count: str) -> str:
    """ "32 threads", "1 thread", "24 B of arguments"."""
    said = counted.format(count).replace(f"{count} B", f"{count}{text.THIN}B")
    return re.sub(r"^(1 \w+?)s\b", r"\1", said)


def part_words(name: str, part: str) -> str:
    """One part of a case's name in words: of "host/cache_latency/2097152" the last is "2 MiB"."""
    if part.isdigit() and (counted := counts(name)) is not None:
        return _count(counted, part) if counted else text.size(int(part))
    if found := re.fullmatch(r"bytes_(\d+)", part):
        return text.size(int(found[1]))
    if found := re.fullmatch(r"pause_(\d+)", part):
        return f"pauses of {found[1]} cycles"
    return product(part) if name.startswith("kernels/") and product(part) != part else words(part)


def case_words(name: str) -> str:
    """A measurement name as a label, its family left out: "link/h2d/pinned/268435456" is "copies to the GPU, pinned, 256 MiB"."""
    family, *parts = name.split("/")
    said = [part_words(name, part) for part in parts]
    if subject := subject_of(name):
        return ", ".join([subject, *said[1:]])
    if family in OF_BYTES or any(found != words(part) for part, found in zip(parts, said)):
        return ", ".join(said) or family
    return words("_".join(parts)) or family


def with_quantity(said: str, what: str) -> str:
    """A case in words and one of its quantities, which the case may say already: of "load latency" and "latency, clusters
    of 2" the latency is said once."""
    if what in said:
        return said
    first, _, rest = what.partition(", ")
    return f"{said}, {rest if rest and first in said else what}"


def figure_words(name: str, metric: str) -> str:
    """A case and one of its quantities, once where the name says it: "memory/l2/read", "rate" is "L2 read, rate"."""
    return with_quantity(case_words(name), quantity(metric))
