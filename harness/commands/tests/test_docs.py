# SPDX-License-Identifier: Apache-2.0
"""docs/probes.md is what `assay list --markdown` prints."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSAY = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build")) / "assay"


def test_the_page_of_probes_is_up_to_date():
    if not ASSAY.exists():
        pytest.skip("nothing is built in build/")
    made = subprocess.run([ASSAY, "list", "--markdown"], capture_output=True, text=True, check=True).stdout
    assert (ROOT / "docs/probes.md").read_text() == made, "run: build/assay list --markdown > docs/probes.md"
