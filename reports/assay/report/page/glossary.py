# SPDX-License-Identifier: Apache-2.0
"""The page of terms."""

from __future__ import annotations

from ..block.kinds import Page, Terms
from ..book import glossary

PAGE = "glossary.html"


def page() -> Page:
    terms = sorted(glossary.TERMS.items(), key=lambda term: term[0].lower())
    rows = [(glossary.anchor(term), term, said) for term, said in terms]
    lead = "What the terms of this report mean, in a sentence each."
    return Page(PAGE, "Glossary", "Glossary", lead, [Terms(rows)], short="Glossary")
