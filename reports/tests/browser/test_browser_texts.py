# SPDX-License-Identifier: Apache-2.0
"""The search for clipped and overlapping text finds what was planted, and nothing where nothing is wrong."""

import pytest
import survey

SOUND = {
    "lines set close": '<p style="width:9em;line-height:1.1">many words that fill several lines of a narrow column</p>',
    "a table that scrolls": (
        '<div style="overflow-x:auto;width:200px"><table><tr><td style="white-space:nowrap">far longer than its box is '
        "wide</table></div>"
    ),
    "beside a box that scrolls": (
        '<div style="display:flex"><div style="overflow-x:auto;width:90px;white-space:nowrap">longer than its box</div>'
        "<div>beside it</div></div>"
    ),
    "a closed fold": '<details><summary>more</summary><p style="margin-top:-1.2em">hidden</p></details><p>after</p>',
    "columns turned, side by side": (
        '<svg width="300" height="200"><text transform="translate(60,150) rotate(-45)">latency</text>'
        '<text transform="translate(85,150) rotate(-45)">latency of L2</text></svg>'
    ),
    "within a path": (
        '<svg width="200" height="40"><clipPath id="cut"><rect width="150" height="40"/></clipPath>'
        '<g clip-path="url(#cut)"><text x="9" y="20">label</text></g></svg>'
    ),
    "text and its halo": '<svg width="300" height="40"><text x="9" y="20">twice</text><text x="9" y="20">twice</text></svg>',
}
CLIPPED = {
    "by a box that hides": '<div style="overflow:hidden;width:60px;white-space:nowrap">far too long for it</div>',
    "by its picture": '<svg width="100" height="40"><text x="60" y="20">a long label</text></svg>',
    "by a path": (
        '<svg width="200" height="40"><clipPath id="cut"><rect x="50" width="150" height="40"/></clipPath>'
        '<g clip-path="url(#cut)"><text x="9" y="20">label</text></g></svg>'
    ),
    "by the page": '<p style="margin-left:-4em">begins before the page</p>',
    "beyond the window": '<p style="white-space:nowrap;width:9em">' + "word " * 80 + "</p>",
    "turned, by its picture": '<svg width="90" height="90"><text transform="translate(20,80) rotate(-60)">a long label up</text></svg>',
}
OVERLAPPING = {
    "lines": '<p>above</p><p style="margin-top:-2.2em">below</p>',
    "labels": '<svg width="300" height="40"><text x="9" y="20">one label</text><text x="50" y="24">another</text></svg>',
    "cells": '<div style="display:flex;width:80px"><span style="flex:0 0 30px;min-width:0;white-space:nowrap">too long</span><span>next</span></div>',
    "turned labels": (
        '<svg width="300" height="200"><text transform="translate(60,150) rotate(-45)">latency</text>'
        '<text transform="translate(66,150) rotate(-45)">latency of L2</text></svg>'
    ),
}
CASES = [
    *((html, 0, 0) for html in SOUND.values()),
    *((html, 1, 0) for html in CLIPPED.values()),
    *((html, 0, 1) for html in OVERLAPPING.values()),
]


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context(viewport={"width": 800, "height": 600})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(("html", "clipped", "overlapping"), CASES, ids=[*SOUND, *CLIPPED, *OVERLAPPING])
def test_finds_what_is_wrong_and_no_more(page, html, clipped, overlapping):
    page.set_content(f'<!doctype html><html lang="en"><body style="font:16px sans-serif">{html}</body></html>')
    found = survey.texts(page)
    assert [bool(found["clipped"]), bool(found["overlapping"])] == [bool(clipped), bool(overlapping)], found
    assert bool(found["overflow"] > 0) == ("word word" in html)


def test_axe_is_there_and_sees_pale_text(page):
    page.set_content(
        '<!doctype html><html lang="en"><title>t</title><main><h1>h</h1><p style="color:#bbb">pale</p></main>'
    )
    survey.thin(page)
    assert [said.split(",")[0] for said in survey.audit(page)] == ["color-contrast", "dark: color-contrast"]
