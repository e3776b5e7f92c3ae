# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone, and each file uses what it includes."""

import collections
import functools
import pathlib
import re
import shlex
import subprocess

import pytest

import declarations
import sources

CXX = ("*.cpp", "*.hpp", "*.cu", "*.cuh", "*.h")

# What a header passes on to whoever includes it.
PASSED_ON = {
    "harness/state.hpp": {"harness/cuda.hpp"},  # a probe's author checks calls and downloads
    "harness/target.hpp": {"harness/target_table.hpp"},  # Target itself, and its features
    "harness/model/model.hpp": {"harness/model/violation.hpp"},  # what it throws
    "harness/model/semantics/lanes.hpp": {"harness/model/violation.hpp"},  # what meanings throw
}

# What the standard headers used here declare, as far as it is used. A header that is not listed is
# not looked at.
STANDARD = {
    "algorithm": r"std::ranges::|std::(min|max|clamp|sort|stable_sort|copy\w*|fill\w*|find\w*|search|"
                 r"any_of|all_of|none_of|count\w*|transform|reverse\w*|equal|nth_element|unique|"
                 r"(lower|upper)_bound|binary_search|replace\w*|rotate|shuffle|remove\w*|"
                 r"(min|max|minmax)_element|minmax|for_each|generate\w*|mismatch|swap_ranges|merge|"
                 r"partial_sort|partition\w*|includes|set_\w+|equal_range|is_sorted)\b",
    "array": r"std::(array|to_array)\b",
    "atomic": r"std::(atomic\w*|memory_order\w*)\b",
    "barrier": r"std::barrier\b",
    "bit": r"std::(bit_\w+|has_single_bit|popcount|count[lr]_\w+|rot[lr]|endian)\b",
    "cctype": r"std::(is(alnum|alpha|digit|space|upper|lower|xdigit|punct|print)|to(upper|lower))\b",
    "cerrno": r"\b(errno|E[A-Z]{3,})\b",
    "charconv": r"std::(from_chars|to_chars|chars_format)\b",
    "chrono": r"std::chrono\b|std::(chrono_)?literals",
    "climits": r"\b(U?(CHAR|SHRT|INT|LONG|LLONG)_(MAX|MIN)|PATH_MAX|CHAR_BIT)\b",
    "cmath": r"std::(abs|fabs|sqrt|cbrt|exp\w*|log\w*|pow|sin|cos|tan\w*|floor|ceil|l?l?round|trunc|"
             r"l?l?rint|nearbyint|fmod|fma|f?(min|max)|hypot|is(nan|inf|finite|normal)|signbit|"
             r"ldexp|frexp|modf|scalbn|ilogb|logb|nextafter|copysign|erfc?|[lt]gamma|remainder)\b|"
             r"\b(INFINITY|NAN|M_PI|HUGE_VAL|fmaf|fminf|fmaxf)\b",
    "complex": r"std::complex\b",
    "condition_variable": r"std::condition_variable",
    "csignal": r"\b(SIG[A-Z]+|kill|raise|sig\w+|std::signal)\b",
    "cstddef": r"\b(size_t|ptrdiff_t|byte|nullptr_t|max_align_t|offsetof)\b",
    "cstdint": r"\bu?int(_fast|_least)?(8|16|32|64|max|ptr)_t\b|\bUINT\d+_MAX\b|\bU?INT\d+_C\b",
    "cstdio": r"\b(std::)?(FILE|f?printf|snprintf|f?puts|fopen|fclose|fread|fwrite|fflush|fileno|"
              r"perror|rename|remove|stderr|stdout|stdin|popen|pclose|EOF|fputs|putchar|fgets)\b",
    "cstdlib": r"\b(getenv|setenv|unsetenv|exit|_Exit|abort|atexit|system|strto\w+|ato[ifl]+|malloc|"
               r"calloc|realloc|free|mkstemp|mkdtemp|realpath|aligned_alloc|EXIT_\w+|quick_exit|"
               r"llabs|div)\b|std::abs\b",
    "cstring": r"\b(mem(cpy|cmp|set|move|chr|mem)|str(len|cmp|ncmp|chr|rchr|str|error|signal|cpy|"
               r"ncpy|dup|tok|nlen|errorname_np))\b",
    "ctime": r"\b(time_t|tm|std::time|gmtime\w*|localtime\w*|strftime|timespec|clock_gettime)\b",
    "exception": r"std::(exception\w*|current_exception|rethrow\w*|terminate|uncaught_exceptions)\b",
    "filesystem": r"std::filesystem",
    "fstream": r"std::(io|o|i)fstream\b",
    "functional": r"std::(function|bind\w*|hash|invoke|ref|cref|plus|minus|multiplies|greater\w*|less"
                  r"\w*|equal_to|not_equal_to|identity|mem_fn|not_fn|bit_\w+|logical_\w+|negate)\b",
    "initializer_list": r"std::initializer_list\b",
    "iostream": r"std::(cout|cerr|cin|clog)\b",
    "iterator": r"std::(size|ssize|begin|end|c?r?begin|c?r?end|next|prev|advance|distance|"
                r"\w*inserter|istream_iterator|istreambuf_iterator|iterator_traits|"
                r"make_move_iterator|empty|data|\w+_iterator\w*)\b",
    "limits": r"std::numeric_limits\b",
    "map": r"std::(multi)?map\b",
    "memory": r"std::(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|allocator|addressof|"
              r"enable_shared_from_this|to_address|align|uninitialized_\w+|construct_at)\b",
    "mutex": r"std::(\w*mutex|lock_guard|unique_lock|scoped_lock|call_once|once_flag)\b",
    "new": r"std::(bad_alloc|nothrow|launder|align_val_t|hardware_\w+)\b|\bnew\s*\(",
    "numbers": r"std::numbers\b",
    "numeric": r"std::(accumulate|iota|reduce|inner_product|partial_sum|gcd|lcm|midpoint|"
               r"transform_\w+|(in|ex)clusive_scan|adjacent_difference)\b",
    "optional": r"std::(optional|nullopt\w*|make_optional)\b",
    "random": r"std::(mt19937\w*|\w+_distribution|random_device|seed_seq|minstd\w*|\w+_engine)\b",
    "set": r"std::(multi)?set\b",
    "source_location": r"std::source_location\b",
    "span": r"std::(span|as_bytes|as_writable_bytes|dynamic_extent)\b",
    "sstream": r"std::[io]?stringstream\b",
    "stdexcept": r"std::(runtime_error|logic_error|out_of_range|invalid_argument|range_error|"
                 r"length_error|domain_error|overflow_error)\b",
    "stop_token": r"std::stop_\w+\b",
    "string": r"std::(string|to_string|getline|sto(i|l|ul|ll|ull|d|f)|basic_string|char_traits|"
              r"wstring)\b",
    "string_view": r"std::string_view\b|\boperator\"\"sv\b",
    "system_error": r"std::(error_code|system_error|errc|\w+_category|make_error_code|"
                    r"error_condition)\b",
    "thread": r"std::(j?thread|this_thread)\b",
    "tuple": r"std::(tuple\w*|tie|make_tuple|get|apply|forward_as_tuple|ignore)\b",
    "type_traits": r"std::(is_\w+|enable_if\w*|conditional\w*|remove_\w+|decay\w*|underlying_type\w*|"
                   r"invoke_result\w*|make_(un)?signed\w*|common_type\w*|void_t|true_type|false_type|"
                   r"integral_constant|type_identity\w*|add_\w+|extent\w*)\b",
    "utility": r"std::(pair|move|forward|swap|exchange|make_pair|declval|as_const|in_place\w*|"
               r"unreachable|index_sequence\w*|make_index_sequence|integer_sequence|piecewise_\w+|"
               r"cmp_\w+|in_range|get|to_underlying)\b",
    "variant": r"std::(variant|visit|get|get_if|holds_alternative|monostate)\b",
    "vector": r"std::vector\b",
    "fmt/format.h": r"\bfmt::",
    "fmt/ranges.h": r"\bfmt::join\b|\bfmt::format\b",
    "fmt/chrono.h": r"\bfmt::(gmtime|localtime)\b|\bfmt::format\b",
    "gtest/gtest.h": r"\b(TEST|TEST_F|TEST_P|testing|ASSERT_\w+|EXPECT_\w+)\b",
    "nlohmann/json.hpp": r"\bnlohmann\b",
    "re2/re2.h": r"\bRE2\b",
    "cuda_runtime_api.h": r"\b(cuda[A-Z]\w+|__host__|__device__|dim3)\b",
    "cuda_runtime.h": r"\b(cuda[A-Z]\w+|__host__|__device__|dim3)\b",
    "cuda.h": r"\b(CU[A-Za-z]\w+|cu[A-Z]\w+|CUDA_\w+)\b",
    "vector_types.h": r"\b(u?(int|char|short|long)|float|double)[1-4]\b|\bdim3\b",
    "unistd.h": r"\b(read|write|close|fork|exec\w+|pipe2?|dup2?|getpid|getppid|isatty|access|unlink|"
                r"readlink|sysconf|usleep|_exit|getuid|geteuid|gethostname|ftruncate|fsync|lseek|"
                r"chdir|getcwd|rmdir|STD(IN|OUT|ERR)_FILENO|pread|environ|syscall|link|symlink|"
                r"setsid|alarm|ssize_t|[FRWX]_OK|gettid|setpgid|pwrite|fdatasync|chown)\b",
    "fcntl.h": r"\b(open|openat|fcntl|O_\w+|F_[A-Z]+|FD_CLOEXEC|AT_\w+|posix_fadvise)\b",
    "sys/mman.h": r"\b(mmap|munmap|MAP_\w+|PROT_\w+|madvise|MADV_\w+|mlock|memfd_create|MFD_\w+|"
                  r"mprotect|shm_\w+)\b",
    "sys/wait.h": r"\b(wait|waitpid|W(IF|EXIT|TERM)\w+|WNOHANG|waitid)\b",
    "sched.h": r"\b(sched_\w+|cpu_set_t|CPU_\w+)\b",
    "elf.h": r"\b(Elf64_\w+|ELF\w+|E[IMTV]_\w+|SH[TFN]_\w+|ST[TB]_\w+|R_\w+)\b",
}


def unused(file: pathlib.Path) -> list[str]:
    found = []
    name_of_file = str(file.relative_to(sources.ROOT))
    for name in sources.includes(file):
        there = sources.ROOT / name
        if there.is_file() and there.suffix in (".hpp", ".cuh", ".h"):
            its_own = there.stem == file.stem.removesuffix("_test")
            passed_on = name in PASSED_ON.get(name_of_file, ())
            offered = [there, *(sources.ROOT / other for other in PASSED_ON.get(name, ()))]
            used = any(declarations.uses(file, header) for header in offered)
            if not its_own and not passed_on and not used:
                found.append(f"{name_of_file} uses nothing of {name}")
        elif name in STANDARD and not re.search(STANDARD[name], sources.code(file)):
            found.append(f"{name_of_file} uses nothing of <{name}>")
    return found


def test_declared_names_are_read_from_text(tmp_path):
    """What the next test stands on."""
    header = tmp_path / "sample.hpp"
    header.write_text("""
        #pragma once
        namespace a::b {  // comment with unused_word
        struct Forward;
        struct alignas(16) Point final : Base { int x = 3, y; double length() const { return x; } };
        enum class Colour : int { red, green = 2 };
        using Words = std::vector<int>;
        template <class T, int kCount> inline T* first(T (&values)[kCount]) { T local; return local; }
        constexpr double kRate = f(1), kOther[] = {1, 2};
        std::string name_of(const Point& argument, const Point& other = {});
        }
    """)
    assert declarations.declared(header) == (
        {"Forward", "Point", "Colour", "red", "green", "Words", "first", "kRate", "kOther",
         "name_of"},
        {"x", "y", "length"},
    )


def test_includes_are_used():
    """By name: a file that includes another mentions something that the other one declares."""
    found = [line for file in sources.files(*CXX) for line in unused(file)]
    assert not found, "\n".join(found)


def test_no_two_headers_define_one_type():
    """A program that two of them are linked into may take one's functions for the other's, and files that include one of
    them each may be compiled together."""
    opened = re.compile(r"namespace ([\w:]+) \{")
    begun = re.compile(r"(?:template <.*> )?(?:struct|class|union|enum class)(?: alignas\(\d+\))? (\w+)(?: final)?"
                       r"(?: :[^:;(].*)? \{")
    named = re.compile(r"using (\w+) = ")
    where = collections.defaultdict(list)
    for header in sources.files("*.hpp", "*.cuh"):
        namespaces: list[str] = []
        for line in header.read_text().splitlines():
            if found := opened.match(line):
                namespaces.append(found[1])
            elif line.startswith("}  // namespace") and namespaces:
                namespaces.pop()
            elif found := begun.match(line) or named.match(line):
                where["::".join([*namespaces, found[1]])].append(str(header.relative_to(sources.ROOT)))
    assert len(where) > 100
    assert not {name: headers for name, headers in where.items() if len(headers) > 1}


def compiler_of(suffix: str) -> str:
    return next(shlex.split(c["command"])[0] for c in sources.compile_commands() if c["file"].endswith(suffix))


@functools.cache
def search_paths() -> list[str]:
    """-I and -isystem of all that is compiled: some headers are for a few targets alone. A hundred tests ask, and
    each command is long."""
    flags: set[tuple[str, ...]] = set()
    for command in sources.compile_commands():
        words = shlex.split(command["command"])
        for word, following in zip(words, [*words[1:], ""]):
            if word == "-isystem":
                flags.add((word, following))
            elif word.startswith("-I"):
                flags.add((word,))
    return [word for flag in sorted(flags) for word in flag]


@functools.cache
def seen(header: pathlib.Path) -> frozenset[str]:
    """Names of all that is included when a header is compiled alone, itself among them."""
    found = sources.closure(header)
    return frozenset(map(str, found)).union(*map(sources.includes, found))


def says_nothing_to(header: pathlib.Path, earlier: list[pathlib.Path]) -> bool:
    """Whether a header compiles after `earlier` ones only if it does alone: it reads all that these have read, and names
    nothing that is declared in one of these which it does not include."""
    all_seen = seen(header)
    return (seen(earlier[-1]) - {str(earlier[-1])} <= all_seen
            and all(str(file) in all_seen or not declarations.uses(header, file) for file in earlier))


def chains(headers: list[pathlib.Path]) -> list[list[pathlib.Path]]:
    """Headers that are compiled one after the other, which is as good as each alone."""
    found: list[list[pathlib.Path]] = []
    for header in sorted(headers, key=lambda header: (len(seen(header)), header)):
        fit = [chain for chain in found if says_nothing_to(header, chain)]
        if fit:
            max(fit, key=lambda chain: len(seen(chain[-1]))).append(header)
        else:
            found.append([header])
    return found


def compile_headers(headers: list[pathlib.Path], folder: pathlib.Path) -> str:
    """What the host's compiler says against them, or nvcc for device headers, as far as PTX, for one target: names and
    types are the same for all."""
    suffix = headers[0].suffix
    if suffix == ".cuh":
        # The newest architecture that all of CUDA 13 has: TMA, clusters and tcgen05 are there.
        command = [compiler_of(".cu"), "-std=c++20", "-ptx", "-arch=sm_100a", "-w",
                   "--expt-relaxed-constexpr", "-o", "/dev/null"]
    else:
        standard = ["-std=c++20"] if suffix == ".hpp" else []
        command = [compiler_of(".cpp"), *standard, "-fsyntax-only", "-w"]
    one = folder / f"headers{({'.hpp': '.cpp', '.cuh': '.cu', '.h': '.c'})[suffix]}"
    one.write_text("".join(f'#include "{header}"\n' for header in headers))
    command += [*search_paths(), str(one)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    return result.stderr if result.returncode != 0 else ""


CHAINS = [chain for suffix in ("*.hpp", "*.cuh", "*.h") for chain in chains(sources.files(suffix))]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: f"{chain[0].relative_to(sources.ROOT)}+{len(chain) - 1}")
def test_header_compiles_alone(chain, tmp_path):
    """Each again only when something it is made of changed."""
    if not sources.compile_commands():
        pytest.skip("nothing is configured in build/")

    def compile_them() -> str:
        return compile_headers(chain, tmp_path) and "".join(compile_headers([header], tmp_path) for header in chain)

    how = " ".join([*search_paths(), compiler_of(".cpp"), compiler_of(".cu")])
    complaint = sources.complaint_once("headers", how, chain, compile_them)
    assert not complaint, complaint


SWEEPS = [file for file in sources.files("*.cpp") if file.parent.name == "sweep"]


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda file: file.stem)
def test_a_program_that_no_build_makes_unasked_compiles(sweep, tmp_path):
    if not sources.compile_commands():
        pytest.skip("nothing is configured in build/")
    command = [compiler_of(".cpp"), "-std=c++20", "-fsyntax-only", "-w", *search_paths(), str(sweep)]

    def compile_it() -> str:
        result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        return result.stderr if result.returncode != 0 else ""

    complaint = sources.complaint_once("sweeps", " ".join(command), [sweep], compile_it)
    assert not complaint, complaint


def test_a_header_that_needs_another_is_found(tmp_path, monkeypatch):
    """One that lacks a standard header, and one that lacks a header of the project, each after those which have it."""
    if not sources.compile_commands():
        pytest.skip("nothing is configured in build/")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    texts = {"has.hpp": "#include <vector>\nstruct Has { std::vector<int> all; };\n",
             "lacks_vector.hpp": "#include <string>\nstruct One { std::vector<std::string> all; };\n",
             "lacks_has.hpp": "#include <map>\n#include <vector>\nstruct Two { std::map<int, int> all; Has has; };\n",
             "good.hpp": "#include <map>\n#include <vector>\nstruct Three { std::map<int, std::vector<int>> all; };\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text("#pragma once\n" + text)
    found = chains([tmp_path / name for name in texts])
    assert len(found) < len(texts)
    wrong = [chain for chain in found if compile_headers(chain, tmp_path)]
    assert {header.name for chain in wrong for header in chain if compile_headers([header], tmp_path)} == {
        "lacks_vector.hpp", "lacks_has.hpp"}
