# SPDX-License-Identifier: Apache-2.0
"""docs/probes.md is what `assay list --markdown` prints."""

import subprocess

from command_line import ROOT, built


def test_the_page_of_probes_is_up_to_date():
    made = subprocess.run([built("assay"), "list", "--markdown"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (ROOT / "docs/probes.md").read_text() == made.stdout, "run: build/assay list --markdown > docs/probes.md"
