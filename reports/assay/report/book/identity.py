# SPDX-License-Identifier: Apache-2.0
"""Which GPU a run is of. Pure.

`environment.gpu.id` is a salted hash of the GPU's UUID: equal ids are one GPU. A file without it says what kind of GPU
it had, not which, so nothing is concluded from equal names.
"""

from __future__ import annotations

from collections import Counter

from assay.files import Run

SHOWN = 6  # digits of an id: enough to tell the GPUs of a house apart
COMMIT = 12  # digits of a commit


def gpu_id(run: Run) -> str | None:
    """The id of the run's GPU; None where the file has none."""
    return (run.gpu or {}).get("id") or None


def gpu_name(run: Run) -> str:
    return (run.gpu or {}).get("name") or "host"


def short_name(run: Run) -> str:
    """ "H200"."""
    return gpu_name(run).removeprefix("NVIDIA ").removeprefix("GeForce ").split(" ")[0]


def run_name(run: Run) -> str:
    """What a person calls the run: its folder, or its file where that is not run.json; "" for one from no file."""
    if run.path is None:
        return ""
    return run.path.parent.name if run.path.name in ("run.json", "journal.jsonl") else run.path.stem


def labels(runs: list[Run]) -> list[str]:
    """A label for each: the GPU's name; with its id, where others of its name have another; with the run's name, where
    the id is unknown or several runs are of that GPU. What is still alike is numbered."""
    found = []
    for run in runs:
        alike = [other for other in runs if gpu_name(other) == gpu_name(run)]
        own = gpu_id(run)
        label = gpu_name(run)
        if own and any(gpu_id(other) != own for other in alike):
            label += f" {own[:SHOWN]}"
        several = len(alike) > 1 and (own is None or sum(gpu_id(other) == own for other in alike) > 1)
        if several and run_name(run):
            label += f", run {run_name(run)}"
        found.append(label)
    seen: Counter = Counter()
    numbered = []
    for label in found:
        seen[label] += 1
        numbered.append(f"{label} #{seen[label]}" if found.count(label) > 1 else label)
    return numbered


def title(runs: list[Run]) -> str:
    """ "2 × NVIDIA H200 · NVIDIA H100": so many GPUs as are known to differ; "NVIDIA H200, 3 runs" where it is not
    known whether they do."""
    said = []
    for name, count in Counter(gpu_name(run) for run in runs).items():
        ids = {gpu_id(run) for run in runs if gpu_name(run) == name}
        known = None not in ids
        words = f"{len(ids)} × {name}" if known and len(ids) > 1 else name
        said.append(f"{words}, {count} runs" if count > (len(ids) if known else 1) else words)
    return " · ".join(said) or "no GPU"


def commit_of(run: Run) -> str:
    """ "9104612517d7", "9104612517d7, changed"; "" where the file names none."""
    assay = run.environment.get("assay") or {}
    return f"{str(assay['commit'])[:COMMIT]}{', changed' if assay.get('dirty') else ''}" if assay.get("commit") else ""


def of_commits(runs: list[Run]) -> str:
    """ "Measured on 2026-11-22 in run 2026-11-22-full, with our kernels of commit 9104612517d7."; a sentence for each."""
    said = []
    for run in runs:
        day = str((run.extra.get("run") or {}).get("started") or "")[:10]
        commit = commit_of(run)
        words = ["Measured", day and f"on {day}", run_name(run) and f"in run {run_name(run)}"]
        words.append(f"with our kernels of commit {commit}" if commit else "with kernels of an unknown commit")
        said.append(" ".join(filter(None, words)) + ".")
    return " ".join(said)


def relation(runs: list[Run]) -> str:
    """Whether runs of one name are of one GPU, in a sentence; "" for a single run."""
    if len(runs) < 2:
        return ""
    ids = [gpu_id(run) for run in runs]
    if None in ids:
        count = ids.count(None)
        files = "1 file has" if count == 1 else f"{count} files have"
        return f"not known whether these are one GPU or several: {files} no environment.gpu.id"
    distinct = len(set(ids))
    return f"one GPU, {len(runs)} runs" if distinct == 1 else f"{distinct} GPUs by their ids, {len(runs)} runs"
