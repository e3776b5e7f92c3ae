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
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
TEXTS = (HERE / "texts.js").read_text()
THIN = (HERE / "thin.js").read_text()

OPEN_FOLDS = """(() => {
  const folds = document.querySelectorAll("details:not([open])");
  folds.forEach((fold) => { fold.open = true; fold.dataset.opened = ""; });
  return folds.length;
})()"""
CLOSE_FOLDS = "document.querySelectorAll('details[data-opened]').forEach((fold) => { fold.open = false; })"

# What can be read without scrolling: numbers, and pictures whose middle can be seen.
FIRST_SCREEN = """(() => {
  const above = (one, part) => { const box = one.getBoundingClientRect(); return box.top + part * box.height <= innerHeight; };
  const count = (what, part) => [...document.querySelectorAll(what)].filter((one) => above(one, part)).length;
  return {numbers: count(".headlines .shown", 1), pictures: count("main figure svg[role=img]", 0.5)};
})()"""

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")
WIDTHS = {1400: 900, 800: 1100, 390: 844}  # a desk, a tablet held upright, a phone: width and height of the window
PAPER = (711, 1039)  # A4 within margins of 11 mm, in CSS pixels
PATIENCE_MS = 180_000  # on a machine with other work; what a page costs is counted in time of its processor
GRAVE = {"serious", "critical"}


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


@contextmanager
def opened(by: Browser, address: str, width: int = 1400) -> Iterator[tuple[Page, list[str]]]:
    """A page with what its console and its requests said that should not be."""
    context = by.new_context(viewport={"width": width, "height": WIDTHS[width]}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.append(f"cannot load {request.url}"))
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:")) else said.append(f"asks for {request.url}"),
    )
    page.goto(address)
    yield page, said
    context.close()


def texts(page: Page) -> dict[str, Any]:
    return page.evaluate(TEXTS)


def grave(page: Page, **options: Any) -> list[str]:
    """What axe calls serious or critical, one line each."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [
        f"{violation['id']}, {violation['help']}: {len(violation['nodes'])}, first {violation['nodes'][0]['html'][:200]}"
        for violation in found
        if violation["impact"] in GRAVE
    ]


def audit(page: Page) -> list[str]:
    """axe's findings on the page with its folds open, in light colours, and on the colours of the dark page."""
    page.evaluate(OPEN_FOLDS)
    page.evaluate(THIN)
    found = grave(page)
    page.emulate_media(color_scheme="dark")
    return found + [f"dark: {said}" for said in grave(page, runOnly=["color-contrast"])]


def pages_in_print(page: Page) -> int:
    pdf = page.pdf(prefer_css_page_size=True)
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def _cpu_seconds(page: Page) -> float:
    """Of the process that shows the page, since it began."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    return next(m["value"] for m in session.send("Performance.getMetrics")["metrics"] if m["name"] == "ProcessTime")


def _size(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})


def look(by: Browser, path: Path, printed: bool) -> dict[str, Any]:
    """All there is to say of a page. A picture by itself has one size, no paper, and nothing that axe could judge."""
    is_page = path.suffix == ".html"
    found: dict[str, Any] = {"bytes": path.stat().st_size, "at": {}, "axe": [], "keyboard": None, "printed_pages": None}
    with opened(by, path.as_uri()) as (page, said):
        found["load_cpu_s"] = _cpu_seconds(page)
        if is_page:
            found["first_screen"] = page.evaluate(FIRST_SCREEN)
            found["keyboard"] = keyboard.walk(page)
        for width, height in WIDTHS.items() if is_page else [(1400, 900)]:
            _size(page, width, height)
            found["at"][str(width)] = texts(page) | {"screen": height}
        if is_page:
            folds = page.evaluate(OPEN_FOLDS)
            for width in (390, 1400) if folds else ():
                _size(page, width, WIDTHS[width])
                found["at"][f"{width}, folds open"] = texts(page) | {"screen": WIDTHS[width]}
            page.evaluate(CLOSE_FOLDS)
            page.emulate_media(media="print")
            wide = page.evaluate("getComputedStyle(document.querySelector('main')).page") == "wide"
            _size(page, *(reversed(PAPER) if wide else PAPER))
            found["at"]["print"] = texts(page)
            found["printed_pages"] = pages_in_print(page) if printed else None
            page.emulate_media(media="screen")
            _size(page, 1400, 900)
            found["axe"] = audit(page)
        found["console"] = said
    return found


def survey(by: Browser, pages: list[Path], printed: bool) -> dict[str, dict[str, Any]]:
    """What there is to say of each, by name."""
    return {path.name: look(by, path, printed) for path in pages}
