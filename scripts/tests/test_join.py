# SPDX-License-Identifier: Apache-2.0
"""CUDA files of a folder are compiled together where they can be: assay_join_cuda()."""

import re
import subprocess

import sources

PROBE = """#include <algorithm>
#include "harness/state.hpp"

namespace {
int x;
}
"""
OPEN = PROBE.replace("namespace {", "namespace assay {\nnamespace {")  # defines what a header declares
CONSTANT = PROBE.replace("int x", "__constant__ int x")


def join(folder, names, *arguments: str) -> list[str]:
    """What becomes of the list of those files."""
    script = folder / "script.cmake"
    script.write_text(f"cmake_minimum_required(VERSION 3.25)\n"
                      f"include({sources.ROOT}/cmake/AssayTargets.cmake)\n"
                      f"set(files {' '.join(str(folder / name) for name in names)})\n"
                      f"assay_join_cuda(files)\nmessage(\"${{files}}\")\n")
    done = subprocess.run(["cmake", *arguments, "-P", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [name.removeprefix(f"{folder}/") for name in done.stderr.strip().split(";")]


def written(folder, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return list(files)


def test_headers_come_once_and_before_all_namespaces(tmp_path):
    names = written(tmp_path, {"sync/a.cu": PROBE, "sync/b.cu": "#include <map>\n" + PROBE})
    assert join(tmp_path, names) == ["joined/sync_1.cu"]
    assert (tmp_path / "joined/sync_1.cu").read_text() == (
        f'#include <algorithm>\n#include "harness/state.hpp"\n#include <map>\n'
        f'namespace in_a_cu_ {{\n#include "{tmp_path}/sync/a.cu"\n}}\n'
        f'namespace in_b_cu_ {{\n#include "{tmp_path}/sync/b.cu"\n}}\n')


def test_what_must_stand_alone_does(tmp_path):
    alone = {"sync/new_sm90.cu": PROBE,
             "sync/both.cu": CONSTANT + OPEN,
             "sync/host.cpp": PROBE}
    names = written(tmp_path, {"sync/a.cu": PROBE, **alone, "link/all.cu": OPEN})
    assert join(tmp_path, names) == [*alone, "joined/sync_1.cu", "link/all.cu"]
    assert "sync/a.cu" in (tmp_path / "joined/sync_1.cu").read_text()


def test_one_with_constants_and_one_outside_a_namespace_in_each(tmp_path):
    kinds = {"a": PROBE, "b": PROBE, "c": OPEN, "d": OPEN, "e": CONSTANT, "f": CONSTANT, "g": CONSTANT}
    names = written(tmp_path, {f"sync/{name}.cu": text for name, text in kinds.items()})
    assert join(tmp_path, names) == ["joined/sync_1.cu", "joined/sync_2.cu", "joined/sync_3.cu"]
    found = []
    for part in (1, 2, 3):
        text = (tmp_path / f"joined/sync_{part}.cu").read_text()
        found += re.findall(r"/sync/(\w).cu", text)
        of = [kinds[name] for name in re.findall(r"/sync/(\w).cu", text)]
        assert of.count(CONSTANT) == 1 and of.count(OPEN) <= 1
        # Outside, and after all others, which must not see its names.
        assert text.count("namespace in_") == len(of) - of.count(OPEN) and OPEN not in of[:-1]
    assert sorted(found) == list(kinds)


def test_nine_files_are_two_and_folders_stay_apart(tmp_path):
    names = written(tmp_path, {f"sync/{name}.cu": PROBE for name in "abcdefghi"} | {"tma/a.cu": PROBE})
    assert join(tmp_path, names) == ["joined/sync_1.cu", "joined/sync_2.cu", "joined/tma_1.cu"]
    parts = [(tmp_path / f"joined/sync_{part}.cu").read_text().count("namespace") for part in (1, 2)]
    assert parts == [5, 4]


def test_each_can_be_compiled_alone(tmp_path):
    names = written(tmp_path, {"sync/a.cu": PROBE, "sync/b.cu": PROBE})
    assert join(tmp_path, names, "-DASSAY_JOIN_CUDA=OFF") == names
