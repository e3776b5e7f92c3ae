# SPDX-License-Identifier: Apache-2.0
"""The command that measures a case again: of what was measured beside torch it is not the suite's."""

import pytest
from committed import RESULTS
from report_runs import Maker

from assay.files import Baseline, Estimate, Measurement, Run, load
from assay.report.book import model
from assay.report.collection import measurements
from assay.report.compare.subjects import subjects
from assay.report.page import repeating
from assay.report.page.details import detail

PRODUCT = {"type": "bf16", "type_b": "bf16", "type_d": "bf16", "layout": "nt", "epilogue": "none", "scaling": "none", "torch": "2"}
OF_8_BITS = {**PRODUCT, "type": "e4m3", "type_b": "e4m3", "scaling": "tensor"}


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("gemm/bf16/m8n8k8/nt", PRODUCT, "m8n8k8"),
        ("gemm/bf16/m8n8k8/nt/sustained", PRODUCT, "m8n8k8 --sustained"),
        ("gemm/bf16/m8n8k8/nt", {"type": "bf16", "torch": "2"}, "m8n8k8"),  # as the first files had it
        ("gemm/f16/m8n8k8/nt", {**PRODUCT, "type": "f16", "type_b": "f16", "type_d": "f16"}, "--type f16 m8n8k8"),
        (
            "gemm/bf16/m8n8k8/tn/f32_bias_gelu",
            {**PRODUCT, "layout": "tn", "type_d": "f32", "epilogue": "bias_gelu"},
            "--layout tn --epilogue bias_gelu --type-d f32 m8n8k8",
        ),
        ("gemm/e4m3/m8n8k8/nt", OF_8_BITS, "--type e4m3 m8n8k8"),
        ("gemm/e4m3_e5m2/m8n8k8/nt", {**OF_8_BITS, "type_b": "e5m2"}, "--type e4m3 --type-b e5m2 m8n8k8"),
        ("gemm/e4m3/m8n8k8/nt/row", {**OF_8_BITS, "scaling": "row"}, "--type e4m3 --scaling row m8n8k8"),
        (
            "gemm_block_scaled/e4m3_block128/m8n8k8/nt",
            {**OF_8_BITS, "scaling": "block"},
            "--type e4m3 --scaling block m8n8k8",
        ),
        ("gemv/s4/m1n8k8", {"type": "s4", "torch": "2"}, "--weights s4 m1n8k8"),
        (
            "grouped/bf16/g8m8n8k8/contiguous_uneven/sustained",
            {"type": "bf16", "groups": 8, "torch": "2"},
            "g8m8n8k8 --sustained",
        ),
    ],
)
def test_what_was_measured_beside_torch_is_repeated_beside_torch(name, params, words):
    assert repeating.command(Measurement(f"kernels/{name}", "kernel", params=params)) == f"assay torch {words}"


def test_a_compiled_rival_is_asked_for():
    rival = Baseline("torch_compile", Estimate(1.0, None))
    m = Measurement("kernels/gemm/bf16/m8n8k8/nt", "kernel", params=PRODUCT, baselines=[rival])
    assert repeating.command(m) == "assay torch --compile m8n8k8"


def test_all_others_are_repeated_as_their_file_says_or_by_their_name():
    m = Measurement("kernels/gemm/bf16/m8n8k8/nt", "kernel")
    assert repeating.command(m) == "assay run '^kernels/gemm/bf16/m8n8k8/nt$'"
    m.command = "another --program"
    assert repeating.command(m) == "another --program"


def test_pages_have_the_command_of_the_runs_that_they_show():
    """The details that of one run, the page of a measurement those of all runs that it shows."""
    beside_torch = load(RESULTS / "h200" / "2026-11-21-torch")
    name = beside_torch.measurements[0].name
    words = f"assay torch {name.split('/')[3]}"
    book = model.build([beside_torch])
    assert detail(book, book.columns[0], book.measurement(book.columns[0], name))["command"] == words
    make = Maker(1)
    make.add(name, kind="kernel", tflops=700.0)

    def said(*runs: Run) -> str:
        found = subjects([[run] for run in runs])
        page = measurements.page(measurements.cases(found, [])[name], found, {}, {})
        return "".join(span.said for span in page.sections[0].blocks[-1].spans)

    assert said(beside_torch) == f"To repeat it: {words}."
    assert said(beside_torch, make.run) == f"To repeat it: assay run '^{name}$' or {words}."
