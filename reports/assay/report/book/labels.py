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
}

# Stands beside a quantity as its unit, so its words need not say it; but of "cycles per exp2" or "CTAs per us".
UNIT_IN_NAME = re.compile(r"(?<!_per)_(us|ns|cycles(?!_per)|gb_per_s|tflops|pj|w)(?=_|$)")

# How words and phrases are written that are not written as they are. The longest one that fits is taken.
PHRASES = {
    "acq_rel": "acquire-release",
    "at_80_percent": "at 80 %",
    "at_95_percent": "at 95 %",
    "box_bytes_95": "bytes of a box for 95 %,",
    "bytes_in_flight_95": "bytes in flight for 95 %,",
    "copy_bytes_95": "bytes of a copy for 95 %,",
    "cp_async": "cp.async",
    "ctas_per_sm": "CTAs per SM",
    "cta_per_sm": ", a CTA per SM",
    "d2d": "on the GPU",
    "d2h": "to the host",
    "gb_per_s": "GB/s",
    "h2d": "to the GPU",
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
                "HBM",
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
)
# A number of its own behind one of these is what they were measured with, and set off; behind others it belongs to them.
MEASURED_WITH = ("latency", "cpu", "gap", "interval", "sm", "cta", "us")
OF_BYTES = ("link", "collective")  # families whose cases say their bytes as a plain number


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


def quantity(metric: str) -> str:
    """The words for a metric name, without the unit that stands beside: "latency_cycles_of_4" is "latency of 4"."""
    return QUANTITIES.get(metric) or words(UNIT_IN_NAME.sub("", metric)) or words(metric)


def baseline(name: str) -> str:
    """ "cublaslt_best16" is "cuBLASLt's best of 16", "cublaslt_first" its first choice; others in their words."""
    found = re.fullmatch(r"(\w+?)_(first|best(\d+))", name)
    if not found:
        return words(name)
    return f"{words(found[1])}'s {f'best of {found[3]}' if found[3] else 'first choice'}"


def case_words(name: str) -> str:
    """A measurement name as a label, its family left out: "link/h2d/pinned/268435456" is "to the GPU, pinned, 256 MiB"."""
    family, *parts = name.split("/")
    if family in OF_BYTES:
        sized = (text.size(int(p)) if p.isdigit() and int(p) >= 1024 else words(p) for p in parts)
        return ", ".join(sized) or family
    return words("_".join(parts)) or family


def figure_words(name: str, metric: str) -> str:
    """A case and one of its quantities, once where the name says it: "memory/l2/read", "rate" is "L2 read, rate"."""
    said, what = case_words(name), quantity(metric)
    return said if what in said else f"{said}, {what}"
