# SPDX-License-Identifier: Apache-2.0
"""What axe finds on a page that is serious for readers with poor sight, or who hear it or use no mouse."""

from __future__ import annotations

from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

HERE = Path(__file__).parent
THIN = (HERE / "thin.js").read_text()
SHADES = (HERE / "shades.js").read_text()
GRAVE = ("serious", "critical")

# The rules that axe runs unasked and whose findings are grave; those on colours look at marked elements alone.
RULES = """(grave) => {
  const left = axe._audit.tagExclude;
  const rules = axe._audit.rules.filter((rule) =>
    rule.enabled && grave.includes(rule.impact) && !rule.tags.some((tag) => left.includes(tag)));
  axe.configure({rules: rules.filter((rule) => ["color-contrast", "link-in-text-block"].includes(rule.id)).map((rule) =>
    ({id: rule.id, selector: `:is(${rule.selector || "*"})[data-shade]`}))});
  return rules.map((rule) => rule.id);
}"""
RUN = "async (rules) => (await axe.run({resultTypes: ['violations'], runOnly: rules})).violations"


def _found(page: Page, rules: list[str]) -> list[str]:
    page.evaluate(SHADES)
    return [
        f"{violation['id']}, {violation['help']}: {len(violation['nodes'])}, first {violation['nodes'][0]['html'][:200]}"
        for violation in page.evaluate(RUN, rules)
        if violation["impact"] in GRAVE
    ]


def thin(page: Page) -> None:
    """Leaves two of each kind of element. Folds must be open."""
    page.evaluate(THIN)


def audit(page: Page) -> list[str]:
    """What axe calls serious or critical on a page that was made thin, one line each: in light colours, and of the colours
    of the dark page."""
    page.evaluate(Axe().axe_script)
    rules = page.evaluate(RULES, GRAVE)
    found = _found(page, rules)
    page.emulate_media(color_scheme="dark")
    return found + [f"dark: {said}" for said in _found(page, ["color-contrast"])]
