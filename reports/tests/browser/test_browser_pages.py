# SPDX-License-Identifier: Apache-2.0
"""Every page of a full report, of a comparison, and what single commands print, as a browser sets them."""

import itertools
import re
from pathlib import Path

import pytest
from assay.report import site

from page_sets import SETS

SCREENS = ("1400", "800", "390")
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


def test_colours_of_series_can_be_read_as_text():
    """In pictures they label lines. WCAG 2.2 asks for a contrast of 4.5 with what is behind; axe reads no pictures."""
    style = (Path(site.__file__).parent / "templates/style.css.j2").read_text()
    roots = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    schemes = [dict(re.findall(r"--(\w+): (#\w{3,6});", root)) for root in roots]
    assert len(schemes) == 3  # light, dark, print
    for scheme in (schemes[0] | own for own in schemes):
        series = [name for name in scheme if name.startswith("series")]
        for name in [*series, "ink", "muted", "accent", "good", "bad", "published"]:
            for behind in ("paper", "raised"):
                assert contrast(scheme[name], scheme[behind]) >= 4.5, (name, scheme[name], behind)


def contrast(one, other):
    """As WCAG defines it, of two colours, #rgb or #rrggbb."""
    pale, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (pale + 0.05) / (dark + 0.05)


def luminance(color):
    digits = color[1:] if len(color) == 7 else "".join(itertools.chain.from_iterable(zip(color[1:], color[1:])))
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
