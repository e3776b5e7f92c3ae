# SPDX-License-Identifier: Apache-2.0
"""Launches: their fixed costs, and many small workers on one GPU."""

from ...block.declaration import Family
from . import costs, workers

FAMILY = Family(
    "launch",
    "Launch and scheduling",
    "The fixed costs that small kernels pay.",
    blocks=(costs.evidence, workers.evidence),
)
