# SPDX-License-Identifier: Apache-2.0
"""The pictures of pages as files beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .block.kinds import Page, figures_in
from .draw import export

TEMPLATES = Path(__file__).parent / "templates"
PICTURES = "pictures"  # the folder of their files


class Pictures:
    """Writes the pictures of pages as files: SVG and CSV of each, PNG of those a front page begins with or of all.

    Of pictures without one the page itself makes it, when asked (templates/png.js.j2): a tenth of a second each is too
    much for hundreds that few ask for."""

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
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(content if isinstance(content, bytes) else content())
            self.names.append(where)
        return where
