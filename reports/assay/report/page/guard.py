# SPDX-License-Identifier: Apache-2.0
"""A part of a page that cannot be made of strange figures is left out, in words, and takes nothing else with it.

Files are checked when they are read, but no schema says what a family makes of its parameters and values: another
program may name its measurements like one of ours. Every figure is in the table of cases all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from typing import Any

from ..block.kinds import Paragraph, sentence

LEFT_OUT = "could not be made of these figures"
STRANGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def said_of(what: str, error: Exception) -> Paragraph:
    """What stands in the place of a part that could not be made."""
    last = extract_tb(error.__traceback__)[-1]
    why = f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
    return sentence(f"{what} {LEFT_OUT} ({why}); they are in the table of cases.", "bad")


def made(what: str, make: Callable[[], Any], otherwise: Callable[[Paragraph], Any]) -> Any:
    """What `make` makes; where the figures are too strange for it, `otherwise` of a sentence that says so."""
    try:
        return make()
    except STRANGE as error:
        return otherwise(said_of(what, error))
