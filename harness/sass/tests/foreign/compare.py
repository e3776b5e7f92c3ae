# SPDX-License-Identifier: Apache-2.0
"""Predictions of `assay sass` for the foreign kernels beside what a GPU measured, as a page.

python compare.py build/assay results/h200/2026-11-22-foreign-kernels > docs/predictions.md
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The timed loop is the kernel's longest, but where a loop that fills shared memory is unrolled: this many before it.
LOOPS_BEFORE = {"conv_3x3": 2, "wmma_bf16": 2}

# Where the figures come from that explain an error.
FULL_RUN = Path(__file__).parents[4] / "results/h200/2026-11-22-full/run.json"
STORE_RATE = "memory/hbm/write"  # bytes per clock and SM of coalesced stores by all SMs

# Coalesced stores of 32 lanes x 4 bytes that a warp does in one iteration of the timed loop.
STORES = {"saxpy": 4, "transpose": 4}

# A reason explains an error if the cycles that it leads to are those measured, to this much.
EXPLAINED_WITHIN = 0.05


@dataclass
class Reason:
    """Why a loop takes so long: cycles that follow from published figures or from its addresses."""

    cycles: float
    text: str


def store_rate() -> float:
    """Bytes per clock and SM."""
    measurements = json.loads(FULL_RUN.read_text())["measurements"]
    write = next(m for m in measurements if m["name"] == STORE_RATE)
    return write["metrics"]["bytes_per_clock_per_sm"]["value"]


def shared_cycles(words: list[int]) -> int:
    """Of a warp's load of these 4-byte words: different words of a bank come one after the other."""
    return max(len({word for word in words if word % 32 == bank}) for bank in range(32))


def reason(name: str, warps: int) -> Reason | None:
    """What is known to hold this loop up that the prediction leaves out."""
    if name in STORES:
        size, rate = warps * STORES[name] * 128, store_rate()
        return Reason(
            size / rate,
            f"its stores leave L1: {size} B take {size / rate:.0f} cycles at the {rate:.1f} B per clock and SM of "
            f"`{STORE_RATE}`",
        )
    if name == "conv_3x3":  # a warp reads two rows of 16 from an image whose rows have 18 words
        each = shared_cycles([row * 18 + column for row in range(2) for column in range(16)])
        return Reason(
            warps * 9 * each,
            f"bank conflicts in rows of 18 words: {warps} warps x 9 loads of {each} cycles are {warps * 9 * each}",
        )
    return None


def explanation(row: Comparison) -> str:
    """For the page: empty where nothing needs one."""
    if abs(row.error) <= 0.15:
        return ""
    why = reason(row.name, row.warps)
    if why is None or abs(why.cycles / row.measured - 1) > EXPLAINED_WITHIN:
        return "not explained"
    return why.text


@dataclass
class Comparison:
    """A kernel's hot loop: cycles in which every warp of an SM does an iteration."""

    name: str
    warps: int
    measured: float
    predicted: float
    at_least: float
    bound_by: str

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


def hot_loop(name: str, kernel: dict[str, Any]) -> dict[str, Any]:
    """The loop that the driver timed."""
    by_place = sorted(kernel["hot"], key=lambda loop: loop["header"])
    if name in LOOPS_BEFORE:
        return by_place[LOOPS_BEFORE[name]]
    return max(by_place, key=lambda loop: loop["issued"])


def analyse(assay: Path, code: Path, warps: int) -> dict[str, dict[str, Any]]:
    """Every kernel of `code` with so many warps on an SM, by its bare name."""
    command = [str(assay), "sass", str(code), "--all", "--json", "--brief", "--warps", str(warps)]
    document = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    found = {}
    for kernel in document["kernels"]:
        for loop in kernel["hot"]:
            loop["issued"] = next(p["instructions"] for p in loop["pipes"] if p["pipe"] == "issue")
        found[kernel["name"].split("(float")[0].split("(unsigned")[0].rsplit("::", 1)[-1]] = kernel
    return found


def compare(assay: Path, folder: Path) -> list[Comparison]:
    """The most underestimated kernel first."""
    measured = json.loads((folder / "measured.json").read_text())["kernels"]
    by_warps = {
        warps: analyse(assay, folder / "code.fatbin", warps) for warps in {m["warps_per_sm"] for m in measured.values()}
    }
    rows = []
    for name, m in measured.items():
        loop = hot_loop(name, by_warps[m["warps_per_sm"]][name])
        predicted = loop["predicted"]
        rows.append(
            Comparison(
                name,
                m["warps_per_sm"],
                m["cycles_per_iteration"],
                predicted["cycles"],
                loop["at_least"]["cycles"],
                predicted["bound_by"],
            )
        )
    return sorted(rows, key=lambda row: row.error)


def median_error(rows: list[Comparison]) -> float:
    """Of the absolute relative errors."""
    return statistics.median(abs(row.error) for row in rows)


def page(rows: list[Comparison], folder: Path) -> str:
    """The page in docs."""
    measured = json.loads((folder / "measured.json").read_text())
    within = sum(abs(row.error) <= 0.15 for row in rows)
    lines = [
        "# Predictions against the clock",
        "",
        f"`assay sass` on {len(rows)} kernels that are no probes of this suite, written as other projects write them",
        f"([sources](../harness/sass/tests/foreign)), timed on an {measured['gpu']} with as many CTAs as an SM holds. The",
        "unit is the cycles of the SM clock in which every warp of an SM does one iteration of the hot loop. The median",
        f"error is {median_error(rows):.1%}; {within} of {len(rows)} are within 15%. `at least` is never above what was",
        "measured. No cost was fitted to these kernels: costs are those of single instructions, from `results/`. A",
        "reason for an error stands here only if figures in `results/` or the kernel's addresses lead to the measured",
        f"cycles within {EXPLAINED_WITHIN:.0%}.",
        "",
        "| kernel | warps | measured | predicted | error | bound by | at least | why the error is above 15% |",
        "|---|--:|--:|--:|--:|---|--:|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.name} | {row.warps} | {row.measured:.0f} | {row.predicted:.0f} | {row.error:+.1%} "
            f"| {row.bound_by} | {row.at_least:.0f} | {explanation(row)} |"
        )
    lines += [
        "",
        f"Measured by `{folder.parent.parent.name}/{folder.parent.name}/{folder.name}`: `measured.json` and once more",
        "on the same GPU, `measured-again.json`; `code.fatbin` there is the machine code that ran, by nvcc",
        f"{measured['nvcc']}. To measure again, on any GPU of compute capability 9.0:",
        "",
        "    nvcc -std=c++20 -O3 -arch=sm_90a -I. harness/sass/tests/foreign/*.cu -o foreign && ./foreign > measured.json",
        "    python harness/sass/tests/foreign/compare.py build/assay results/h200/2026-11-22-foreign-kernels",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    where = Path(sys.argv[2])
    print(page(compare(Path(sys.argv[1]), where), where), end="")
