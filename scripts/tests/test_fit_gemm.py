# SPDX-License-Identifier: Apache-2.0
"""The fit of the product's time model: its constants are those of the C++ file, and it reads what the sweep writes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "fit_gemm_sm90.py"
SWEEP = ROOT / "results" / "h200" / "2026-11-23-gemm-forms"


def fit(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_fits_the_committed_sweep_and_names_each_constant_of_the_model() -> None:
    done = fit(str(SWEEP / "held_out.csv.gz"), "--rounds", "1", "--held-out", str(SWEEP / "held_out.csv.gz"))
    assert done.returncode == 0, done.stderr
    assert "held out: 108 shapes" in done.stdout
    model = (ROOT / "kernels" / "gemm" / "sm90" / "time_model_sm90.cpp").read_text()
    constants = re.findall(r"^    \.(\w+) = [\d.]+,", model, re.MULTILINE)
    fitted = [line.split()[0] for line in done.stdout.splitlines()[: len(constants)]]
    assert sorted(fitted) == sorted(constants)


def test_a_choice_that_it_cannot_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "sweep.csv").write_text("shape,choice,ns,samples\nbf16 nt 64 64 64,128 by 128,100,5\n")
    done = fit(str(tmp_path / "sweep.csv"))
    assert done.returncode == 2
    assert "'128 by 128' is no choice of the product" in done.stderr
