# SPDX-License-Identifier: Apache-2.0
"""Writes the pages: HTML for each, and the main one as Markdown, with the data beside them."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from assay import plain_text, plotting
from assay.files import NotWritten, document_of
from assay.plain_text import printable

from . import earlier_files
from .answer import findings
from .answer.surprises import Sibling
from .block.kinds import Block, Page, Span
from .book import glossary, interval, labels, products, text
from .book.model import SHARED, Book
from .compare import words as comparison_words
from .compare.figures import Value
from .compare.pages import Comparison
from .compare.subjects import Subject, repeated_of, siblings_of
from .draw import cells
from .page.elsewhere import Elsewhere
from .page.environment import conditions
from .page.front import DATA, MAIN
from .page.glossary import PAGE as GLOSSARY
from .page.report import Report
from .page.sections import WORTH_A_POOL, cores
from .page.sections import homes as details_of
from .picture_files import TEMPLATES, Pictures


@dataclass(frozen=True)
class Links:
    """Where a link on one page leads.

    An anchor may also name a page, "fragments.html", a place on one, or an address.
    """

    here: str
    homes: dict[str, str]  # anchor -> page

    def __call__(self, anchor: str) -> str:
        if anchor not in self.homes and (anchor.startswith(("http:", "https:", "#")) or anchor == DATA):
            return anchor
        if anchor not in self.homes and ".html" in anchor:
            where, _, place = anchor.partition("#")
            return f"#{place}" if where == self.here and place else anchor
        where = self.homes.get(anchor, MAIN)
        return f"#{anchor}" if where == self.here else f"{where}#{anchor}"


def _shown(value: Any) -> Any:
    """What a page prints of a value: of text from files no character that cannot be seen; numbers with their units."""
    return _shown_text(value) if type(value) is str else value


@lru_cache(maxsize=1 << 14)  # the same few words and numbers make most of a table
def _shown_text(value: str) -> str:
    return text.unbroken(value if plain_text.plain(value) else printable(" ".join(value.splitlines())))


def _shown_in_markdown(value: Any) -> Any:
    return Markup(plain_text.markdown(value)) if type(value) is str else value


def _code_in_markdown(said: str) -> Markup:
    return Markup(plain_text.markdown_code(said))


# After a slash or an underline, and before the n and the k of a shape: where a long name may go on below.
_JOINT = re.compile(r"(?<=[/_])(?=\w)|(?<=\d)(?=[nk]\d)")


def _breakable(said: str) -> Markup:
    """A name that a narrow column breaks between its parts, not within them, nor within a shape or a unit."""
    found, at, said = Markup(""), 0, _shown(said)
    for whole in text.WHOLE.finditer(said):
        found += _with_joints(said[at : whole.start()]) + Markup('<span class="nowrap">{}</span>').format(whole[0])
        at = whole.end()
    return found + _with_joints(said[at:])


def _with_joints(said: str) -> Markup:
    return Markup("<wbr>").join(escape(part) for part in _JOINT.split(said))


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
    environment.filters["breakable"] = _breakable
    environment.globals.update(
        number=text.number,
        plus_minus=text.plus_minus,
        percent=text.percent,
        unit=text.unit,
        deviation=text.deviation,
        quantity=labels.quantity,
        in_bf16=products.in_bf16,
        speedup=findings.speedup,
        tiny=cells.tiny,
        MAIN=MAIN,
        THIN=text.THIN,
        SHARED=SHARED,
    )
    return environment


@dataclass
class Terms:
    """Links the first use of each term on a page to what it means."""

    linked: bool  # whether the page has a glossary beside it
    seen: set[str] = field(default_factory=set)

    def __call__(self, said: str) -> Markup:
        pieces = []
        for piece, term in glossary.found(_shown(said)) if self.linked else [(_shown(said), "")]:
            new = term and term not in self.seen
            self.seen.add(term)
            at = f"{GLOSSARY}#{glossary.anchor(term)}"
            pieces.append(Markup('<a class="term" href="{}">{}</a>').format(at, piece) if new else escape(piece))
        return Markup("").join(pieces)


def shown_by(kind: str, **values: Any) -> Callable[[Block], str]:
    """Sets a block by the macro of its kind."""

    def show(block: Block) -> str:
        return getattr(macros, block.form)(block)

    macros = _environment(kind).get_template(f"blocks.{kind}.j2").make_module({**values, "show": show})
    return show


def html(
    page: Page,
    report: Report | None = None,
    title: str = "",
    up: tuple[str, str] | None = None,
    files: dict[str, list[str]] | None = None,
) -> str:
    """A page of a report, or one that stands for itself. `up` is (label, address) of what it is a part of; `files` are
    those of pictures, by their keys."""
    terms = Terms(report is not None and page.name != GLOSSARY)
    homes = report.homes if report else {}
    values = {"here": page.name, "link": Links(page.name, homes), "terms": terms, "up": up, "files": files or {}}
    show = shown_by("html", **values)
    about = {"title": title or (report.title if report else ""), "navigation": report.navigation if report else []}
    return _environment("html").get_template("page.html.j2").render(page=page, show=show, **about, **values)


def small(page: Page, style: str, up: tuple[str, str]) -> str:
    """One of thousands of pages: its style is a file beside them."""
    values = {"here": page.name, "link": Links(page.name, {}), "terms": Terms(False)}
    show = shown_by("html", **values)
    return _environment("html").get_template("small.html.j2").render(page=page, show=show, style=style, up=up)


STYLES = ("style.css.j2", "blocks.css.j2", "pictures.css.j2")


def style() -> str:
    """The style of all pages, as a file."""
    return "\n".join(_environment("html").get_template(name).render() for name in STYLES)


def markdown(report: Report, main: Page) -> str:
    show = shown_by("md")
    legend = interval.legend(report.book.processes)
    by_column = [conditions(report.book, column) for column in report.book.columns]
    template = _environment("md").get_template("report.md.j2")
    return template.render(
        report=report, main=main, pages=report.printed, conditions=by_column, legend=legend, show=show
    )


def comparison_markdown(page: Page) -> str:
    return _environment("md").get_template("comparison.md.j2").render(page=page, show=shown_by("md"))


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


def write(book: Book, folder: Path, png: bool = False) -> Path:
    """Writes index.html, the pages it needs beside it, their pictures, report.md and runs.json into the folder, made if
    need be; with `png` every picture also as PNG.

    Returns the path of the main page. Raises NotWritten.
    """
    return placed(folder, lambda aside: _write_files(book, aside, png, processes=cores()).names)


def write_comparison(subjects: Sequence[Subject], folder: Path, png: bool = False) -> Path:
    """The same of several subjects: index.html and report.md compare them, a folder of each has its own report."""
    return placed(folder, lambda aside: _write_compared(subjects, aside, png))


def placed(folder: Path, make: Callable[[Path], list[str]]) -> Path:
    """Files are made aside and moved when all are there, the main page last: what fails leaves an earlier report whole.
    Of its files those that are not of this one are taken away then.

    `make` returns their names in the order in which they may be moved.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".report-", dir=folder) as aside:
            names = make(Path(aside))
            for name in names:
                if (folder / name).is_dir():
                    raise NotWritten(f"{folder / name}: cannot be written: it is a folder; choose another --out")
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
            before = earlier_files.names(folder)
            earlier_files.keep(folder, before.union(names))
            for name in names:
                os.replace(Path(aside) / name, folder / name)
        earlier_files.remove(folder, before.difference(names))
        earlier_files.keep(folder, names)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) and "\0" not in str(folder):
            raise
        why = error.strerror if isinstance(error, OSError) else error
        raise NotWritten(f"{folder}: cannot be written: {why}; choose another folder with --out") from None
    return folder / MAIN


@dataclass(frozen=True)
class Written:
    """The names of a report's files, in the order in which they may be moved, and where its details are."""

    names: list[str]
    homes: dict[str, str]


def _write_files(
    book: Book,
    folder: Path,
    png: bool = False,
    up: tuple[str, str] | None = None,
    siblings: Sequence[Sibling] = (),
    permanent: Mapping[str, str] | None = None,
    processes: int = 1,
    elsewhere: Elsewhere | None = None,
    repeated: Sibling | None = None,
) -> Written:
    report = Report(book, siblings, permanent, processes, elsewhere, repeated)
    pictures = Pictures(folder, png)
    written: list[str] = []

    def put(name: str, content: str) -> None:
        if name in written:
            raise ValueError(f"two pages are called {name}")
        written.append(name)
        (folder / name).write_text(content, encoding="utf-8")

    def put_page(page: Page) -> None:
        put(page.name, html(page, report, up=up, files=pictures.of(page)))

    for page in report.others:  # while other processes draw what the parts need
        put_page(page)
    put(DATA, data(book))
    main = report.finish()
    for page in report.of_parts:
        put_page(page)
    put("report.md", markdown(report, main))
    put_page(main)
    return Written([*pictures.names, *written], report.homes)


_compared: tuple[Sequence[Subject], Path, tuple[str, str], bool, Mapping[str, str], Mapping[int, Elsewhere]] | None = None


def _write_subject(index: int) -> Written:
    subjects, folder, up, png, permanent, elsewhere = _compared
    subject = subjects[index]
    (folder / subject.folder).mkdir(parents=True)
    siblings = siblings_of(subject, subjects)
    left = cores() // len(subjects)  # what the other reports, made meanwhile, do not need
    more = elsewhere.get(subject.index)
    repeated = repeated_of(subject, subjects)
    return _write_files(subject.book, folder / subject.folder, png, up, siblings, permanent, left, more, repeated)


def write_reports(
    subjects: Sequence[Subject],
    folder: Path,
    up: tuple[str, str],
    png: bool = False,
    permanent: Mapping[str, str] | None = None,
    elsewhere: Mapping[int, Elsewhere] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Written]:
    """The report of each, in processes of their own where it takes long, while this one does something else. `permanent`
    and, by the index of a subject, `elsewhere` are Report's."""
    global _compared
    _compared = subjects, folder, up, png, permanent or {}, elsewhere or {}  # a forked process has it without being sent it
    tasks = range(len(subjects))
    if max(len(subject.book.measurements) for subject in subjects) < WORTH_A_POOL or cores() < 2:
        meanwhile()
        return [_write_subject(task) for task in tasks]
    plotting.load()  # once, instead of in each
    import matplotlib.figure  # noqa: F401

    for kind in ("html", "md"):
        environment = _environment(kind)
        for name in environment.list_templates(filter_func=lambda name: (".md." in name) == (kind == "md")):
            environment.get_template(name)

    with ProcessPoolExecutor(min(len(subjects), cores()), get_context("fork")) as pool:
        written = pool.map(_write_subject, tasks)
        meanwhile()
        return list(written)


def _write_compared(subjects: Sequence[Subject], folder: Path, png: bool) -> list[str]:
    own: list[str] = []
    homes = {subject.index: details_of(subject.book) for subject in subjects}

    def where(value: Value) -> str:
        anchor = value.number.anchor
        return f"{value.subject.folder}/{homes[value.subject.index].get(anchor, MAIN)}#{anchor}"

    def compare() -> None:
        comparison = Comparison(subjects, where)
        pages, pictures = comparison.pages(), Pictures(folder, png)
        (folder / "report.md").write_text(comparison_markdown(pages[-1]), encoding="utf-8")
        for page in pages:
            (folder / page.name).write_text(html(page, title=comparison.title, files=pictures.of(page)), encoding="utf-8")
        own.extend([*pictures.names, "report.md", *(page.name for page in pages)])

    up = (comparison_words.heading(list(subjects)), f"../{MAIN}")
    written = write_reports(subjects, folder, up, png, meanwhile=compare)
    return [*(f"{s.folder}/{name}" for s, made in zip(subjects, written) for name in made.names), *own]
