# SPDX-License-Identifier: Apache-2.0
"""Without a mouse: the Tab key reaches search, filters, folds and boxes that scroll, and shows where it is."""

import pytest
import survey
from page_sets import SETS


@pytest.fixture(params=SETS)
def walked(request, surveyed):
    return {name: page["keyboard"] for name, page in surveyed(request.param).items() if page["keyboard"]}


def test_tab_shows_where_it_is_and_goes_down_the_page(walked):
    assert walked and not {name for name, page in walked.items() if page["out_of_order"]}
    unseen = [
        (name, one)
        for name, page in walked.items()
        for one in page["stops"]
        if not one["outlined"] or not one["inside"]
    ]
    assert not unseen
    for name, page in walked.items():
        assert len({one["name"] for one in page["stops"]}) > len(page["stops"]) / 2, name


def test_the_first_link_skips_to_the_content(walked):
    for name, page in walked.items():
        assert "Skip" in page["stops"][0]["name"] and page["skips_to_content"], name


def test_folds_open_and_close_by_key(walked):
    folds = [page["fold"] for page in walked.values() if page["fold"]]
    assert all(fold[0] is not fold[1] for fold in folds)


def test_links_into_closed_folds_open_them(surveyed):
    assert any(page["keyboard"]["revealed"] for page in surveyed("report").values())


def test_tab_reaches_search_filters_and_order(browser, pages):
    with survey.opened(
        browser, next(page for page in pages("report") if page.name == "instructions.html").as_uri()
    ) as (page, _):
        wanted = page.locator("#filters input, #filters select, #instructions thead button")
        assert wanted.count() >= 9
        page.locator("#search").focus()
        for k in range(1, wanted.count()):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.box')"):
                page.keyboard.press("Tab")
            assert wanted.nth(k).evaluate("(one) => one === document.activeElement"), wanted.nth(k).inner_text()
        page.keyboard.press("Enter")
        assert page.locator("th[aria-sort=descending]").count() + page.locator("th[aria-sort=ascending]").count() == 1
