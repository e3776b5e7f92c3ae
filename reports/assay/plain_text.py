# SPDX-License-Identifier: Apache-2.0
"""Text from files that others wrote, made harmless for the line, the Markdown or the XML that it is put into."""

from __future__ import annotations

import re

CUT = 300  # characters of one name or remark in a line; what is longer is no name


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# Control characters, what reverses or hides the text behind it, what breaks lines, and what no XML may hold.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]")


def plain(text: str) -> bool:
    """Whether it is ASCII of one line that is seen as itself, as most texts are: quicker to find out than what is not."""
    return text.isascii() and text.isprintable()


def printable(text: str) -> str:
    """The text with everything that is not seen as itself written as an escape: "\\x1b". Holds no line end."""
    return text if plain(text) else UNSEEN.sub(_visible, text)


def one_line(text: str, most: int | None = None) -> str:
    """One line for a terminal or a log of a CI service, cut to `most` characters.

    "##[" anywhere and "::" at the beginning are commands to GitHub's runner; a name must not be able to give one.
    """
    text = printable(text.replace("\r\n", " ").replace("\n", " ").replace("\t", " ")).replace("##[", "## [")
    text = text.replace("::", ": :") if text.lstrip().startswith("::") else text
    return text if most is None or len(text) <= most else f"{text[: most - 1]}…"


MARKUP = re.compile(r"[\\`*\[\]<|~]|^(?:>|=+$|-{3,}$|(?:#+|[+-]|\d+[.)])(?=\s))|(?<=&)(?=#?\w+;)")


def markdown(text: str) -> str:
    """The text as Markdown that shows it and nothing else: no markup, no link, no cell of a table ends in it."""
    text = printable(text.replace("\r\n", " ").replace("\n", " ").replace("\t", " "))
    return MARKUP.sub(lambda found: f"\\{found[0]}" if found[0] else "amp;", text)


def markdown_code(text: str) -> str:
    """The text as a code span, in which nothing can be escaped: backticks and bars become their look-alikes."""
    text = printable(text.replace("\n", " ")).replace("`", "'").replace("|", "¦")
    return f"`{text}`" if text else ""
