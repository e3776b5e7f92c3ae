# SPDX-License-Identifier: Apache-2.0
"""Throughput and power under lasting load by the data that is multiplied."""

from __future__ import annotations

from dataclasses import dataclass

from ...book import labels, text, units
from ...book.model import Book, Column
from ...draw.svg import GRID, INK, Data, Figure, axes, color_of, finish, put_ticks

POWER = "tensor_core/power/"


@dataclass
class DataCase:
    """One kind of data on one type: throughput under lasting load, and at which power and clock."""

    kind: str
    data: str
    tflops: float
    watts: float | None
    clock: float | None  # that the SMs counted
    anchor: str


def power(book: Book, column: Column) -> list[DataCase]:
    """The cases of tensor_core/power in one run, types together, the fastest data first."""
    found = []
    for c, m in book.measurements:
        if c is column and m.name.startswith(POWER) and "tflops" in m.metrics:
            kind, _, data = m.name.removeprefix(POWER).partition("/")
            watts = m.value("power_w") or m.conditions.get("power_w")
            clock = m.conditions.get("sm_clock_mhz")
            found.append(DataCase(kind, data, m.metrics["tflops"].value, watts, clock, c.anchor(m.name)))
    order = list(dict.fromkeys(d.kind for d in found))
    return sorted(found, key=lambda d: (order.index(d.kind), -d.tflops))


def _lost(cases: list[DataCase]) -> str:
    """The type that loses most by its data, in a sentence."""
    by_kind: dict[str, list[DataCase]] = {}
    for case in cases:
        by_kind.setdefault(case.kind, []).append(case)
    pairs = [(min(of, key=lambda c: c.tflops), max(of, key=lambda c: c.tflops)) for of in by_kind.values() if len(of) > 1]
    if not pairs:
        return ""
    worst, best = min(pairs, key=lambda pair: pair[0].tflops / pair[1].tflops)
    less = text.percent(1 - worst.tflops / best.tflops)
    return f"{worst.kind} loses most by its data, {less} on {labels.words(worst.data)} against {labels.words(best.data)}. "


def power_by_data(book: Book, column: Column) -> Figure | None:
    cases = power(book, column)
    if len(cases) < 2:
        return None
    with axes(0.5 + 0.27 * len(cases)) as (canvas, ax):
        kinds = list(dict.fromkeys(c.kind for c in cases))
        best = {k: max(c.tflops for c in cases if c.kind == k) for k in kinds}
        longest = max(best.values())
        for y, case in enumerate(cases):
            ax.barh(y, best[case.kind], height=0.7, color=GRID, alpha=0.5, lw=0)
            ax.barh(y, case.tflops, height=0.7, color=color_of(case.kind))
            remarks = [f"{case.tflops:.0f}"]
            remarks += [f"{case.watts:.0f} W"] if case.watts else []
            remarks += [f"{case.clock:.0f} MHz"] if case.clock else []
            ax.annotate(
                " · ".join(remarks),
                (best[case.kind], y),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
            )
        ax.set(
            ylim=(len(cases) - 0.4, -0.6),
            xlim=(0, longest * 1.6 or 1),
        )
        put_ticks(ax.yaxis, range(len(cases)), [f"{c.kind} {labels.words(c.data)}" for c in cases])
        put_ticks(ax.xaxis, [])
        ax.grid(False)
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", labelcolor=INK)
        said = "; ".join(
            f"{c.kind} {labels.words(c.data)} {c.tflops:.0f} {units.unit(c.kind, 'TFLOP/s')}" for c in cases
        )
        return finish(
            canvas,
            f"power{column.index}",
            f"Throughput by data, {column.label}",
            f"{_lost(cases)}Under lasting load: {said}.",
            "TFLOP/s, of integers TOP/s, of the same wgmma loop under lasting load, with the power drawn and the clock that "
            "the SMs counted.",
            Data(
                ["type", "data", "TFLOP/s, of integers TOP/s", "W", "MHz"],
                [[c.kind, labels.words(c.data), c.tflops, c.watts, c.clock] for c in cases],
            ),
        )
