# SPDX-License-Identifier: Apache-2.0
"""wgmma against N, what it takes to reach the peak, and how many must be in flight."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from ...block.kinds import Block, Cell, Fold, Span, Table
from ...book import labels, text
from ...book.mma import parse
from ...book.model import Book, Column
from ...draw import cells, placing
from ...draw.curves import Line, band, banded
from ...draw.svg import MUTED, PAPER, SERIES, Data, Figure, axes, finish, name_dot, put_ticks

REACHES = 0.99  # of the best rate


@dataclass
class Sweep:
    """Cycles from one wgmma to the next, by N."""

    kind: str
    source: str
    points: list[tuple[int, float]]
    published: list[tuple[int, float]]
    title: str = ""  # of the publication
    ends: dict[float, tuple[float, float]] = field(default_factory=dict)  # the 95% intervals, by N

    @property
    def line(self) -> Line:
        return Line(SWEPT[self.source], self.points, ends=self.ends)


SWEPT = {"ss": "SS", "rs": "RS", "sparse_ss": "sparse SS", "sparse_rs": "sparse RS"}


def sweeps(book: Book, column: Column) -> list[Sweep]:
    """Of the 16-bit type that has most values of N, each source; [] with fewer than three values."""
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    ends: dict[tuple[str, str], dict[float, tuple[float, float]]] = {}
    for row in book.find(r"tensor_core/wgmma/(f16|bf16)/m64n\d+/(sparse_)?[rs]s", "latency_cycles"):
        _, _, kind, shape, source = row.name.split("/")
        if number := row.numbers[column.index]:
            found.setdefault((kind, source), []).append((n := int(shape[4:]), number.value))
            if number.low is not None and number.high is not None:
                ends.setdefault((kind, source), {})[n] = (number.low, number.high)
    kind = max((k for k, _ in found), key=lambda k: (len(found.get((k, "ss"), [])), k == "f16"), default="")
    result = []
    for source in SWEPT:
        points = sorted(found.get((kind, source), []))
        if len(points) < 3:
            continue
        theirs = [
            (int(p.name.split("/")[3][4:]), p.value, p.title)
            for p in book.published_for(rf"tensor_core/wgmma/f16/m64n\d+/{source}", "latency_cycles")
        ]
        title = theirs[0][2] if theirs else ""
        published = sorted((n, v) for n, v, t in theirs if t == title)
        result.append(Sweep(kind, source, points, published, title, ends.get((kind, source), {})))
    return result


def n_sweep(book: Book, column: Column) -> Figure | None:
    curves = sweeps(book, column)
    if not curves:
        return None
    with axes(3.3) as (canvas, ax):
        ax.set_xscale("log", base=2)
        ax.set_yscale("log", base=2)
        sizes = sorted({n for c in curves for n, _ in c.points})
        ax.plot(sizes, [n / 2 for n in sizes], color=MUTED, lw=0.9, ls=(0, (1, 2)))
        drawn, named = {}, []
        for curve in curves:
            color = SERIES[list(SWEPT).index(curve.source)]
            ax.plot(*zip(*curve.points), marker="o", ms=4, color=color, mec=PAPER, mew=0.6)
            band(ax, curve.line, color)
            named.append((*curve.points[0], SWEPT[curve.source], color))
            if curve.published:
                drawn[curve.title] = None
                ax.plot(*zip(*curve.published), "D", ms=6.5, mfc="none", mec=color, mew=0.9)
        ax.set(xlabel="N of m64nN", ylabel="cycles per wgmma", xlim=(sizes[0] / 1.15, sizes[-1] * 1.15))
        put_ticks(ax.xaxis, [n for n in (8, 16, 32, 64, 128, 256) if sizes[0] <= n <= sizes[-1]])
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda v, _: text.number(v))
        canvas.get_layout_engine().execute(canvas)
        room = placing.room_of(ax, [c.points for c in curves], [p for c in curves for p in c.points])
        for place in named:
            name_dot(ax, room, *place)
        said = "; ".join(
            f"{SWEPT[c.source]} " + ", ".join(f"{text.number(round(v, 1))} at N = {n}" for n, v in c.points)
            for c in curves
        )
        theirs = f" Hollow: {'; '.join(drawn)}, f16." if drawn else ""
        return finish(
            canvas,
            f"n-sweep{column.index}",
            f"wgmma {curves[0].kind} against N, {column.label}",
            f"{_full_rate(curves)}Cycles from one wgmma to the next on the same accumulators: {said}.",
            "SS: A and B in shared memory; RS: A in registers. Dotted: N / 2, what the tensor cores need."
            + theirs
            + banded(c.line for c in curves),
            Data(
                ["operands", "N", "cycles", "low", "high", "from"],
                [
                    *([SWEPT[c.source], n, v, *c.line.interval(n), "measured"] for c in curves for n, v in c.points),
                    *([SWEPT[c.source], n, v, None, None, c.title] for c in curves for n, v in c.published),
                ],
            ),
        )


def _full_rate(curves: list[Sweep]) -> str:
    """From which N on a wgmma takes no longer than the tensor cores need, in a sentence."""
    found = []
    for curve in curves:
        late = [n for n, v in curve.points if v > 1.02 * n / 2]
        first = min((n for n, _ in curve.points if not late or n > max(late)), default=None)
        if first and not SWEPT[curve.source].startswith("sparse"):
            found.append(f"{SWEPT[curve.source]} from N = {first} on")
    return f"At the full rate of the tensor cores: {', '.join(found)}. " if found else ""


def reaching_peak(book: Book, column: Column) -> list[tuple[str, str, str]]:
    """(instruction, what it takes to reach its peak, anchor): the smallest shape that a sweep found."""
    found = []
    for c, m in book.measurements:
        p = m.params
        if c is not column:
            continue
        if m.name.startswith("tensor_core/wgmma_in_flight/") and "smallest_n" in p:
            waits = "none in flight" if p.get("smallest_pending") == 0 else "one group in flight"
            groups, chains = p.get("smallest_warpgroups"), p.get("smallest_chains")
            said = f"N = {p['smallest_n']}, {_count(groups, 'warpgroup')}, {_count(chains, 'accumulator')}, {waits}"
            found.append(
                (m.name.removeprefix("tensor_core/").replace("wgmma_in_flight", "wgmma"), said, c.anchor(m.name))
            )
        elif m.name.startswith("tensor_core/mma_sync/") and {"warps", "chains"} <= p.keys() and parse(m.name):
            said = f"{_count(p['warps'], 'warp')}, {_count(p['chains'], 'accumulator')} each"
            found.append((m.name.removeprefix("tensor_core/"), said, c.anchor(m.name)))
    return found


def in_flight(book: Book, column: Column, case: str = "bf16/ss") -> Figure | None:
    """The share of the best rate by N, accumulators and waiting (down) and warpgroups (across)."""
    m = book.measurement(column, f"tensor_core/wgmma_in_flight/{case}")
    series = m.series_named("flop_per_clock_per_sm") if m else None
    if series is None or [a.name for a in series.axes] != ["n", "chains", "pending", "warpgroups"]:
        return None
    grid, (sizes, chains, pending, groups) = series.grid, (a.points for a in series.axes)
    if np.isnan(grid).all():
        return None
    best = np.nanmax(grid)
    settings = list(itertools.product(range(len(sizes)), range(len(chains)), range(len(pending))))
    rows = [
        f"N = {sizes[n]}, {_count(chains[c], 'accumulator')}, {'waits for all' if pending[p] == 0 else 'one in flight'}"
        for n, c, p in settings
    ]

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        rate = grid[(*settings[y], x)]
        if math.isnan(rate):
            return None
        share = rate / best
        words = f"{rows[y]}, {_count(groups[x], 'warpgroup')}: {text.number(rate)} {series.unit}"
        # Most places are near the peak: the colour begins at half of it.
        return text.percent(share), "s1" if share >= REACHES else "s2", max(0.05, 2 * share - 1), words

    reach = sum(grid[(*setting, x)] >= REACHES * best for setting in settings for x in range(len(groups)))
    return cells.grid(
        f"in-flight{column.index}",
        f"What wgmma {case.replace('/', ' ').upper()} needs for its peak, {column.label}",
        f"It reaches {text.number(best)} {series.unit} at best, and {reach} of {len(rows) * len(groups)} settings come within 1 % of "
        "that. The smallest of them are in the table.",
        rows,
        [_count(g, "warpgroup") for g in groups],
        cell,
        "Share of the best rate. First colour: 99 % of it or more. Empty: more registers than there are.",
        size=(74, 16),
        left=210,
        slanted=False,
        breaks=[y for y in range(1, len(settings)) if settings[y][0] != settings[y - 1][0]],
    )


def _count(n: object, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _by_need(found: list[tuple[str, str, str]]) -> list[list[Cell]]:
    """A row for each shape, with all instructions that need it: most need one of a few."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for name, said, anchor in found:
        alike.setdefault(said, []).append((labels.case_words(f"tensor_core/{name}"), anchor))
    rows = sorted(alike.items(), key=lambda row: -len(row[1]))
    return [[Cell(said), Cell("", more=tuple(_apart(of_row)))] for said, of_row in rows]


def _apart(names: list[tuple[str, str]]) -> list[Span]:
    last = len(names) - 1
    return [Span(name if i == last else f"{name};", anchor) for i, (name, anchor) in enumerate(names)]


def blocks(book: Book) -> list[Block]:
    """What each run found that it takes to reach the peak."""
    folds: list[Block] = []
    for column in book.columns:
        if found := reaching_peak(book, column):
            caption = "The fewest warps, then accumulators, within 1 % of the best"
            of = f", {column.tag} {column.label}" if len(book.columns) > 1 else ""
            table = Table(caption, ["What it takes", "Instructions"], _by_need(found), kind="compact plain")
            folds.append(Fold(f"What it takes to reach the peak{of}", f"{len(found)} instructions", [table]))
    return folds
