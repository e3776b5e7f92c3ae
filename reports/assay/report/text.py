# SPDX-License-Identifier: Apache-2.0
"""Numbers, names and units as people read them."""

from __future__ import annotations

import math
import re

THIN = "\u202f"  # narrow no-break space, between digits and before units
MINUS = "\u2212"

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
UNITS = {"us": "µs", "cycle": "cycles", "cycles": "cycles", "op/clk/SM": "ops/clk/SM", "op/clk": "ops/clk"}

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


def unit(symbol: str) -> str:
    """A unit as printed: "us" -> "µs"."""
    return UNITS.get(symbol, symbol)


def words(name: str) -> str:
    """An identifier as words: "tensor_core" -> "tensor core", "l2_near" -> "L2 near"."""
    return " ".join(ACRONYMS.get(word, word) for word in name.split("_") if word)


def decimals(value: float, half_width: float | None = None) -> int:
    """Places after the point: two digits of the uncertainty where there is one, else four significant digits.

    Never more than six significant digits of the value, however narrow its interval is.
    """
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    if half_width:
        places = 1 - int(f"{half_width:.1e}".split("e")[1])  # of the rounded width: 0.0999 is 0.10
        return max(0, min(places, 5 - magnitude, 6))
    return max(0, min(3 - magnitude, 6))


def number(value: float, half_width: float | None = None) -> str:
    """ "4093.21", 1.8 -> "4 093.2"; thousands apart by a narrow space, the minus sign a real one."""
    if not math.isfinite(value):
        return "?"
    places = decimals(value, half_width)
    if value and abs(value) < 1e-5:
        return f"{value:.3g}".replace("-", MINUS)
    text = f"{value:z,.{places}f}".replace(",", THIN)
    if not half_width and "." in text and places > 0:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def plus_minus(value: float, low: float | None, high: float | None) -> str:
    """The 95% interval as "±1.8", or "+0.4 −1.2" where its sides differ by more than half."""
    if low is None or high is None:
        return ""
    down, up = value - low, high - value
    wide = max(down, up)
    if wide <= 0:
        return "±0"
    if min(down, up) >= 0.5 * wide:
        return f"±{_one_side(wide, value)}"
    return f"+{_one_side(up, value)} {MINUS}{_one_side(down, value)}"


def _one_side(width: float, value: float) -> str:
    places = decimals(value, width) if width > 0 else 0
    shown = f"{width:.{places}f}"
    if float(shown) > 0 or width <= 0:
        return shown
    return f"{width:.{-math.floor(math.log10(width))}f}"  # its first digit


def percent(ratio: float) -> str:
    """0.9934 -> "99.3 %"; from 1000 % on as a factor."""
    if abs(ratio) >= 10:
        return f"{ratio:.0f}×"
    digits = 1 if abs(ratio) >= 0.0995 else 2
    return f"{100 * ratio:.{digits}f}{THIN}%".replace("-", MINUS)


def deviation(ours: float, theirs: float) -> str:
    """How far ours is from theirs: "+1.2 %"."""
    ratio = ours / theirs - 1 if theirs else 0.0
    sign = "+" if ratio >= 0 else MINUS
    return f"{sign}{abs(100 * ratio):.1f}{THIN}%" if abs(ratio) < 10 else f"{sign}{abs(ratio):.0f}×"


def size(count: float) -> str:
    """Bytes: 4096 -> "4 KiB", 100 -> "100 B"."""
    for exponent, prefix in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")):
        if count >= 1024**exponent:
            return f"{count / 1024**exponent:.3g}{THIN}{prefix}B"
    return f"{round(count)}{THIN}B"


def counted(count: float, word: str) -> str:
    """ "1 CTA", "2 CTAs"."""
    return f"{count:g} {word}{'' if count == 1 else 's'}"


def case_words(name: str) -> str:
    """A measurement name as a label, its family left out: "link/h2d/pinned/268435456" -> "h2d pinned 256 MiB"."""
    family, *parts = name.split("/")
    sized = family in ("link", "collective")
    return " ".join(size(int(p)) if sized and p.isdigit() and int(p) >= 1024 else p for p in parts) or family


def figure_words(name: str, metric: str) -> str:
    """A case and one of its quantities, once where the name says it: "memory/l2/read", "rate" -> "l2 read, rate"."""
    said, what = case_words(name), quantity(metric)
    return said if what in said else f"{said}, {what}"


def slug(name: str) -> str:
    """A fragment identifier: letters, digits, "_", "-" and "."."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-")
