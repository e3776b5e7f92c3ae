# SPDX-License-Identifier: Apache-2.0
"""From run files to the rows of a report. Pure: no file, no figure, no HTML.

A `Book` holds everything: one `Column` per run that measured something, families of `Row`s (one per case and metric,
with one `Number` per column), the published figures beside them, and what was not measured.
"""

from __future__ import annotations

import itertools
import re
import string
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from assay.files import Measurement, Metric, Run
from assay.files.isa_file import Isa
from assay.files.refused import Refusal, of_measurement, without
from assay.files.sass_file import HotLoop

from . import identity, interval, text, units
from .join import joined

SUSTAINED = "/sustained"  # ends the names of cases that ran under a load that lasted
BURST, LASTING = "in a burst", "sustained"  # the states a figure can be of
STATES = (BURST, LASTING)
ISA_PAGE = "isa.html"  # where a report shows which instruction exists on which target
SHARED = "shared_gpu"  # the flag of a figure that was taken while another process used the GPU


@dataclass(frozen=True)
class Number:
    """One value with its 95% interval, as one run found it."""

    value: float
    low: float | None
    high: float | None
    limit: float | None
    limit_source: str | None
    better: str | None
    anchor: str
    flags: tuple[str, ...] = ()
    processes: tuple[float, ...] = ()  # what each process found, where several did

    @property
    def share(self) -> float | None:
        """Value over limit; for a quantity that should be small, limit over value."""
        if not self.limit or not self.value:
            return None
        return self.limit / self.value if self.better == "lower" else self.value / self.limit

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else max(self.value - self.low, self.high - self.value)


@dataclass(frozen=True)
class Published:
    """A figure somebody else states, and where."""

    name: str
    metric: str
    value: float
    unit: str
    gpu: str
    architecture: str
    title: str
    url: str
    note: str
    datasheet: bool

    def comparable(self, column: Column) -> bool:
        """Whether a deviation says something: the same GPU, or a figure per clock of the same architecture; not 0."""
        same_gpu = self.gpu == (column.run.gpu or {}).get("name")
        per_clock = "cycle" in self.unit or "/clk" in self.unit
        return self.value != 0 and (
            same_gpu or (per_clock and self.architecture == base_architecture(column.architecture))
        )


@dataclass
class Row:
    """One metric of one case, across the columns."""

    name: str
    metric: str
    unit: str
    numbers: list[Number | None]
    sustained: list[Number | None]
    published: list[Published] = field(default_factory=list)  # of any GPU
    related: list[Published] = field(default_factory=list)  # of these: what the table has room for
    primary: bool = False
    refused: dict[int, Refusal] = field(default_factory=dict)  # by column: a figure that cannot be

    @property
    def first(self) -> Number | None:
        return next((n for n in self.numbers if n), None)

    @property
    def limit(self) -> float | None:
        return next((n.limit for n in self.numbers if n and n.limit), None)

    @property
    def family(self) -> str:
        return self.name.split("/")[0]

    @property
    def group(self) -> str:
        return "/".join(self.name.split("/")[:2])

    @property
    def case(self) -> str:
        """What the name says beyond its group."""
        return "/".join(self.name.split("/")[2:]) or self.name.split("/")[-1]


UNWATCHED = "Clock and power were not read during sustained calls by assay torch: it is not known whether they had settled."


def watched(m: Measurement) -> bool:
    """Whether clock or power was read meanwhile: without them nothing says that they had settled under a load."""
    return "sm_clock_mhz" in m.conditions or "power_w" in m.conditions


def of_state(row: Row, column: int, state: str) -> Number | None:
    """What a row says of one state. A case without a burst beside it has its sustained figure in `numbers`."""
    alone = row.name.endswith(SUSTAINED)
    if state == LASTING:
        return row.numbers[column] if alone else row.sustained[column]
    return None if alone else row.numbers[column]


def name_in(row: Row, state: str) -> str:
    """The name of the measurement that a row's figure of this state is from."""
    return row.name if state == BURST or row.name.endswith(SUSTAINED) else row.name + SUSTAINED


@dataclass(eq=False, repr=False)  # with all of its run
class Column:
    """One run that measured something."""

    index: int
    label: str
    run: Run
    tag: str = ""  # "A", "B", ... where there are several

    @property
    def architecture(self) -> str:
        return (self.run.gpu or {}).get("architecture", "host")

    @property
    def sm_count(self) -> int | None:
        return (self.run.gpu or {}).get("sm_count")

    def anchor(self, name: str) -> str:
        return f"m{self.index}-{text.slug(name)}"


@dataclass(eq=False, repr=False)  # of gigabytes
class Book:
    """Everything a report says, before it is said."""

    columns: list[Column]
    rows: list[Row]
    measurements: list[tuple[Column, Measurement]]  # one per (column, name), repetitions merged
    published: list[Published]
    counts: list[Counter]  # by status, per column
    unmeasured: list[tuple[Column, Measurement]]  # failed and skipped
    not_run: dict[str, dict[str, Measurement]]  # name -> target -> what the offline check found
    isa: Isa | None = None  # which instruction exists on which target, if that was asked
    loops: list[HotLoop] = field(default_factory=list)  # of kernels, as `assay sass` found them
    refused: list[tuple[Column, Refusal]] = field(default_factory=list)  # figures that are used for nothing
    refused_rows: list[Row] = field(default_factory=list)  # those of which no column has a figure
    isa_page: str = ISA_PAGE  # where `isa` is shown: reports of a site share a page

    @cached_property
    def descriptions(self) -> dict[str, str]:
        """What a metric of this name is, in words, as the runs say."""
        return {name: words for column in self.columns for name, words in column.run.metrics.items()}

    @cached_property
    def processes(self) -> list[interval.Processes]:
        """Of each column: how many processes measured it."""
        return [interval.processes([m for c, m in self.measurements if c is column]) for column in self.columns]

    @cached_property
    def _index(self) -> dict[tuple[str, str], Row]:
        return {(row.name, row.metric): row for row in self.rows}

    @cached_property
    def _by_name(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.name, []).append(row)
        return found

    @cached_property
    def _measurements(self) -> dict[tuple[int, str], Measurement]:
        return {(column.index, m.name): m for column, m in self.measurements}

    def row(self, name: str, metric: str) -> Row | None:
        return self._index.get((name, metric))

    def measurement(self, column: Column, name: str) -> Measurement | None:
        return self._measurements.get((column.index, name))

    def find(self, pattern: str, metric: str | None = None) -> list[Row]:
        """Rows whose whole name matches the regular expression, of this metric or of each case's headline."""
        matches = re.compile(pattern).fullmatch
        named = itertools.chain.from_iterable(rows for name, rows in self._by_name.items() if matches(name))
        return [r for r in named if (r.metric == metric if metric else r.primary)]

    def published_for(self, pattern: str, metric: str, architecture: str | None = None) -> list[Published]:
        expression = re.compile(pattern)
        return [
            p
            for p in self.published
            if expression.fullmatch(p.name) and p.metric == metric and architecture in (None, p.architecture)
        ]

    @property
    def targets(self) -> list[str]:
        """Targets of the offline check, oldest first."""
        found = {target for by_target in self.not_run.values() for target in by_target}
        return sorted(found, key=lambda t: (int(re.sub(r"\D", "", t) or 0), t))


def base_architecture(name: str) -> str:
    """ "sm_90a" and "sm_90" are one architecture."""
    return name.rstrip("af")


def is_shared(measurement: Measurement) -> bool:
    """Whether another process used the GPU meanwhile, so that the figure says little of the GPU."""
    return SHARED in measurement.flags or bool(measurement.conditions.get("other_processes"))


def _number(metric: Metric, measurement: Measurement, anchor: str) -> Number:
    low, high = metric.ci95 or (None, None)
    flags = list(measurement.flags)
    if (measurement.sass or {}).get("emulated") and "emulated" not in flags:
        flags.append("emulated")
    if is_shared(measurement) and SHARED not in flags:
        flags.append(SHARED)
    return Number(
        metric.value,
        low,
        high,
        metric.limit,
        metric.limit_source,
        metric.better,
        anchor,
        tuple(flags),
        interval.values_of(metric),
    )


def _address(url: str) -> str:
    """The URL if it is one that a page may link to, else none: a file may say `javascript:` too."""
    return url if re.fullmatch(r"https?://[^\s<>\"'`()\[\]\\]+", url) else ""


def _published(runs: Iterable[Run]) -> list[Published]:
    found = []
    for run in runs:
        gpu = run.gpu or {}
        for m in run.measurements:
            source = m.source or {}
            for key, metric in m.metrics.items():
                found.append(
                    Published(
                        m.name,
                        key,
                        metric.value,
                        units.unit(m.name, metric.unit),
                        source.get("gpu", gpu.get("name", "")),
                        base_architecture(gpu.get("architecture", "")),
                        source.get("title", ""),
                        _address(source.get("url", "")),
                        source.get("note", ""),
                        m.params.get("basis") == "datasheet",
                    )
                )
    return found


def _rows(columns: list[Column], measured: list[dict[str, Measurement]]) -> list[Row]:
    rows: dict[tuple[str, str], Row] = {}
    names = dict.fromkeys(name for by_name in measured for name in by_name)
    for name in names:
        base = name.removesuffix(SUSTAINED)
        for column, by_name in zip(columns, measured):
            m = by_name.get(name)
            if m is None:
                continue
            for key, metric in m.metrics.items():
                folded = base != name and any(base in b and key in b[base].metrics for b in measured)
                at = (base if folded else name, key)
                row = rows.get(at)
                if row is None:
                    row = rows[at] = Row(*at, metric.unit, [None] * len(columns), [None] * len(columns))
                row.primary |= key == m.primary
                cells = row.sustained if folded else row.numbers
                cells[column.index] = _number(metric, m, column.anchor(name))
    order = {name: i for i, name in enumerate(names)}
    return sorted(rows.values(), key=lambda r: (r.family, order.get(r.name, 0), not r.primary))


def build(
    runs: list[Run], published: Iterable[Run] = (), isa: Isa | None = None, loops: Iterable[HotLoop] = ()
) -> Book:
    """Shapes runs into a book. A run that only checked disassembly gets no column, just its place in the matrix."""
    runs = joined(runs)
    by_run = []
    for run in runs:
        grouped: dict[str, list[Measurement]] = {}
        for m in run.measurements:
            if m.status != "not_run":
                grouped.setdefault(m.name, []).append(m)
        by_run.append({name: interval.merged(ms) for name, ms in grouped.items()})
    measuring = [(run, ms) for run, ms in zip(runs, by_run) if ms or run.gpu]
    labels = identity.labels([run for run, _ in measuring])
    tags = string.ascii_uppercase if len(measuring) > 1 else ""
    columns = [Column(i, label, run, tags[i : i + 1]) for i, (label, (run, _)) in enumerate(zip(labels, measuring))]
    entries: list[dict[str, Measurement]] = []
    refused: list[tuple[Column, Refusal]] = []
    for column, (run, ms) in zip(columns, measuring):
        good = {name: m for name, m in ms.items() if m.ok}
        found = {name: list(of_measurement(m, run, good)) for name, m in good.items()}
        refused += [(column, refusal) for of_case in found.values() for refusal in of_case]
        entries.append({name: units.shown(without(m, found[name]) if found[name] else m) for name, m in good.items()})
    counts = [
        Counter(m.status for m in [*ms.values(), *(n for n in run.measurements if n.status == "not_run")])
        for run, ms in measuring
    ]
    not_run: dict[str, dict[str, Measurement]] = {}
    for run in runs:
        for m in run.measurements:
            if m.status == "not_run":
                target = (m.sass or {}).get("target") or m.params.get("target") or "any"
                not_run.setdefault(m.name, {})[str(target)] = m
    book = Book(
        columns,
        _rows(columns, entries),
        [(c, m) for c, ms in zip(columns, entries) for m in ms.values()],
        _published(published),
        counts,
        [(c, m) for c, (_, ms) in zip(columns, measuring) for m in ms.values() if not m.ok],
        not_run,
        isa,
        list(loops),
        refused,
    )
    _attach_refused(book)
    _attach_published(book)
    return book


def _attach_refused(book: Book) -> None:
    """Marks the places of the tables that refused figures have left."""
    apart: dict[tuple[str, str], Row] = {}
    for column, refusal in book.refused:
        if refusal.place is not None:
            continue
        at = (refusal.name, refusal.figure)
        row = book.row(*at) or apart.get(at)
        if row is None:
            row = apart[at] = Row(*at, refusal.unit, [None] * len(book.columns), [None] * len(book.columns))
        row.refused[column.index] = refusal
    book.refused_rows = list(apart.values())


def _attach_published(book: Book) -> None:
    """Puts beside each row what others state: the same GPU first, then the same architecture, measurements first."""
    by_key: dict[tuple[str, str], list[Published]] = {}
    for p in book.published:
        by_key.setdefault((p.name, p.metric), []).append(p)
    names = {(column.run.gpu or {}).get("name") for column in book.columns}
    architectures = {base_architecture(column.architecture) for column in book.columns}
    for row in book.rows:
        row.published = sorted(
            by_key.get((row.name, row.metric), []),
            key=lambda p: (p.gpu not in names, p.architecture not in architectures, p.datasheet),
        )
        row.related = [
            p for p in row.published if p.gpu in names or (p.architecture in architectures and not p.datasheet)
        ]
