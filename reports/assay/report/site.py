# SPDX-License-Identifier: Apache-2.0
"""Writes the pages: HTML for each, and the main one as Markdown, with the data beside them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from assay import plain_text
from assay.files import NotWritten, document_of
from assay.plain_text import printable

from .answer import findings
from .answer.questions import PARTS
from .block.kinds import Block, Page, figures_in
from .book import interval, labels, text
from .book.model import SHARED, Book
from .draw import cells, export
from .page.environment import conditions
from .page.front import DATA, MAIN, Report

TEMPLATES = Path(__file__).parent / "templates"
PICTURES = "pictures"  # the folder of their files
ASKED = {question.number: question.ask for questions in PARTS.values() for question in questions}


@dataclass(frozen=True)
class Links:
    """Where a link on one page leads: details of a measurement are on the page of its family, all else on the main one.

    An anchor may also name a page, "fragments.html", a place on one, or an address.
    """

    here: str
    homes: dict[str, str]  # anchor of a measurement -> page

    def __call__(self, anchor: str) -> str:
        if anchor not in self.homes and (anchor.startswith(("http:", "https:", "#")) or anchor == DATA):
            return anchor
        if anchor not in self.homes and ".html" in anchor:
            where, _, place = anchor.partition("#")
            return f"#{place}" if where == self.here and place else anchor
        where = self.homes.get(anchor, MAIN)
        return f"#{anchor}" if where == self.here else f"{where}#{anchor}"


def _shown(value: Any) -> Any:
    """What a page prints of a value: of text from files no character that cannot be seen."""
    return printable(" ".join(value.splitlines())) if type(value) is str else value


def _shown_in_markdown(value: Any) -> Any:
    return Markup(plain_text.markdown(value)) if type(value) is str else value


def _code_in_markdown(said: str) -> Markup:
    return Markup(plain_text.markdown_code(said))


@lru_cache(maxsize=2)
def _environment(kind: str) -> Any:
    """For "html" or "md". Both escape all that is not made by a template itself, each in its own way."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_shown if kind == "html" else _shown_in_markdown,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["code"] = _code_in_markdown
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
        SHARED=SHARED,
    )
    return environment


def shown_by(kind: str, **values: Any) -> Callable[[Block], str]:
    """Sets a block by the macro of its kind."""

    def show(block: Block) -> str:
        return getattr(macros, block.form)(block)

    macros = _environment(kind).get_template(f"blocks.{kind}.j2").make_module({**values, "show": show})
    return show


def html(
    page: Page, title: str = "", homes: dict[str, str] | None = None, files: dict[str, list[str]] | None = None
) -> str:
    """A page; without a title of the report it stands for itself. `files` are those of pictures, by their keys."""
    values = {"here": page.name, "link": Links(page.name, homes or {}), "files": files or {}}
    show = shown_by("html", **values)
    return _environment("html").get_template("page.html.j2").render(page=page, title=title, show=show, **values)


def markdown(report: Report, main: Page) -> str:
    show = shown_by("md")
    legend = interval.legend(report.book.processes)
    by_column = [conditions(report.book, column) for column in report.book.columns]
    template = _environment("md").get_template("report.md.j2")
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


class Pictures:
    """Writes the pictures of pages as files: SVG and CSV of each, PNG of those a front page begins with or of all."""

    def __init__(self, folder: Path, png: bool) -> None:
        self.folder, self.png = folder / PICTURES, png
        self.css = "\n".join(
            (TEMPLATES / name).read_text(encoding="utf-8") for name in ("style.css.j2", "pictures.css.j2")
        )
        self.names: list[str] = []

    def of(self, page: Page) -> dict[str, list[str]]:
        """The files of the page's pictures by their keys, as the page links them."""
        found: dict[str, list[str]] = {}
        first = {figure.key for figure in figures_in(page.sections[:1])} if page.kind else set()
        for figure in page.figures:
            drawn, name = export.svg(figure, self.css), export.name_of(figure)
            found[figure.key] = [self._put(f"{name}.svg", drawn.encode())]
            if self.png or figure.key in first:
                found[figure.key].append(self._put(f"{name}.png", lambda drawn=drawn: export.png(drawn)))
            if figure.data:
                found[figure.key].append(self._put(f"{name}.csv", export.table(figure).encode()))
        return found

    def _put(self, name: str, content: bytes | Callable[[], bytes]) -> str:
        """A picture may be on several pages."""
        where = f"{PICTURES}/{name}"
        if where not in self.names:
            self.folder.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(content if isinstance(content, bytes) else content())
            self.names.append(where)
        return where


def write(book: Book, folder: Path, png: bool = False) -> Path:
    """Writes index.html, the pages it needs beside it, their pictures, report.md and runs.json into the folder, made if
    need be; with `png` every picture also as PNG.

    They are written aside and moved when all are there, the main page last: what fails leaves an earlier report whole.
    Returns the path of the main page. Raises NotWritten.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".report-", dir=folder) as aside:
            names = _write_files(book, Path(aside), png)
            for name in names:
                if (folder / name).is_dir():
                    raise NotWritten(f"{folder / name}: cannot be written: it is a folder; choose another --out")
                (folder / name).parent.mkdir(exist_ok=True)
            for name in names:
                os.replace(Path(aside) / name, folder / name)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) and "\0" not in str(folder):
            raise
        why = error.strerror if isinstance(error, OSError) else error
        raise NotWritten(f"{folder}: cannot be written: {why}; choose another folder with --out") from None
    return folder / MAIN


def _write_files(book: Book, folder: Path, png: bool) -> list[str]:
    """Their names, in the order in which they may be moved."""
    report = Report(book)
    pictures = Pictures(folder, png)
    written: list[str] = []

    def put(name: str, content: str) -> None:
        if name in written:
            raise ValueError(f"two pages are called {name}")
        written.append(name)
        (folder / name).write_text(content, encoding="utf-8")

    def put_page(page: Page) -> None:
        put(page.name, html(page, report.title, report.homes, pictures.of(page)))

    # While other processes draw what the main page needs.
    for page in report.others:
        put_page(page)
    put(DATA, data(book))
    main = report.main()
    put("report.md", markdown(report, main))
    put_page(main)
    return [*pictures.names, *written]
