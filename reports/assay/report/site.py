# SPDX-License-Identifier: Apache-2.0
"""Writes the pages: the main one, and beside it those whose tables would drown it. HTML and Markdown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import answers, cells, findings, page, places, questions, tensor_cores, text
from .model import Book
from .page import DATA, MAIN, TEMPLATES

INSTRUCTIONS = "instructions.html"
FRAGMENTS = "fragments.html"
BUILT = "built.html"


@dataclass(frozen=True)
class Links:
    """Where a link on one page leads: details of a measurement are on the page of its family, all else on the main one.

    An anchor may also name a page, "fragments.html", or a place on one.
    """

    here: str
    homes: dict[str, str]  # anchor of a measurement -> page

    def __call__(self, anchor: str) -> str:
        if ".html" in anchor:
            where, _, place = anchor.partition("#")
            return f"#{place}" if where == self.here and place else anchor
        where = self.homes.get(anchor, MAIN)
        return f"#{anchor}" if where == self.here else f"{where}#{anchor}"


@lru_cache(maxsize=1)
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html.j2"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals.update(
        number=text.number,
        plus_minus=text.plus_minus,
        percent=text.percent,
        unit=text.unit,
        deviation=text.deviation,
        quantity=text.quantity,
        slug=text.slug,
        words=text.words,
        speedup=findings.speedup,
        tiny=cells.tiny,
        SOURCES=tensor_cores.SOURCES,
        MMA_FAMILIES=tensor_cores.FAMILIES,
        MAIN=MAIN,
        DATA=DATA,
        INSTRUCTIONS=INSTRUCTIONS,
        FRAGMENTS=FRAGMENTS,
    )
    return environment


def context(book: Book) -> dict[str, Any]:
    """What all templates print."""
    facts = page.fact_rows(book.columns)
    names = Counter((c.run.gpu or {}).get("name") or "host" for c in book.columns)
    blocks = places.blocks(book)
    sections = page.sections(book, blocks)
    homes = {section.key: section.page for section in sections}
    details: dict[str, list[dict[str, Any]]] = {}
    for column, m in book.measurements:
        details.setdefault(homes.get(m.name.split("/")[0], MAIN), []).append(page.detail(book, column, m))
    return {
        "book": book,
        "columns": book.columns,
        "sections": sections,
        "overview": page.overview(book),
        "answers": answers.answers(book, blocks),
        "asked": {q.number: q.ask for part in questions.PARTS.values() for q in part},
        "matrix": page.matrix(book),
        "built_page": BUILT if len(book.not_run) > page.MANY else MAIN,
        "elsewhere": page.elsewhere(book),
        "known": [fact for fact in facts if fact[0] in page.FACTS.values() and fact[0] != "GPU"],
        "other": [fact for fact in facts if fact[0] not in page.FACTS.values()],
        "conditions": [page.conditions(book, c) for c in book.columns],
        "details": details,
        "isa": book.isa,
        "title": " · ".join(f"{count} × {name}" if count > 1 else name for name, count in names.items()) or "no GPU",
        **page.parts(book),
    }


def write(book: Book, folder: Path) -> Path:
    """Writes index.html, the pages it needs beside it, report.md and runs.json into the folder, made if need be.

    Returns the path of the main page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    values = context(book)
    homes = {d["anchor"]: where for where, found in values["details"].items() for d in found}
    pages: dict[str, tuple[str, dict[str, Any]]] = {MAIN: ("page.html.j2", {})}
    for section in values["sections"]:
        if section.page != MAIN:
            pages[section.page] = ("family.html.j2", {"s": section})
    if values["instructions"]:
        rows = values["instructions"]
        counted = sorted({pipe for row in rows for pipe, _ in row.pipes})
        pages[INSTRUCTIONS] = (
            "instructions.html.j2",
            {"counted": counted, "families": sorted({r.family for r in rows})},
        )
    if values["fragments"]:
        pages[FRAGMENTS] = ("fragments.html.j2", {})
    if values["built_page"] != MAIN:
        pages[values["built_page"]] = ("built.html.j2", {})
    for name, (template, more) in pages.items():
        link = Links(name, homes)
        html = _environment().get_template(template).render(**values, **more, here=name, link=link)
        (folder / name).write_text(html, encoding="utf-8")
    (folder / DATA).write_text(page.data(book), encoding="utf-8")
    if book.isa and book.isa.page:
        (folder / "isa.html").write_bytes(book.isa.page.read_bytes())
    markdown = _environment().get_template("report.md.j2").render(**values)
    (folder / "report.md").write_text(markdown, encoding="utf-8")
    return folder / MAIN
