# SPDX-License-Identifier: Apache-2.0
"""What the machine is, what it did while it was measured, and how many cases there are: the head of the main page."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import Any

from ..block.kinds import Block, Cell, Facts, Fold, Section, Span, Table, sentence
from ..book import interval, labels, text
from ..book.model import SHARED, Book, Column, is_shared
from . import clocks

# What people ask of a GPU first, by path in `environment`; other facts follow in the order of the file.
FACTS = {
    "gpu.name": "GPU",
    "gpu.id": "id, a salted hash",
    "gpu.architecture": "architecture",
    "gpu.sm_count": "SMs",
    "gpu.memory_bytes": "memory",
    "gpu.l2_bytes": "L2",
    "gpu.sm_clock_max_mhz": "SM clock, highest",
    "gpu.power_limit_w": "power limit",
    "driver": "driver",
    "cuda": "CUDA",
    "assay.version": "assay",
    "assay.commit": "commit",
}


def fact_rows(columns: list[Column]) -> list[tuple[str, list[str]]]:
    """(label, one text per column): the scalars of `environment`, those of FACTS first."""
    flat = [_flatten(column.run.environment) for column in columns]
    keys = list(dict.fromkeys(key for facts in flat for key in facts))
    keys.sort(key=lambda key: list(FACTS).index(key) if key in FACTS else len(FACTS))
    return [
        (FACTS.get(key) or labels.words(unitless(key).replace(".", "_")), [fact(key, f.get(key)) for f in flat])
        for key in keys
    ]


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {
            k: v for key, item in value.items() for k, v in _flatten(item, f"{path}.{key}" if path else key).items()
        }
    if isinstance(value, list):
        return {path: ", ".join(map(str, value))} if value and not isinstance(value[0], (dict, list)) else {}
    return {} if value in (None, "") else {path: value}


SUFFIXES = {"_mhz": "MHz", "_w": "W", "_c": "°C", "_gb_per_s": "GB/s"}


def unitless(key: str) -> str:
    """ "sm_clock_mhz" -> "sm_clock": `_fact` says the unit."""
    return next((key.removesuffix(s) for s in SUFFIXES if key.endswith(s)), key)


def fact(key: str, value: Any) -> str:
    """One fact of the environment or of the conditions, with the unit that its key ends with."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return ", ".join(c[:12] for c in str(value).split(", ")) if key.endswith("commit") else str(value)
    if "_bytes" in key:
        return text.size(value)
    unit = next((symbol for suffix, symbol in SUFFIXES.items() if key.endswith(suffix)), None)
    return f"{value:.6g}{text.THIN}{unit}" if unit else f"{value}"


def conditions(book: Book, column: Column) -> list[tuple[str, str]]:
    """What the GPU did while it was measured: median and range over the measurements of one run."""
    mine = [m for c, m in book.measurements if c is column]
    found = []
    for key, label, symbol in (
        ("sm_clock_mhz", "SM clock", "MHz"),
        ("power_w", "power", "W"),
        ("temperature_c", "temperature", "°C"),
    ):
        values = [m.conditions[key] for m in mine if m.conditions.get(key) is not None]
        if values:
            low, middle, high = min(values), statistics.median(values), max(values)
            around = f" ({low:.0f} to {high:.0f})" if round(low) != round(high) else ""
            found.append((label, f"{middle:.0f}{text.THIN}{symbol}{around}"))
    if fast := clocks.above(book, column):
        found.append(("above the highest SM clock", fast))
    found.append(("throttled", clocks.summary(book, column)))
    if shared := sum(is_shared(m) for m in mine):
        found.append(("unfit", f"{shared} of {len(mine)}: another process used the GPU; they are marked {SHARED}"))
    stops = Counter(m.conditions.get("stop") for m in mine if m.conditions.get("stop"))
    if stops:
        found.append(("interval reached", f"{stops['converged']} of {sum(stops.values())}"))
    if refused := sum(c is column for c, _ in book.refused):
        found.append(("refused", f"{text.counted(refused, 'figure')}, for they cannot be"))
    if mine:
        found.append(("processes a case", interval.known(book.processes[column.index])))
    if seconds := sum(m.duration_s or 0 for m in mine):
        found.append(("time measuring", f"{seconds:.0f}{text.THIN}s"))
    return found


NOTHING = "Nothing was measured: these runs built the probes and checked their disassembly, without a GPU."


def head(book: Book) -> list[Block]:
    """The machine in a line for each run."""
    if not book.columns:
        return [sentence(NOTHING)]
    return [sentence(in_a_line(book, column)) for column in book.columns]


def in_a_line(book: Book, column: Column) -> str:
    """ "sm_90, 132 SMs, 141 GiB; driver 580.00; 1046 cases measured"."""
    gpu = column.run.gpu or {}
    facts = [column.architecture]
    facts += [text.counted(column.sm_count, "SM")] if column.sm_count else []
    facts += [fact(key, gpu[key]) for key in ("memory_bytes", "power_limit_w") if gpu.get(key)]
    facts += [f"driver {column.run.environment['driver']}"] if column.run.environment.get("driver") else []
    tag = f"{column.tag} {column.label}: " if column.tag else ""
    return f"{tag}{', '.join(facts)}; {text.counted(book.counts[column.index]['ok'], 'case')} measured."


def section(book: Book) -> Section | None:
    """One column as facts side by side, several as a table; then everything else that is known."""
    if not book.columns:
        return None
    said: list[Block] = [sentence(in_a_line(book, column)) for column in book.columns]
    said.append(sentence(interval.legend(book.processes)))
    return Section("machine", "What was measured, and under which conditions", [*said, machine(book), *_more(book)])


def machine(book: Book) -> Fold:
    """What people ask of a machine first, and what it did."""
    known = [(label, values) for label, values in fact_rows(book.columns) if label in FACTS.values() and label != "GPU"]
    found = [dict(conditions(book, column)) for column in book.columns]
    for label in dict.fromkeys(label for of_column in found for label in of_column):
        known.append((label, [of_column.get(label, "–") for of_column in found]))
    tallies = [_tally(count) for count in book.counts]
    block: Block
    if len(book.columns) == 1:
        rows = [(label, [Span(values[0])]) for label, values in known]
        block = Facts([*rows, ("measurements", tallies[0])], wide=True)
    else:
        rows_of = [[Cell(label), *map(Cell, values)] for label, values in known]
        rows_of.append([Cell("measurements"), *(Cell(t[0].said, more=tuple(t[1:])) for t in tallies)])
        caption = "What was measured, and under which conditions (median and range over the run)"
        names = [f"{c.tag} {c.label}" for c in book.columns]
        block = Table(caption, ["Fact", *names], rows_of, kind="facts-table")
    return Fold("The machine and its conditions", "", [block])


def _more(book: Book) -> list[Block]:
    other = [(label, values) for label, values in fact_rows(book.columns) if label not in FACTS.values()]
    blocks: list[Block] = []
    slow = [found for column in book.columns if (found := clocks.table(book, column))]
    if slow:
        blocks.append(Fold("Cases at a lower clock, with their power and reasons", "", slow))
    if other:
        rows = [(label, [Span(" · ".join(values))]) for label, values in other]
        rows.append(
            ("utilization by NVML while measuring", [Span(" · ".join(_utilization(book, c) for c in book.columns))])
        )
        blocks.append(Fold("More about the machine", "", [Facts(rows)]))
    return blocks


def _utilization(book: Book, column: Column) -> str:
    """The range over the cases that recorded it."""
    found = [
        u for c, m in book.measurements if c is column and (u := m.conditions.get("utilization_percent")) is not None
    ]
    return f"{min(found):g} to {max(found):g}{text.THIN}%" if found else "not recorded"


def _tally(count: Counter) -> list[Span]:
    """ "1 046 ok, 2 failed", the failed ones marked."""
    said = [Span(f"{count['ok']} ok")]
    for status in ("failed", "skipped", "not_run"):
        if count[status]:
            said.append(Span(f"{count[status]} {status.replace('_', ' ')}", kind="bad" if status == "failed" else ""))
    return said
