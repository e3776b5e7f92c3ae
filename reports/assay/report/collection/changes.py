# SPDX-License-Identifier: Apache-2.0
"""What was measured when, and what it changed against the run before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..block.kinds import Block, Paragraph, Section, Span, sentence
from ..book import identity, text
from ..compare import words
from ..compare.figures import PER_CLOCK, counted, parted
from ..compare.findings import findings
from ..compare.stored import Stored
from ..compare.subjects import Subject
from .entries import Entry

ENOUGH = 30  # cases that two runs must share to be compared


def _before(entry: Entry, found: Sequence[Entry]) -> Entry | None:
    """The newest older run of the same folder that measured as much of the same."""
    older = [other for other in found[: found.index(entry)] if other.gpu == entry.gpu]
    shared = [(len(entry.cases & other.cases), i, other) for i, other in enumerate(older)]
    best = max(shared, default=(0, 0, None), key=lambda at: at[:2])
    return best[2] if best[0] >= ENOUGH else None


def measured(entry: Entry) -> str:
    """What a run is, in a sentence."""
    environment = entry.run.environment
    failed = sum(m.status == "failed" for m in entry.run.measurements)
    said = f"{text.counted(len(entry.cases), 'case')} on {identity.gpu_name(entry.run)}"
    if failed:
        said += f", {failed} failed"
    commit = (environment.get("assay") or {}).get("commit")
    driver = environment.get("driver")
    said += f"; driver {driver}" if driver else ""
    return f"{said}; commit {commit[:12]}." if commit else f"{said}."


def changed(before: Subject, after: Subject, name: str, stored: Stored | None = None) -> str:
    """How far the run agrees with the one before, and what differs most, beyond what others that are stored do."""
    compared, apart = parted([replace(before, short=name), replace(after, short="this run")], stored)
    agree, of = counted(compared, lambda f: f.kind == PER_CLOCK)
    alike = f"{text.number(agree)} of {text.number(of)} figures per clock agree within 0.5{text.THIN}%"
    said = f"Against {name} {alike if of else 'no figure per clock can be compared'}."
    found = [finding for finding in findings(compared) if finding.lead.sure]
    said += f" What differs most: {words.title(found[0])}." if found else " No figure differs beyond its noise."
    return f"{said} {words.left_out(apart)}".strip()


def section(
    found: Sequence[Entry], subjects: Mapping[Entry, Subject], folders: Mapping[Entry, str], stored: Stored
) -> list[Section]:
    """The newest first."""
    sections = []
    for entry in reversed(found):
        blocks: list[Block] = [sentence(measured(entry))]
        if (before := _before(entry, found)) and entry in subjects:
            blocks.append(sentence(changed(subjects[before], subjects[entry], before.name, stored)))
        if entry in folders:
            blocks.append(Paragraph([Span("Its report", f"{folders[entry]}/index.html"), Span(".")]))
        title = f"{entry.gpu}, {entry.date} {entry.purpose}".replace("  ", " ")
        sections.append(Section(text.slug(f"{entry.gpu}/{entry.name}"), title, blocks))
    return sections
