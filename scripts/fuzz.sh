#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzer of what is read from outside, with the address and undefined-behaviour
# sanitizers, and runs it over each reader, as many at a time as there are cores:
#   scripts/fuzz.sh [SECONDS] [READER...]     (60 seconds each; all readers)
# Inputs are libFuzzer's, where there is a Clang that has it and is new enough (16: older ones have no
# std::source_location). Elsewhere a mutator of their own changes the corpus, from a seed that is printed.
# CXX chooses the compiler, and ASSAY_FUZZ_BUILD_DIR the folder (build-fuzz). Left in it are fuzz.xml,
# how each reader fared, as JUnit; log/, what was printed; found/, inputs that led somewhere new; and
# broken/, what broke a reader.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
readers=("${@:2}")
corpus=$PWD/harness/commands/tests/fuzz/corpus
if ((${#readers[@]} == 0)); then mapfile -t readers < <(ls "$corpus"); fi
build=$(realpath -m "${ASSAY_FUZZ_BUILD_DIR:-build-fuzz}")

has_libfuzzer() {
  local program=$'#include <source_location>\n#include <cstdint>\n#include <cstddef>\nextern "C" int '
  program+='LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return std::source_location::current().line() == 0; }'
  "$1" -std=c++20 -fsanitize=address,fuzzer -x c++ -o /dev/null - <<<"$program" 2>/dev/null
}

compiler=${CXX:-}
for clang in clang++-{22,21,20,19,18,17,16} clang++; do
  [[ -z $compiler ]] && has_libfuzzer "$clang" && compiler=$clang
done
: "${compiler:=g++}"
sanitizers=address,undefined
compiled=$sanitizers
case $compiler in
  # The C++ library is left to its own assertions, below: checks in it take a fifth of the compiler's time.
  *clang*) compiled+=,fuzzer-no-link\ -fsanitize-ignorelist=$PWD/harness/commands/tests/fuzz/ignored.txt ;;
esac
# Not optimized, in few parts, for one target and without precompiled headers: it is built as quickly as
# it can be, and gets as far in its minutes.
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DASSAY_BUILD_FUZZERS=ON -DASSAY_BUILD_TESTS=OFF \
  -DASSAY_TARGETS=90a -DASSAY_JOIN_MOST=40 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g1 -w -D_GLIBCXX_ASSERTIONS" \
  -DCMAKE_CXX_FLAGS="-fsanitize=$compiled -fno-sanitize-recover=all -fno-omit-frame-pointer" \
  -DCMAKE_EXE_LINKER_FLAGS="-fsanitize=$sanitizers" -DCMAKE_SHARED_LINKER_FLAGS="-fsanitize=$sanitizers" >/dev/null
cmake --build "$build" --target assay_fuzz
mkdir -p "$build/log"

# Runs one reader, says how it went, and leaves that as a test case.
run_reader() {
  local reader=$1 found=$build/found/$1 broken=$build/broken/$1 log=$build/log/$1.txt run verdict
  mkdir -p "$found" "$broken"
  if [[ $compiler == *clang* ]]; then
    run=(env "ASSAY_FUZZ_READER=$reader" "$build/assay_fuzz" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024
      -artifact_prefix="$broken/" "$found" "$corpus/$reader")
  else
    run=("$build/assay_fuzz" "$reader" "${seconds}s" "$corpus/$reader" $RANDOM)
  fi
  if (cd "$broken" && "${run[@]}") >"$log" 2>&1; then
    verdict=$(grep -E '^(Done|[0-9]+ inputs)' "$log" | tail -n 1)
    echo "<testcase classname=\"fuzz\" name=\"$reader\"/>" >"$build/log/$reader.xml"
  else
    verdict="BROKEN by $(find "$broken" -type f -newer "$build/log/.begun" -printf '%p ')
$(tail -n 40 "$log")
again: ${run[*]}"
    echo "<testcase classname=\"fuzz\" name=\"$reader\"><failure message=\"$log\"/></testcase>" >"$build/log/$reader.xml"
  fi
  echo "fuzz, $reader: $verdict"
}

rm -f "$build"/log/*.xml
touch "$build/log/.begun"
for reader in "${readers[@]}"; do
  while (($(jobs -rp | wc -l) >= $(nproc))); do sleep 0.2; done
  run_reader "$reader" &
done
wait
{
  echo "<testsuite>"
  cat "$build"/log/*.xml
  echo "</testsuite>"
} >"$build/fuzz.xml"
(($(grep -c '^<testcase[^>]*/>$' "$build/fuzz.xml") == ${#readers[@]}))
