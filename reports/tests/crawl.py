# SPDX-License-Identifier: Apache-2.0
"""Every page of a folder, and every link of these that leads nowhere."""

from pathlib import Path
from urllib.parse import unquote

from test_page import Document


def pages(folder: Path) -> dict[Path, Document]:
    return {path: Document(path.read_text()) for path in sorted(folder.rglob("*.html"))}


def dead_links(found: dict[Path, Document], there: dict[Path, Document] | None = None) -> list[str]:
    """Links to files that are not there, places that no page has, and addresses that are not relative.

    `there` are all pages that they may lead to, if these are more.
    """
    ids = {path.resolve(): set(document.ids) for path, document in (there or found).items()}
    dead = []
    for path, document in found.items():
        for tag, key in (("a", "href"), ("link", "href"), ("img", "src"), ("script", "src")):
            for attributes, _ in document.all(tag):
                address = attributes.get(key, "#main")
                if address.startswith(("https://", "http://")) and tag == "a":
                    continue  # a source elsewhere
                where, _, place = address.partition("#")
                target = (path.parent / unquote(where)).resolve() if where else path.resolve()
                if where.startswith("/") or ":" in where or not target.is_file():
                    dead.append(f"{path.name}: {address}")
                elif place and target in ids and unquote(place) not in ids[target]:
                    dead.append(f"{path.name}: {address}")
    return dead
