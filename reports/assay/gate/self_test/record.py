# SPDX-License-Identifier: Apache-2.0
"""Campaigns on disk, so that they can be judged again: a folder each, with a run of the base and of each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay import files
from assay.files import Run, RunFileError
from assay.gate.self_test.trial import Measured
from assay.program import make_folder

AGAIN = "again_"
CODE = ("kernel", "target", "sha256", "code_sha256", "launch", "verified")  # what tells whether code is identical
HOW = "give the folder that `assay gate --self-test --out` made"


def _name(level: int | None) -> str:
    return "base.json" if level is None else f"extra_{level}.json"


def _slim(run: Run) -> Run:
    """Without what a gate does not read: samples, series, loops."""
    measurements = []
    for m in run.measurements:
        sass = m.sass and {k: v for k, v in m.sass.items() if k in CODE}
        names = {m.primary, "time_us", "latency_cycles"} & m.metrics.keys()
        kept = {name: metric for name, metric in m.metrics.items() if name in names or not names}
        measurements.append(
            replace(m, samples={}, series=[], baselines=[], counters={}, sass=sass, metrics=kept, loops=None)
        )
    return Run(run.environment, measurements, extra=run.extra)


POWER = ("thrifty.json", "hungry.json")


def save_power(folder: Path, runs: Sequence[Run]) -> None:
    """What `power.sides` measured. Raises NotWritten."""
    make_folder(folder)
    for name, run in zip(POWER, runs):
        files.save(_slim(run), folder / name)


def load_power(folder: Path) -> list[list[Run]]:
    """Every campaign of two such sides in a folder. Raises RunFileError."""
    return [[files.load(path.with_name(name)) for name in POWER] for path in sorted(folder.glob(f"*/{POWER[0]}"))]


def save(folder: Path, measured: Measured) -> None:
    """What there is of a campaign; once its confirmation has begun, that alone is new. Raises NotWritten."""
    make_folder(folder)
    begun = measured.again and (folder / _name(None)).exists()
    for prefix, runs in (("", () if begun else measured.runs), (AGAIN, measured.again or ())):
        for level, run in zip([None, *measured.levels], runs):
            files.save(_slim(run), folder / (prefix + _name(level)))


def load(folder: Path) -> list[Measured]:
    """Every campaign of a folder, in order of name. Raises RunFileError."""
    bases = sorted(folder.glob(f"*/{_name(None)}"))
    if not bases and not any(folder.glob(f"*/{POWER[0]}")):
        raise RunFileError(f"{folder}: no campaign is in it; {HOW}")
    found = []
    for base in bases:
        levels = sorted(int(path.stem.removeprefix("extra_")) for path in base.parent.glob("extra_*.json"))
        names = [_name(level) for level in (None, *levels)]
        runs = [files.load(base.with_name(name)) for name in names]
        again = None
        if (base.parent / (AGAIN + names[0])).exists():
            again = [files.load(base.with_name(AGAIN + name)) for name in names]
        found.append(Measured(tuple(levels), runs, again))
    return found
