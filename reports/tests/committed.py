# SPDX-License-Identifier: Apache-2.0
"""Books of committed runs of two kinds of GPU, for tests of what is said of real figures."""

from functools import lru_cache
from pathlib import Path

from assay.files import load
from assay.report.__main__ import load_published
from assay.report.book import model

RESULTS = Path(__file__).resolve().parents[2] / "results"
RUNS = {
    "H200": "h200/2026-11-22-full",
    "H100": "h100/2026-11-22-most",
    "processes": "h200/2026-11-22-quick-processes",
    "newest H200": "h200/2026-11-22-complete",
    "newest H100": "h100/2026-11-22-complete",
}


@lru_cache(maxsize=8)
def book(*names: str) -> model.Book:
    return model.build([load(RESULTS / RUNS[name]) for name in names], load_published(RESULTS / "published"))
