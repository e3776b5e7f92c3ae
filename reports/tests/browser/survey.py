# SPDX-License-Identifier: Apache-2.0
"""Opens pages in a real browser and writes down what a reader would meet there: one browser, each page once.

What counts as clipped or overlapping text is said in texts.js.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keyboard
import pytest
from audit import audit, thin
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
TEXTS = (HERE / "texts.js").read_text()

OPEN_FOLDS = "document.querySelectorAll('details:not([open])').forEach((fold) => { fold.open = true; })"

# What can be read without scrolling: numbers, and pictures whose middle can be seen.
FIRST_SCREEN = """(() => {
  const above = (one, part) => { const box = one.getBoundingClientRect(); return box.top + part * box.height <= innerHeight; };
  const count = (what, part) => [...document.querySelectorAll(what)].filter((one) => above(one, part)).length;
  return {numbers: count(".headlines .shown", 1), pictures: count("main figure svg[role=img]", 0.5)};
})()"""

# Heights of the letters of pictures in print.
HAS_PICTURES = """(broad) => [...document.querySelectorAll("figure svg[role=img]")].some((one) => one.matches(".broad") === broad)"""
LETTERS = """(broad) => [...document.querySelectorAll("figure svg[role=img] text")]
  .filter((text) => text.closest("svg").matches(".broad") === broad && text.getBoundingClientRect().width > 0)
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b))"""

# Each picture's name and the formats that it is offered in.
OFFERED = """[...document.querySelectorAll("figure")].filter((one) => one.querySelector("svg[role=img]")).map((one) => [
  one.id, [...one.querySelectorAll(".files > *")].map((file) => file.textContent).sort().join(" ")])"""

FRONTS = ("index.html", "h100.html", "h200.html")  # pages whose sheets of paper are counted
PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")
WIDTHS = {1400: 900, 800: 1100, 390: 844}  # a desk, a tablet held upright, a phone: width and height of the window
PAPER = (711, 1039)  # A4 within margins of 11 mm, in CSS pixels
PATIENCE_MS = 180_000  # on a machine with other work; what a page costs is counted in time of its processor


def program() -> str:
    """A Chromium of the distribution; without one the test that asks is skipped."""
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if not found or "snap" in str(Path(found).resolve()):  # a snap sees no files of /tmp
        pytest.skip("no Chromium outside a snap: on Debian, apt-get install chromium")
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program())
        yield opened
        opened.close()


class Window:
    """A page of a browser that opens one address after another, and what there was on the console and asked for since the
    last began to open."""

    def __init__(self, by: Browser, width: int = 1400) -> None:
        context = by.new_context(viewport={"width": width, "height": WIDTHS[width]}, reduced_motion="reduce")
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.said: list[str] = []
        self._metrics = context.new_cdp_session(self.page)
        self._metrics.send("Performance.enable")
        say = self._say
        self.page.on("console", lambda message: say(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: say(str(error)))
        self.page.on("requestfailed", lambda request: say(f"cannot load {request.url}"))
        self.page.on(
            "request",
            lambda request: None if request.url.startswith(("file:", "data:")) else say(f"asks for {request.url}"),
        )

    def _say(self, what: str) -> None:
        self.said.append(what)

    def _cpu_seconds(self) -> float:
        """Of the process that shows the page, since it began."""
        metrics = self._metrics.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "ProcessTime")

    def open(self, address: str) -> float:
        """The CPU seconds that it took. The page is as new: in light colours, on a screen of a desk."""
        self.page.emulate_media(media="screen", color_scheme="light")
        _size(self.page, 1400)
        self.said = []
        before = self._cpu_seconds()
        self.page.goto(address)
        return self._cpu_seconds() - before


@contextmanager
def opened(by: Browser, address: str, width: int = 1400) -> Iterator[tuple[Page, list[str]]]:
    """A page in a window of its own, with what its console and its requests said that should not be."""
    window = Window(by, width)
    window.page.goto(address)
    yield window.page, window.said
    window.page.context.close()


def texts(page: Page) -> dict[str, Any]:
    return page.evaluate(TEXTS)


def pages_in_print(page: Page) -> int:
    pdf = page.pdf(prefer_css_page_size=True)
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def _size(page: Page, width: int, height: int | None = None) -> None:
    page.set_viewport_size({"width": width, "height": height or WIDTHS[width]})


def _on_paper(page: Page, sheets: bool) -> dict[str, Any]:
    """What there is to say of a page in print, as it comes and with its folds open, which they then are, in print."""
    page.emulate_media(media="print")  # first, and only then the size: so it is laid out once
    wide = page.evaluate("getComputedStyle(document.querySelector('main')).page") == "wide"
    _size(page, *(reversed(PAPER) if wide else PAPER))
    found = {"texts": texts(page), "sheets": pages_in_print(page) if sheets else None}
    page.evaluate(OPEN_FOLDS)
    found["letters"] = {}
    for broad in (False, True):  # broad maps have a sheet of their own, on its side
        if page.evaluate(HAS_PICTURES, broad):
            _size(page, *(reversed(PAPER) if broad else PAPER))
            found["letters"]["broad" if broad else "upright"] = page.evaluate(LETTERS, broad)
    return found


def look(window: Window, path: Path) -> dict[str, Any]:
    """All there is to say of a page. A picture by itself has one size, no paper, and nothing that axe could judge."""
    is_page = path.suffix == ".html"
    found: dict[str, Any] = {"bytes": path.stat().st_size, "at": {}, "axe": [], "keyboard": None, "print": None}
    page = window.page
    found["load_cpu_s"] = window.open(path.as_uri())
    if is_page:
        found["first_screen"] = page.evaluate(FIRST_SCREEN)
        found["pictures"] = page.evaluate(OFFERED)
        found["keyboard"] = keyboard.walk(page)
    for width, height in WIDTHS.items() if is_page else [(1400, 900)]:
        _size(page, width)
        found["at"][str(width)] = texts(page) | {"screen": height}
    if is_page:
        folds = page.evaluate("document.querySelectorAll('details:not([open])').length")
        found["print"] = _on_paper(page, sheets=path.name in FRONTS)
        found["at"]["print"] = found["print"].pop("texts")
        if folds:
            page.emulate_media(media="screen")
            for width in (390, 1400):
                _size(page, width)
                found["at"][f"{width}, folds open"] = texts(page) | {"screen": WIDTHS[width]}
        thin(page)  # before the screen is that of a desk again: the whole page need not be laid out for it
        page.emulate_media(media="screen")
        _size(page, 1400)
        found["axe"] = audit(page)
    found["console"] = window.said
    return found
