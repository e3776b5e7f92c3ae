# SPDX-License-Identifier: Apache-2.0
"""Puts a book on a page: views for the templates, then HTML and Markdown."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..run_file import Measurement, to_document
from . import answers, derive, figures, svg, text
from .model import Book, Column, Row

TEMPLATES = Path(__file__).parent / "templates"

# What people ask of a GPU first; other facts follow in the order of the file.
FACTS = {"name": "GPU", "architecture": "architecture", "sm_count": "SMs", "memory_bytes": "memory", "l2_bytes": "L2",
         "max_sm_clock_mhz": "SM clock, max", "power_limit_w": "power limit", "driver": "driver", "cuda": "CUDA",
         "version": "assay", "commit": "commit"}


@dataclass
class Section:
    """One family: its rows by group, and its figures."""

    key: str
    title: str
    intro: str
    groups: dict[str, list[list[Row]]]  # group -> cases -> the metrics of a case
    figures: list[svg.Figure]


def fact_rows(columns: list[Column]) -> list[tuple[str, list[str]]]:
    """(label, one text per column): the scalars of `environment`, the familiar ones first."""
    flat = [_flatten(column.run.environment) for column in columns]
    keys = list(dict.fromkeys(key for facts in flat for key in facts))
    keys.sort(key=lambda key: list(FACTS).index(key.split(".")[-1]) if key.split(".")[-1] in FACTS else len(FACTS))
    return [(FACTS.get(key.split(".")[-1]) or text.words(key.replace(".", " ")), [_fact(key, f.get(key)) for f in flat])
            for key in keys]


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {k: v for key, item in value.items() for k, v in _flatten(item, f"{path}.{key}" if path else key).items()}
    if isinstance(value, list):
        return {path: ", ".join(map(str, value))} if value and not isinstance(value[0], (dict, list)) else {}
    return {} if value is None else {path: value}


def _fact(key: str, value: Any) -> str:
    if value is None:
        return "–"
    if key.endswith("_bytes") and isinstance(value, (int, float)):
        return text.size(value)
    for suffix, symbol in (("_mhz", "MHz"), ("_w", "W"), ("_c", "°C"), ("_gb_per_s", "GB/s")):
        if key.endswith(suffix):
            return f"{value}{text.THIN}{symbol}"
    return str(value)[:12] if key.endswith("commit") else str(value)


def conditions(book: Book, column: Column) -> list[tuple[str, str]]:
    """What the GPU did while it was measured, over all measurements of one run."""
    mine = [m for c, m in book.measurements if c is column]
    found = []
    for key, label, symbol in (("sm_clock_mhz", "SM clock", "MHz"), ("power_w", "power", "W"), ("temperature_c", "temperature", "°C")):
        values = [m.conditions[key] for m in mine if m.conditions.get(key) is not None]
        if values:
            low, middle, high = min(values), statistics.median(values), max(values)
            found.append((label, f"{low:.0f} – {middle:.0f} – {high:.0f}{text.THIN}{symbol}"))
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
            samples.append((text.words(key), text.number(min(values)), text.number(statistics.median(values)),
                            text.number(max(values)), len(values), svg.spark(values)))
    return {
        "anchor": column.anchor(m.name), "m": m, "column": column, "metrics": rows, "sass": sass,
        "loop": sorted((sass.get("loop") or {}).items(), key=lambda item: -item[1])[:16],
        "params": [(k, v) for k, v in m.params.items() if v not in (None, "")],
        "conditions": [(text.words(k), ", ".join(map(str, v)) if isinstance(v, list) else v)
                       for k, v in m.conditions.items() if v not in (None, [], "")],
        "samples": samples, "counters": list((m.extra.get("counters") or {}).items()),
        "command": m.command or f"assay run '^{m.name}$'",
    }


def sections(book: Book) -> list[Section]:
    """The families with their tables and figures."""
    found = []
    drawn = {
        "special_function": [figures.imbalance(book)],
        "memory": [figures.latency_ladder(book), figures.bandwidths(book)],
        "collective": figures.collectives(book),
        "kernels": [figures.paired(book)],
    }
    for key, title, intro, rows in book.families():
        groups: dict[str, list[list[Row]]] = {}
        for row in rows:
            cases = groups.setdefault(row.group, [])
            if cases and cases[-1][0].name == row.name:
                cases[-1].append(row)
            else:
                cases.append([row])
        found.append(Section(key, title, intro, groups, [f for f in drawn.get(key, []) if f]))
    return found


def overview(book: Book) -> list[svg.Figure]:
    """The figures that belong to no one family."""
    drawn = [f for c in book.columns[:4] for f in (figures.roofline(book, c), figures.waterfall(book, c))]
    return [f for f in drawn if f]


def elsewhere(book: Book) -> dict[tuple[str, str, str], list]:
    """Published figures of architectures that this report has no column for, by (architecture, GPU, source)."""
    ours = {column.architecture.rstrip("af") for column in book.columns}
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


def embedded(book: Book) -> str:
    """The runs as JSON for the page to carry, without raw samples and disassembly text; safe inside <script>."""
    documents = []
    for column in book.columns:
        document = to_document(column.run)
        for m in document["measurements"]:
            m.pop("samples", None)
            (m.get("sass") or {}).pop("text", None)
        documents.append(document)
    return json.dumps(documents, separators=(",", ":")).replace("<", "\\u003c")


@lru_cache(maxsize=1)
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=jinja2.select_autoescape(["html.j2"]),
                                     trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.globals.update(number=text.number, plus_minus=text.plus_minus, percent=text.percent, unit=text.unit,
                               deviation=text.deviation, quantity=text.quantity, slug=text.slug, words=text.words,
                               speedup=answers.speedup)
    return environment


def context(book: Book) -> dict[str, Any]:
    """What both templates print."""
    return {
        "book": book, "columns": book.columns, "facts": fact_rows(book.columns), "sections": sections(book),
        "overview": overview(book), "answers": answers.answers(book), "matrix": matrix(book), "elsewhere": elsewhere(book),
        "conditions": [conditions(book, c) for c in book.columns],
        "details": [detail(book, c, m) for c, m in book.measurements],
        "title": " · ".join(dict.fromkeys(c.label for c in book.columns)) or "no GPU, disassembly only",
    }


def write(book: Book, folder: Path) -> Path:
    """Writes index.html and report.md into the folder, made if need be. Returns the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    values = context(book)
    page = folder / "index.html"
    page.write_text(_environment().get_template("page.html.j2").render(**values, data=embedded(book)), encoding="utf-8")
    markdown = _environment().get_template("report.md.j2").render(**values)
    (folder / "report.md").write_text(markdown, encoding="utf-8")
    return page
