# SPDX-License-Identifier: Apache-2.0
"""Reports of runs that another program, a failure or malice wrote: whole, without collisions, and nothing acts."""

import json
import re

import data_runs
import machine_runs
import pytest
import report_runs
import runs
from runs import measurement
from test_page import Document, whole

from assay.files import Measurement, Metric, Run, Series, document_of
from assay.files.run_file import Axis
from assay.plain_text import UNSEEN
from assay.program import NotWritten
from assay.report import family, site
from assay.report.__main__ import main
from assay.report.book import model, text
from assay.report.page import guard

RESERVED = ["page", "base", "index", "instructions", "isa", "built", "report", "answers", "details", "how", "main", "glossary", "published"]


def many(key, count=61):
    return [measurement(f"{key}/case/{i}", metric="time_us") for i in range(count)]


def test_no_file_of_a_report_holds_what_is_not_seen(tmp_path):
    """What turns a text around, and what hides behind it: not in pages, nor in pictures and tables beside them."""
    document = document_of(report_runs.measured())
    document["environment"]["gpu"]["name"] += "\u202e"
    for m in document["measurements"]:
        m["name"] += "/a\u202e\u2066b"
        for series in m.get("series", []):
            for axis in series["axes"]:
                axis["points"] = [f"{p}\u202e" if isinstance(p, str) else p for p in axis["points"]]
    runs.write(tmp_path / "run.json", document)
    assert main([str(tmp_path), "--out", str(tmp_path / "out"), "--published", "none"]) == 0
    texts = {path: path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file() and path.suffix != ".png"}
    assert {".html", ".svg", ".csv", ".md", ".json"} <= {path.suffix for path in texts}
    unseen = {path.name: found for path, text in texts.items() if (found := UNSEEN.findall(re.sub("[\\n\\t]", "", text)))}
    assert unseen == {} and sum(r"a\u202e\u2066b" in text for path, text in texts.items() if path.suffix == ".svg") > 3


def pages(folder):
    return {path.name: Document(path.read_text()) for path in folder.glob("*.html")}


def written(tmp_path, *measurements, published=()):
    path = runs.write(tmp_path / "run.json", runs.run(*measurements))
    (tmp_path / "published").mkdir(exist_ok=True)
    if published:
        runs.write(tmp_path / "published" / "x.json", runs.run(*published))
    beside = str(tmp_path / "published") if published else "none"
    assert main([str(path), "--out", str(tmp_path / "out"), "--published", beside]) == 0
    return tmp_path / "out"


@pytest.mark.parametrize("count", [1, 61])
def test_a_family_may_be_called_like_a_page_or_section(tmp_path, count):
    out = written(tmp_path, *(m for key in [*RESERVED, "..", ".hidden", "x" * 500, "日本"] for m in many(key, count)))
    found = pages(out)
    assert all(re.fullmatch(r"(index|host|glossary|family-[\w.-]{1,120})\.html", name) for name in found)
    assert len(found) == 3 + 2 * (len(RESERVED) + 4)
    ids = {name: set(document.ids) for name, document in found.items()}
    for name, document in found.items():
        assert document.problems == [] and len(document.ids) == len(set(document.ids))
        for attributes, _ in document.all("a"):
            where, _, place = attributes["href"].partition("#")
            assert where in ("runs.json", *found, "") and (not place or place in ids[where or name]), attributes


def test_no_declared_family_takes_the_place_of_a_page():
    assert not set(family.declared()) & {*RESERVED, "fragments", "runs", "peak", "not-run", "unmeasured", "elsewhere"}


def test_names_that_differ_in_signs_alone_have_places_of_their_own(tmp_path):
    names = ["s/a+b", "s/a*b", "s/a-b", "s/a/b", "s/a..b", "s/a,b", "s/" + "x" * 300 + "1", "s/" + "x" * 300 + "2"]
    out = written(tmp_path, *map(measurement, names))
    document = pages(out)["family-s-cases.html"]
    anchors = {i for i in document.ids if i.startswith("m0-")}
    assert len(anchors) == len(names) == len({text.slug(name) for name in names})
    links = {a["href"].rpartition("#")[2] for a, _ in document.all("a")}
    assert anchors <= links


@pytest.mark.parametrize("url", ["javascript:alert(1)", "JAVASCRIPT:x", "data:text/html,x", "http://x/ on=y", "//x"])
def test_only_addresses_of_the_web_become_links(tmp_path, url):
    theirs = {**measurement("a/b", 90.0), "source": {"title": "A paper", "url": url}}
    other = {**measurement("c/d", 90.0), "source": {"title": "Another", "url": "https://example.org/x"}}
    out = written(tmp_path, measurement("a/b"), measurement("c/d"), published=[theirs, other])
    links = [a["href"] for page in pages(out).values() for a, _ in page.all("a")]
    assert url not in links and "https://example.org/x" in links
    assert f"]({url})" not in (out / "report.md").read_text()
    assert "](https://example.org/x)" in (out / "report.md").read_text()


def test_markup_of_names_and_reasons_is_text(tmp_path):
    evil = "<script>alert(1)</script>|**b**[x](javascript:y)`c`"
    failed = {"name": "a/failed", "kind": "probe", "status": "failed", "reason": evil + "\n# heading\x1b\0"}
    out = written(tmp_path, measurement(f"a/{evil.replace('/', '')}", metric=f"m{evil}", unit=evil), failed)
    said = (out / "report.md").read_text()
    assert r"\<script>alert(1)\</script>\|\*\*b\*\*\[x\](javascript:y)\`c\`" in said
    assert "\n# heading" not in said and "\x1b" not in said and not re.search(r"(?<!\\)<script", said)
    html = whole(out)
    assert "<script>alert" not in html and "\0" not in html and not any(p.problems for p in pages(out).values())


def shaped(name, values, points=None, unit="cycle"):
    points = points or [2.0**i for i in range(len(values))]
    return Series(name, unit, [Axis("footprint_bytes", points)], values)


@pytest.mark.parametrize(
    "values", [[None] * 4, [0.0] * 4, [], [5.0], [-1.0] * 4, [1e300, -1e300, 5e-324, 0.0]], ids=str
)
def test_curves_of_nothing_zeros_and_extremes_are_drawn_or_left_out(tmp_path, values):
    names = ["memory/latency_curve/ca", "memory/bandwidth_curve/read/b128", "memory/tlb", "tma/in_flight/bulk", "x/y"]
    names += ["memory/atomics/global/add_u32", "launch/workers/fma", "memory/loaded_latency/read", "sync/x"]
    run = Run(report_runs.gpu())
    for name in names:
        for points in (None, ["word"] * len(values)):
            series = [shaped(s, values, points) for s in ("latency_cycles", "bandwidth_gb_per_s", "ops_per_clock")]
            m = Measurement(f"{name}{'/words' * bool(points)}", "probe", primary="latency_cycles", series=series)
            m.metrics = {"latency_cycles": Metric("cycle", 3.0, (3.0, 3.0), "lower")}
            run.measurements.append(m)
    site.write(model.build([run]), tmp_path)
    assert guard.LEFT_OUT not in whole(tmp_path)


@pytest.mark.parametrize("value", [0.0, -1.0])
@pytest.mark.parametrize("make", [report_runs.measured, data_runs.data, machine_runs.machine])
def test_figures_that_are_all_zero_or_below_are_drawn_on_fitting_axes_or_not_at_all(tmp_path, recwarn, make, value):
    run = make()
    for m in run.measurements:
        for metric in m.metrics.values():
            metric.value, metric.ci95, metric.limit = value, (value, value), None
            metric.extra["signed"] = True
        for series in m.series:
            series.values, series.ci95 = [value] * len(series.values), None
            series.extra["signed"] = True
    site.write(model.build([run]), tmp_path)
    assert [str(warning.message) for warning in recwarn if issubclass(warning.category, UserWarning)] == []


@pytest.mark.parametrize("value", ["many", None, [1], {"x": 1}, True, 1e300, -1])
def test_parameters_of_another_sort_break_no_page(tmp_path, value):
    run = report_runs.measured()
    for m in run.measurements:
        m.params = {key: value for key in ("n", "bytes", "gpus", "target", "basis", "warps", "k", "type", *m.params)}
    site.write(model.build([run]), tmp_path)
    assert not any(page.problems for page in pages(tmp_path).values())


def test_what_strange_figures_break_is_left_out_in_words(tmp_path, monkeypatch):
    declared = family.declared()["memory"]
    monkeypatch.setitem(declared.__dict__, "blocks", (lambda book: 1 / 0, *declared.blocks))
    run = report_runs.measured()
    site.write(model.build([run]), tmp_path)
    html = whole(tmp_path)
    assert f"{guard.LEFT_OUT} (ZeroDivisionError in test_strange_runs.py" in html and "memory/hbm" in html


def test_a_report_that_fails_leaves_the_last_one_as_it_was(tmp_path, monkeypatch, capsys):
    out = written(tmp_path, *many("a"))
    before = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    monkeypatch.setattr(site, "markdown", lambda *_: 1 / 0)
    path = runs.write(tmp_path / "run.json", runs.run(*many("b")))
    assert main([str(path), "--out", str(out), "--published", "none"]) == 70
    assert {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    monkeypatch.setattr(site, "markdown", lambda *_: "")
    (out / "runs.json").unlink()
    (out / "runs.json").mkdir()
    assert main([str(path), "--out", str(out), "--published", "none"]) == 5
    assert (out / "index.html").read_bytes() == before["index.html"]
    assert "runs.json: cannot be written: it is a folder; choose another --out" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["/proc/none/x", "/dev/null/x", "a\0b"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, out):
    with pytest.raises(NotWritten, match="cannot be written"):
        site.write(model.build([report_runs.offline()]), tmp_path.__class__(out))


def test_figures_of_a_shared_gpu_are_marked(tmp_path):
    shared = measurement("memory/hbm/read", 4000, metric="bandwidth_gb_per_s", unit="GB/s", better="higher")
    out = written(tmp_path, {**shared, "flags": ["shared_gpu"]}, measurement("a/b", conditions={"other_processes": 1}))
    said = " ".join(" ".join(word for page in pages(out).values() for word in page.words).split())
    assert "2 of 2: another process used the GPU; they are marked shared_gpu" in said
    assert said.count("refused: unfit, of a shared GPU") >= 2  # in place of the figures
    assert (out / "report.md").read_text().count("unfit, of a shared GPU") >= 2


def test_what_runs_json_holds_is_json(tmp_path):
    out = written(tmp_path, measurement("a/b", params={"x": "\x00</script>"}))
    assert json.loads((out / "runs.json").read_text())[0]["measurements"][0]["params"] == {"x": "\x00</script>"}


@pytest.mark.parametrize("field", ["title", "url", "gpu", "note"])
def test_a_source_is_of_words(tmp_path, capsys, field):
    theirs = {**measurement("a/b"), "source": {"title": "A paper", field: ["x"]}}
    path = runs.write(tmp_path / "run.json", runs.run(theirs))
    assert main([str(path), "--out", str(tmp_path / "out")]) == 2
    assert f'run.json: measurements[0].source.{field} (a/b): ["x"] is not of type "string"' in capsys.readouterr().err
