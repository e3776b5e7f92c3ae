# SPDX-License-Identifier: Apache-2.0
"""What `assay isa --html` and `assay sass --svg` hand over becomes a page and a picture, or one line that says why not."""

import json
import re
from xml.etree import ElementTree

import machine_runs
import pytest
from test_page import Document

from assay.files import isa_file
from assay.report import documents
from assay.report.page import isa

SVG = "{http://www.w3.org/2000/svg}"


def written(tmp_path, document):
    path = tmp_path / "document.json"
    path.write_text(json.dumps(document))
    return path


def step(text, address, issue, waited=0, producer=None, pipe=(0, 0)):
    return {
        **{"address": address, "text": text, "issue": issue, "waited": waited, "why": "r1 <scoreboard>"},
        **{"producer": producer, "pipe_begin": pipe[0], "pipe_end": pipe[1], "done": pipe[1]},
    }


def document(steps):
    opcodes = [
        {"opcode": "HGMMA.64x256", "count": 1, "pipe": "tensor", "cycles": 128},
        {"opcode": "FADD", "count": 1, "pipe": "fma", "cycles": 2},
    ]
    part = {
        "warps_of_cta": "4-11",
        "opcodes": opcodes,
        "pipes": [{"pipe": "tensor"}, {"pipe": "issue"}, {"pipe": "fma"}],
        "single_warp": {"cycles": 200.0, "steps": steps},
    }
    hot = {"range": "0670..0990", "warps": 8, "parts": [part], "predicted": {"cycles": 256.0, "bound_by": "tensor"}}
    kernel = {"name": "void gemm<128, 256>(int)", "target": "sm_90a", "hot": [hot]}
    return {"schema": "assay.sass/1", "kernels": [{**kernel, "hot": []}, kernel]}


STEPS = [
    step("@!UP0 HGMMA.64x256 R24, gdesc[UR4], R24", 0x670, 10, pipe=(120, 248)),
    step("FADD R1, R2, R3", 0x680, 190, waited=60, producer={"step": 0, "iterations_ago": 1}, pipe=(190, 192)),
    step("BRA 0x670", 0x690, 192),
]


def test_an_iteration_is_drawn_along_time(tmp_path, capsys):
    assert documents.sass_timeline([str(written(tmp_path, document(STEPS)))]) == 0
    svg = capsys.readouterr().out
    root = ElementTree.fromstring(svg)
    assert root.find(f"{SVG}title").text == "void gemm<128, 256>(int)" and "prefers-color-scheme: dark" in svg
    said = [text.text for text in root.iter(f"{SVG}text")]
    assert said[1] == "loop 0670..0990 for sm_90a; 8 warps an SM: 256 cycles an iteration predicted, bound by tensor"
    assert "warps 4-11: 200 cycles an iteration, alone" in said and {"issue", "tensor", "fma"} <= set(said)
    boxes = [(r.get("class"), r.find(f"{SVG}title")) for r in root.iter(f"{SVG}rect")]
    titles = [(kind, title.text) for kind, title in boxes if title is not None]
    # The MMA is in the issue lane, in its own, and round at the beginning, where it still runs.
    mma = [kind for kind, title in titles if "HGMMA" in title]
    assert mma == ["c0", "c0", "c0 before"]
    assert ("wait", "60 cycles for r1 <scoreboard>") in titles and ("c7", "BRA 0x670 (at 0690, cycle 192)") in titles
    (arrow,) = (p for p in root.iter(f"{SVG}path") if p.get("class") == "arrow")
    begin = float(re.match(r"M([\d.]+)", arrow.get("d"))[1])
    assert begin == pytest.approx(90 + 48 / 200 * 1080, abs=0.1)  # where it ends, an iteration later


@pytest.mark.parametrize(
    "content, expected",
    [
        ({"schema": "assay.sass/1", "kernels": []}, "no loop to draw"),
        ({"schema": "assay.sass/1"}, '"kernels" is a required property'),
        ({"schema": "assay.isa/1"}, "schema: 'assay.isa/1' is not 'assay.sass/1'"),
        (document([{"text": "FADD"}]), 'steps[0]: "address" is a required property'),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(tmp_path, capsys, content, expected):
    assert documents.sass_timeline([str(written(tmp_path, content))]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1 and error.startswith("assay-sass-timeline: ") and expected in error


def test_the_page_of_instructions_stands_for_itself(tmp_path, capsys):
    assert documents.isa_page([str(written(tmp_path, machine_runs.ISA))]) == 0
    html = capsys.readouterr().out
    page = Document(html)
    assert page.problems == [] and "<title>Instructions by target</title>" in html and "index.html" not in html
    assert "2 forms, asked of the assembler itself (ptxas 13.0)" in " ".join(page.words)
    assert documents.isa_page([str(written(tmp_path, {"schema": "assay.run/1"}))]) == 2
    assert "schema: 'assay.run/1' is not 'assay.isa/1'" in capsys.readouterr().err


def test_a_form_says_what_it_becomes(tmp_path):
    verdicts = {
        "sm_80": {"status": "native", "count": 1, "opcodes": {"FADD": 1}},
        "sm_90a": {"status": "split", "count": 2, "opcodes": {"FADD": 2}, "advice": "deprecated </script>"},
        "sm_100a": {"status": "emulated", "count": 3, "opcodes": {"SHF": 1, "LOP3": 2}, "calls": ["__divsf3"]},
        "sm_120a": {"status": "rejected", "count": 0, "opcodes": {}, "words": "not supported"},
    }
    form = {"name": "g/x", "group": "g", "ptx": "x;", "timed": "sass/x", "targets": verdicts}
    document = {"schema": "assay.isa/1", "assembler": "ptxas 13.0", "targets": list(verdicts), "forms": [form]}
    text = isa.data(isa_file.load(written(tmp_path, document)))
    assert "</script>" not in text
    found = json.loads(text)
    assert [(v["cell"], v["text"]) for v in found["verdicts"]] == [
        ("N", "1 FADD"),
        ("x2!", "2 FADD; deprecated </script>"),
        ("E", "2 LOP3, 1 SHF, call of __divsf3"),
        (".", "not supported"),
    ]
    assert found["forms"] == [{"group": "g", "name": "x", "ptx": "x;", "on": [0, 1, 2, 3], "timed": "sass/x"}]
