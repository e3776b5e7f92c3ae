# SPDX-License-Identifier: Apache-2.0
"""What is planted on a page is found by the same look that all pages get, each kind of fault where it is and nowhere else."""

import re

import pytest
import survey

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>planted</title>
<style>
body { font: 16px sans-serif; margin: 8px; color: #111; background: #fff; }
a:focus, summary:focus { outline: 2px solid #111; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #111; } a { color: #9cf; } .dark { color: #333; } }
@media print { .close { margin-top: -2.2em; } }
</style>"""
ROW = "<tr><th scope='row'>row</th><td>a value</td><td><a href='#main'>a link</a></td></tr>"
ROWS = 60 * ROW  # what is planted below them must not be taken for one more of their kind
SOUND = "<p>Sound text that fills a line or two of the page, so that there is something to be read on it at all.</p>"


def page(content: str = "", rows: str = "", style: str = "") -> str:
    return (
        f"{HEAD}<style>{style}</style><body><a href='#main'>Skip to content</a><main id='main'><h1>planted</h1>{SOUND}{SOUND}"
        f"<table><thead><tr><th scope='col'>name</th><th scope='col'>value</th><th scope='col'>where</th></tr></thead>"
        f"<tbody>{ROWS}{rows}</tbody></table>{content}<details><summary>more</summary><p id='in'>folded</p></details></main>"
    )


@pytest.fixture
def look(window, tmp_path):
    def seen(html):
        path = tmp_path / "index.html"
        path.write_text(html)
        return survey.look(window(), path)

    return seen


def everywhere(found, key):
    """(where, which text) of what was found at each width."""
    return {(at, re.match('"(.*?)"', said)[1]) for at, seen in found["at"].items() for said in seen[key]}


def test_a_sound_page_has_no_fault(look):
    found = look(page())
    assert found["axe"] == [] and found["console"] == []
    assert not [seen for seen in found["at"].values() if seen["clipped"] or seen["overlapping"] or seen["overflow"] > 0]
    assert found["keyboard"]["fold"] == [True, False] and found["keyboard"]["revealed"] == "in"
    assert found["keyboard"]["skips_to_content"] and found["print"]["sheets"] == 2


# Rule of axe -> what breaks it: below rows that are sound, or beside them.
ROWS_THAT_BREAK = {
    "color-contrast": "<tr><th scope='row'>row</th><td style='color:#bbb'>pale</td><td><a href='#main'>a link</a></td></tr>",
    "dark: color-contrast": "<tr><th scope='row'>row</th><td class='dark'>dark</td><td><a href='#main'>a link</a></td></tr>",
    "button-name": "<tr><th scope='row'>row</th><td><button></button></td><td></td></tr>",
    "label": "<tr><th scope='row'>row</th><td><input></td><td></td></tr>",
    "link-name": "<tr><th scope='row'>row</th><td>a value</td><td><a href='#main'></a></td></tr>",
    "nested-interactive": "<tr><th scope='row'>row</th><td><button>a <a href='#main'>b</a></button></td><td></td></tr>",
    "aria-allowed-attr": "<tr><th scope='row'>row</th><td aria-checked='true'>a value</td><td></td></tr>",
}
CONTENT_THAT_BREAKS = {
    "image-alt": "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='>",
    "svg-img-alt": "<svg role='img' width='9' height='9'></svg>",
    "list": "<ul><p>not an item</p></ul>",
    "link-in-text-block": "<p>Words before <a href='#main' style='color:#122;text-decoration:none'>and a link</a> and after.</p>",
    "select-name": "<select><option>one</option></select>",
    "scrollable-region-focusable": (
        "<div style='overflow:auto;width:80px;height:40px'><a href='#main' tabindex='-1'>by no key</a>"
        "<p style='width:900px;height:400px'>scrolls</p></div>"
    ),
}


def test_axe_finds_each_fault_among_many_that_are_sound(look):
    found = look(page("".join(CONTENT_THAT_BREAKS.values()), "".join(ROWS_THAT_BREAK.values())))
    rules = {said.split(",")[0] for said in found["axe"]}
    assert rules >= {*ROWS_THAT_BREAK, *CONTENT_THAT_BREAKS}
    pale = [said for said in found["axe"] if "color-contrast" in said]
    assert len(pale) == 2 and "pale" in pale[0] and "dark" in pale[1]


def test_clipped_and_overlapping_text_is_found_at_the_width_that_has_it(look):
    found = look(
        page(
            "<div style='overflow:hidden;white-space:nowrap'>cut off where the window is narrower than all these many words</div>"
            "<p>above</p><p class='close'>close in print</p>"
            "<details><summary>also</summary><p>folded line</p><p style='margin-top:-2.2em'>close in a fold</p></details>"
            "<div style='width:700px'><p>wider than a phone</p></div>"
        )
    )
    narrow = {"390", "390, folds open"}
    assert {at for at, said in everywhere(found, "clipped") if said.startswith("cut off")} == narrow
    assert {at for at, said in everywhere(found, "overlapping") if said == "above"} == {"print"}
    assert {at for at, said in everywhere(found, "overlapping") if said == "folded line"} == {
        "390, folds open",
        "1400, folds open",
    }
    assert {at for at, seen in found["at"].items() if seen["overflow"] > 0} == narrow


def test_numbers_that_part_from_their_units_are_found(look):
    column = "<div style='width:10ch;overflow-wrap:anywhere'><p>{}</p></div>"
    said = ("12345674 GB/s", "words 567\u202fGB/s", "4096×14336×4096", "1234567890 words")
    found = look(page("".join(map(column.format, said))))
    assert {what for at, what in everywhere(found, "parted") if at != "print"} == {"4 GB/s", "4096×14336×4096"}


def test_letters_of_pictures_that_are_small_are_found_on_screen_and_in_print(look):
    picture = "<figure id='{0}'><svg role='img' class='{1}' aria-label='{0}' width='100' height='40'>{2}</svg></figure>"
    words = "<text x='9' y='20' font-size='5'>tiny</text>"
    found = look(page(picture.format("plain", "", words) + picture.format("map", "cells broad", words)))
    assert {at for at, _ in everywhere(found, "small")} >= {"1400", "800", "390"}
    assert found["print"]["letters"] == {"upright": [5], "broad": [5]}
    assert found["pictures"] == [["plain", ""], ["map", ""]]


def test_the_console_and_what_is_asked_for_are_heard_and_belong_to_their_page(look):
    found = look(
        page(
            "<script>console.warn('a warning'); setTimeout(() => { throw new Error('an error'); })</script>"
            "<img alt='missing' src='missing.png'><img alt='elsewhere' src='http://127.0.0.1:9/elsewhere.png'>"
        )
    )
    heard = "\n".join(found["console"])
    for said in ("a warning", "an error", "cannot load file", "missing.png", "asks for http://127.0.0.1:9/elsewhere.png"):
        assert said in heard
    assert look(page())["console"] == []


def test_what_a_keyboard_cannot_do_is_found(look):
    found = look(
        page(
            "<details><summary onkeydown='event.preventDefault()'>never opens by key</summary><p>folded</p></details>",
            style="table a:focus { outline: none; }",
        ).replace("<h1>", "<h1 tabindex='3'>")
    )["keyboard"]
    assert found["out_of_order"] == 1 and found["fold"] == [False, False]
    assert any(not one["outlined"] for one in found["stops"])


def test_a_focus_that_stays_where_it_is_is_found(look):
    trap = "<script>addEventListener('keydown', (event) => { if (event.key === 'Tab') event.preventDefault(); })</script>"
    assert len({one["name"] for one in look(page(trap))["keyboard"]["stops"]}) <= 1


def test_what_a_page_takes_to_load_is_its_own(look):
    """In one window, page after page."""
    quick = look(page())["load_cpu_s"]
    slow = look(page("<script>let sum = 0; for (let i = 0; i < 3e8; ++i) sum += i % 3;</script>"))["load_cpu_s"]
    assert slow > 0.1 and slow > 2 * max(quick, look(page())["load_cpu_s"])
