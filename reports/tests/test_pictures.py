# SPDX-License-Identifier: Apache-2.0
"""Pictures as files: each as SVG and CSV beside the page, PNG where asked for, all of it standing alone."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree

import committed
import data_runs
import machine_runs
import pytest
import report_runs
from test_page import Document

from assay.report import site
from assay.report.book import model
from assay.report.draw import export
from assay.report.draw.svg import Data, Figure


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("pictures")
    book = model.build([machine_runs.machine(), data_runs.data(), report_runs.measured()])
    site.write(book, out)
    return out


def figures(folder):
    """(page, markup) of every picture on the pages."""
    for path in folder.glob("*.html"):
        for part in re.findall(r"<figure.*?</figure>", path.read_text(), re.DOTALL):
            yield path.name, part


def test_each_picture_leads_to_its_files(folder):
    count = 0
    for page, part in figures(folder):
        links = re.findall(r'href="(pictures/[^"]+)" download', part)
        assert {link.rpartition(".")[2] for link in links} >= {"svg", "csv"}, (page, part[:200])
        assert all((folder / link).stat().st_size for link in links)
        count += 1
    assert count > 30


def test_an_svg_stands_alone(folder):
    for path in (folder / "pictures").glob("*.svg"):
        drawn = path.read_text()
        root = ElementTree.fromstring(drawn)
        assert root.find("{http://www.w3.org/2000/svg}title").text
        assert "var(" not in drawn and "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", drawn), path


def test_a_csv_has_a_head_and_rows_as_long(folder):
    for path in (folder / "pictures").glob("*.csv"):
        head, *rows = csv.reader(path.open())
        assert rows and all(head) and all(len(row) == len(head) for row in rows), path


def test_the_front_page_has_its_pictures_as_png(tmp_path):
    site.write(committed.book("H100"), tmp_path)
    found = {path.stem: path.read_bytes() for path in (tmp_path / "pictures").glob("*.png")}
    assert set(found) == {"sm0", "staircase0", "peak-sustained0", "roofline-sustained0"}
    assert all(content.startswith(b"\x89PNG") for content in found.values())
    html = (tmp_path / "index.html").read_text()
    assert Document(html).problems == [] and 'href="pictures/sm0.png"' in html


def test_all_are_png_if_asked(tmp_path):
    site.write(model.build([report_runs.measured()]), tmp_path, png=True)
    names = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert {f"{name[:-4]}.png" for name in names if name.endswith(".svg")} <= names


def test_no_cell_of_a_csv_is_a_formula():
    said = export.table(Figure("k", "t", "d", "<svg/>", data=Data(["a", "b"], [["=1+1", -1.5], ["-x", None]])))
    assert list(csv.reader(io.StringIO(said))) == [["a", "b"], ["'=1+1", "-1.5"], ["'-x", ""]]
