# SPDX-License-Identifier: Apache-2.0
"""Puts a book on a page: views for the templates, then HTML and Markdown."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..run_file import Measurement, to_document
from . import figures, functions, hot_loops, instructions, metadata, numerics, peaks, pipes, svg, tensor_cores, text
from .blocks import Block
from .model import FAMILIES, Book, Column, Row, base_architecture

TEMPLATES = Path(__file__).parent / "templates"
MAIN = "index.html"
DATA = "runs.json"
MANY = 60  # cases of a family: more get a page of their own, with their details

# What people ask of a GPU first, by path in `environment`; other facts follow in the order of the file.
FACTS = {
    "gpu.name": "GPU",
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


@dataclass
class Section:
    """One family: its rows by group, and its figures."""

    key: str
    title: str
    intro: str
    groups: list[tuple[str, list[tuple[str, list[Row]]]]]  # (heading or "", (case, its metrics))
    figures: list[svg.Figure]
    page: str  # that holds its table and the details of its cases
    cases: int
    blocks: list[Block] = field(default_factory=list)  # places of the questions it answers

    @cached_property
    def limited(self) -> bool:
        return any(row.limit for _, cases in self.groups for _, rows in cases for row in rows)

    @cached_property
    def shown(self) -> list[int]:
        """The columns that measured some of it."""
        rows = [row for _, cases in self.groups for _, rows in cases for row in rows]
        count = max((len(row.numbers) for row in rows), default=0)
        return [i for i in range(count) if any(row.numbers[i] or row.sustained[i] for row in rows)]

    @cached_property
    def published(self) -> bool:
        return any(row.beside for _, cases in self.groups for _, rows in cases for row in rows)


def fact_rows(columns: list[Column]) -> list[tuple[str, list[str]]]:
    """(label, one text per column): the scalars of `environment`, those of FACTS first."""
    flat = [_flatten(column.run.environment) for column in columns]
    keys = list(dict.fromkeys(key for facts in flat for key in facts))
    keys.sort(key=lambda key: list(FACTS).index(key) if key in FACTS else len(FACTS))
    return [
        (FACTS.get(key) or text.words(_unitless(key).replace(".", "_")), [_fact(key, f.get(key)) for f in flat])
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


def _unitless(key: str) -> str:
    """ "sm_clock_mhz" -> "sm_clock": `_fact` says the unit."""
    return next((key.removesuffix(s) for s in SUFFIXES if key.endswith(s)), key)


def _fact(key: str, value: Any) -> str:
    """One fact of the environment or of the conditions, with the unit that its key ends with."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
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
    throttled = Counter(reason for m in mine for reason in m.conditions.get("throttle") or [])
    found.append(("throttled", ", ".join(f"{reason} ({n})" for reason, n in throttled.most_common()) or "never"))
    stops = Counter(m.conditions.get("stop") for m in mine if m.conditions.get("stop"))
    if stops:
        found.append(("interval reached", f"{stops['converged']} of {sum(stops.values())}"))
    if seconds := sum(m.duration_s or 0 for m in mine):
        found.append(("time measuring", f"{seconds:.0f}{text.THIN}s"))
    return found


def detail(book: Book, column: Column, m: Measurement) -> dict[str, Any]:
    """Everything known about one measurement, as the template prints it."""
    rows = [(key, metric, row.published if (row := book.row(m.name, key)) else []) for key, metric in m.metrics.items()]
    sass = {"verified": False, "emulated": False, "target": "", "kernel": "", **m.sass} if m.sass else {}
    samples = []
    for key, values in m.samples.items():
        if values:
            samples.append(
                (
                    text.words(key),
                    text.number(min(values)),
                    text.number(statistics.median(values)),
                    text.number(max(values)),
                    len(values),
                    svg.spark(values),
                )
            )
    return {
        "anchor": column.anchor(m.name),
        "m": m,
        "column": column,
        "metrics": rows,
        "sass": sass,
        "loop": sorted((sass.get("loop") or {}).items(), key=lambda item: -item[1])[:16],
        "params": [(k, v) for k, v in m.params.items() if v not in (None, "")],
        "conditions": [
            (text.words(_unitless(k)), ", ".join(map(str, v)) if isinstance(v, list) else _fact(k, v))
            for k, v in m.conditions.items()
            if v not in (None, [], "")
        ],
        "samples": samples,
        "counters": [(k, v) for k, v in m.counters.items() if v is not None],
        "command": m.command or f"assay run '^{m.name}$'",
    }


def sections(book: Book, blocks: dict[str, list[Block]]) -> list[Section]:
    """The families with their tables and figures, and the questions of which they are the place."""
    found = []
    columns = book.columns[:4]
    drawn = {
        "tensor_core": [
            *(f(book, c) for c in columns for f in (tensor_cores.n_sweep, tensor_cores.power_by_data)),
            *(tensor_cores.in_flight(book, c) for c in columns),
        ],
        "special_function": [
            peaks.imbalance(book),
            *(f(book, c) for c in columns for f in (functions.overlap_efficiency, functions.exp2_mix)),
            functions.imbalance_map(book),
        ],
        "sass": pipes.pictures(book),
        "numerics": [numerics.error_growth(book, c) for c in columns],
        "memory": [figures.latency_ladder(book), figures.bandwidths(book)],
        "collective": figures.collectives(book),
        "kernels": [figures.paired(book, column) for column in columns],
    }
    for key, title, intro, rows in book.families():
        cases = len({row.name for row in rows})
        page = f"{text.slug(key)}.html" if cases > MANY else MAIN
        answered = [b for b in blocks.get(key, []) if b]
        figures_of = [f for f in drawn.get(key, []) if f]
        found.append(Section(key, title, intro, grouped(rows), figures_of, page, cases, answered))
    order = list(FAMILIES)
    for key, of_family in blocks.items():  # of what was built and never run
        if any(of_family) and key not in [section.key for section in found]:
            found.append(Section(key, *FAMILIES[key], [], [], MAIN, 0, [b for b in of_family if b]))
    return sorted(found, key=lambda s: order.index(s.key) if s.key in order else len(order))


def grouped(rows: list[Row], least: int = 3) -> list[tuple[str, list[tuple[str, list[Row]]]]]:
    """Cases under the heading of their probe, after those of all probes that have fewer than `least` cases: these
    share one part without a heading."""
    probes: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        probes.setdefault(row.group, {}).setdefault(row.name, []).append(row)
    few: list[tuple[str, list[Row]]] = []
    parts: list[tuple[str, list[tuple[str, list[Row]]]]] = []
    for group, cases in probes.items():
        heading = group if len(cases) >= least else ""
        labelled = [
            (metrics[0].case if heading else name.partition("/")[2] or name, metrics) for name, metrics in cases.items()
        ]
        if heading:
            parts.append((heading, labelled))
        else:
            few += labelled
    return [("", few), *parts] if few else parts


def overview(book: Book) -> list[svg.Figure]:
    """The figures that belong to no one family."""
    drawn = [f for c in book.columns[:4] for f in (peaks.roofline(book, c), peaks.waterfall(book, c))]
    return [f for f in drawn if f]


def elsewhere(book: Book) -> dict[tuple[str, str, str], list]:
    """Published figures of architectures that this report has no column for, by (architecture, GPU, source)."""
    ours = {base_architecture(column.architecture) for column in book.columns}
    found: dict[tuple[str, str, str], list] = {}
    for p in sorted(book.published, key=lambda p: (int(p.architecture[3:] or 0), p.gpu)):
        if p.architecture not in ours:
            found.setdefault((p.architecture, p.gpu, p.title), []).append(p)
    return found


def matrix(book: Book) -> list[tuple[str, list[tuple[str, str]]]]:
    """(name, one (mark, word) per target) of what was built and disassembled but not run."""
    marks = {True: ("✓", "verified"), False: ("✗", "not what was asked for"), None: ("·", "built")}
    lines = []
    for name, by_target in sorted(book.not_run.items()):
        cells = []
        for target in book.targets:
            m = by_target.get(target)
            if m is None:
                cells.append(("", "does not exist"))
            elif (m.sass or {}).get("emulated") or "emulated" in m.flags:
                cells.append(("e", "emulated"))
            else:
                cells.append(marks[(m.sass or {}).get("verified")])
        lines.append((name, cells))
    return lines


def data(book: Book) -> str:
    """The runs as a JSON array, without samples and disassembly text."""
    documents = []
    for column in book.columns:
        document = to_document(column.run)
        for m in document["measurements"]:
            m.pop("samples", None)
            (m.get("sass") or {}).pop("text", None)
        documents.append(document)
    return json.dumps(documents, separators=(",", ":"))


def parts(book: Book) -> dict[str, Any]:
    """What the sections of single families show beside their tables."""
    columns = book.columns
    return {
        "tensor_lines": tensor_cores.lines(book),
        "reaching_peak": [(c, found) for c in columns if (found := tensor_cores.reaching_peak(book, c))],
        "pipe_maps": [found for c in columns if (found := pipes.pipe_map(book, c))],
        "cards": [(c, found) for c in columns if (found := numerics.cards(book, c))],
        "multiply_adds": [(c, found) for c in columns if (found := numerics.multiply_adds(book, c))],
        "permutations": [(c, found) for c in columns if (found := numerics.permutations(book, c))],
        "fragments": [
            (c, found) for c in columns if (found := [*numerics.fragments(book, c), *metadata.maps(book, c)])
        ],
        "hot_loops": hot_loops.table(book),
        "functions": functions.functions(book),
        "mixes": [(c, found) for c in columns if (found := functions.mixes(book, c))],
        "instructions": instructions.instructions(book),
    }
