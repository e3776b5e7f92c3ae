# SPDX-License-Identifier: Apache-2.0
"""Everything known about one measurement."""

from __future__ import annotations

import statistics
from typing import Any

from assay.files import Measurement

from ..book import labels, text
from ..book.model import Book, Column
from ..draw import svg
from . import clocks, repeating
from .environment import fact, unitless


def detail(book: Book, column: Column, m: Measurement, permanent: str = "") -> dict[str, Any]:
    """Everything known about one measurement, as the template prints it; `permanent` leads to its page of all runs."""
    rows = [
        (key, metric, row.published if (row := book.row(m.name, key)) else [], book.descriptions.get(key, ""))
        for key, metric in m.metrics.items()
    ]
    sass = {"verified": False, "emulated": False, "target": "", "kernel": "", **m.sass} if m.sass else {}
    samples = []
    for key, values in m.samples.items():
        if values:
            samples.append(
                (
                    labels.words(key),
                    text.number(min(values)),
                    text.number(statistics.median(values)),
                    text.number(max(values)),
                    len(values),
                    svg.spark(values),
                )
            )
    return {
        "anchor": column.anchor(m.name),
        "m": m,
        "column": column,
        "metrics": rows,
        "sass": sass,
        "loop": sorted((sass.get("loop") or {}).items(), key=lambda item: -item[1])[:16],
        "params": [(k, v) for k, v in m.params.items() if v not in (None, "")],
        "conditions": [
            (labels.words(unitless(k)), ", ".join(map(str, v)) if isinstance(v, list) else fact(k, v))
            for k, v in m.conditions.items()
            if v not in (None, [], "")
        ]
        + ([("at a lower clock", said)] if (said := clocks.remark(column, m)) else []),
        "samples": samples,
        "refused": [
            (r.short, f"{labels.quantity(r.figure)} {r.said}: {r.why}")
            for c, r in book.refused
            if c is column and r.name == m.name
        ],
        "counters": [(k, v) for k, v in m.counters.items() if v is not None],
        "permanent": permanent,
        "command": repeating.command(m),
    }
