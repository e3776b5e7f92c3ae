# SPDX-License-Identifier: Apache-2.0
"""Collectives of several GPUs: bus bandwidth by operation and size."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..answer.findings import Answer, one_line
from ..answer.questions import Question
from ..block.declaration import Family
from ..block.kinds import Block, Figures
from ..book import interval, labels, text
from ..book.model import Book
from ..draw import curves as lines
from ..draw.svg import PAPER, SERIES, Data, Figure, axes, finish, spread


@dataclass
class Series:
    label: str
    points: list[tuple[float, float, float, float]]  # bytes, GB/s, low, high


def collective_series(book: Book) -> dict[str, list[Series]]:
    """Bus bandwidth against size, per operation: one series per type, number of GPUs, variant and column."""
    found: dict[str, dict[str, list]] = {}
    for row in book.find(r"collective/[^/]+/[^/]+/\d+/.*", "bus_bandwidth_gb_per_s"):
        _, operation, kind, count, *rest = row.name.split("/")
        for column, n in zip(book.columns, row.numbers):
            if n is None:
                continue
            label = " ".join(
                [*([column.tag] if column.tag else []), kind, *(part.replace("gpus", " GPUs") for part in rest)]
            )
            low, high = (n.low, n.high) if n.low is not None else (n.value, n.value)
            found.setdefault(operation, {}).setdefault(label, []).append((float(count), n.value, low, high))
    return {
        operation: [Series(label, sorted(points)) for label, points in by_label.items()]
        for operation, by_label in found.items()
    }


def curves(book: Book) -> list[Figure]:
    drawn = []
    for operation, series in collective_series(book).items():
        if max(len(s.points) for s in series) < 2:
            continue
        with axes(3.0) as (canvas, ax):
            ax.set_xscale("log", base=2)
            ends = []
            for i, one in enumerate(series[:6]):
                color = SERIES[i % len(SERIES)]
                xs, ys = [p[0] for p in one.points], [p[1] for p in one.points]
                ax.fill_between(
                    xs, [p[2] for p in one.points], [p[3] for p in one.points], color=color, alpha=0.25, lw=0
                )
                ax.plot(xs, ys, marker="o", ms=4, color=color, mec=PAPER, mew=0.6)
                ends.append((xs[-1], ys[-1], color, one.label))
            top = max(y for _, y, _, _ in ends)
            for (x, _, color, label), y in zip(ends, spread([y for _, y, _, _ in ends], 0.07 * top)):
                ax.annotate(
                    label, (x, y), xytext=(6, 0), textcoords="offset points", va="center", color=color, fontsize=9
                )
            ax.set_ylim(0, None)
            sizes = [x for one in series for x, *_ in one.points]
            first, last = (math.log2(f(sizes)) for f in (min, max))
            ax.set_xticks(
                [2**e for e in range(math.ceil(first), math.floor(last) + 1, max(1, math.ceil((last - first) / 6)))]
            )
            ax.xaxis.set_major_formatter(lambda v, _: text.size(v))
            ax.set(xlabel="bytes", ylabel="bus bandwidth, GB/s")
            said = "; ".join(f"{label} {text.number(y)} GB/s at {text.size(x)}" for x, y, _, label in ends)
            drawn.append(
                finish(
                    canvas,
                    f"collective-{text.slug(operation)}",
                    f"Bus bandwidth, {operation.replace('_', '-')}",
                    f"At the largest size: {said}.",
                    f"Bands: 95% intervals, {interval.short(book.processes)}.",
                    Data(
                        ["type and GPUs", "bytes", "GB/s", "low", "high"],
                        [[one.label, *point] for one in series for point in one.points],
                    ),
                )
            )
    return drawn


def latencies(book: Book) -> list[Figure]:
    """Time over size of each operation, both logarithmic: flat where it waits, a slope where it moves data."""
    found: dict[str, dict[str, dict[str, list[tuple[float, float]]]]] = {}
    for row in book.find(r"collective/[^/]+/[^/]+/\d+/.*", "time_us"):
        _, operation, kind, count, *rest = row.name.split("/")
        for column, n in zip(book.columns, row.numbers):
            if n and n.value > 0:
                words = ", ".join(labels.words(part) for part in rest).replace("graph", "in a graph")
                label = " ".join(filter(None, [column.tag, words]))
                found.setdefault(operation, {}).setdefault(kind, {}).setdefault(label, []).append(
                    (float(count), n.value)
                )
    drawn = []
    for operation, by_kind in found.items():
        kind = max(by_kind, key=lambda k: (len(by_kind[k]), k == "bf16"))  # time is of bytes, not of their type
        ways = [(label, sorted(points)) for label, points in by_kind[kind].items()]
        shown = lines.draw(
            f"collective-latency-{text.slug(operation)}",
            f"Time of {operation.replace('_', '-')} by size, {kind}",
            [lines.Line(label, points) for label, points in ways],
            lines.Axis("bytes", 2, bytes=True),
            lines.Axis("µs", 10),
            note=_waits(ways),
        )
        drawn += [shown] if shown else []
    return drawn


def _waits(ways: list[tuple[str, list[tuple[float, float]]]]) -> str:
    """From which size on the first of the ways takes twice as long as with little, in a sentence."""
    label, points = ways[0]
    least = points[0][1]
    twice = next((size for size, time in points if time >= 2 * least), None)
    if twice is None:
        return f"With {label} no size takes twice as long as the smallest."
    return (
        f"With {label} the smallest size takes {text.number(round(least, 1))} µs, and {text.size(twice)} twice as long."
    )


def blocks(book: Book) -> list[Block]:
    return [Figures([*curves(book), *latencies(book)])]


def collectives(book: Book, question: Question) -> Answer:
    findings = []
    for operation, series in collective_series(book).items():
        for one in series[:3]:
            size, top, *_ = max(one.points, key=lambda p: p[1])
            findings.append(
                one_line(f"{operation} {one.label}", f"{text.number(top)} GB/s at {text.size(size)}", "link.html")
            )
    return Answer(question, findings)


FAMILY = Family(
    "collective",
    "Collectives",
    "Several GPUs: time and bus bandwidth by operation and size.",
    blocks=(blocks,),
    answers={29: collectives},
)
