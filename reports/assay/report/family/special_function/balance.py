# SPDX-License-Identifier: Apache-2.0
"""At which head dimension the exp2 of attention takes as long as its matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...answer.findings import Answer, one_line
from ...answer.question import Question
from ...book import text
from ...book.mma import best_mma
from ...book.model import Book
from ...draw import cells
from ...draw.svg import GRID, INK, MUTED, PAPER, Data, Figure, axes, color_of, finish, log_labels


@dataclass
class Imbalance:
    """Attention spends 4d FLOP of MMA and one exp2 per element of the score matrix, d the head dimension.

    `flop_per_exp2` is what the matrix pipe does while the special-function pipe does one exp2; below
    `head_dimension` = flop_per_exp2 / 4 the exp2 takes longer than the two products.
    """

    label: str
    kind: str
    flop_per_exp2: float
    published: bool = False
    anchor: str = ""

    @property
    def head_dimension(self) -> float:
        return self.flop_per_exp2 / 4


ATTENTION_TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "mxf8", "mxf6", "mxf4", "nvf4")


def imbalances(book: Book) -> list[Imbalance]:
    """Per column and MMA type that attention could use, fastest first, measured per clock on one SM; then published."""
    found = []
    for column in book.columns:
        exp2 = book.row("special_function/ex2/f32", "ops_per_clock_per_sm")
        if exp2 is None or exp2.numbers[column.index] is None:
            continue
        best = best_mma(book, "flop_per_clock_per_sm", column.index)
        mine: list[Imbalance] = []
        for kind, (row, number) in sorted(best.items(), key=lambda item: -item[1][1].value):
            if kind not in ATTENTION_TYPES:
                continue
            ratio = number.value / exp2.numbers[column.index].value
            if mine and mine[-1].flop_per_exp2 < 1.02 * ratio:  # one line for types of one rate
                mine[-1].label += f", {kind}"
            else:
                who = f"{column.tag} " if column.tag else ""
                mine.append(Imbalance(f"{who}{row.name.split('/')[1]} {kind}", kind, ratio, anchor=number.anchor))
        found += mine
    if found:
        rate = book.published_for("special_function/ex2/f32", "tera_ops_per_s")
        peak = [
            p for p in book.published_for(r"tensor_core/wgmma/f16/.*", "tflops") if rate and p.title == rate[0].title
        ]
        if peak:
            found.append(
                Imbalance(
                    f"H100, published: {peak[0].value:g} TFLOP/s, {rate[0].value:g} T exp2/s",
                    "f16",
                    peak[0].value / rate[0].value,
                    published=True,
                )
            )
    return found


IMBALANCE = "special_function/imbalance/"
DIMENSIONS = (32, 64, 96, 128, 192, 256, 512)
TILE = 128  # keys


@dataclass
class Balance:
    """How long exp2 takes beside attention's two products, by head dimension, for one type of MMA."""

    label: str
    head_dimension: float  # below which exp2 takes longer
    ratios: dict[int, float]  # head dimension -> time of exp2 / time of MMA
    anchor: str = ""
    mixed: bool = False  # with polynomials beside MUFU, of the case before


def balances(book: Book) -> list[Balance]:
    """As measured with MMAs of the tile's width, with MUFU alone and with the best polynomial mix; where that was not
    measured, from the rates of each (`imbalances`); then what is published."""
    found = []
    for column, m in book.measurements:
        if not m.name.startswith(IMBALANCE) or "emulated" in m.flags:
            continue
        name = m.name.removeprefix(IMBALANCE)
        family = "mma_sync" if name.startswith("mma_sync_") else name.partition("_")[0]
        tag = f"{column.tag} " if column.tag else ""
        label = f"{tag}{family.replace('_', '.')} {name.removeprefix(family + '_')}"
        for suffix, how in (("", ""), ("_mixed", " with polynomials")):
            series, balance = m.series_named(f"exp_to_mma_time{suffix}"), m.value(f"balance_head_dim{suffix}")
            if balance is None or series is None or [a.name for a in series.axes] != ["tile_of_keys", "head_dim"]:
                continue
            keys = [int(k) for k in series.axes[0].points]
            line = series.grid[keys.index(TILE) if TILE in keys else -1]
            ratios = {int(d): float(v) for d, v in zip(series.axes[1].points, line) if not math.isnan(v)}
            found.append(Balance(label + how, balance, ratios, column.anchor(m.name), bool(suffix)))
    dimensions = sorted({d for line in found for d in line.ratios}) or DIMENSIONS
    for line in imbalances(book):
        if found and not line.published:
            continue
        ratios = {d: line.flop_per_exp2 / (4 * d) for d in dimensions}
        found.append(Balance(line.label, line.head_dimension, ratios, line.anchor))
    return found


def _slowest(lines: Sequence[Balance | Imbalance]) -> str:
    """With which type of MMA exp2 is the bottleneck up to the largest head dimension, in a sentence."""
    most = max(lines, key=lambda line: line.head_dimension, default=None)
    return f"exp2 is the bottleneck up to d = {most.head_dimension:.1f} with {most.label}. " if most else ""


def imbalance_map(book: Book) -> Figure | None:
    """exp2 time over MMA time, per MMA type and head dimension."""
    lines = balances(book)
    if not lines:
        return None
    dimensions = sorted({d for line in lines for d in line.ratios})

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        line, d = lines[y], dimensions[x]
        if d not in line.ratios:
            return None
        ratio = line.ratios[d]
        words = f"{line.label}, head dimension {d}: exp2 takes {ratio:.2f} times as long as the MMAs"
        # Two colours meet at 1.
        strength = min(1.0, 0.1 + 0.4 * abs(math.log2(ratio))) if ratio > 0 else 1.0
        return text.number(round(ratio, 2)), "s2" if ratio > 1 else "s1", strength, words

    rows = [f"{line.label}: balance at d = {line.head_dimension:.0f}" for line in lines]
    said = "; ".join(f"{line.label} balances at d = {line.head_dimension:.1f}" for line in lines)
    return cells.grid(
        "imbalance-map",
        "Time of exp2 over time of MMA in attention",
        f"{_slowest(lines)}{said}.",
        rows,
        [f"d = {d}" for d in dimensions],
        cell,
        "By head dimension d. Above 1 (second colour) attention waits for exp2.",
        size=(44, 22),
        left=20 + round(4.6 * max(len(r) for r in rows)),
        slanted=False,
    )


def imbalance_figure(book: Book) -> Figure | None:
    lines = imbalances(book)
    if not lines:
        return None
    dims = (16, 1024)
    low = min(0.5, *(2.5 * dims[0] / line.flop_per_exp2 for line in lines))
    high = max(6 * dims[1] / line.flop_per_exp2 for line in lines)
    with axes(3.3) as (canvas, ax):
        ax.set(yscale="log", xlim=dims, ylim=(low, high))
        ax.set_xscale("log", base=2)
        ax.axhspan(low, 1, color=GRID, alpha=0.35, lw=0)
        ax.axhline(1, color=INK, lw=1)
        ax.annotate(
            "here exp2 takes longer than both products",
            (dims[1], low),
            xytext=(-4, 4),
            textcoords="offset points",
            va="bottom",
            ha="right",
            fontsize=8.5,
            color=MUTED,
        )
        for line in lines:
            color = MUTED if line.published else color_of(line.kind)
            ax.plot(
                dims,
                [4 * d / line.flop_per_exp2 for d in dims],
                color=color,
                lw=0.9 if line.published else 1.6,
                ls=(0, (4, 3)) if line.published else "-",
            )
            if not line.published and dims[0] < line.head_dimension < dims[1]:
                ax.plot(line.head_dimension, 1, "o", ms=6, color=color, mec=PAPER, mew=1)
                ax.annotate(
                    f"{line.head_dimension:.1f}",
                    (line.head_dimension, 1),
                    xytext=(5, -5),
                    textcoords="offset points",
                    fontsize=9,
                    color=color,
                    va="top",
                    bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1, "alpha": 0.85},
                )
        drawn = [line for line in lines if not line.published]
        log_labels(
            ax,
            [4 * dims[1] / line.flop_per_exp2 for line in drawn],
            dims[1],
            [color_of(line.kind) for line in drawn],
            0.14,
            [line.label for line in drawn],
        )
        ax.xaxis.set_major_formatter(lambda v, _: text.number(v))
        ax.yaxis.set_major_formatter(lambda v, _: f"{text.number(v)}×")
        ax.set(xlabel="head dimension d", ylabel="MMA time / exp2 time")
        said = "; ".join(f"{line.label}: d = {line.head_dimension:.1f}" for line in lines)
        published = next((line for line in lines if line.published), None)
        note = f" Dashed: {published.label} (FlashAttention-3 paper)." if published else ""
        return finish(
            canvas,
            "imbalance",
            "Matrix math against exp2 in attention",
            f"{_slowest(drawn)}Head dimension at which two matrix products of 4d FLOP take as long as one exp2: {said}.",
            "Per element of the score matrix: 4d FLOP of MMA against one exp2, both as measured on one SM." + note,
            Data(
                ["mma", "measured or published", "FLOP per exp2", "head dimension of balance"],
                [
                    [line.label, "published" if line.published else "measured", line.flop_per_exp2, line.head_dimension]
                    for line in lines
                ],
            ),
        )


def imbalance(book: Book, question: Question) -> Answer:
    """The head dimension of each type of MMA, and the ratio at the dimensions that models have."""
    answer = Answer(question)
    for line in balances(book):
        if line.mixed and answer.findings:
            parts = answer.findings[-1].lines[-1][1]
            parts.append((f"with polynomials it takes longer below d = {line.head_dimension:.1f}", line.anchor))
            continue
        at = [f"{line.ratios[d]:.2f} times as long at d = {d}" for d in (64, 128) if d in line.ratios]
        said = f"exp2 takes longer below d = {line.head_dimension:.1f}{''.join(f', {one}' for one in at)}"
        answer.findings.append(one_line(line.label, said, line.anchor))
    return answer
