# SPDX-License-Identifier: Apache-2.0
"""What others published, beside what was measured here."""

from __future__ import annotations

import itertools
import math

from .. import family
from ..block import published
from ..block.kinds import Block, Figures, Fold, Section, Tables, sentence
from ..book import labels, text
from ..book.deviation import NOTABLE, Compared, compared
from ..book.model import Book, Row
from ..book.published import figures, short_title
from ..draw.svg import GRID, INK, PAPER, SERIES, Data, Figure, axes, finish, put_ticks


def sections(book: Book) -> list[Block]:
    """How far ours is from each that can be compared, those that are far, and all by family."""
    rows = [row for row in book.rows if row.first and figures(book, row)]
    if not rows:
        return []
    pairs = compared(book)
    far = {(pair.row.name, pair.row.metric) for pair in pairs if not pair.close}
    apart = [row for row in rows if (row.name, row.metric) in far]
    drawn = picture(pairs)
    blocks: list[Block] = [Figures([drawn])] if drawn else [sentence("No published figure can be compared with ours.")]
    caption = f"Figures further than {100 * NOTABLE:g}{text.THIN}% from one that was published, beside all that were, and why"
    table = published.table(book, caption, _labelled(apart))
    blocks += [Tables([table])] if table else []
    by_family: dict[str, list[Row]] = {}
    for row in rows:
        by_family.setdefault(row.family, []).append(row)
    folds: list[Block] = []
    for key, found in by_family.items():
        title = family.family_of(key).title
        every = published.table(book, f"{title}, beside what others published", _labelled(found))
        folds += [Fold(title, text.counted(len(found), "figure"), [every])] if every else []
    return [
        Section("beside", "Beside our figures", blocks),
        Section("more", "All published figures of these GPUs and their architecture", folds),
    ]


FORMS = {  # whether there is a reason -> (words, form of its dot, colour)
    True: ("further, with a reason", "D", SERIES[2]),
    False: ("not explained", "^", SERIES[1]),
}
NAMED = 3  # of those that are not explained, the furthest
DOT, COUNT, ACROSS = 5.5, 10.0, 200.0  # units of the picture: a dot with its air, half a count, the axes at least
WITHIN = f"within {100 * NOTABLE:g}{text.THIN}%"


def picture(pairs: list[Compared]) -> Figure | None:
    """By family how many published figures ours are near, and a dot for each other: how many times as large ours is."""
    pairs = [pair for pair in pairs if 0 < pair.ratio < math.inf]
    if not pairs:
        return None
    most = 1.15 * max(max(pair.ratio, 1 / pair.ratio) for pair in pairs)
    by_family: dict[str, list[Compared]] = {}
    for pair in pairs:
        by_family.setdefault(pair.row.family, []).append(pair)
    rows = [_stacked([pair for pair in of if not pair.close], ACROSS / (2 * math.log(most))) for of in by_family.values()]
    highs = [max([2, *(1 + 2 * abs(level) for _, level in dots)]) * DOT / 72 + 0.12 for dots in rows]  # inches
    middles = [sum(highs[:i]) + high / 2 for i, high in enumerate(highs)]
    names = [family.family_of(key).title for key in by_family]
    with axes(0.8 + sum(highs)) as (canvas, ax):
        ax.axvspan(1 / (1 + NOTABLE), 1 + NOTABLE, color=GRID, alpha=0.6, lw=0)
        for explained, (words, form, color) in FORMS.items():
            chosen = [
                (pair.ratio, y - level * DOT / 72)
                for dots, y in zip(rows, middles)
                for pair, level in dots
                if bool(pair.reason) == explained
            ]
            if chosen:
                label = f"{words}: {len(chosen)}"
                ax.plot(*zip(*chosen), form, ms=4.5, color=color, mec=PAPER, mew=0.5, ls="none", label=label)
        for of, y in zip(by_family.values(), middles):
            ax.annotate(str(sum(pair.close for pair in of)), (1, y), ha="center", va="center", fontsize=8.5)
        ticks = [t for t in (0.1, 0.25, 0.5, 0.8, 1, 1.25, 2, 4, 10) if 1 / most <= t <= most]
        ax.set(xscale="log", xlim=(1 / most, most), ylim=(sum(highs), 0))
        put_ticks(ax.yaxis, middles, names)
        put_ticks(ax.xaxis, ticks, [f"{t:g}" for t in ticks])
        ax.set_xlabel("ours over theirs")
        ax.tick_params(axis="y", labelcolor=INK)
        if any(rows):
            canvas.legend(loc="outside upper left", ncols=2, fontsize=8.5, handletextpad=0.1, columnspacing=1)
        far = sorted((pair for dots in rows for pair, _ in dots), key=lambda pair: -abs(math.log(pair.ratio)))
        unknown = [pair for pair in far if not pair.reason]
        furthest = list(dict.fromkeys(f"{_words(pair)} {text.deviation(pair.ratio, 1)}" for pair in unknown))[:NAMED]
        last = f" Furthest without a reason: {'; '.join(furthest)}." if furthest else ""
        close = f"{len(pairs) - len(far)} of {text.counted(len(pairs), 'published figure')} are {WITHIN} of ours"
        return finish(
            canvas,
            "published",
            "Ours over what others published",
            f"{close}; {len(unknown)} are further from it for no known reason.{last}",
            f"In the band: how many published figures are {WITHIN} of ours. A mark is one that is further.{last}",
            Data(
                ["figure", "published by", "of", "ours over theirs", "how far"],
                [
                    [
                        _words(pair),
                        short_title(pair.published.title),
                        pair.published.gpu,
                        pair.ratio,
                        WITHIN if pair.close else FORMS[bool(pair.reason)][0],
                    ]
                    for pair in pairs
                ],
            ),
        )


def _stacked(pairs: list[Compared], scale: float) -> list[tuple[Compared, int]]:
    """Each with its level above or below the middle of its row, so that no dot lies on another; `scale` is units of the
    picture for a factor of e."""
    found: list[tuple[Compared, int]] = []
    for pair in sorted(pairs, key=lambda pair: pair.ratio):
        near = {level for other, level in found if abs(math.log(pair.ratio / other.ratio)) * scale < DOT}
        near |= {-1, 0, 1} if abs(math.log(pair.ratio)) * scale < COUNT else set()
        level = next(level for level in (side * n for n in itertools.count() for side in (1, -1)) if level not in near)
        found.append((pair, level))
    return found


def _words(pair: Compared) -> str:
    return labels.figure_words(pair.row.name, pair.row.metric)


def _labelled(rows: list[Row]) -> list[tuple[str, Row]]:
    return [(labels.figure_words(row.name, row.metric), row) for row in rows]
