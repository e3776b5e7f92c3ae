# SPDX-License-Identifier: Apache-2.0
"""How far a case swings by itself: what other stored runs of GPUs of one name found of it. Pure.

Some cases take one time in a process and another in the next, further apart than any interval says. Where runs are stored
that measured the same, in the same way, what lies between them is no difference between two others. Kernels are left out:
they change with the commit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from assay.files import Measurement

from ..book import identity, model
from ..book.model import SHARED, STATES
from .subjects import Subject


@dataclass(frozen=True)
class _Found:
    subject: int  # its index
    gpu: str  # its name
    measurement: Measurement
    values: tuple[float, ...]  # of each process


class Stored:
    """All runs of a collection, by the name of their GPU."""

    def __init__(self, subjects: Iterable[Subject]) -> None:
        self._found: dict[tuple[str, str, str], list[_Found]] = {}
        for subject in subjects:
            gpu = identity.gpu_name(subject.run) if subject.book.columns else ""
            for row in subject.book.rows:
                for state in STATES:
                    name = model.name_in(row, state)
                    if not (at := subject.number(row, state)) or SHARED in at[1].flags:
                        continue
                    measured = subject.book.measurement(at[0], name)
                    if measured and measured.kind != "kernel":
                        values = at[1].processes or (at[1].value,)
                        self._found.setdefault((name, row.metric, state), []).append(
                            _Found(subject.index, gpu, measured, values)
                        )

    def swing(self, of: Measurement, metric: str, state: str, besides: Iterable[int]) -> float:
        """The logarithm of the most over the least that runs on GPUs of any one name found, besides some; 0 where that is
        not known."""
        by_kind: dict[tuple[str, str], list[float]] = {}  # by the name of the GPU and by parameters, which follow it
        for one in self._found.get((of.name, metric, state), ()):
            if one.subject not in besides and one.measurement.metrics.keys() == of.metrics.keys():
                by_kind.setdefault((one.gpu, repr(sorted(one.measurement.params.items()))), []).extend(one.values)
        ends = [(min(values), max(values)) for values in by_kind.values()]
        known = [(least, most) for least, most in ends if 0 < least <= most < math.inf]
        return max((math.log(most) - math.log(least) for least, most in known), default=0.0)
