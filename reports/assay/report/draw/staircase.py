# SPDX-License-Identifier: Apache-2.0
"""Bandwidth down the stairs and latency up: a step for each level that data comes from."""

from __future__ import annotations

from ..book import text
from ..book.headline import shown
from ..book.machine import Level, levels
from ..book.model import Book, Column, Number
from .svg import BANDWIDTH, INK, LATENCY, MUTED, Data, Figure, axes, finish, put_ticks

HEAD = ["level", "quantity", "value", "low", "high", "limit", "unit"]


def _said(n: Number, units: tuple[str, str]) -> str:
    """ "4.70 TB/s", "55.5 GB/s": by the unit that leaves few digits."""
    small, large = units
    return f"{shown(n, 1e-3)} {large}" if n.value >= 1000 else f"{shown(n)} {small}"


def staircase(book: Book, column: Column) -> Figure | None:
    """None with fewer than three levels of which both are known."""
    found = [level for level in levels(book, column) if level.bandwidth or level.latency]
    if sum(bool(level.bandwidth and level.latency) for level in found) < 3:
        return None
    rows = []
    with axes(4.3, panels=(2, 1)) as (canvas, (above, below)):
        for ax, of, units, color in (
            (above, lambda level: level.bandwidth, ("GB/s", "TB/s"), BANDWIDTH),
            (below, lambda level: level.latency, ("ns", "µs"), LATENCY),
        ):
            steps = [(x, n) for x, level in enumerate(found) if (n := of(level))]
            ax.set_yscale("log")
            for x, n in steps:
                _step(ax, x, n, _said(n, units), color)
            for x in {*range(len(found))} - {x for x, _ in steps}:
                ax.annotate(
                    "not measured",
                    (x, 0),
                    xycoords=("data", "axes fraction"),
                    ha="center",
                    fontsize=8,
                    color=MUTED,
                    xytext=(0, 4),
                    textcoords="offset points",
                )
            for (x, n), (following, m) in zip(steps, steps[1:]):
                if following == x + 1:
                    ax.plot([x + 0.42] * 2, [n.value, m.value], color=color, lw=0.8, alpha=0.5)
            values = [end for _, n in steps for end in (n.value, n.limit) if end]
            ax.set_ylim(min(values) / 4, max(values) * 2.6)
            put_ticks(ax.yaxis, [])
            ax.grid(False)
            quantity = "bandwidth" if ax is above else "latency"
            rows += [[found[x].name, quantity, n.value, n.low, n.high, n.limit, units[0]] for x, n in steps]
        above.set_ylabel("bandwidth, all SMs")
        below.set_ylabel("latency of a load")
        put_ticks(below.xaxis, range(len(found)), [level.name for level in found])
        below.set_xlim(-0.55, len(found) - 0.45)
        below.tick_params(axis="x", labelcolor=INK)
        said = "; ".join(f"{level.name} {_level(level)}" for level in found)
        return finish(
            canvas,
            f"staircase{column.index}",
            "How data slows down, level by level",
            f"{_finding(found)} {said}.",
            f"{_finding(found)} Dashed: the limit, where one is known. Both axes are logarithmic.",
            Data(HEAD, rows),
        )


def _step(ax: object, x: int, n: Number, said: str, color: str) -> None:
    ends = (x - 0.42, x + 0.42)
    ax.fill_between(ends, [1e-9] * 2, [n.value] * 2, color=color, alpha=0.16, lw=0)
    ax.plot(ends, [n.value] * 2, color=color, lw=2.2, solid_capstyle="butt")
    if n.low is not None and n.high is not None:
        ax.plot([x, x], [n.low, n.high], color=INK, lw=1)
    if n.limit and n.limit > 1.02 * n.value:
        ax.plot(ends, [n.limit] * 2, color=MUTED, lw=0.9, ls=(0, (4, 3)))
    inside = (n.limit or 0) > 1.02 * n.value  # the limit stands above, where the label would be
    ax.annotate(
        said,
        (x, n.value),
        xytext=(0, -4 if inside else 4),
        textcoords="offset points",
        ha="center",
        va="top" if inside else "bottom",
        fontsize=8.5,
        color=INK,
    )


def _level(level: Level) -> str:
    said = [_said(level.bandwidth, ("GB/s", "TB/s"))] if level.bandwidth else []
    said += [_said(level.latency, ("ns", "µs"))] if level.latency else []
    return " and ".join(said)


def _finding(found: list[Level]) -> str:
    """How far the ends of the stairs are apart."""
    waits = [level for level in found if level.latency and level.key in ("shared", "l1", "l2", "memory")]
    rates = [level for level in found if level.bandwidth and level.key in ("shared", "l1", "l2", "memory")]
    said = []
    if len(rates) > 1:
        ratio = rates[0].bandwidth.value / rates[-1].bandwidth.value
        said.append(f"{_capital(rates[-1].name)} gives {100 / ratio:.0f}{text.THIN}% of the bandwidth of {_memory(rates[0])}")
    if len(waits) > 1:
        ratio = waits[-1].latency.value / waits[0].latency.value
        lead = "and answers" if said else f"{_capital(waits[-1].name)} answers"
        said.append(f"{lead} after {ratio:.0f} times as long{'' if said else f' as {_memory(waits[0])}'}")
    return f"{' '.join(said)}." if said else ""


def _memory(level: Level) -> str:
    return "shared memory" if level.key == "shared" else level.name


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
