# SPDX-License-Identifier: Apache-2.0
import os
import signal

import pytest

from command_line import Program


@pytest.fixture
def assay(tmp_path):
    """`assay` with the probes of programs/test_probes.cpp; no process of it outlives the test."""
    program = Program(tmp_path)
    yield program
    for process in program.processes():
        os.kill(process, signal.SIGKILL)
