# SPDX-License-Identifier: Apache-2.0
"""From which run the counters of an instruction are taken. Pure.

What a pipe counts is the same on each GPU of a kind, so one run's counters speak for all. FP64 and tensor cores share
their dispatch on some chips, and only SETTLES tells: counters taken without it name one of the two and mislead. So where
a run has it, runs without it say nothing, and of those that have it the newest speaks.
"""

from __future__ import annotations

from functools import lru_cache

from assay.files import Measurement

from .identity import gpu_name
from .model import Book, Column

SETTLES = "sm__pipe_shared_cycles_active.avg"


def settled(m: Measurement) -> bool:
    return m.counters.get(SETTLES) is not None


def started(column: Column) -> str:
    """When the run began, as a text that sorts by time; "" where its file does not say."""
    return str((column.run.extra.get("run") or {}).get("started") or "")


Counted = dict[str, tuple[Column, Measurement]]  # by the name of the case


@lru_cache(maxsize=32)
def counted(book: Book, kind: str) -> Counted:
    """Of each case the measurement whose counters speak for GPUs of this name: settled before unsettled, then newest.

    A case's counters are of one run."""
    found = [
        (c, m)
        for c, m in book.measurements
        if gpu_name(c.run) == kind and any(v is not None for v in m.counters.values())
    ]
    return {m.name: (c, m) for c, m in sorted(found, key=lambda entry: (settled(entry[1]), started(entry[0])))}


def alike(found: Counted) -> Counted:
    """What may stand in one picture: settled ones alone, where there are some."""
    only = {name: entry for name, entry in found.items() if settled(entry[1])}
    return only or found
