# SPDX-License-Identifier: Apache-2.0
"""Labels from the names of metrics, cases and parameters."""

from __future__ import annotations

import re

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
UNIT_IN_NAME = re.compile(r"_(us|ns|cycles|gb_per_s|tflops)(?=_|$)")
ACRONYMS = {
    "tma": "TMA",
    "tmem": "TMEM",
    "sass": "SASS",
    "hbm": "HBM",
    "l1": "L1",
    "l2": "L2",
    "sm": "SM",
    "gpu": "GPU",
    "cpu": "CPU",
    "sms": "SMs",
    "cta": "CTA",
    "ctas": "CTAs",
    "gpc": "GPC",
    "gpcs": "GPCs",
    "tlb": "TLB",
    "mps": "MPS",
    "kib": "KiB",
}


def quantity(metric: str) -> str:
    """The words for a metric name, without the unit that stands beside: "latency_cycles_of_4" -> "latency of 4"."""
    return QUANTITIES.get(metric) or words(UNIT_IN_NAME.sub("", metric)) or words(metric)


def words(name: str) -> str:
    """An identifier as words: "tensor_core" -> "tensor core", "l2_near" -> "L2 near"."""
    return " ".join(ACRONYMS.get(word, word) for word in name.split("_") if word)


def case_words(name: str) -> str:
    """A measurement name as a label, its family left out: "link/h2d/pinned/268435456" -> "h2d pinned 256 MiB"."""
    family, *parts = name.split("/")
    sized = family in ("link", "collective")
    return " ".join(text.size(int(p)) if sized and p.isdigit() and int(p) >= 1024 else p for p in parts) or family


def figure_words(name: str, metric: str) -> str:
    """A case and one of its quantities, once where the name says it: "memory/l2/read", "rate" -> "l2 read, rate"."""
    said, what = case_words(name), quantity(metric)
    return said if what in said else f"{said}, {what}"
