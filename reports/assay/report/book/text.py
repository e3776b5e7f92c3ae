# SPDX-License-Identifier: Apache-2.0
"""Numbers, sizes and units as people read them."""

from __future__ import annotations

import hashlib
import math
import re
from functools import lru_cache

THIN = "\u202f"  # narrow no-break space, between digits and before units
MINUS = "\u2212"
UNITS = {"us": "µs", "cycle": "cycles", "cycles": "cycles", "op/clk/SM": "ops/clk/SM", "op/clk": "ops/clk"}


def unit(symbol: str) -> str:
    """A unit as printed: "us" -> "µs"."""
    return UNITS.get(symbol, symbol)


_UNIT = (
    "(?:[kMGT]?B/s|B/clk/SM|B/clk|[GT]?F?L?OP/s|(?:FLOP|OP|ops)/clk(?:/SM)?|pJ/[A-Za-z]+|FLOP|[KMGT]iB|B|cycles?|[nµm]s|"
    "[MG]Hz|W|pJ|%)"
)
# Before a unit, behind a number or at the beginning, where the number stands in a link before; and before an interval.
_AFTER_NUMBER = re.compile(rf"(?:(?<=\d)|^) (?={_UNIT}(?![\w/]))|(?<=\d) (?=±|[+{MINUS}]\d)")
WHOLE = re.compile(rf"\d+(?:×\d+)+|(?<=[ {THIN}])(?=[A-Za-z]+/){_UNIT}(?![\w/])")  # shapes, and units with a slash


@lru_cache(maxsize=1 << 14)
def unbroken(said: str) -> str:
    """The text with each number and its unit, and its interval between them, on one line."""
    return _AFTER_NUMBER.sub(THIN, said) if " " in said else said


def decimals(value: float, half_width: float | None = None) -> int:
    """Places after the point: two digits of the uncertainty where there is one, else four significant digits.

    Never more than six significant digits of the value, however narrow its interval is.
    """
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    if half_width:
        digits = 1 - int(f"{half_width:.1e}".split("e")[1])  # of the rounded width: 0.0999 is 0.10
        return max(0, min(digits, 5 - magnitude, 6))
    return max(0, min(3 - magnitude, 6))


@lru_cache(maxsize=1 << 14)
def number(value: float, half_width: float | None = None) -> str:
    """ "4093.21", 1.8 -> "4 093.2"; thousands apart by a narrow space, the minus sign a real one."""
    if not math.isfinite(value):
        return "?"
    digits = decimals(value, half_width)
    if value and abs(value) < 1e-5:
        return f"{value:.3g}".replace("-", MINUS)
    text = f"{value:z,.{digits}f}".replace(",", THIN)
    if not half_width and "." in text and digits > 0:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


@lru_cache(maxsize=1 << 14)
def plus_minus(value: float, low: float | None, high: float | None) -> str:
    """The 95% interval as "±1.8", or "+0.4 −1.2" where its sides differ by more than half; "" where it has no width."""
    if low is None or high is None:
        return ""
    down, up = value - low, high - value
    wide = max(down, up)
    if wide <= 0:
        return ""
    if min(down, up) >= 0.5 * wide:
        return f"±{_one_side(wide, value)}"
    return f"+{_one_side(up, value)} {MINUS}{_one_side(down, value)}"


def _one_side(width: float, value: float) -> str:
    digits = decimals(value, width) if width > 0 else 0
    shown = f"{width:.{digits}f}"
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
    """Bytes: 4096 -> "4 KiB", 100 -> "100 B"; of what rounds to 1024 of a unit, one of the next."""
    for exponent, prefix in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")):
        if round(count / 1024 ** (exponent - 1)) >= 1024:
            amount = count / 1024**exponent
            return f"{amount:.0f}{THIN}{prefix}B" if amount >= 999.5 else f"{amount:.3g}{THIN}{prefix}B"
    return f"{round(count)}{THIN}B"


def counted(count: float, word: str) -> str:
    """ "1 CTA", "2 CTAs"."""
    return f"{count:g} {word}{'' if count == 1 else 's'}"


LONGEST_SLUG = 80  # characters; names of files have an end


@lru_cache(maxsize=1 << 14)
def slug(name: str) -> str:
    """A fragment identifier or the name of a file: letters, digits, "_", "-" and ".". Two names never have one.

    What is lost is stood for by a hash behind "--", which no name without losses has: "a/b" is "a-b", "a+b" another.
    """
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")
    if plain == name.replace("/", "-") and plain.count("-") == name.count("/") and len(plain) <= LONGEST_SLUG:
        return plain
    return f"{plain[:LONGEST_SLUG]}--{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def listed(words: list[str]) -> str:
    """ "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
