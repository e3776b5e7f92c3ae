# SPDX-License-Identifier: Apache-2.0
"""The shell scripts and what they print."""

import subprocess
import sys
import time

import pytest

import sources

SCRIPTS = sources.ROOT / "scripts"

GOOGLE_TEST = """<testsuite tests="3">
<testcase name="a" status="run"/>
<testcase name="b" status="fail"><failure message=""/></testcase>
<testcase name="c" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
<testcase name="d" status="disabled"/></testsuite>"""
PYTEST = """<testsuites><testsuite tests="3">
<testcase name="a"/><testcase name="b"><error message="fixture"/></testcase>
<testcase name="c"><skipped message="no GPU"/></testcase></testsuite></testsuites>"""


def count(*paths) -> tuple[str, int]:
    result = subprocess.run([sys.executable, SCRIPTS / "count_tests.py", *paths],
                            capture_output=True, text=True)
    return result.stdout, result.returncode


def test_counts_both_dialects(tmp_path):
    (tmp_path / "gtest.xml").write_text(GOOGLE_TEST)
    (tmp_path / "pytest.xml").write_text(PYTEST)
    assert count(tmp_path / "gtest.xml", tmp_path / "pytest.xml") == (
        "2 passed, 2 failed, 3 skipped\n", 1)


def test_counts_only_passes(tmp_path):
    (tmp_path / "x.xml").write_text('<testsuite><testcase name="a"/></testsuite>')
    assert count(tmp_path / "x.xml") == ("1 passed, 0 failed\n", 0)


def test_missing_results_count_as_failure(tmp_path):
    assert count(tmp_path / "none.xml") == ("0 passed, 1 failed\n", 1)


@pytest.mark.quiet
@pytest.mark.skipif(not (sources.ROOT / ".toolchain/.stamp").exists(), reason="nothing is set up")
def test_set_up_twice_does_nothing_and_is_quick():
    start = time.monotonic()
    result = subprocess.run([SCRIPTS / "setup.sh"], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert time.monotonic() - start < 3


@pytest.mark.parametrize("script", ["quickstart.sh", "check_fresh_machine.sh", "site.sh"])
def test_help_teaches(script):
    result = subprocess.run([SCRIPTS / script, "--help"], capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.startswith(f"usage: scripts/{script}")
    assert subprocess.run([SCRIPTS / script, "--nonsense"], capture_output=True).returncode == 2
