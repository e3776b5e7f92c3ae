# SPDX-License-Identifier: Apache-2.0
"""Questions 22 to 24: matrix products beside the fastest library. A burst stands beside bursts, lasting load beside such."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...answer.findings import Part, lines, speedup
from ...answer.questions import by_number
from ...block.kinds import EMPTY, Block, Cell, Evidence, Table
from ...block.tables import of_column, who
from ...book import labels, text
from ...book.model import LASTING, STATES, SUSTAINED, UNWATCHED, Book, Column, watched
from ...book.products import (
    CURVE,
    GEMM,
    Product,
    against,
    by_tokens,
    called,
    kinds_of,
    middle,
    over_one,
    products,
    unit_of,
)
from ...draw import cells, curves
from ...draw.curves import Axis, Line
from ...draw.svg import Data, Figure

SUMMARY = "Matrix products beside the fastest baseline"
AS_FAST = (1.0, "as fast as the library")
FULL = math.log(1.25)  # a ratio so far from 1 has the full colour


def evidence(book: Book) -> list[Block]:
    """Each question with the sentences, pictures and tables of its operations."""
    first, few, grouped = (
        _of_question(book, number, operations) for number, operations in ((22, GEMM), (23, ("gemv",)), (24, ("grouped",)))
    )
    for kind in kinds_of(book, "gemv"):
        few.findings += lines(book, f"{called('gemv', kind)}, times as long as one token", lambda c, k=kind: _longer(book, c, k))
    for column in book.columns:
        for kind in ("bf16", "e4m3"):
            few.draw(over_tokens(book, column, kind))
    first.tables[:0] = filter(None, (summary(book, column) for column in book.columns))
    return [found for found in (first, few, grouped) if found or found.findings]


def _longer(book: Book, column: Column, kind: str) -> list[Part]:
    """ "16 tokens 1.14, 64 tokens 2.03": in the median of the layers."""
    ratios = over_one(by_tokens(book, column, kind))
    return [(", ".join(f"{text.counted(m, 'token')} {ratio:.2f}" for m, ratio in ratios.items()), "")] if ratios else []


def _of_question(book: Book, number: int, operations: tuple[str, ...]) -> Evidence:
    found = Evidence(number, _command(book, number, operations))
    for operation, kind in _every(book, operations):
        for state in STATES:

            def said(column: Column, operation: str = operation, kind: str = kind, state: str = state) -> list[Part]:
                return _beside_the_best(column, products(book, column, state, operation, kind))

            found.findings += lines(book, f"{called(operation, kind)}, {state}", said)
            for column in book.columns:
                found.draw(heat_map(book, column, operation, kind, state))
        for column in book.columns:
            found.tabulate(_every_shape(book, column, operation, kind))
    return found


def _command(book: Book, number: int, operations: tuple[str, ...]) -> str:
    """What measures them. Where torch took turns it did so in its own process."""
    found = f"assay run '{by_number()[number].cases}'"
    every = itertools.product(_every(book, operations), STATES, book.columns)
    taken = {name for kinds, state, column in every for p in products(book, column, state, *kinds) for name in p.baselines}
    return f"{found} && assay torch --set full --both" if any(name.startswith("torch") for name in taken) else found


def _every(book: Book, operations: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for operation in operations:
        yield from itertools.product([operation], kinds_of(book, operation))


def _beside_the_best(column: Column, shapes: list[Product]) -> list[Part]:
    """How many shapes, the middle of their ratios, and which are the worst and the best."""
    if not shapes:
        return []
    fastest = max(shapes, key=lambda p: p.value)
    unit = unit_of(fastest.operation)
    found = [(f"{text.number(fastest.value)} {unit} at {fastest.shape}", column.anchor(fastest.name))]
    paired = against(shapes)
    if not paired:
        return found
    median = f"{middle(paired):.3f} × the fastest baseline{_in_bf16(paired)}, median of {text.counted(len(paired), 'shape')}"
    found.append((median, ""))
    for word, p in (("worst", paired[0]), ("best", paired[-1]))[: len(paired)]:
        found.append((f"{word} {speedup(p.best)} × {p.fastest} at {p.shape}", column.anchor(p.name)))
    return found


def _in_bf16(paired: Iterable[Product]) -> str:
    """Of packed weights: that every library multiplies in bf16, if so."""
    return " in bf16" if all(p.in_bf16 for p in paired) else ""


# --- tables ----------------------------------------------------------------------------------------------------------


def summary(book: Book, column: Column) -> Table | None:
    """A row for each operation and type: how it does beside the fastest baseline, in each state by itself."""
    rows = []
    for operation, kind in _every(book, (*GEMM, "gemv", "grouped")):
        paired = [against(products(book, column, state, operation, kind)) for state in STATES]
        if any(paired):
            names = Counter(p.fastest for of_state in paired for p in of_state)
            row = [Cell(called(operation, kind)), Cell(_counts([len(of_state) for of_state in paired]))]
            row.append(Cell(names.most_common(1)[0][0]))
            for of_state in paired:
                row += _middle_and_worst(column, of_state)
            rows.append(row)
    head = ["Product", "Shapes", "Fastest baseline, mostly"]
    head += [f"{state}: {what}" for state in STATES for what in ("median", "worst")]
    caption = f"{SUMMARY}: times as fast{who(book, column)}"
    notes = _called(book, column)
    if any(", " in row[1].said for row in rows):
        notes.append("Where two counts stand, one state has shapes that the other lacks; its median is of all its own.")
    return Table(caption, head, rows, notes) if rows else None


def _counts(by_state: list[int]) -> str:
    """How many shapes; of each state where they differ: a run may be cut short."""
    if len(set(by_state) - {0}) == 1:
        return str(max(by_state))
    return ", ".join(f"{count} {state}" for count, state in zip(by_state, STATES))


def _called(book: Book, column: Column) -> list[str]:
    """How kernels were called under lasting load, where any was: it differs between builds of the suite."""
    of_state = [
        m
        for c, m in book.measurements
        if c is column and m.kind == "kernel" and m.baselines and m.name.endswith(SUSTAINED)
    ]
    calls = [m.iterations for m in of_state]
    if not calls:
        return []
    unknown = [] if all(map(watched, of_state)) else [UNWATCHED]
    if max(calls) == 1:
        return ["Sustained: each sample is a single call.", *unknown]
    rows = sum(number > 1 for number in calls)
    return [
        f"Sustained: in {rows} of {text.counted(len(calls), 'case')} a sample is up to {max(calls)} calls in a row, ours as "
        "many as the library's. In a row a call of ours is set up while the one before it ends.",
        *unknown,
    ]


def _middle_and_worst(column: Column, paired: list[Product]) -> list[Cell]:
    if not paired:
        return [EMPTY] * 2
    worst = paired[0]
    at_worst = Cell(f"{worst.best.speedup.value:.3f} at {worst.shape}", column.anchor(worst.name))
    return [Cell(f"{middle(paired):.3f}"), at_worst]


def _every_shape(book: Book, column: Column, operation: str, kind: str) -> Table | None:
    by_state = {state: {p.shape: p for p in products(book, column, state, operation, kind)} for state in STATES}
    shapes = dict.fromkeys(shape for found in by_state.values() for shape in found)
    by_state = {state: found for state, found in by_state.items() if found}
    rows = []
    for shape in shapes:
        row = [Cell(shape)]
        for found in by_state.values():
            p = found.get(shape)
            row.append(Cell(text.number(p.value), column.anchor(p.name)) if p else EMPTY)
            row.append(Cell(f"{speedup(p.best)} × {p.fastest}") if p and p.best else EMPTY)
        rows.append(row)
    what = called(operation, kind)
    caption = f"Every {what}, {unit_of(operation)}, and times as fast as the fastest baseline{who(book, column)}"
    head = ["Shape", *(words for state in by_state for words in (state, f"{state}, of the fastest baseline"))]
    return Table(caption, head, rows) if rows else None


# --- pictures --------------------------------------------------------------------------------------------------------


def _beyond(p: Product, side: int) -> bool:
    """Whether the whole interval of its speed-up is above 1 (side 1), or below (side -1)."""
    ends = p.best.speedup.ci95 or (p.best.speedup.value,) * 2
    return min(ends) > 1 if side > 0 else max(ends) < 1


def heat_map(book: Book, column: Column, operation: str, kind: str, state: str) -> Figure | None:
    """How many times as fast as the fastest baseline, over m (down) and n and k by their product (across)."""
    found: dict[tuple[int, int, int], Product] = {}
    for p in products(book, column, state, operation, kind):
        if p.sizes and p.best and p.best.speedup.value > 0:
            found[p.sizes] = p
    if len(found) < 4:
        return None
    rows = sorted({m for m, _, _ in found})
    across = sorted({(n, k) for _, n, k in found}, key=lambda weights: (weights[0] * weights[1], weights))

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        p = found.get((rows[y], *across[x]))
        if p is None:
            return None
        ratio = p.best.speedup.value
        words = f"{p.shape}: {speedup(p.best)} × as fast as {p.fastest}, "
        words += f"{text.number(p.value)} {unit_of(operation)}"
        return f"{ratio:.2f}", "s1" if ratio >= 1 else "s2", 0.08 + 0.5 * min(1, abs(math.log(ratio)) / FULL), words

    slower, faster = (sum(_beyond(p, side) for p in found.values()) for side in (-1, 1))
    finding = (
        f"Beyond its interval ours is slower than the fastest baseline in {slower} of {len(found)} shapes, and faster in "
        f"{faster}."
    )
    what = called(operation, kind)
    drawn = cells.grid(
        f"{text.slug(operation)}-{text.slug(kind)}{'-sustained' if state == LASTING else ''}{column.index}",
        f"Our {what} against the library{_in_bf16(found.values())}, {state}{who(book, column)}",
        finding,
        [f"m = {m}" for m in rows],
        [f"{n}×{k}" for n, k in across],
        cell,
        f"{finding} Rows: m. Columns: n×k of the weights, by size. Blue: ours is as fast or faster. Orange: the library "
        "is faster.",
        size=(38, 22),
        left=60,
    )
    head = ["m", "n", "k", "times as fast", "low", "high", unit_of(operation), "baseline"]
    return replace(drawn, data=Data(head, [_measured(sizes, p) for sizes, p in sorted(found.items())]))


def _measured(sizes: tuple[int, int, int], p: Product) -> list[object]:
    """Of the picture's file."""
    ratio = p.best.speedup
    return [*sizes, ratio.value, *(ratio.ci95 or (None, None)), p.value, p.best.name]


def over_tokens(book: Book, column: Column, kind: str) -> Figure | None:
    """How many times as fast as the fastest library from one token to many, a line for each layer's weights."""
    drawn: list[Line] = []
    for name, m in of_column(book, column, f"{CURVE}{kind}/"):
        drawn += curves.lines_of(m.series_named("speedup"), labels.product(name))
    values = [y for line in drawn for _, y in line.points]
    least, most = (min(values), max(values)) if values else (0, 0)
    return curves.draw(
        f"tokens-{kind}{column.index}",
        f"Our {kind} product from 1 to 512 tokens, times as fast as the fastest library{who(book, column)}",
        drawn,
        Axis("tokens, m", 2),
        Axis("times as fast"),
        note=f"Between {least:.2f} and {most:.2f} times as fast. A line is a layer, n×k of its weights. Above the dashed "
        "line ours is faster.",
        limit=AS_FAST,
    )
