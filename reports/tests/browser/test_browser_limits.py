# SPDX-License-Identifier: Apache-2.0
"""How much of a reader's time a page takes: screens of a desk and of a phone with folds closed, sheets of paper, weight."""

from dataclasses import dataclass

import page_sets
import pytest


@dataclass(frozen=True)
class Limit:
    desk: float  # screens of 1400 x 900 pixels
    phone: float  # screens of 390 x 844 pixels
    sheets: int | None = None  # of A4
    kilobytes: int | None = None


PART = Limit(12, 25)
LIMITS = {"report": {"index.html": Limit(6, 25, 1, 700)}, "comparison": {"index.html": Limit(10, 25)}}


def screens(page, width):
    return page["at"][width]["height"] / page["at"][width]["screen"]


@pytest.mark.parametrize("of", ["report", "other report", "comparison"])
def test_pages_keep_to_their_limits(of, surveyed, pages):
    found = surveyed(of)
    folder = pages(of)[0].parent
    parts = {} if of == "comparison" else {page.name: PART for page in page_sets.parts(folder)}
    limits = parts | LIMITS.get(of, {})
    assert len(limits) >= (1 if of == "comparison" else 8)
    beyond = []
    for name, limit in limits.items():
        page = found[name]
        measured = {
            "desk": screens(page, "1400"),
            "phone": screens(page, "390"),
            "sheets": page["printed_pages"],
            "kilobytes": page["bytes"] / 1000,
        }
        beyond += [
            f"{name}: {measured[what]:.1f} {what}, at most {most}"
            for what, most in vars(limit).items()
            if most is not None and measured[what] > most
        ]
    assert not beyond


def test_the_first_screen_of_the_front_page_has_six_numbers_and_two_pictures(surveyed):
    assert surveyed("report")["index.html"]["first_screen"] == {"numbers": 6, "pictures": 2}
