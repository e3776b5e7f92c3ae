# SPDX-License-Identifier: Apache-2.0
"""The machine code of this build is what its cases ask for, on every target."""

import json
import subprocess

import pytest

from command_line import built

# Their kernels are assembled when they are checked or run, from the rows of a table: 4,000 of them. Two cores check
# them in nine minutes (`scripts/quickstart.sh` does), and a run refuses each that is not as it should be.
ASSEMBLED = {"sass", "special_function", "tensor_core"}
WITHOUT_KERNELS = {"collective", "host"}


def check(*families: str) -> subprocess.CompletedProcess:
    return subprocess.run([built("assay"), "sass", "--check", f"^({'|'.join(families)})/"], text=True, capture_output=True)


@pytest.mark.parametrize("kernels", [True, False], ids=["kernels", "probes"])
def test_what_was_compiled_is_what_cases_expect(kernels):
    listed = subprocess.run([built("assay"), "list", "--json"], text=True, check=True, capture_output=True).stdout
    probes = {case["name"].split("/")[0] for case in json.loads(listed)} - {"kernels"} - ASSEMBLED - WITHOUT_KERNELS
    done = check(*(["kernels"] if kernels else sorted(probes)))
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(" cases checked, 0 are not what they should be\n")


@pytest.mark.parametrize("family", sorted(WITHOUT_KERNELS))
def test_families_without_kernels_have_none(family):
    done = check(family)
    assert done.returncode == 2 and "has kernels of its own" in done.stderr
