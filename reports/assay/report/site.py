# SPDX-License-Identifier: Apache-2.0
"""Writes the pages: HTML for each, and the main one as Markdown, with the data beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from assay.files import document_of

from .answer import findings
from .answer.questions import PARTS
from .block.kinds import Block, Page
from .book import interval, labels, text
from .book.model import Book
from .draw import cells
from .page.environment import conditions
from .page.front import DATA, MAIN, Report

TEMPLATES = Path(__file__).parent / "templates"
ASKED = {question.number: question.ask for questions in PARTS.values() for question in questions}


@dataclass(frozen=True)
class Links:
    """Where a link on one page leads: details of a measurement are on the page of its family, all else on the main one.

    An anchor may also name a page, "fragments.html", a place on one, or an address.
    """

    here: str
    homes: dict[str, str]  # anchor of a measurement -> page

    def __call__(self, anchor: str) -> str:
        if anchor.startswith(("http:", "https:", "#")) or anchor == DATA:
            return anchor
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
        quantity=labels.quantity,
        speedup=findings.speedup,
        tiny=cells.tiny,
        asked=ASKED,
        MAIN=MAIN,
    )
    return environment


def shown_by(template: str, **values: Any) -> Callable[[Block], str]:
    """Sets a block by the macro of its kind."""

    def show(block: Block) -> str:
        return getattr(macros, block.form)(block)

    macros = _environment().get_template(template).make_module({**values, "show": show})
    return show


def html(page: Page, title: str = "", homes: dict[str, str] | None = None) -> str:
    """A page; without a title of the report it stands for itself."""
    values = {"here": page.name, "link": Links(page.name, homes or {})}
    show = shown_by("blocks.html.j2", **values)
    return _environment().get_template("page.html.j2").render(page=page, title=title, show=show, **values)


def markdown(report: Report, main: Page) -> str:
    show = shown_by("blocks.md.j2")
    legend = interval.legend(report.book.processes)
    by_column = [conditions(report.book, column) for column in report.book.columns]
    template = _environment().get_template("report.md.j2")
    return template.render(report=report, page=main, conditions=by_column, legend=legend, show=show)


def data(book: Book) -> str:
    """The runs as a JSON array, without samples and disassembly text."""
    documents = []
    for column in book.columns:
        document = document_of(column.run)
        for m in document["measurements"]:
            m.pop("samples", None)
            (m.get("sass") or {}).pop("text", None)
        documents.append(document)
    return json.dumps(documents, separators=(",", ":"))


def write(book: Book, folder: Path) -> Path:
    """Writes index.html, the pages it needs beside it, report.md and runs.json into the folder, made if need be.

    Returns the path of the main page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    report = Report(book)
    # While other processes draw what the main page needs.
    for page in report.others:
        (folder / page.name).write_text(html(page, report.title, report.homes), encoding="utf-8")
    (folder / DATA).write_text(data(book), encoding="utf-8")
    main = report.main()
    (folder / MAIN).write_text(html(main, report.title, report.homes), encoding="utf-8")
    (folder / "report.md").write_text(markdown(report, main), encoding="utf-8")
    return folder / MAIN
