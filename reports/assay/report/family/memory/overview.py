# SPDX-License-Identifier: Apache-2.0
"""The overview of the memory hierarchy: latencies of all levels, bandwidths against their limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...block.kinds import Block, figures
from ...book import labels, text
from ...book.model import Book, Number, Published, Row
from ...draw.svg import GRID, INK, MUTED, PAPER, SERIES, Data, Figure, axes, finish, put_ticks


@dataclass
class Bar:
    label: str
    values: list[float | None]  # per column
    texts: list[str]
    published: list[Published] = field(default_factory=list)


# Of shared memory the chain of addresses, as of all others.
LADDER = r"memory/((constant\w*|l1|l2|l2_near|l2_far|dram|dsmem/\w+|dsmem)/latency|shared/latency/address)|tma/[^/]+/latency"


def ladder_bars(book: Book) -> list[Bar]:
    """Cycles of each level, nearest first. The axis is logarithmic: what is 0 or less has no place on it."""
    bars = []
    for row in book.find(LADDER, "latency_cycles"):
        values = [n.value if n and n.value > 0 else None for n in row.numbers]
        if not any(values):
            continue
        level = row.name.removesuffix("/address").removesuffix("/latency").removeprefix("memory/")
        label = labels.words(level.replace("/", "_"))
        bars.append(Bar(label, values, [], row.related))
    return sorted(bars, key=lambda b: min(v for v in b.values if v is not None))


def share_of(row: Row) -> float:
    """What any run reaches of the limit; 0 where none is known."""
    return max((n.share for n in row.numbers if n and n.share), default=0)


def bandwidth_shares(book: Book) -> list[tuple[Row, list[Number | None]]]:
    """Bandwidths of the memory hierarchy that have a limit, one metric per case: the one that its limit binds the most,
    as a copy from memory is bound by the memory's pins and not by L1. Of variants the plain one alone.
    """
    chosen: dict[str, Row] = {}
    for metric in ("bytes_per_clock_per_sm", "bandwidth_gb_per_s"):
        for row in book.find(r"(memory|tma|tmem)/(?!hbm/power/).*", metric):
            if share_of(row) > (share_of(chosen[row.name]) if row.name in chosen else 0):
                chosen[row.name] = row
    return [(row, row.numbers) for name, row in chosen.items() if name.rpartition("/")[0] not in chosen]


# --- figures -------------------------------------------------------------------------------------------------------


def _tagged(book: Book, column: int, value: float, half_width: float | None = None) -> str:
    """ "34", or "A 34" where there are several columns."""
    return f"{book.columns[column].tag} {text.number(value, half_width)}".strip()


def latency_ladder(book: Book) -> Figure | None:
    bars = ladder_bars(book)
    if not bars:
        return None
    with axes(0.6 + 0.3 * len(bars)) as (canvas, ax):
        ax.set_xscale("log")
        for y, bar in enumerate(bars):
            others = sorted({round(p.value, 1) for p in bar.published})
            ax.plot(others, [y] * len(others), "D", ms=4.5, mfc="none", mec=MUTED, mew=0.9)
            for i, value in enumerate(bar.values):
                if value is not None:
                    ax.plot(value, y, "o", ms=6.5, color=SERIES[i % len(SERIES)], mec=PAPER, mew=0.8)
            values = [v for v in bar.values if v is not None]
            ax.annotate(
                " / ".join(_tagged(book, i, round(v, 1)) for i, v in enumerate(bar.values) if v is not None),
                (max([*values, *others]), y),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        every = [v for bar in bars for v in [*bar.values, *(p.value for p in bar.published)] if v is not None]
        ax.set(
            ylim=(len(bars) - 0.4, -0.6),
            xlabel="SM cycles",
            xlim=(min(every) * 0.8, max(every) * 2),
        )
        put_ticks(ax.yaxis, range(len(bars)), [b.label for b in bars])
        ax.tick_params(axis="y", labelcolor=INK)
        ax.xaxis.set_major_formatter(lambda v, _: text.number(v))
        said = "; ".join(f"{b.label} {' / '.join(f'{v:.1f}' for v in b.values if v is not None)}" for b in bars)
        return finish(
            canvas,
            "ladder",
            "Latency ladder",
            f"{_ends(bars)}Cycles: {said}.",
            "Dots: measured, in SM cycles. Hollow diamonds: published for other GPUs of this architecture.",
            Data(
                ["level", "run", "cycles"],
                [[b.label, book.columns[i].label, v] for b in bars for i, v in enumerate(b.values) if v is not None],
            ),
        )


def _ends(bars: Sequence[Bar]) -> str:
    """The quickest and the slowest level, in a sentence."""
    every = sorted(((v, bar.label) for bar in bars for v in bar.values if v is not None), key=lambda of: of[0])
    if len(every) < 2:
        return ""
    (low, first), (high, last) = every[0], every[-1]
    return f"{first} answers first, after {text.number(round(low, 1))} cycles, and {last} last, after {text.number(round(high, 1))}. "


def _nearest(names: Sequence[str], rows: Sequence[tuple[Row, list[Number | None]]]) -> str:
    """Which comes nearest to its limit and which stays furthest below, in a sentence."""
    every = [(n.share, label) for label, (_, numbers) in zip(names, rows) for n in numbers if n and n.share]
    if len(every) < 2:
        return ""
    (low, last), (high, first) = min(every), max(every)
    return f"{first} comes nearest to its limit, {text.percent(high)} of it, and {last} stays furthest below, at {text.percent(low)}. "


def bandwidths(book: Book) -> Figure | None:
    rows = bandwidth_shares(book)[:24]
    if not rows:
        return None
    shown = [i for i in range(len(book.columns)) if any(numbers[i] for _, numbers in rows)]
    several = len(shown)
    with axes(0.6 + (0.2 + 0.14 * several) * len(rows)) as (canvas, ax):
        height = 0.7 / several
        for y, (row, numbers) in enumerate(rows):
            ax.barh(y, 1, height=0.74, color=GRID, alpha=0.5, lw=0)
            for place, i in enumerate(shown):
                n = numbers[i]
                if n and n.share:
                    at = y + (place - (several - 1) / 2) * height
                    ax.barh(at, n.share, height=height, color=SERIES[i % len(SERIES)])
                    ax.annotate(
                        f"{_tagged(book, i, n.value, n.half_width)} {text.unit(row.unit)}",
                        (max(1, n.share), at),
                        xytext=(5, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=8.5,
                    )
                    if n.share > 0.15:  # else the bar has no room for it
                        ax.annotate(
                            text.percent(n.share),
                            (n.share, at),
                            xytext=(-4, 0),
                            textcoords="offset points",
                            va="center",
                            ha="right",
                            fontsize=8,
                            color=PAPER,
                        )
        names = [
            labels.words(row.name.replace("/bandwidth", "").removeprefix("memory/").replace("/", "_"))
            for row, _ in rows
        ]
        ax.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, 1.5))
        put_ticks(ax.yaxis, range(len(rows)), names)
        put_ticks(ax.xaxis, [])
        ax.grid(False)
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", labelcolor=INK)
        said = "; ".join(
            f"{label} {text.percent(n.share)}"
            for label, (_, numbers) in zip(names, rows)
            for n in numbers
            if n and n.share
        )
        return finish(
            canvas,
            "bandwidths",
            "Bandwidth against its limit",
            f"{_nearest(names, rows)}Share of the limit: {said}.",
            "Bars: share of the limit. Beside them: the value.",
            Data(
                ["case", "run", "value", "low", "high", "limit", "unit"],
                [
                    [label, book.columns[i].label, n.value, n.low, n.high, n.limit, row.unit]
                    for label, (row, numbers) in zip(names, rows)
                    for i, n in enumerate(numbers)
                    if n
                ],
            ),
        )


def blocks(book: Book) -> list[Block]:
    return [figures(latency_ladder(book), bandwidths(book))]
