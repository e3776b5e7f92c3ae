#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzer of what is read from outside, with the address and undefined-behaviour
# sanitizers, and runs it over each reader:
#   scripts/fuzz.sh [SECONDS] [READER...]     (60 seconds each; all readers)
# A mutator of their own changes the corpus, from a seed that is printed. With CXX=clang++ (16 or
# newer: older ones have no std::source_location) they are libFuzzer's.
# ASSAY_FUZZ_BUILD_DIR is where they are built (build-fuzz).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
readers=("${@:2}")
corpus=$PWD/harness/commands/tests/fuzz/corpus
if ((${#readers[@]} == 0)); then mapfile -t readers < <(ls "$corpus"); fi
build=$(realpath -m "${ASSAY_FUZZ_BUILD_DIR:-build-fuzz}")
sanitizers=address,undefined
compiled=$sanitizers
if [[ ${CXX:-} == *clang* ]]; then compiled+=,fuzzer-no-link; fi
cmake -S . -B "$build" -G Ninja -DASSAY_BUILD_FUZZERS=ON -DASSAY_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS="-fsanitize=$compiled -fno-sanitize-recover=all -fno-omit-frame-pointer" \
  -DCMAKE_EXE_LINKER_FLAGS="-fsanitize=$sanitizers" -DCMAKE_SHARED_LINKER_FLAGS="-fsanitize=$sanitizers" >/dev/null
cmake --build "$build" --target assay_fuzz

status=0
for reader in "${readers[@]}"; do
  found=$build/found/$reader  # what crashes it is left here
  mkdir -p "$found"
  if [[ ${CXX:-} == *clang* ]]; then
    run=(env "ASSAY_FUZZ_READER=$reader" "$build/assay_fuzz" -max_total_time="$seconds" -timeout=20
      -rss_limit_mb=1024 . "$corpus/$reader")
  else
    run=("$build/assay_fuzz" "$reader" "${seconds}s" "$corpus/$reader" $RANDOM)
  fi
  echo "${run[*]}" >&2
  (cd "$found" && "${run[@]}") || status=1
done
exit $status
