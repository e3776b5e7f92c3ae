# SPDX-License-Identifier: Apache-2.0
"""The memory hierarchy."""

from ...block.declaration import Family
from . import atomics, levels, overview

FAMILY = Family(
    "memory",
    "Memory hierarchy",
    "Latency and bandwidth of every level, from shared memory to DRAM.",
    blocks=(overview.blocks, levels.evidence, atomics.evidence),
)
