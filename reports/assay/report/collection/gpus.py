# SPDX-License-Identifier: Apache-2.0
"""What is known of each GPU, measured here or published, in one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .. import family
from ..block.kinds import EMPTY, Block, Cell, Section, Span, Table
from ..book import labels, mma, text
from ..book.model import BURST, Published
from ..book.published import short_title
from ..book.roofs import best_read, counted_clocks, limit_at_highest_clock
from ..compare.published import PLAIN
from ..compare.published import PUBLISHED as STAR
from ..compare.subjects import Subject

KINDS = {  # heads of columns, and the types of operands that are called so
    "bf16, TFLOP/s": ("bf16",),
    "fp8, TFLOP/s": ("e4m3", "e5m2"),
    "nvfp4, TFLOP/s": ("nvf4",),
    "int8, TOP/s": ("s8", "u8"),  # integers have no floating point
    "fp64, TFLOP/s": ("f64",),
}
MEMORY, LATENCY = ("memory/hbm/read", "bandwidth_gb_per_s"), ("memory/dram/latency", "latency_cycles")
Where = Callable[[Subject, str, str], str]  # of a subject, the name of a measurement and its anchor: the address
MOST = 7  # published GPUs in a table of the matrix
LEAST = 2  # figures of this table that must be published of a GPU
BURSTS = (
    "Measured figures are bursts, and lead to how they were made. Published ones are set apart: a d is a datasheet's, the "
    "others somebody measured; pointing at one says who. Matrix products are dense, of the fastest instruction."
)
ABOVE = (
    "A throughput is work over the time by which one launch is longer than another; the clock is counted over the longer one."
)
READS = "Measured reads of memory are by the fastest way."


@dataclass
class Gpu:
    """One GPU of the table: what was measured of it here, and what others state."""

    name: str
    architecture: str
    subject: Subject | None = None
    published: dict[tuple[str, str], Published] = field(default_factory=dict)

    @property
    def short(self) -> str:
        return self.subject.short if self.subject else shorter(self.name)


def shorter(name: str) -> str:
    return name.removeprefix("NVIDIA ").removeprefix("GeForce ")


def gpus(subjects: Sequence[Subject], published: Sequence[Published]) -> list[Gpu]:
    """Measured ones first, then those of which most is published."""
    found = [Gpu(s.label, s.gpu.get("architecture", "host"), s) for s in subjects]
    ours = {s.gpu.get("name") for s in subjects}
    others: dict[str, Gpu] = {}
    for p in sorted(published, key=lambda p: p.datasheet):  # what was measured stands before datasheets
        if p.gpu and p.gpu not in ours:
            others.setdefault(p.gpu, Gpu(p.gpu, p.architecture)).published.setdefault((p.name, p.metric), p)
    return [*found, *sorted(others.values(), key=lambda gpu: -len(gpu.published))]


def _theirs(p: Published | None) -> Cell:
    if p is None:
        return EMPTY
    said = f"{text.number(p.value)}{text.THIN + 'd' if p.datasheet else ''}"
    return Cell(said, p.url, "published", f"{short_title(p.title)}: {p.note}")


def _fastest(gpu: Gpu, kinds: Sequence[str], where: Where) -> Cell:
    """TFLOP/s, of integers TOP/s, of the fastest matrix instruction of these types."""
    if gpu.subject:
        best = mma.best_mma(gpu.subject.book, "tflops", 0)
        found = max((best[kind] for kind in kinds if kind in best), key=lambda entry: entry[1].value, default=None)
        if found is None:
            return EMPTY
        row, n = found
        return Cell(_rounded(n.value), where(gpu.subject, row.name, n.anchor), more=_above(gpu.subject, row.name))
    fitting = [p for (name, metric), p in gpu.published.items() if metric == "tflops" and mma.mma_type(name) in kinds]
    return _theirs(max(fitting, key=lambda p: p.value, default=None))


def _above(subject: Subject, name: str) -> tuple[Span, ...]:
    """By how much a throughput is above what the limit per clock allows at the highest clock that the driver names; within
    which interval, and what the SMs counted, for a pointer and for the note below."""
    column = subject.book.columns[0]
    m = subject.book.measurement(column, name)
    limit = limit_at_highest_clock(column, m) if m else None
    found = m.metrics["tflops"] if m else None
    if not (limit and found.value > limit):
        return ()
    low, high = found.ci95 or (found.value, found.value)
    limited = f"its limit, {_rounded(limit)} at {subject.gpu['sm_clock_max_mhz']:.0f}{text.THIN}MHz"
    holds = "which holds the limit" if low <= limit else "which is above the limit as a whole: not explained"
    more = f"{text.percent(found.value / limit - 1)} above"
    said = f"{subject.short}: {_rounded(found.value)} is {more} {limited}, the highest clock that the driver names. "
    said += f"Its interval is {_rounded(low)} to {_rounded(high)}, {holds}."
    if clocks := counted_clocks(m):
        ends = f", {clocks[1]:.0f} to {clocks[2]:.0f} over the samples" if clocks[1:] else ""
        said += f" Meanwhile the SMs counted {clocks[0]:.0f}{text.THIN}MHz{ends}."
    return (Span(f"{more} its limit", kind="muted", title=said),)


def _reads(gpu: Gpu, where: Where) -> Cell:
    """GB/s of the fastest way to read memory, as the GPU's own front page has it."""
    if gpu.subject:
        found = best_read(gpu.subject.book, gpu.subject.book.columns[0], BURST)
        return Cell(_rounded(found[1].value), where(gpu.subject, found[0].name, found[1].anchor)) if found else EMPTY
    return _theirs(gpu.published.get(MEMORY))


def _figure(gpu: Gpu, key: tuple[str, str], where: Where) -> Cell:
    if gpu.subject:
        found = gpu.subject.number(gpu.subject.book.row(*key), BURST)
        return Cell(_rounded(found[1].value), where(gpu.subject, key[0], found[1].anchor)) if found else EMPTY
    return _theirs(gpu.published.get(key))


def _rounded(value: float) -> str:
    return text.number(float(f"{value:.4g}"))


def index(found: Sequence[Gpu], where: Where) -> Section:
    """A line for each GPU."""
    rows = []
    for gpu in found:
        known = gpu.subject.gpu if gpu.subject else {}
        name = Cell(gpu.name, f"{gpu.subject.folder}/index.html" if gpu.subject else "")
        facts = [
            Cell(gpu.architecture.replace("sm_", "SM")),
            Cell("measured" if gpu.subject else "published", kind="" if gpu.subject else "published"),
            Cell(str(known.get("sm_count", ""))),
            Cell(text.size(known["memory_bytes"]) if known.get("memory_bytes") else ""),
        ]
        figures = [_fastest(gpu, kinds, where) for kinds in KINDS.values()]
        figures += [_reads(gpu, where), _figure(gpu, LATENCY, where)]
        if gpu.subject or sum(bool(cell.said) for cell in figures) >= LEAST:
            rows.append([name, *figures, *facts])  # a phone shows the first few without scrolling
    head = ["GPU", *KINDS, "Reads of memory, GB/s", "DRAM latency, cycles"]
    head += ["Target", "Figures", "SMs", "Memory"]
    above = [span.title for row in rows for cell in row for span in cell.more]
    notes = [f"{BURSTS} {READS}", *above, *([ABOVE] if above else [])]
    return Section("gpus", "GPUs", [Table("What each GPU does", head, rows, notes, PLAIN)])


def matrix(found: Sequence[Gpu], where: Where) -> list[Block]:
    """Every figure that at least two of the GPUs have, by family, a column for each GPU."""
    by_key: dict[tuple[str, str], str] = {}
    for gpu in found:
        if gpu.subject:
            by_key.update({(row.name, row.metric): row.unit for row in gpu.subject.book.rows if row.primary})
        by_key.update({key: p.unit for key, p in gpu.published.items() if key not in by_key})
    families: dict[str, list[list[Cell]]] = {}
    others = [gpu for gpu in found if not gpu.subject]
    for (name, metric), unit in by_key.items():
        theirs = [gpu.published.get((name, metric)) for gpu in others]
        if not any(p and p.unit == unit for p in theirs):
            continue
        own = [_figure(gpu, (name, metric), where) for gpu in found if gpu.subject]
        cells = [_theirs(p if p and p.unit == unit else None) for p in theirs]
        label = labels.figure_words(name, metric)
        families.setdefault(family.family_of(name.split("/")[0]).title, []).append(
            [Cell(label, title=name), Cell(text.unit(unit)), *own, *cells]
        )
    heads = ["Figure", "Unit", *(gpu.short if gpu.subject else f"{gpu.short}{STAR}" for gpu in found)]
    return [_of_family(title, heads, rows) for title, rows in families.items()]


def _of_family(title: str, heads: Sequence[str], rows: Sequence[list[Cell]]) -> Table:
    """With the published GPUs of which most is known here."""
    known = {i: sum(bool(row[i].said) for row in rows) for i in range(len(heads))}
    theirs = sorted((i for i in known if heads[i].endswith("*") and known[i]), key=lambda i: -known[i])[:MOST]
    kept = [i for i in known if i in theirs or not heads[i].endswith("*")]
    return Table(title, [heads[i] for i in kept], [[row[i] for i in kept] for row in rows], kind=PLAIN)
