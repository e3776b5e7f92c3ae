# SPDX-License-Identifier: Apache-2.0
"""Written probes of barriers and fences, executed by the host model: nothing is found wrong with them, in several orders.

What they time means nothing there. Most check themselves on a device by a count of what went wrong.
"""

import subprocess

import pytest

from command_line import ROOT, built

ITERATIONS, COUNT, RECORDS = "s64:2", "u32[1]=zero", "u64[256]=zero"
THREE = (ITERATIONS, COUNT, RECORDS)
WITH_NUMBER = (ITERATIONS, "u32:1", COUNT, RECORDS)

# Of a file of probes/sync: part of the kernel's name, empty where it has but one, CTAs, threads, arguments.
KERNELS = [
    ("syncthreads", "", 1, 128, THREE),
    ("mbarrier", "", 1, 128, THREE),
    ("cluster", "cluster_meetILi16ELb0", 32, 64, THREE),
    ("cluster", "cluster_meetILi16ELb1", 32, 64, THREE),
    ("named_barrier", "sync_groupILi1024ELb1", 1, 1024, THREE),
    ("mbarrier_forms", "meetILi4", 1, 128, THREE),
    ("mbarrier_forms", "meetILi5", 1, 128, THREE),
    ("mbarrier_forms", "hand_over", 1, 128, THREE),
    ("mbarrier_remote", "meet_allILb0", 2, 32, WITH_NUMBER),
    ("mbarrier_remote", "meet_allILb1", 2, 32, WITH_NUMBER),
    ("setmaxnreg", "give_and_take", 1, 512, (ITERATIONS, "u32[512]=zero", RECORDS)),
    ("syncwarp", "sync_warpILb0", 1, 128, (ITERATIONS, "u32:0xffffffff", COUNT, RECORDS)),
    ("fence", "fencesILi1ELi0", 2, 32, (ITERATIONS, "u32[64]=zero", RECORDS)),
]


def run(file, kernel, ctas, threads, arguments, seeds=4):
    command = [built("assay"), "model", ROOT / f"probes/sync/{file}.cu", "--include", ROOT]
    if kernel:
        command += ["--kernel", kernel]
    if file == "mbarrier_remote":  # its cluster is the launch's
        command += ["--cluster", str(ctas)]
    command += ["--grid", str(ctas), "--block", str(threads), "--seeds", str(seeds)]
    for argument in arguments:
        command += ["--arg", argument]
    done = subprocess.run(command, text=True, capture_output=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("file, kernel, ctas, threads, arguments", KERNELS)
def test_a_probe_is_clean_in_the_model(file, kernel, ctas, threads, arguments):
    status, said = run(file, kernel, ctas, threads, arguments)
    assert status == 0 and "nothing to complain of" in said, said[-2000:]


@pytest.mark.parametrize("scope, status", [(0, 1), (2, 0)])
def test_a_message_between_ctas_needs_a_fence_of_the_gpu(scope, status):
    """The very kernel that the probe of fences checks them with: .cta is for two warps of one CTA."""
    found, said = run("fence", f"messageILi{scope}E", 2, 32, ("u32[64]=zero", "u32[2]=zero", COUNT))
    assert found == status, said[-2000:]
    assert ("race.scope" in said) == (status == 1)
