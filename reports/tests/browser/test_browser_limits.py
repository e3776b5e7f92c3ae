# SPDX-License-Identifier: Apache-2.0
"""How much of a reader's time a page takes: screens of a desk and of a phone with folds closed, sheets of paper, weight."""

from dataclasses import dataclass

import page_sets
import pytest
import survey


@dataclass(frozen=True)
class Limit:
    desk: float  # screens of 1400 x 900 pixels
    phone: float  # screens of 390 x 844 pixels
    sheets: int | None = None  # of A4
    kilobytes: int | None = None


PART = Limit(12, 25)
FRONT = {"index.html": Limit(6, 25, 1, 700)}
LIMITS = {"report": FRONT, "other report": FRONT, "comparison": {"index.html": Limit(10, 25)}}


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
            "sheets": page["print"]["sheets"],
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


def test_front_pages_beside_others_are_one_sheet(surveyed):
    """Their headlines name other GPUs of the kind, and what surprised is from them too."""
    found = surveyed("beside others")
    assert {name: page["print"]["sheets"] for name, page in found.items()} == {"h100.html": 1, "h200.html": 1}
    assert all(page["bytes"] < 700_000 and screens(page, "1400") <= 6 for page in found.values())


LEAST_PX = 6.6  # 5 points


@pytest.mark.parametrize("kind", ["upright", "broad"])
def test_letters_of_pictures_can_be_read_in_print(kind, surveyed):
    """Broad maps have a sheet of their own, on its side."""
    found = [size for page in surveyed("report").values() for size in page["print"]["letters"].get(kind, [])]
    assert found and min(found) > LEAST_PX


TARGETS_IN_VIEW = """(() => {
  const box = document.querySelector("#forms").closest(".box").getBoundingClientRect();
  const heads = [...document.querySelectorAll("#forms thead th")].slice(1);
  return [heads.filter((head) => head.getBoundingClientRect().right <= box.right + 1).length, heads.length];
})()"""

BROKEN_PARTS = """[...document.querySelectorAll("#forms .name button")].flatMap((name) => [...name.childNodes])
  .filter((part) => part.nodeType === Node.TEXT_NODE).filter((part) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return new Set([...range.getClientRects()].map((line) => line.top)).size > 1;
  }).map((part) => part.data)"""


@pytest.fixture(scope="module")
def forms(browser, pages):
    """The page of all forms, or nothing where the program is not built."""
    path = next((page for page in pages("documents") if page.name == "isa.html"), None)
    if not path:
        pytest.skip("build/assay is not built")
    with survey.opened(browser, f"{path.as_uri()}?all=shown") as (page, _):
        yield page


@pytest.mark.parametrize("width, least", [(1400, 12), (800, 5), (390, 2)])
def test_forms_can_be_read_without_scrolling(width, least, forms):
    """Verdicts stand beside the names, which are broken between their parts."""
    forms.set_viewport_size({"width": width, "height": survey.WIDTHS[width]})
    seen, every = forms.evaluate(TARGETS_IN_VIEW)
    assert seen >= min(least, every)
    assert not [part for part in forms.evaluate(BROKEN_PARTS) if " " not in part and len(part) < 15]
