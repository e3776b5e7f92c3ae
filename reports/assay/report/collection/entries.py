# SPDX-License-Identifier: Apache-2.0
"""The run files of a folder of results, and which of them have a report of their own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assay.files import Run, RunFileError, load

from ..book import identity
from ..book.counters import settled
from ..book.products import tried

MOST_OF = 0.5  # of the cases of the folder's largest run: what measured fewer is no picture of a GPU
NEARLY = 0.9  # of the cases of the GPU's largest run: a newer build may have left some out
ADDS = 0.1  # of its own cases: what a run must add to have a report beside the leading ones


@dataclass(eq=False)
class Entry:
    """results/<gpu>/<date>-<purpose>/run.json"""

    gpu: str  # the folder of the GPU
    name: str  # the folder of the run
    run: Run

    @property
    def date(self) -> str:
        """ "2026-11-22"; "" where the folder does not say."""
        found = re.match(r"\d{4}-\d\d-\d\d", self.name)
        return found[0] if found else ""

    @property
    def _about(self) -> dict:
        about = self.run.extra.get("run")
        return about if isinstance(about, dict) else {}

    @property
    def started(self) -> str:
        """ "2026-11-22T21:40:28Z"; "" where the file does not say."""
        return str(self._about.get("started") or "")

    @property
    def processes(self) -> int:
        """In how many fresh processes each of its cases ran."""
        count = self._about.get("repetitions")
        return count if type(count) is int and count > 1 else 1

    @property
    def purpose(self) -> str:
        return self.name.removeprefix(self.date).strip("-") or "run"

    @cached_property
    def counts(self) -> bool:
        """Whether it has counters that tell the pipes apart."""
        return any(m.ok and settled(m) for m in self.run.measurements)

    @cached_property
    def cases(self) -> set[str]:
        return {m.name for m in self.run.measurements if m.ok}

    @cached_property
    def tried(self) -> dict[str, int]:
        """Case -> of how many of a library's choices the best took turns with ours; of cases where any did."""
        most = {m.name: max((tried(b.name) for b in m.baselines), default=0) for m in self.run.measurements if m.ok}
        return {name: count for name, count in most.items() if count}


def entries(results: Path) -> list[Entry]:
    """All runs, the oldest first. Raises RunFileError."""
    if not results.is_dir():
        raise RunFileError(f"{results}: no such folder; give the one that holds <gpu>/<date>-<purpose>/run.json")
    paths = sorted(path for path in results.glob("*/*/run.json"))
    found = [Entry(path.parts[-3], path.parts[-2], load(path)) for path in paths]
    if not any(entry.cases for entry in found):
        raise RunFileError(f"{results}: holds no <gpu>/<date>-<purpose>/run.json with a measurement; measure one first")
    return sorted(found, key=lambda entry: (entry.date, entry.started, entry.gpu, entry.name))


def leading(found: Iterable[Entry]) -> list[Entry]:
    """Of each GPU, known by its id, the newest run that measured nearly as many cases as any of that GPU. Without ids one of
    a folder."""
    by_gpu: dict[str, list[Entry]] = {}
    for entry in found:
        by_gpu.setdefault(entry.gpu, []).append(entry)
    leads = []
    for of_folder in by_gpu.values():
        most = max(len(entry.cases) for entry in of_folder)
        large = [entry for entry in of_folder if entry.cases and len(entry.cases) >= MOST_OF * most]
        known = [entry for entry in large if identity.gpu_id(entry.run)]
        by_id: dict[str | None, list[Entry]] = {}
        for entry in known or large:
            by_id.setdefault(identity.gpu_id(entry.run), []).append(entry)
        for of_id in by_id.values():
            whole = NEARLY * max(len(entry.cases) for entry in of_id)
            leads.append(max((e for e in of_id if len(e.cases) >= whole), key=lambda e: (e.date, e.started, len(e.cases))))
    return sorted(leads, key=lambda entry: (entry.gpu, entry.name))


def newest_of_folders(leads: Iterable[Entry]) -> list[Entry]:
    """Of the leading runs of each folder the newest, of equals the one with most cases."""
    best: dict[str, Entry] = {}
    for entry in sorted(leads, key=lambda entry: (entry.date, len(entry.cases))):
        best[entry.gpu] = entry
    return [best[gpu] for gpu in sorted(best)]


def adding(found: Iterable[Entry], leads: list[Entry]) -> list[Entry]:
    """Runs that measured what no leading one of their folder did; and of each folder the newest whose cases ran in most
    processes, where no leading one's did, and the newest with the hardware's counters, where no leading one has any: how
    far processes differ, and what was counted, is known from these alone."""
    found = list(found)
    known: dict[str, set[str]] = {}
    most: dict[str, int] = {}
    for lead in leads:
        known.setdefault(lead.gpu, set()).update(lead.cases)
        most[lead.gpu] = max(most.get(lead.gpu, 1), lead.processes)
    repeated: dict[str, Entry] = {}
    for entry in found:
        if entry.processes > 1 and entry.processes >= most.get(entry.gpu, 1):
            most[entry.gpu], repeated[entry.gpu] = entry.processes, entry
    without = known.keys() - {lead.gpu for lead in leads if lead.counts}
    counting = {entry.gpu: entry for entry in found if entry.counts and entry.gpu in without}
    return [
        entry
        for entry in found
        if entry not in leads
        and (
            entry in [*repeated.values(), *counting.values()]
            or len(entry.cases - known.get(entry.gpu, set())) > ADDS * len(entry.cases)
        )
    ]


def folders(leads: list[Entry], others: list[Entry]) -> dict[Entry, str]:
    """Where the report of each stands, no two at one place; a GPU's address does not change when it is measured again. Of runs
    of one purpose the newest has the address without a date."""
    gpus = [lead.gpu for lead in leads]
    found: dict[Entry, str] = {}

    def put(entry: Entry, *names: str) -> None:
        wanted = [f"gpus/{name}" for name in names]
        further = (f"{wanted[-1]}-{number}" for number in itertools.count(2))
        taken = set(found.values())
        found[entry] = next(name for name in itertools.chain(wanted, further) if name not in taken)

    for lead in leads:
        own = identity.gpu_id(lead.run) or lead.purpose
        alone = gpus.count(lead.gpu) == 1
        put(lead, lead.gpu if alone else f"{lead.gpu}-{own[: identity.SHOWN]}", f"{lead.gpu}-{own}")
    for entry in sorted(others, key=lambda entry: (entry.date, entry.started), reverse=True):
        named = f"{entry.gpu}-{entry.purpose}"
        put(entry, named, f"{named}-{entry.date}")
    return found
