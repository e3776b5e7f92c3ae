# SPDX-License-Identifier: Apache-2.0
"""A page without a mouse: where the Tab key leads, and what Enter does there.

The page itself writes down where each key leads: to ask it costs as much as a key.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

TABS = 12  # from the top of each page: past the head, into the content
WATCH = """(() => {
  window.reached = [];
  const focused = () => {
    const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
    return {
      name: `${one.localName} ${(one.getAttribute("aria-label") || one.textContent).trim().slice(0, 40)}`,
      outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
      inside: box.width > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
    };
  };
  addEventListener("keyup", ({key}) => {
    if (key === "Tab") reached.push(document.activeElement === document.body ? null : focused());
  });
})()"""
REACHED = """(() => {
  document.querySelector("a").focus();
  return {
    out_of_order: document.querySelectorAll('[tabindex]:not([tabindex="0"], [tabindex="-1"])').length,
    stops: reached,
  };
})()"""
# Sets the focus on what comes before the first fold, in the order of the page, which is that of Tab as long as no
# element asks for a place of its own; whether there is a fold. And whether the first link led into the content.
BEFORE_FOLD = """(() => {
  const led = Boolean(document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("main"));
  const all = document.querySelectorAll("a[href], button, input, select, summary, [tabindex]");
  const stops = [...all].filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({visibilityProperty: true}));
  const at = stops.findIndex((one, k) => k && one.localName === "summary");
  stops[at - 1]?.focus();
  return [led, at > 0];
})()"""
FOLD_IS_OPEN = "document.activeElement.localName === 'summary' && document.activeElement.parentElement.open"
# Follows a link to a place in a closed fold, as the details of a measurement are; the place, if there is one.
REVEALED = """(async () => {
  const place = document.querySelector("details:not([open]) > [id]");
  if (place) {
    location.hash = encodeURIComponent(place.id);
    for (const begun = Date.now(); !place.checkVisibility(); await new Promise((later) => setTimeout(later, 5)))
      if (Date.now() > begun + 60_000) throw new Error(`the fold of ${place.id} stays closed`);
    place.closest("details").open = false;
  }
  document.activeElement.blur();
  return place?.id ?? null;
})()"""


def walk(page: Page) -> dict[str, Any]:
    """What the keyboard does on a page that was just opened."""
    page.evaluate(WATCH)
    for _ in range(TABS):
        page.keyboard.press("Tab")
    found: dict[str, Any] = page.evaluate(REACHED)
    if None in found["stops"]:  # behind the last stop of a short page
        found["stops"] = found["stops"][: found["stops"].index(None)]
    page.keyboard.press("Enter")
    found["skips_to_content"], folds = page.evaluate(BEFORE_FOLD)
    found["fold"] = None
    if folds:
        page.keyboard.press("Tab")
        found["fold"] = []
        for _ in range(2):
            page.keyboard.press("Enter")
            found["fold"].append(page.evaluate(FOLD_IS_OPEN))
    found["revealed"] = page.evaluate(REVEALED)
    return found
