# SPDX-License-Identifier: Apache-2.0
"""How an FP8 mma.sync adds is said in words, with the cases that say so and who published it."""

from report_runs import Maker

from assay.report.book import model
from assay.report.family.numerics import fp8

FINDING = "2 times 16 products added at once, truncated; C is added last"
LOOP = {"F2FP.F16.E4M3.UNPACK_B": 12, "HMMA.16816.F32": 2, "FADD": 4, "LDG.E": 10, "BRA": 1}


def card(make, case, finding=FINDING, sums="f32", **sass):
    m = make.add(f"numerics/accumulate/mma_sync/{case}", model_agreement=1.0, params={"accumulate": sums, "finding": finding})
    m.metrics["model_agreement"] = make.metric("model_agreement", 1.0, width=0)
    m.sass.update(sass)


def said(make, published=()):
    found = model.build([make.run], published)
    return {f.label: [part.replace("\u202f", " ") for part, _ in f.lines[0][1]] for f in fp8.findings(found)}


def test_cases_that_add_alike_are_said_together_and_named():
    make = Maker(1)
    card(make, "e4m3", emulated=True, loop=LOOP)
    card(make, "e5m2", emulated=True, loop={op.replace("E4M3", "E5M2"): n for op, n in LOOP.items()})
    card(make, "e4m3/acc_f16", "added otherwise", "f16")
    card(make, "bf16", "no FP8")
    found = said(make)
    assert list(found) == ["how fp8 mma.sync adds, f32 sums", "how fp8 mma.sync adds, f16 sums"]
    assert found["how fp8 mma.sync adds, f32 sums"] == [
        f"e4m3 and e5m2: {FINDING}; carried out by 12 F2FP.F16.UNPACK_B, 4 FADD, 2 HMMA.16816.F32, not by FP8 hardware; "
        "so predicted, 100.0 % of random dot products are right bit for bit "
        "(numerics/accumulate/mma_sync/e4m3, numerics/accumulate/mma_sync/e5m2)"
    ]
    (f16,) = found["how fp8 mma.sync adds, f16 sums"]
    assert f16.startswith("e4m3: added otherwise; so predicted") and "hardware" not in f16


def test_who_published_it_is_named_and_that_nobody_did():
    make = Maker(1)
    card(make, "e4m3")
    other = Maker(2)
    other.add("memory/hbm/read", bandwidth_gb_per_s=4000.0)
    card(make, "e4m3/acc_f16", sums="f16")
    found = said(make, [other.run])
    assert found["how fp8 mma.sync adds, f32 sums"][1:] == ["none of the published figures of this report is of it"]
    assert len(found["how fp8 mma.sync adds, f16 sums"]) == 1  # once
    card(other, "e4m3")
    source = other.run.measurements[-1]
    source.metrics = {"accumulator_fraction_bits": other.metric("accumulator_fraction_bits", 13.0, width=0)}
    source.source = {"title": "Paper (Nobody et al.)", "url": "https://example.org"}
    (line,) = said(make, [other.run])["how fp8 mma.sync adds, f32 sums"][1:]
    assert line.startswith("published: 13") and line.endswith("Nobody et al.")
