# SPDX-License-Identifier: Apache-2.0
"""Every page of a full report, of a comparison, and what single commands print, as a browser sets them."""

import pytest
from page_sets import SETS

SCREENS = ("1400", "800", "390", "1400, folds open", "390, folds open")
LONGEST_LOAD = 4  # seconds of the browser's CPU time: a page of 4 MB takes one
MOST_SHRINK = 1.25  # what a browser may shrink a printed page by until its text is too small


@pytest.fixture(params=SETS)
def found(request, surveyed):
    return surveyed(request.param)


def everywhere(found, key, at=SCREENS):
    """What was found on every page at every width, one line each."""
    return [
        f"{name} at {width}: {said}"
        for name, page in found.items()
        for width, seen in page["at"].items()
        if width in at
        for said in seen[key]
    ]


def test_text_is_there(found):
    assert found and all(seen["count"] > 10 for page in found.values() for seen in page["at"].values())


def test_the_console_is_silent(found):
    assert not [f"{name}: {said}" for name, page in found.items() for said in page["console"]]


def test_no_text_is_cut_off(found):
    assert not everywhere(found, "clipped")


def test_no_text_is_printed_over_other_text(found):
    assert not everywhere(found, "overlapping", (*SCREENS, "print"))


def test_letters_of_pictures_are_large_enough(found):
    assert not everywhere(found, "small")


def test_numbers_and_their_units_are_on_one_line(found):
    assert not everywhere(found, "parted")


def test_no_page_is_wider_than_the_window(found):
    over = {(name, at): seen["overflow"] for name, page in found.items() for at, seen in page["at"].items()}
    assert not {(name, at): pixels for (name, at), pixels in over.items() if pixels > 0 and at in SCREENS}


def test_print_is_not_shrunk_until_it_cannot_be_read(found):
    papers = {name: page["at"]["print"] for name, page in found.items() if "print" in page["at"]}
    shrunk = {name: 1 + seen["overflow"] / seen["width"] for name, seen in papers.items()}
    assert not {name: f"{shrink:.2f}" for name, shrink in shrunk.items() if shrink > MOST_SHRINK}


def test_axe_finds_nothing_serious(found):
    assert not [f"{name}: {said}" for name, page in found.items() for said in page["axe"]]


def test_pages_load_soon(found):
    assert not {name: page["load_cpu_s"] for name, page in found.items() if page["load_cpu_s"] > LONGEST_LOAD}
