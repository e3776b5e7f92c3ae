# SPDX-License-Identifier: Apache-2.0
"""Collectives of several GPUs: bus bandwidth by operation and size."""

from __future__ import annotations

from dataclasses import replace

from ..answer.findings import Answer, one_line
from ..answer.question import Question
from ..block.declaration import Family
from ..block.kinds import Block, Figures
from ..book import labels, text
from ..book.model import Book
from ..draw import curves as lines
from ..draw.curves import Line
from ..draw.svg import Figure


def _series(book: Book, metric: str) -> dict[str, dict[str, dict[str, Line]]]:
    """Operation -> type -> name -> the metric over the size: a line for each number of GPUs, variant and column."""
    found: dict[str, dict[str, dict[str, Line]]] = {}
    for row in book.find(r"collective/[^/]+/[^/]+/\d+/.*", metric):
        _, operation, kind, count, *rest = row.name.split("/")
        for column, n in zip(book.columns, row.numbers):
            if n is None or n.value <= 0:
                continue
            words = (labels.words(part).replace("graph", "in a graph") for part in rest)
            label = ", ".join(filter(None, [column.tag, *words]))
            line = found.setdefault(operation, {}).setdefault(kind, {}).setdefault(label, Line(label, []))
            line.points.append((float(count), n.value))
            if n.low is not None and n.high is not None:
                line.ends[float(count)] = (n.low, n.high)
    for line in (line for by_kind in found.values() for of_kind in by_kind.values() for line in of_kind.values()):
        line.points.sort()
    return found


def collective_series(book: Book) -> dict[str, list[Line]]:
    """Bus bandwidth over the size, of each operation."""
    return {
        operation: [replace(line, label=f"{kind}, {line.label}") for kind, of in by_kind.items() for line in of.values()]
        for operation, by_kind in _series(book, "bus_bandwidth_gb_per_s").items()
    }


def curves(book: Book) -> list[Figure]:
    drawn = []
    for operation, series in collective_series(book).items():
        shown = lines.draw(
            f"collective-{text.slug(operation)}",
            f"Bus bandwidth of {operation.replace('_', '-')} by size",
            series,
            lines.Axis("bytes", 2, bytes=True),
            lines.Axis("bus bandwidth, GB/s"),
        )
        drawn += [shown] if shown else []
    return drawn


def latencies(book: Book) -> list[Figure]:
    """Time over size of each operation, both logarithmic: flat where it waits, a slope where it moves data."""
    drawn = []
    for operation, by_kind in _series(book, "time_us").items():
        kind = max(by_kind, key=lambda k: (len(by_kind[k]), k == "bf16"))  # time is of bytes, not of their type
        ways = list(by_kind[kind].values())
        shown = lines.draw(
            f"collective-latency-{text.slug(operation)}",
            f"Time of {operation.replace('_', '-')} by size, {kind}",
            ways,
            lines.Axis("bytes", 2, bytes=True),
            lines.Axis("µs", 10),
            note=_waits(ways),
        )
        drawn += [shown] if shown else []
    return drawn


def _waits(ways: list[Line]) -> str:
    """Which size is the first that takes at least twice as long as the smallest, of the first of the ways, in a sentence."""
    label, points = ways[0].label, ways[0].points
    least = points[0][1]
    twice = next(((size, time) for size, time in points if time >= 2 * least), None)
    if twice is None:
        return f"With {label} no size takes twice as long as the smallest."
    size, time = twice
    return (
        f"With {label} the smallest size takes {text.number(round(least, 1))} µs. {text.size(size)} is the first size here "
        f"that takes at least twice as long, {text.number(round(time, 1))} µs."
    )


def blocks(book: Book) -> list[Block]:
    return [Figures([*curves(book), *latencies(book)])]


def collectives(book: Book, question: Question) -> Answer:
    findings = []
    for operation, series in collective_series(book).items():
        for one in series[:3]:
            size, top = max(one.points, key=lambda p: p[1])
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
