# SPDX-License-Identifier: Apache-2.0
"""A page of a history: what changed when, and each case along commits. `assay baseline page` writes it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.files import history
from assay.files.history import Entry

from ..block.kinds import Block, Bullets, Figures, Fold, Page, Section, sentence
from ..book import text
from ..draw.history import Line, picture

PAGE = "history.html"
LEGEND = "A dot is the median of a run's processes, a bar its 95% interval, a grey line a level, a ring the baseline."


def page(entries: Sequence[Entry], title: str, found: Sequence[Line]) -> Page:
    """`found` are the lines of the entries. Cases that changed lead, those that did not are folded."""
    accepted = history.baseline(list(entries))
    drawn = [(line, picture(f"case{i}", line, accepted)) for i, line in enumerate(found)]
    said = [said for line, _ in drawn for said in line.sentences]
    steady = [figure for line, figure in drawn if not line.changes]
    blocks: list[Block] = [
        Bullets(said) if said else sentence("No case changed for good."),
        sentence(LEGEND),
        Figures([figure for line, figure in drawn if line.changes]),
    ]
    if steady:
        blocks.append(Fold("Cases that did not change", text.counted(len(steady), "case"), [Figures(steady)]))
    lead = f"{text.counted(len(entries), 'run')}. {_said(accepted)}"
    return Page(PAGE, title, title, lead, [Section("changes", "What changed", blocks)])


def _said(accepted: Entry | None) -> str:
    if accepted is None:
        return "No baseline was accepted yet."
    return f"The baseline is {accepted.commit} of {accepted.time}: {accepted.reason}."
