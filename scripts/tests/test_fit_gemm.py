# SPDX-License-Identifier: Apache-2.0
"""The fit of the product's time model: its constants are those of the C++ file, and it reads what the sweep writes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "fit_gemm_sm90.py"
CONSTANT = r"^    \.(\w+) = [\d.e+]+,$"
SWEEP = ROOT / "results" / "h200" / "2026-11-23-gemm-forms"


def fit(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_fits_the_committed_sweep_and_names_each_constant_of_the_model() -> None:
    done = fit(str(SWEEP / "held_out.csv.gz"), "--rounds", "1", "--held-out", str(SWEEP / "held_out.csv.gz"))
    assert done.returncode == 0, done.stderr
    assert "held out: 108 shapes" in done.stdout
    held = (ROOT / "kernels" / "gemm" / "sm90" / "time_constants_sm90.hpp").read_text()
    sets = [re.findall(CONSTANT, block, re.MULTILINE) for block in held.split("constexpr TimeModelSm90 ")[1:]]
    fitted = re.findall(CONSTANT, done.stdout, re.MULTILINE)
    assert fitted and [found for found in sets if found] == [fitted, fitted]


def test_some_constants_are_fitted_and_nothing_else(tmp_path: Path) -> None:
    # Both have the same tiles and steps, so that only what adding parts costs can tell which is faster.
    lines = [f"bf16 nt {m} 512 32768,{name},{ns},20\n" for m in (384, 512) for name, ns in
             (("128x128_c2x1_s6", 100), ("128x128_c2x1_s6 split 2", 60), ("cublaslt_0", 90))]
    (tmp_path / "sweep.csv").write_text("shape,choice,ns,samples\n" + "".join(lines))
    header = (ROOT / "kernels" / "gemm" / "sm90" / "time_constants_sm90.hpp").read_text()
    slow = tmp_path / "slow.hpp"
    slow.write_text(re.sub(r"\.reduce = [\d.]+", ".reduce = 900000", header))
    done = fit(str(tmp_path / "sweep.csv"), "--keep", str(slow), "--constants", "reduce", "--rounds", "5")
    assert done.returncode == 0, done.stderr
    assert re.findall(CONSTANT, done.stdout, re.MULTILINE) == ["reduce"]
    assert "before: 2 shapes, over the best 66.7%" in done.stdout
    assert "now: 2 shapes, over the best 0.0%" in done.stdout
    wrong = fit(str(tmp_path / "sweep.csv"), "--keep", str(slow), "--constants", "redcue")
    assert wrong.returncode == 2 and "'redcue' is no constant of the model; they are start, " in wrong.stderr


def test_a_choice_that_is_quick_in_a_row_too_is_preferred(tmp_path: Path) -> None:
    shape = "bf16 nt 4096 4096 4096"
    times = {"cublaslt_0": (100, 100), "taken 128x256_c2x1_s4": (100, 121), "128x192_c2x1_s4 split 4": (110, 100)}
    lines = [f"{shape},{name}{row},{ns},20\n" for name, pair in times.items() for row, ns in zip(("", " x9"), pair)]
    (tmp_path / "sweep.csv").write_text("shape,choice,ns,samples\n" + "".join(lines))
    done = fit(str(tmp_path / "sweep.csv"), "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert "the best choice 0.953" in done.stdout  # sqrt(110 * 100) of 100


def test_what_is_far_from_the_best_counts_only_in_part_if_asked_for(tmp_path: Path) -> None:
    forms = ["128x256_c2x1_s4", *(f"128x{width}_c2x1_s4" for width in range(64, 192, 8))]
    lines = [f"bf16 nt 4096 4096 4096,{form},{100 if form == forms[0] else 200},20\n" for form in forms]
    lines.append("bf16 nt 4096 4096 4096,cublaslt_0,110,20\n")
    (tmp_path / "sweep.csv").write_text("shape,choice,ns,samples\n" + "".join(lines))
    sys.path.insert(0, str(SCRIPT.parent))
    import fit_gemm_sm90

    of = {near: len(fit_gemm_sm90.load([tmp_path / "sweep.csv"], near).ns) for near in (1.3, 2.5)}
    assert of == {1.3: 3, 2.5: len(forms)}


def test_other_forms_and_shapes_of_a_later_sweep_are_left_out(tmp_path: Path) -> None:
    header = "shape,choice,ns,samples\n"
    both = "{0},128x256_c2x1_s4,100,20\n{0},128x192_c2x1_s4 stream 2 over 66,90,20\n{0},cublaslt_0,95,20\n"
    shapes = ["bf16 nt 4096 4096 4096", "bf16 nt 512 512 512"]
    (tmp_path / "first.csv").write_text(header + "".join(both.format(shape) for shape in shapes))
    (tmp_path / "second.csv").write_text(header + both.format(shapes[1]))
    sys.path.insert(0, str(SCRIPT.parent))
    import fit_gemm_sm90

    found = fit_gemm_sm90.load([tmp_path / "first.csv"], forms={"128x192_c2x1_s4"}, without=[tmp_path / "second.csv"])
    assert found.names == [(shapes[0], "128x192_c2x1_s4 stream 2 over 66")]
    assert list(found.library) == [95]


def test_a_stage_of_two_boxes_is_half_the_steps_and_twice_the_work() -> None:
    sys.path.insert(0, str(SCRIPT.parent))
    import fit_gemm_sm90

    shape, rest = "bf16 nt 512 512 4160", "_c2x1_s6"
    one, two = (fit_gemm_sm90.features(shape, f"pingpong_{tile}{rest}") for tile in ("64x64", "64x64x128"))
    assert (one["depth"], one["k_steps"], two["depth"], two["k_steps"]) == (1, 65, 2, 33)
    constants = {name: low for name, (low, _) in fit_gemm_sm90.BOUNDS.items()}
    times = [fit_gemm_sm90.predict(constants, {name: np.array([float(value)]) for name, value in of.items()})[0] for of in (one, two)]
    assert times[1] > times[0]  # without costs of a stage: half a step along k in vain
    constants["step_more"] = 120
    times = [fit_gemm_sm90.predict(constants, {name: np.array([float(value)]) for name, value in of.items()})[0] for of in (one, two)]
    assert times[1] < times[0]


def test_factors_of_other_forms_stay_if_asked_for(tmp_path: Path) -> None:
    shape, forms = "bf16 nt 512 4096 4096", ["128x128_c2x1_s6", "64x128_c2x1_s8"]
    lines = [f"{shape},{form},{ns},20\n" for form, ns in zip(forms, (100, 80))] + [f"{shape},cublaslt_0,90,20\n"]
    (tmp_path / "sweep.csv").write_text("shape,choice,ns,samples\n" + "".join(lines))
    sys.path.insert(0, str(SCRIPT.parent))
    import fit_gemm_sm90

    sweep = fit_gemm_sm90.load([tmp_path / "sweep.csv"])
    constants = {name: low for name, (low, _) in fit_gemm_sm90.BOUNDS.items()}
    first, second = fit_gemm_sm90.predict(constants, sweep.x)
    preferred = 0.98 * second / first  # the slower form, by a little
    before = fit_gemm_sm90.Model(constants, {forms[0]: preferred, forms[1]: 1.0, "other": 0.9})
    now = fit_gemm_sm90.refit(before, [(sweep, 1.0)], only="^64x")
    assert now.factors["other"] == 0.9 and now.factors[forms[1]] < 0.98
    assert abs(now.factors[forms[0]] / preferred - 1) < 1e-9
    assert fit_gemm_sm90.refit(before, [(sweep, 1.0)]).factors.keys() == set(forms)


def test_of_sweeps_held_out_too_a_shape_is_the_last_ones(tmp_path: Path) -> None:
    lines = "shape,choice,ns,samples\nbf16 nt 64 64 64,{0},100,20\nbf16 nt 64 64 64,cublaslt_0,95,20\n"
    for name, form in {"first": "128x256_c2x1_s4", "second": "128x192_c2x1_s4"}.items():
        (tmp_path / f"{name}.csv").write_text(lines.format(form))
    sys.path.insert(0, str(SCRIPT.parent))
    import fit_gemm_sm90

    found = fit_gemm_sm90.read_times([tmp_path / "first.csv", tmp_path / "second.csv"])
    assert {choice for _, choice in found} == {"128x192_c2x1_s4", "cublaslt_0"}


def test_an_expression_that_is_none_is_named() -> None:
    done = fit("sweep.csv", "--only", "(64x")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "--only: '(64x' is no regular expression: missing )" in done.stderr


def test_a_choice_that_it_cannot_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "sweep.csv").write_text("shape,choice,ns,samples\nbf16 nt 64 64 64,128 by 128,100,5\n")
    done = fit(str(tmp_path / "sweep.csv"))
    assert done.returncode == 2
    assert "'128 by 128' is no choice of the product" in done.stderr
