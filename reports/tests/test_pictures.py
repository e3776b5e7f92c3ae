# SPDX-License-Identifier: Apache-2.0
"""Pictures as files: each as SVG and CSV beside the page, PNG where asked for, all of it standing alone."""

import csv
import io
import itertools
import re
import xml.etree.ElementTree as ElementTree

import data_runs
import label_boxes
import machine_runs
import pytest
import report_runs
from test_page import Document

from assay.report import site
from assay.report.book import model
from assay.report.draw import curves, export, placing
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


def test_no_title_leaves_its_file(folder, of_a_gpu):
    """A narrow picture's long title goes on in further lines, above the drawing."""
    broken = 0
    for path in (*(folder / "pictures").glob("*.svg"), *(of_a_gpu / "pictures").glob("*.svg")):
        root = ElementTree.fromstring(path.read_text())
        wide = float(root.get("width"))
        title = [(float(one.get("y")), one.text) for one in root if one.get("font-weight") == "bold"]
        drawing = next(one for one in root if one.tag.endswith("}svg"))
        assert " ".join(line for _, line in title) == " ".join(root.find("{http://www.w3.org/2000/svg}title").text.split())
        assert all(export.ROOM + export.BOLD * placing.width(line, export.SIZE) < wide for _, line in title), path.name
        assert max(y for y, _ in title) < float(drawing.get("y"))
        broken += len(title) > 1
    assert broken


def test_a_csv_has_a_head_and_rows_as_long(folder):
    for path in (folder / "pictures").glob("*.csv"):
        head, *rows = csv.reader(path.open())
        assert rows and all(head) and all(len(row) == len(head) for row in rows), path


@pytest.fixture(scope="module", params=["H200", "H100"])
def of_a_gpu(request, report_of):
    """The report of a whole run of a GPU."""
    return report_of(request.param)


def test_no_label_lies_on_another_or_leaves_its_picture(of_a_gpu):
    count = 0
    for path in of_a_gpu.glob("*.html"):
        for drawn in re.findall(r'<svg [^>]*role="img".*?</svg>', path.read_text(), re.DOTALL):
            title = re.search(r"<title[^>]*>(.*?)</title>", drawn)[1]
            assert label_boxes.overlaps(drawn) == [], (path.name, title)
            assert label_boxes.outside(drawn) == [], (path.name, title)
            assert not re.search(r"<g[^>]* clip-path=[^>]*>\s*<text", drawn), (path.name, title)
            count += len(label_boxes.labels(drawn)[1])
    assert count > 1000


def test_thousands_stand_apart_in_pictures_as_on_pages(of_a_gpu):
    numbers = []
    for path in (of_a_gpu / "pictures").glob("*.svg"):
        said = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())
        assert not [words for words in said if re.fullmatch(r"\d{4,}", words)], path.name
        numbers += [words for words in said if re.fullmatch(r"\d{1,3}(\u202f\d{3})+", words)]
    assert len(numbers) > 20


def test_labels_that_lie_on_each_other_are_found():
    words = '<text x="{}" y="50" style="font-size: 9px">bandwidth</text>'
    drawn = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100">{}{}</svg>'
    assert label_boxes.overlaps(drawn.format(words.format(10), words.format(40))) == [("bandwidth", "bandwidth")]
    assert label_boxes.overlaps(drawn.format(words.format(10), words.format(70))) == []
    assert label_boxes.outside(drawn.format(words.format(10), words.format(170))) == ["bandwidth"]


def test_the_front_page_has_its_pictures_as_png(of_a_gpu):
    found = {path.stem: path.read_bytes() for path in (of_a_gpu / "pictures").glob("*.png")}
    assert set(found) == {"sm0", "staircase0", "peak-sustained0", "roofline-sustained0", "under-roof-sustained0"}
    assert all(content.startswith(b"\x89PNG") for content in found.values())
    html = (of_a_gpu / "index.html").read_text()
    assert Document(html).problems == [] and 'href="pictures/sm0.png"' in html


def test_all_are_png_if_asked(tmp_path):
    site.write(model.build([report_runs.measured()]), tmp_path, png=True)
    names = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert {f"{name[:-4]}.png" for name in names if name.endswith(".svg")} <= names


def test_more_lines_than_colours_are_several_panels():
    lines = [curves.Line(f"line {i}", [(1, i), (2, 2 * i + 1)]) for i in range(8)]
    drawn = curves.draw("k", "t", lines, curves.Axis("x"), curves.Axis("y"))
    assert drawn.svg.count(">y<") == 2 and all(f">line {i}<" in drawn.svg for i in range(8))
    assert len(drawn.data.rows) == 16 and label_boxes.overlaps(drawn.svg) == []


def test_panels_are_by_what_names_begin_or_end_with():
    names = [f"{way}, {n} CTAs" for n in (1, 2, 4, 8) for way in ("relaxed", "ordered")]
    for of in (names, [", ".join(reversed(name.split(", "))) for name in names]):
        lines = [curves.Line(name, [(1, 2 + i), (2, 3 + 2 * i)]) for i, name in enumerate(of)]
        drawn = curves.draw("k", "t", lines, curves.Axis("x"), curves.Axis("y"))
        found = [label.words for label in label_boxes.labels(drawn.svg)[1] if re.match(r"relaxed|ordered|\d CTAs", label.words)]
        assert sorted(found[:5]) == ["1 CTAs", "2 CTAs", "4 CTAs", "8 CTAs", "relaxed"]
        assert sorted(found[5:]) == ["1 CTAs", "2 CTAs", "4 CTAs", "8 CTAs", "ordered"]


def test_what_names_share_is_said_once():
    assert curves.together(["a"]) == "a" and curves.together(["a", "b"]) == "a, b"
    assert curves.together(["relaxed, 8 CTAs", "relaxed, 16 CTAs"]) == "relaxed, 8 CTAs, 16 CTAs"
    assert curves.together(["a, b", "c"]) == "a, b; c"
    lines = [curves.Line(f"lanes of a mask, {n} lanes", [(1, 2), (2, 3)]) for n in (1, 2)]
    lines.append(curves.Line("whole", [(1, 5), (2, 9)]))
    drawn = curves.draw("k", "t", lines, curves.Axis("x"), curves.Axis("y"))
    assert "lanes of a mask, 1 lanes, 2 lanes: from" in drawn.description


def test_a_name_stands_clear_of_lines_and_names():
    room = placing.Room((0, 0, 200, 100))
    room.line([(0, 50), (200, 50)])
    places = [room.place(x, 50, "a name", 8) for x in (30, 60, 120, 170)]
    assert all(places) and len(room.boxes) == 4
    assert not any(placing.overlap(a, b) for a, b in itertools.combinations(room.boxes, 2))
    assert not any(placing.crosses((0, 50, 200, 50), box) for box in room.boxes)
    assert placing.Room((0, 0, 30, 30)).place(15, 15, "much too long for so small a room", 8) is None


def test_no_cell_of_a_csv_is_a_formula():
    said = export.table(Figure("k", "t", "d", "<svg/>", data=Data(["a", "b"], [["=1+1", -1.5], ["-x", None]])))
    assert list(csv.reader(io.StringIO(said))) == [["a", "b"], ["'=1+1", "-1.5"], ["'-x", ""]]
