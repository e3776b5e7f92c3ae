# SPDX-License-Identifier: Apache-2.0
"""How long the host model takes: tests and people wait for it."""

import resource
import subprocess

import pytest
from command_line import built


def cpu_seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.quiet
def test_a_product_of_256_512_256_is_checked_within_two_seconds_of_one_core():
    product = "kernels/gemm/bf16/m256n512k256/nt"
    assert cpu_seconds(built("assay"), "model", product, "--seeds", "1", "--seed", "2") < 2
