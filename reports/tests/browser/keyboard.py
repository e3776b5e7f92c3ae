# SPDX-License-Identifier: Apache-2.0
"""A page without a mouse: where the Tab key leads, and what Enter does there."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

TABS = 12  # from the top of each page: past the head, into the content
FOCUSED = """(() => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  return {
    name: `${one.localName} ${(one.getAttribute("aria-label") || one.textContent).trim().slice(0, 40)}`,
    outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    inside: box.width > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
  };
})()"""
IN_CONTENT = "Boolean(document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest('main'))"
# Sets the focus on what comes before the first fold, in the order of the page, which is that of Tab as long as no
# element asks for a place of its own; whether there is a fold.
BEFORE_FOLD = """(() => {
  const all = document.querySelectorAll("a[href], button, input, select, summary, [tabindex]");
  const stops = [...all].filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({visibilityProperty: true}));
  const at = stops.findIndex((one, k) => k && one.localName === "summary");
  stops[at - 1]?.focus();
  return at > 0;
})()"""
FOLD_IS_OPEN = "document.activeElement.localName === 'summary' && document.activeElement.parentElement.open"
TAB_OUT_OF_ORDER = 'document.querySelectorAll(\'[tabindex]:not([tabindex="0"], [tabindex="-1"])\').length'
# A place in a closed fold that links lead to, as the details of a measurement are.
FOLDED = "document.querySelector('details:not([open]) > [id]')?.id"


def walk(page: Page) -> dict[str, Any]:
    """What the keyboard does on a page that was just opened."""
    found: dict[str, Any] = {"out_of_order": page.evaluate(TAB_OUT_OF_ORDER), "stops": []}
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # behind the last stop of a short page
        found["stops"].append(page.evaluate(FOCUSED))
    page.evaluate("document.querySelector('a').focus()")
    page.keyboard.press("Enter")
    found["skips_to_content"] = page.evaluate(IN_CONTENT)
    found["fold"] = None
    if page.evaluate(BEFORE_FOLD):
        page.keyboard.press("Tab")
        found["fold"] = []
        for _ in range(2):
            page.keyboard.press("Enter")
            found["fold"].append(page.evaluate(FOLD_IS_OPEN))
    found["revealed"] = None
    if place := page.evaluate(FOLDED):
        page.evaluate("(id) => location.hash = encodeURIComponent(id)", place)
        page.wait_for_function("(id) => document.getElementById(id).checkVisibility()", arg=place)
        page.evaluate("(id) => document.getElementById(id).closest('details').removeAttribute('open')", place)
        found["revealed"] = place
    page.evaluate("document.activeElement.blur()")
    return found
