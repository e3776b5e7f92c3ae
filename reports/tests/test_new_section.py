# SPDX-License-Identifier: Apache-2.0
"""What it costs to put a new section onto the page: one file, which declares a family, and nothing else."""

import re
from pathlib import Path

import pytest
import report_runs
from test_page import whole

from assay.report import family, site
from assay.report.book import model

SOURCE = """
from assay.report.answer.findings import one_line
from assay.report.block.declaration import Family
from assay.report.block.kinds import Cell, Fold, Part, Table, figures, sentence
from assay.report.draw import curves
from assay.report.draw.curves import Axis, Line


def blocks(book):
    rows = [[Cell(row.name, row.first.anchor), Cell(f"{row.first.value:.0f} Wb")] for row in book.find("quantum/.*")]
    line = Line("wobble", [(i, row.first.value) for i, row in enumerate(book.find("quantum/.*"))])
    picture = curves.draw("wobble", "Wobble over pairs", [line], Axis("pairs"), Axis("Wb"))
    inside = Fold("How it was found", "by looking", [sentence("Twice & more.")])
    return [figures(picture), Part("Wobbles", [Table("Wobble of each pair", ["Pair", "Wobble"], rows), inside])]


def wobbles(book, question):
    raise AssertionError("no question has this number")


FAMILY = Family("quantum", "Quantum effects", "What nobody ordered.", blocks=(blocks,), answers={999: wobbles})
"""


@pytest.fixture
def declare(tmp_path, monkeypatch):
    """Puts a family into a file that nothing names."""
    (tmp_path / "families").mkdir()
    monkeypatch.setattr(family, "__path__", [*family.__path__, str(tmp_path / "families")])

    def written(name, source):
        (tmp_path / "families" / f"{name}.py").write_text(source)
        family.declared.cache_clear()

    yield written
    family.declared.cache_clear()


def test_one_file_puts_a_section_onto_the_page_and_into_the_markdown(declare, tmp_path):
    declare("quantum", SOURCE)
    make = report_runs.Maker(1)
    for pair in ("ab", "cd", "ef"):
        make.add(f"quantum/entangle/{pair}", wobble=7.0)
    site.write(model.build([make.run]), tmp_path / "report")
    html = (tmp_path / "report" / "quantum.html").read_text()
    markdown = (tmp_path / "report" / "report.md").read_text()
    for part in (
        '<a href="quantum.html" aria-current="page">Quantum effects</a>',
        "<h1>Quantum effects</h1>",
        "What nobody ordered.",
        "Wobble over pairs",
        "<caption>Wobble of each pair</caption>",
        '<a href="quantum-cases.html#m0-quantum-entangle-ab">quantum/<wbr>entangle/<wbr>ab</a>',
        "<p>Twice &amp; more.</p>",
    ):
        assert part in html, part
    for part in ("## Quantum effects", "Figure, Wobble over pairs.", "#### Wobbles", "| quantum/entangle/ab | 7 Wb |"):
        assert part in markdown, part


def test_the_example_of_the_documentation_works(declare, tmp_path):
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    declare("own", re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    make = report_runs.Maker(1)
    for name, cycles in (("own/division", 36.0), ("own/fma", 4.0)):
        make.add(name, latency_cycles=cycles)
    site.write(model.build([make.run]), tmp_path / "with")
    html = (tmp_path / "with" / "own.html").read_text()
    assert html.index(">fma</a>") < html.index(">division</a>") and "What no other suite measures." in html
    site.write(model.build([report_runs.measured()]), tmp_path / "without")
    assert "Our own" not in whole(tmp_path / "without")
