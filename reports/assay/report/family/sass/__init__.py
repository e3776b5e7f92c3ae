# SPDX-License-Identifier: Apache-2.0
"""SASS instructions: the pipes that they share, and the table of all."""

from ...block.declaration import Family
from . import instructions, pipes

FAMILY = Family(
    "sass",
    "SASS instructions",
    "Latency of a dependent chain and issue rate with enough independent work, per instruction.",
    blocks=(pipes.pictures_of_pairs, instructions.common, pipes.blocks),
    answers={10: instructions.pipelines},
    pages=(instructions.page,),
    of_instructions=True,
)
