# SPDX-License-Identifier: Apache-2.0
"""Questions 17 and 30: copies between CPU and GPU by size and kind of memory, both ways, and between GPUs."""

from __future__ import annotations

import re

import numpy as np

from ..answer.findings import Part, lines
from ..block.declaration import Family
from ..block.kinds import Block, Evidence, Table
from ..block.tables import metric_table, of_column, who
from ..book import labels, text
from ..book.model import Book, Column
from ..draw import cells, curves
from ..draw.curves import Axis, Line
from ..draw.svg import Figure

ALIKE = 0.01  # pairs that differ by less are as fast as each other
PREFIX = "link/"
WAYS = {"h2d": "to the GPU", "d2h": "from the GPU"}
BYTES = Axis("bytes of a copy", 4, bytes=True)
PEER = re.compile(r"peer/(\w+)/(\w+)(/both_ways)?")
COPIED_BY = {"copy_engine": "copy engine", "sm": "SMs"}
BOTH_WAYS_BY = {
    **COPIED_BY,
    "sm": "SMs in two kernels, one for each direction",
    "sm_one_kernel": "SMs in one kernel whose warps do both",
}
OVER_THE_SLOWER = (
    "Both ways: the bytes of both over the time of the slower one. To the GPU and from it: those of each over its own time, so "
    "that the two may add up to more."
)
BY_SMS = "SMs copy by two kernels at once, one for each direction; one kernel whose warps do both is another method"


def evidence(book: Book) -> list[Block]:
    found = Evidence(17, "assay run '^link/'")
    for way, words in WAYS.items():
        found.findings += lines(book, words, lambda c, w=way: largest(book, c, w))
    found.findings += lines(book, "both ways at once", lambda c: both_ways(book, c))
    found.findings += lines(book, "size of a copy that reaches half the bandwidth", lambda c: halves(book, c))
    found.findings += lines(book, "from a kernel", lambda c: zero_copy(book, c))
    for column in book.columns[:4]:
        for way in WAYS:
            found.draw(by_size(book, column, way, "bandwidth_gb_per_s", Axis("GB/s")))
        found.draw(by_size(book, column, "h2d", "time_us", Axis("µs", 10)))
        found.draw(by_size(book, column, "d2h", "time_us", Axis("µs", 10)))
        found.tabulate(kinds_table(book, column))
        found.tabulate(others_table(book, column))
    return [found]


def peer_evidence(book: Book) -> list[Block]:
    found = Evidence(30, "assay run '^link/peer/'")
    found.findings += lines(book, "bandwidth of a pair", lambda c: peers(book, c))
    found.findings += lines(book, "latency of one access", lambda c: peer_latencies(book, c))
    for column in book.columns[:4]:
        found.figures += matrices(book, column)
        found.draw(peer_sizes(book, column))
        found.tabulate(peer_table(book, column))
    return [found]


def rates(book: Book, column: Column, way: str) -> dict[str, tuple[float, str]]:
    """Kind of memory -> (GB/s, anchor): of the largest copy of the sweep over sizes; where none was swept, of the fastest
    size."""
    found: dict[str, tuple[float, str]] = {}
    swept: dict[str, tuple[float, str]] = {}
    for name, m in of_column(book, column, f"{PREFIX}{way}/"):
        first, _, rest = name.partition("/")
        kind, of = (rest, swept) if first == "sizes" else (first, found)
        rate = m.value("bandwidth_gb_per_s")
        if rate is not None and rate > of.get(kind, (0.0, ""))[0]:
            of[kind] = (rate, column.anchor(m.name))
    return found | swept


def largest(book: Book, column: Column, way: str) -> list[Part]:
    return [(f"{labels.words(kind)} {rate:.1f} GB/s", at) for kind, (rate, at) in rates(book, column, way).items()]


def both_ways(book: Book, column: Column) -> list[Part]:
    found = []
    for name, m in of_column(book, column, f"{PREFIX}both_ways/"):
        to, back, all_of_it = (m.value(k) for k in ("h2d_gb_per_s", "d2h_gb_per_s", "bandwidth_gb_per_s"))
        if to is not None and back is not None:
            said = f"by {BOTH_WAYS_BY.get(name, name)} {to:.1f} to the GPU and {back:.1f} GB/s from it"
            found.append((said, column.anchor(m.name)))
        elif all_of_it is not None:
            found.append((f"by {BOTH_WAYS_BY.get(name, name)} {all_of_it:.1f} GB/s", column.anchor(m.name)))
    return found


def halves(book: Book, column: Column) -> list[Part]:
    """From which size on a copy reaches half its bandwidth, and what the smallest one takes."""
    found = []
    for way, words in WAYS.items():
        for name, m in of_column(book, column, f"{PREFIX}{way}/sizes/"):
            half, least = m.value("half_bandwidth_bytes"), m.value("smallest_copy_us")
            if name in ("pinned", "pageable") and half is not None and least is not None:
                found.append(
                    (
                        f"{labels.words(name)} {words}: {text.size(half)}; 1 B takes {least:.3g} µs",
                        column.anchor(m.name),
                    )
                )
    return found


def zero_copy(book: Book, column: Column) -> list[Part]:
    found = []
    for name, m in of_column(book, column, f"{PREFIX}zero_copy/"):
        if (rate := m.value("bandwidth_gb_per_s")) is not None:
            found.append((f"{name}s the CPU's memory at {rate:.1f} GB/s", column.anchor(m.name)))
        elif (mean := m.value("mean_latency_ns")) is not None:
            least, most, at_once = (
                m.value(f"{which}_latency_ns{more}")
                for which, more in (("least", ""), ("most", ""), ("mean", "_at_once"))
            )
            said = f"a dependent load takes {text.number(round(mean))} ns, the mean of all SMs, one at a time"
            if least is not None and most is not None:
                said += f" ({text.number(round(least))} to {text.number(round(most))})"
            if at_once is not None:
                said += f"; {text.number(round(at_once))} while all load at once"
            found.append((said, column.anchor(m.name)))
        elif (ns := m.value("latency_ns")) is not None:
            of_all = m.metrics["latency_ns"].spread is not None
            from_where = "the median of all SMs" if of_all else "from the SM where the only CTA lands"
            found.append((f"a dependent load takes {text.number(round(ns))} ns, {from_where}", column.anchor(m.name)))
    return found


def peers(book: Book, column: Column) -> list[Part]:
    """ "write by copy engine 396 GB/s, 783 both ways" for each direction and what copies."""
    found = []
    for name, m in of_column(book, column, PREFIX):
        shape, rate = PEER.fullmatch(name), m.value("bandwidth_gb_per_s")
        if not shape or shape[1] == "sizes" or shape[3] or rate is None:
            continue
        said = f"{shape[1]} by {COPIED_BY.get(shape[2], shape[2])} {rate:.0f} GB/s"
        both = book.measurement(column, f"{m.name}/both_ways")
        if both and (double := both.value("bandwidth_gb_per_s")) is not None:
            said += f", {double:.0f} both ways"
        slowest = m.value("slowest_pair_gb_per_s")
        if slowest and slowest < 0.98 * rate:
            said += f", slowest pair {slowest:.0f}"
        found.append((said, column.anchor(m.name)))
    return found


def peer_latencies(book: Book, column: Column) -> list[Part]:
    return [
        (f"{name} {text.number(round(ns))} ns", column.anchor(m.name))
        for name, m in of_column(book, column, f"{PREFIX}peer/latency/")
        if (ns := m.value("latency_ns")) is not None
    ]


# --- figures and tables ----------------------------------------------------------------------------------------------


def by_size(book: Book, column: Column, way: str, series: str, y: Axis) -> Figure | None:
    """A curve over size for each kind of memory; from single sizes where no case swept them."""
    drawn = []
    for name, m in of_column(book, column, f"{PREFIX}{way}/sizes/"):
        drawn += curves.lines_of(m.series_named(series), labels.words(name))
    if not drawn and series == "bandwidth_gb_per_s":  # the time of a single size is that of several copies
        single = [
            (float(name.rsplit("/", 1)[1]), m.value(series))
            for name, m in of_column(book, column, f"{PREFIX}{way}/")
            if name.rsplit("/", 1)[-1].isdigit() and m.value(series) is not None
        ]
        drawn = [Line("pinned", sorted(single))]
    what = "Bandwidth" if series.startswith("bandwidth") else "Time"
    return curves.draw(
        f"link-{way}-{series}{column.index}",
        f"{what} of copies {WAYS[way]} over their size{who(book, column)}",
        drawn,
        BYTES,
        y,
    )


def matrices(book: Book, column: Column) -> list[Figure]:
    """GPU by GPU: bandwidth or latency of every pair."""
    drawn = []
    for name, m in of_column(book, column, f"{PREFIX}peer/"):
        for series in m.series:
            if [axis.name for axis in series.axes] == ["gpu", "peer"]:
                drawn.append(_matrix(book, column, name, series.grid, series.axes[0].points, text.unit(series.unit)))
    return drawn


def _matrix(book: Book, column: Column, name: str, grid: np.ndarray, gpus: list, unit: str) -> Figure:
    """Colour tells pairs apart, from the least to the most of them; a GPU's own memory is no pair."""
    pairs = {(y, x): float(grid[y, x]) for y, x in np.ndindex(grid.shape) if y != x and not np.isnan(grid[y, x])}
    low, high = min(pairs.values(), default=0.0), max(pairs.values(), default=1.0)
    least_width = ALIKE * max(abs(high), abs(low)) or 1.0

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        value = grid[y, x]
        if np.isnan(value):
            return None
        words = f"GPU {gpus[y]} and GPU {gpus[x]}: {value:.1f} {unit}"
        if y == x:
            return f"{value:.0f}", "own", 1, f"{words}, its own memory"
        return f"{value:.0f}", "s1", 0.08 + 0.5 * (value - low) / max(high - low, least_width), words

    finding = _of_pairs(pairs, gpus, unit)
    return cells.grid(
        f"peer-{text.slug(name)}{column.index}",
        f"Between GPUs: {_words(name)}, {unit}{who(book, column)}",
        finding,
        [f"GPU {g}" for g in gpus],
        [f"GPU {g}" for g in gpus],
        cell,
        f"{finding} Rows: the GPU that acts. Columns: the GPU whose memory it is.",
        size=(52, 22),
        left=48,
        slanted=False,
    )


def _of_pairs(pairs: dict[tuple[int, int], float], gpus: list, unit: str) -> str:
    """How far pairs differ, and which is furthest from the others, in a sentence."""
    if not pairs:
        return "No pair was measured."
    middle = float(np.median(list(pairs.values())))
    (y, x), value = max(pairs.items(), key=lambda pair: abs(pair[1] - middle))
    apart = abs(value / middle - 1) if middle else 0.0
    said = f"{text.counted(len(pairs), 'pair')} have {text.number(round(middle, 1))} {unit} in the middle"
    if apart <= ALIKE:
        return f"{said} and differ by less than {text.percent(ALIKE)}."
    return f"{said}; GPU {gpus[y]} to GPU {gpus[x]} is furthest from it, {text.percent(apart)}."


def peer_sizes(book: Book, column: Column) -> Figure | None:
    drawn = []
    for name, m in of_column(book, column, f"{PREFIX}peer/sizes/"):
        drawn += curves.lines_of(m.series_named("bandwidth_gb_per_s"), f"by {COPIED_BY.get(name, name)}")
    return curves.draw(
        f"link-peer-sizes{column.index}",
        f"Bandwidth of copies between two GPUs over their size{who(book, column)}",
        drawn,
        BYTES,
        Axis("GB/s"),
    )


def kinds_table(book: Book, column: Column) -> Table | None:
    rows = []
    for way, words in WAYS.items():
        for name, m in of_column(book, column, f"{PREFIX}{way}/sizes/"):
            rows.append((f"{labels.words(name)} {words}", m))
    metrics = {
        "bandwidth_gb_per_s": "GB/s",
        "smallest_copy_us": "1 B, µs",
        "half_bandwidth_bytes": "bytes for half the bandwidth",
    }
    caption = f"Copies by the kind of the CPU's memory{who(book, column)}"
    return metric_table(
        caption, column, rows, metrics, "Memory", lambda v: text.number(round(v, 1)) if v < 1e4 else text.size(v)
    )


def others_table(book: Book, column: Column) -> Table | None:
    """Both ways, memset, kernels across the link."""
    rows = [
        (_words(name), m)
        for name, m in of_column(book, column, PREFIX)
        if name.split("/")[0] in ("both_ways", "memset", "zero_copy")
    ]
    metrics = {
        "bandwidth_gb_per_s": "GB/s",
        "h2d_gb_per_s": "to the GPU, GB/s",
        "d2h_gb_per_s": "from it, GB/s",
        "latency_ns": "ns",
        "smallest_copy_us": "smallest, µs",
    }
    caption = f"Both ways, memset, from kernels{who(book, column)}"
    table = metric_table(caption, column, rows, metrics, "Case", lambda v: text.number(round(v, 1)))
    if table and any("h2d_gb_per_s" in m.metrics for _, m in rows):
        table.notes.append(OVER_THE_SLOWER)
    return table


def peer_table(book: Book, column: Column) -> Table | None:
    rows = [(_words(name), m) for name, m in of_column(book, column, f"{PREFIX}peer/")]
    metrics = {
        "bandwidth_gb_per_s": "GB/s",
        "slowest_pair_gb_per_s": "slowest pair",
        "latency_ns": "ns",
        "smallest_copy_us": "smallest copy, µs",
        "half_bandwidth_bytes": "bytes for half the bandwidth",
    }
    caption = f"Between GPUs{who(book, column)}"
    return metric_table(
        caption, column, rows, metrics, "Case", lambda v: text.number(round(v, 1)) if v < 1e4 else text.size(v)
    )


def _words(name: str) -> str:
    """ "read/sm/both_ways" is "read by SMs, both ways", "latency/load" is "latency of a load"."""
    what, *parts = name.split("/")
    if what == "latency" and parts:
        return f"latency of {'an' if parts[0][0] in 'aeiou' else 'a'} {labels.words(parts[0])}"
    said = [f" by {COPIED_BY[part]}" if part in COPIED_BY else f", {labels.words(part)}" for part in parts]
    return f"{labels.words(what)}{''.join(said)}"


FAMILY = Family(
    "link",
    "Links",
    "Host and peer transfers.",
    blocks=(evidence, peer_evidence),
)
