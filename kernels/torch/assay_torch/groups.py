# SPDX-License-Identifier: Apache-2.0
"""Shapes of products of groups. Needs no torch."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

MASK = (1 << 64) - 1


@dataclass(frozen=True)
class GroupedShape:
    """m rows in all, sorted by group; n outputs and k inputs."""

    groups: int
    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"g{self.groups}m{self.m}n{self.n}k{self.k}"

    @classmethod
    def parse(cls, text: str) -> GroupedShape:
        match = re.fullmatch(r"g(\d+)m(\d+)n(\d+)k(\d+)", text)
        if not match:
            raise ValueError(f"{text!r} is no shape of groups; write g8m32768n4096k7168")
        return cls(*map(int, match.groups()))

    @property
    def name(self) -> str:
        """As kernels/grouped/cases.cpp names it."""
        return f"kernels/grouped/bf16/{self}/contiguous_uneven"

    @property
    def probe(self) -> str:
        return "kernels/grouped"

    def ends(self) -> list[int]:
        """Where each group's rows end: uneven, every eighth group empty, as kernels/grouped/shapes.cpp draws them."""
        weights = [0 if group % 8 == 7 else 0.1 + _unit(group) ** 2 for group in range(self.groups)]
        # Not sum(): since Python 3.12 it rounds otherwise, and the last end would be a row short.
        before = list(itertools.accumulate(weights))
        return [int(self.m * (each / before[-1])) for each in before]


def _unit(seed: int) -> float:
    """splitmix64 as harness/measure/splitmix64.hpp has it, as a number in [0, 1)."""
    x = (seed + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return ((x ^ (x >> 31)) >> 11) * 2.0**-53
