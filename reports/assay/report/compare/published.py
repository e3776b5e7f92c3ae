# SPDX-License-Identifier: Apache-2.0
"""What others published, as columns of their own beside what the subjects measured."""

from __future__ import annotations

from collections.abc import Sequence

from ..block.kinds import Cell, Section, Span, Table
from ..book import labels, text
from ..book.model import BURST, Published, Row
from ..book.published import short_title
from .subjects import Subject

MOST_COLUMNS, MOST_ROWS = 7, 14
PUBLISHED = f"{text.THIN}*"  # of a column's head
PLAIN = "compact plain"  # a table whose first column is words, not names
FEW = f"{PLAIN} few"  # and that fits a phone
LEAST = 2  # GPUs that a figure must be published for


def by_gpu(subjects: Sequence[Subject]) -> dict[str, dict[tuple[str, str], Published]]:
    """GPU -> (case, metric) -> what is published, figures that somebody measured before datasheets; GPUs that most is
    known of first."""
    ours = {subject.gpu.get("name") for subject in subjects}
    found: dict[str, dict[tuple[str, str], Published]] = {}
    for p in sorted(subjects[0].book.published, key=lambda p: p.datasheet):
        if p.gpu and p.gpu not in ours:
            found.setdefault(p.gpu, {}).setdefault((p.name, p.metric), p)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def table(subjects: Sequence[Subject], gpus: Sequence[str] = (), rows: int = MOST_ROWS) -> Table | None:
    """Figures that the subjects measured and others published, those of most GPUs first."""
    known = by_gpu(subjects)
    measured = {(row.name, row.metric): row for s in reversed(subjects) for row in s.book.rows}
    counts: dict[tuple[str, str], int] = {}
    for figures in known.values():
        for key in figures:
            counts[key] = counts.get(key, 0) + 1
    keys = [key for key in counts if key in measured and counts[key] >= LEAST]
    keys.sort(key=lambda key: -counts[key])
    if not keys:
        return None
    covered = {gpu: sum(key in figures for key in keys[:rows]) for gpu, figures in known.items()}
    columns = list(gpus) or [gpu for gpu in sorted(covered, key=lambda g: -covered[g]) if covered[gpu]][:MOST_COLUMNS]
    keys = _once(keys, [known[gpu] for gpu in columns if gpu in known], measured)[:rows]
    order = list(measured)
    lines = []
    for name, metric in sorted(keys, key=order.index):
        unit = measured[name, metric].unit
        own = []
        for subject in subjects:
            at = subject.number(subject.book.row(name, metric), BURST)
            own.append(Cell(text.number(float(f"{at[1].value:.4g}"))) if at else Cell("–"))
        label = f"{labels.figure_words(name, metric)}"
        theirs = [_cell(known[gpu].get((name, metric)), unit) if gpu in known else Cell("") for gpu in columns]
        lines.append([Cell(label, more=(Span(text.unit(unit), kind="muted"),)), *own, *theirs])
    heads = [f"{gpu.replace('NVIDIA ', '').replace('GeForce ', '')}{PUBLISHED}" for gpu in columns]
    note = (
        "Columns with a star are what others state: figures with a d are of datasheets, the others they measured. Pointing "
        "at one says who and how. All else was measured here, in a burst."
    )
    head = ["Figure", *(s.short for s in subjects), *heads]
    return Table("Measured here, and published for other GPUs", head, lines, [note], PLAIN)


def _once(
    keys: Sequence[tuple[str, str]], known: Sequence[dict[tuple[str, str], Published]], measured: dict[tuple[str, str], Row]
) -> list[tuple[str, str]]:
    """Of figures that others give one and the same value for, a datasheet's bandwidth for reads, writes and copies, the one
    that is best here."""
    best: dict[tuple, tuple[str, str]] = {}
    for key in keys:
        unit = measured[key].unit
        theirs = tuple(p.value if (p := figures.get(key)) and p.unit == unit else None for figures in known)
        other = best.get((unit, theirs))
        if other is None or measured[key].first.value > measured[other].first.value:
            best[unit, theirs] = key
    return [key for key in keys if key in best.values()]


def _cell(p: Published | None, unit: str) -> Cell:
    if p is None or p.unit != unit:
        return Cell("")
    said = f"{text.number(p.value)}{text.THIN + 'd' if p.datasheet else ''}"
    return Cell(said, p.url, "published", f"{short_title(p.title)}: {p.note}")


def section(subjects: Sequence[Subject]) -> Section | None:
    found = table(subjects)
    if found is None:
        return None
    others = sum(head.endswith(PUBLISHED) for head in found.head)
    title = f"Others published {text.counted(len(found.rows), 'such figure')} for {text.counted(others, 'more GPU')}"
    return Section("published", title, [found])
