# SPDX-License-Identifier: Apache-2.0
"""What the other reports of a site have more of than this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..block.kinds import Block, Lines, Section, Span, sentence

HEADING = "Newest answers of other runs"
WHY = "Kernels change with the commit, and links need several GPUs. Of these questions other runs have the newest answers."


@dataclass(frozen=True)
class Elsewhere:
    """Lines of pieces of text, each with a link to the report that it is from."""

    repeated: Sequence[Span] = ()  # how far processes differ
    newest: Mapping[str, Sequence[list[Span]]] = field(default_factory=dict)  # by the name of a page: answers

    def head_of(self, page: str) -> list[Block]:
        """What a part's page begins with."""
        lines = list(self.newest.get(page, ()))
        return [sentence(f"{HEADING}:"), Lines(lines)] if lines else []

    def section_of(self, page: str) -> Section | None:
        lines = list(self.newest.get(page, ()))
        return Section("newest", HEADING, [Lines(lines)], WHY, printed=False) if lines else None
