# SPDX-License-Identifier: Apache-2.0
"""Files of a folder are compiled together where they can be: assay_join_cuda(), assay_join_cpp()."""

import re
import subprocess

import sources

PROBE = """#include <algorithm>
#include "harness/state.hpp"

namespace {
int x;
}  // namespace
"""
OPEN = PROBE.replace("namespace {", "namespace assay {\nnamespace {")  # defines what a header declares
CONSTANT = PROBE.replace("int x", "__constant__ int x")


def join(folder, names, *arguments: str, by: str = "assay_join_cuda(files)") -> list[str]:
    """What becomes of the list of those files."""
    script = folder / "script.cmake"
    script.write_text(f"cmake_minimum_required(VERSION 3.25)\n"
                      f"include({sources.ROOT}/cmake/AssayTargets.cmake)\ninclude({sources.ROOT}/cmake/JoinSources.cmake)\n"
                      f"set(files {' '.join(str(folder / name) for name in names)})\n"
                      f"{by}\nmessage(\"${{files}}\")\n")
    done = subprocess.run(["cmake", *arguments, "-P", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [name.removeprefix(f"{folder}/") for name in done.stderr.strip().split(";")]


def written(folder, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
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


def test_files_of_several_rooms_are_compiled_together_unless_they_have_one_name(tmp_path):
    names = written(tmp_path, {"probes/sync/a.cu": PROBE, "probes/tma/b.cu": PROBE, "probes/tma/a.cu": PROBE})
    assert join(tmp_path, names) == ["probes/tma/a.cu", "joined/probes_1.cu"]


def test_nine_files_are_two_and_folders_stay_apart(tmp_path):
    names = written(tmp_path, {f"sync/{name}.cu": PROBE for name in "abcdefghi"} | {"tma/a.cu": PROBE})
    assert join(tmp_path, names) == ["joined/sync_1.cu", "joined/sync_2.cu", "joined/tma_1.cu"]
    parts = [(tmp_path / f"joined/sync_{part}.cu").read_text().count("namespace") for part in (1, 2)]
    assert parts == [5, 4]


def test_those_with_ptx_of_their_own_come_together_and_say_so(tmp_path):
    own = PROBE.replace("namespace {", "// Own PTX: as a test.\n\nnamespace {")
    names = written(tmp_path, {f"sync/{name}.cu": own if name in "bi" else PROBE for name in "abcdefghi"})
    assert join(tmp_path, names) == ["joined/sync_1.cu", "joined/sync_2.cu"]
    first, second = ((tmp_path / f"joined/sync_{part}.cu").read_text() for part in (1, 2))
    assert "/sync/b.cu" in first and "/sync/i.cu" in first
    assert first.count("// Own PTX: ") == 1 and "// Own PTX: " not in second


def test_each_can_be_compiled_alone(tmp_path):
    names = written(tmp_path, {"sync/a.cu": PROBE, "sync/b.cu": PROBE})
    assert join(tmp_path, names, "-DASSAY_JOIN=OFF") == names


HELPER = """#include "harness/error.hpp"

namespace assay {
namespace {

struct Row {
  int x;
};

constexpr int kFirst = 1, kSecond = 2;

[[noreturn]] void stop(int status) { run(status); }

}  // namespace

std::string NAME() {
  return text;
}

}  // namespace assay
"""


def joined(folder, files: dict[str, str], *arguments: str) -> list[list[str]]:
    """Which of those C++ files are compiled together."""
    kept = join(folder, written(folder, files), *arguments, by="assay_join_cpp(files all)")
    return [re.findall(r'include "[^"]*/(\w+)\.cpp"', (folder / name).read_text()) if "joined/" in name
            else [name.split("/")[-1].removesuffix(".cpp")] for name in kept]


def test_cpp_files_that_define_a_name_twice_stay_apart(tmp_path):
    other = HELPER.replace("Row", "Line").replace("kFirst", "kLeft").replace("kSecond", "kRight").replace("stop", "go")
    files = {"harness/code/a.cpp": HELPER.replace("NAME", "a"), "harness/code/b.cpp": other.replace("NAME", "b")}
    assert joined(tmp_path, files) == [["a", "b"]]
    assert joined(tmp_path, files, "-DASSAY_JOIN=OFF") == [["a"], ["b"]]
    for name in "Row", "kFirst", "kSecond", "stop", "a":
        clash = other.replace("go", "leave").replace("NAME", "c") + f"namespace assay {{\nusing {name} = int;\n}}\n"
        assert joined(tmp_path, {"harness/code/a.cpp": files["harness/code/a.cpp"], "harness/code/c.cpp": clash}) == [["a"], ["c"]], name


def test_cpp_files_that_use_what_a_neighbour_hides_stay_apart(tmp_path):
    """An unnamed namespace of a file that is read before puts its names before those of headers."""
    hides = HELPER.replace("NAME", "a")
    for uses in "stop(3);", "int x = kFirst;":
        user = f"namespace assay {{\nvoid b() {{\n  {uses}\n}}\n}}\n"
        for first, second in (hides, user), (user, hides):
            files = {"harness/code/a.cpp": first, "harness/code/b.cpp": second}
            assert joined(tmp_path, files) == [["a"], ["b"]], uses
    for uses in "run.stop(3);", "other::stop(3);", "int stop_ = 1;", "a();":  # a() is offered to all
        user = f"namespace assay {{\nvoid b() {{\n  {uses}\n}}\n}}\n"
        files = {"harness/code/a.cpp": hides, "harness/code/b.cpp": user}
        assert joined(tmp_path, files) == [["a", "b"]], uses


def test_cpp_files_that_take_names_for_all_that_follows_stay_alone(tmp_path):
    for line in "using namespace std;", "using std::string;", "using enum Kind;":
        takes = f"namespace assay {{\n{line}\n}}\n"
        assert joined(tmp_path, {"harness/code/a.cpp": takes, "harness/code/b.cpp": HELPER}) == [["a"], ["b"]]


def test_cpp_files_that_define_nothing_for_others_have_namespaces(tmp_path):
    assert joined(tmp_path, {f"harness/code/{name}.cpp": PROBE for name in "ab"}) == [["a", "b"]]
    assert (tmp_path / "joined/all/harness_0.cpp").read_text() == (
        f'#include <algorithm>\n#include "harness/state.hpp"\n'
        f'namespace in_harness_code_a_cpp {{\n#include "{tmp_path}/harness/code/a.cpp"\n}}\n'
        f'namespace in_harness_code_b_cpp {{\n#include "{tmp_path}/harness/code/b.cpp"\n}}\n')


def test_cpp_files_that_define_for_others_have_none(tmp_path):
    """As those of an interface in C, whose header declares what they define."""
    offers = {f"harness/code/{name}.cpp": PROBE + f"\nint {name}() {{\n  return x;\n}}\n" for name in "ab"}
    assert joined(tmp_path, offers) == [["a"], ["b"]]  # for x
    apart = {name: text.replace("int x", f"int x{name[-5]}") for name, text in offers.items()}
    assert joined(tmp_path, apart) == [["a", "b"]]
    assert (tmp_path / "joined/all/harness_0.cpp").read_text() == (  # no header sees what a file hides
        f'#include <algorithm>\n#include "harness/state.hpp"\n'
        f'#include "{tmp_path}/harness/code/a.cpp"\n#include "{tmp_path}/harness/code/b.cpp"\n')


def test_cpp_files_of_several_folders_are_compiled_together(tmp_path):
    files = {"harness/code/a.cpp": PROBE, "harness/run/b.cpp": PROBE, "kernels/gemm/c.cpp": PROBE}
    assert joined(tmp_path, files) == [["a", "b"], ["c"]]


def test_nine_cpp_files_are_two(tmp_path):
    files = {f"harness/code/{name}.cpp": PROBE for name in "abcdefghi"}
    assert [len(group) for group in joined(tmp_path, files)] == [8, 1]
