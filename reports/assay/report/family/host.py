# SPDX-License-Identifier: Apache-2.0
"""The processor side: its memory, its arithmetic. Just a table; question 17 quotes from it."""

from ..block.declaration import Family

FAMILY = Family(
    "host",
    "Host",
    "What the processor side costs.",
)
