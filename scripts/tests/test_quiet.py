# SPDX-License-Identifier: Apache-2.0
"""Tests that hold a time against a limit run alone: another process on the same core makes it longer."""
import ast
import re

import sources

CLOCK = re.compile(r"time\.(monotonic|perf_counter|process_time|time)\(|\bwithin\(")


def timed_tests() -> dict[str, bool]:
    """Each test that asserts something of a clock, and whether it bears the mark."""
    found = {}
    for path in sources.files("*/test_*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if CLOCK.search(text) else ():
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            begins = any(CLOCK.search(ast.unparse(call)) for call in ast.walk(node) if isinstance(call, ast.Call))
            if begins:
                marks = " ".join(map(ast.unparse, node.decorator_list))
                found[f"{path.relative_to(sources.ROOT)}: {node.name}"] = "pytest.mark.quiet" in marks
    return found


def test_those_that_measure_time_bear_the_mark():
    found = timed_tests()
    assert len(found) >= 7
    assert not [name for name, quiet in found.items() if not quiet]


def test_the_script_runs_all_in_two_parts_and_counts_both_and_the_fuzzers():
    script = (sources.ROOT / "scripts/test.sh").read_text()
    assert "-m 'not quiet'" in script and "-m quiet" in script
    counted = re.search(r"count_tests\.py(.*?)\|\|", script, re.DOTALL)[1].split()
    assert sorted(counted) == ['"${of_parts[@]}"', "build-fuzz/fuzz.xml", "build/pytest.xml", "build/pytest_quiet.xml"]
    assert "seq -f 'build/gtest/%g.xml' 0 $((parts - 1))" in script and "xml:gtest/{}.xml" in script
    assert "scripts/fuzz.sh 20 ||" in script
