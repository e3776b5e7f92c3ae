# SPDX-License-Identifier: Apache-2.0
"""Terms: each has a plain sentence, and a page links the first use of each to it."""

import re

import machine_runs
import pytest
import report_runs
from test_page import Document

from assay.report import site
from assay.report.book import glossary, model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("glossary")
    site.write(model.build([report_runs.measured(), machine_runs.machine()]), out)
    return out


def test_every_term_is_a_sentence_of_plain_words():
    for term, said in glossary.TERMS.items():
        assert re.match(r"[A-Z0-9].*\.$", said) and len(said.split()) <= 30, term
        assert term.lower() not in said.lower().split(), term
    assert len({glossary.anchor(term) for term in glossary.TERMS}) == len(glossary.TERMS)
    assert glossary.UNLINKED <= set(glossary.TERMS)


@pytest.mark.parametrize(
    ("said", "terms"),
    [
        ("A warp of the SMs reads L2.", ["warp", "SM", "L2"]),
        ("An fp8 mma.sync, of a CTA", ["fp8", "mma.sync", "CTA"]),
        ("cp.async.bulk, sm_90, warpgroups, L2s, SMART", ["warpgroup", "L2"]),
        ("memory/l2/read and L1.5", []),
        ("a kernel", []),
    ],
)
def test_terms_are_whole_words(said, terms):
    found = list(glossary.found(said))
    assert [term for _, term in found if term] == terms
    assert "".join(piece for piece, _ in found) == said


def test_each_page_links_the_first_use_of_a_term(folder):
    ids = Document((folder / "glossary.html").read_text()).ids
    linked = 0
    for path in folder.glob("*.html"):
        links = [a["href"] for a, _ in Document(path.read_text()).all("a") if a.get("class") == "term"]
        assert len(links) == len(set(links)), path.name
        assert {link.partition("#")[2] for link in links} <= set(ids)
        linked += len(links)
    assert linked > 30 and not re.search('class="term"', (folder / "glossary.html").read_text())


def test_what_a_run_says_stays_text(tmp_path):
    run = report_runs.measured()
    run.measurements[0].reason = "<b>warp</b>"
    run.metrics = {"latency_cycles": "Of a <i>warp</i>."}
    site.write(model.build([run]), tmp_path)
    assert not any("<i>" in path.read_text() or "<b>warp" in path.read_text() for path in tmp_path.glob("*.html"))
