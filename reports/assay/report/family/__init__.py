# SPDX-License-Identifier: Apache-2.0
"""The families of measurements: a module, or a folder, for each, named as the names of its measurements begin.

A module declares itself as `FAMILY`. It needs to be named nowhere else: one that no part of the
report names (`answer.questions.PARTS`) is a part by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import lru_cache

from ..answer.question import Part
from ..answer.questions import PARTS
from ..block.declaration import Family
from ..book import labels, text

# In this order they stand on the page; families that no part names follow.
ORDER = tuple(key for part in PARTS for key in part.families)


@lru_cache(maxsize=1)
def declared() -> dict[str, Family]:
    """Every family by its key, in the order of the page."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    families = {module.FAMILY.key: module.FAMILY for module in modules}
    order = [key for key in ORDER if key in families]
    return {key: families[key] for key in [*order, *sorted(families.keys() - set(order))]}


def place_of(key: str) -> str:
    """The anchor of a family's section, and the name of its page without ".html".

    Measurements may be of any name; only those of declared families have places that read like it, so that none takes
    the place of another page or section.
    """
    return key if key in declared() else f"family-{text.slug(key)}"


def family_of(key: str) -> Family:
    """The declared one; for measurements of another name one of these words."""
    title = labels.words(key)
    return declared().get(key) or Family(key, title[:1].upper() + title[1:])


def parts(keys: Iterable[str]) -> list[Part]:
    """The parts of the report, with one of its own for each of these families that none names."""
    found = list(PARTS)
    for key in dict.fromkeys(keys):
        if key not in ORDER:
            of_family = family_of(key)
            found.append(Part(place_of(key), of_family.title, of_family.intro, (key,)))
    return found
