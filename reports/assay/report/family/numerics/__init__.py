# SPDX-License-Identifier: Apache-2.0
"""What the arithmetic keeps, and where registers hold what."""

from ...block.declaration import Family
from . import fragments, sums

FAMILY = Family(
    "numerics",
    "Numerics",
    "What the arithmetic keeps: accumulator width, rounding, subnormals, operand layouts.",
    blocks=(sums.blocks, fragments.blocks),
    answers={4: sums.rounding, 6: fragments.layouts},
    pages=(fragments.page_of_maps,),
)
