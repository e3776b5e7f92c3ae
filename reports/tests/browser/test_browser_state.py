# SPDX-License-Identifier: Apache-2.0
"""Search, filters and order of a table stand in the address: a link shows the same view, and "back" leads to the last."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import survey


def table_of_instructions(pages):
    return next(page for page in pages("report") if page.name == "instructions.html")


@pytest.fixture
def instructions(browser, pages):
    with survey.opened(browser, table_of_instructions(pages).as_uri()) as (page, said):
        yield page
        assert not said


@pytest.fixture
def forms(browser, pages):
    found = [page for page in pages("documents") if page.name == "isa.html"]
    if not found:
        pytest.skip("build/assay is not built")
    with survey.opened(browser, found[0].as_uri()) as (page, said):
        yield page
        assert not said


def asked(page):
    return {name: value for name, [value] in parse_qs(urlsplit(page.url).query).items()}


def names(page):
    """Of the rows that are shown, in their order."""
    return page.locator("#instructions > tbody > tr:not([hidden]):not(.map) > th").all_inner_texts()


def choose(page, words="mufu"):
    """Three steps, one after another, each with the rows that it leaves."""
    seen = [names(page)]
    page.locator("#search").press_sequentially(words)
    seen.append(names(page))
    page.get_by_role("button", name="Latency, cycles").click()
    seen.append(names(page))
    page.get_by_role("button", name="Latency, cycles").click()
    seen.append(names(page))
    return seen


def test_the_address_says_what_is_shown_and_shows_it_again(instructions, browser):
    seen = choose(instructions)
    assert asked(instructions) == {"search": "mufu", "sort": "-latency-cycles"}
    assert 0 < len(seen[1]) < len(seen[0]) and sorted(seen[3]) == sorted(seen[1]) != seen[3]
    with survey.opened(browser, instructions.url) as (again, said):
        assert names(again) == seen[3] and not said
        assert again.locator("#search").input_value() == "mufu"
        assert again.locator("th[aria-sort=descending]").inner_text().startswith("Latency")
    instructions.reload()
    assert names(instructions) == seen[3]


def test_back_and_forward_lead_through_the_views(instructions):
    seen = choose(instructions)
    for view in reversed(seen[:3]):
        instructions.go_back()
        assert names(instructions) == view
    assert asked(instructions) == {} and instructions.locator("#search").input_value() == ""
    for view in seen[1:]:
        instructions.go_forward()
        assert names(instructions) == view


def test_a_filter_stands_in_the_address_and_is_left_out_when_it_asks_for_all(instructions):
    every = names(instructions)
    family = instructions.locator("#family")
    family.select_option(index=1)
    chosen = family.input_value()
    assert asked(instructions) == {"family": chosen} and len(names(instructions)) < len(every)
    family.select_option(index=0)
    assert asked(instructions) == {} and names(instructions) == every


def test_an_address_with_what_the_page_does_not_have_shows_all(instructions, browser):
    every = names(instructions)
    with survey.opened(browser, f"{instructions.url}?family=nothing&sort=-nothing&other=1") as (page, said):
        assert names(page) == every and not said


def test_a_place_on_the_page_stays_in_the_address(instructions):
    instructions.goto(f"{instructions.url}#main")
    instructions.locator("#state").select_option("measured")
    assert urlsplit(instructions.url).fragment == "main" and asked(instructions) == {"state": "measured"}


def test_a_step_to_a_place_on_the_page_leaves_the_view_as_it_is(instructions):
    instructions.locator("#search").fill("mufu")
    instructions.locator("button.sweep:visible").first.click()
    seen = names(instructions)
    instructions.locator("a[href='#main']").first.dispatch_event("click")
    instructions.wait_for_url("**#main")
    assert names(instructions) == seen and instructions.locator("tr.map").count() == 1
    instructions.go_back()
    assert asked(instructions) == {"search": "mufu"} and instructions.locator("tr.map").count() == 1
    instructions.go_back()
    assert asked(instructions) == {} and len(names(instructions)) > len(seen)


def test_forms_are_filtered_by_target_in_the_address(forms, browser):
    shown = forms.locator("#count").inner_text()
    forms.locator("#search").fill("^add")
    pick = forms.get_by_label("filter 100a", exact=True)
    pick.select_option("split")
    few = forms.locator("#count").inner_text()
    assert asked(forms) == {"search": "^add", "100a": "split"} and few != shown
    with survey.opened(browser, forms.url) as (again, said):
        assert again.locator("#count").inner_text() == few and not said
    forms.go_back()
    forms.go_back()
    assert forms.locator("#count").inner_text() == shown


def test_the_first_forms_are_drawn_and_the_others_on_demand(forms):
    """A browser takes seconds for thousands of rows; a search is among all of them."""
    drawn = forms.locator("#forms th.name")
    every = int(forms.locator("#count").inner_text().split()[0])
    last = drawn.last.inner_text()
    assert drawn.count() == 500 < every
    forms.get_by_role("button", name=f"show the other {every - 500} forms").click()
    assert drawn.count() == every and asked(forms) == {"all": "shown"}
    name = drawn.last.inner_text()
    forms.go_back()
    assert drawn.count() == 500 and drawn.last.inner_text() == last != name
    forms.locator("#search").fill("/" + re.escape(name) + "$")
    assert name in drawn.all_inner_texts()
