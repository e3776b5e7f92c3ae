#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the kernels' tests that need a GPU under each tool of compute-sanitizer:
#   scripts/sanitize.sh [FILTER] [TOOL...]     (all of them but the longest; all tools)
# FILTER is GoogleTest's. ASSAY_BUILD_DIR says where assay_tests is (build). Exit status 1: a tool found
# something, or a test failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Of the products, dense, block-scaled, grouped and skinny. Without a GPU these tests are skipped.
all='*OnGpu*:*WritesNothingElse:*.ReferenceSees*:*.GivesTheSameBits*:Grouped.Gradients*:Skinny.DMayBegin*'
filter=${1:-"$all-CublasLt*:*In64Bits*"}
tools=("${@:2}")
if ((${#tools[@]} == 0)); then tools=(memcheck racecheck synccheck initcheck); fi
tests=${ASSAY_BUILD_DIR:-build}/assay_tests
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [[ ! -x $sanitizer ]]; then
  echo "sanitize.sh: no compute-sanitizer: it comes with the CUDA toolkit (cuda-sanitizer-api)" >&2
  exit 4
fi

status=0
for tool in "${tools[@]}"; do
  echo "compute-sanitizer --tool $tool"
  # The products' kernels alone; initcheck must see those that fill operands, too.
  only=()
  if [[ $tool != initcheck ]]; then
    for name in gemm grouped_ skinny_; do only+=(--kernel-name "kernel_substring=$name"); done
  fi
  "$sanitizer" --tool "$tool" --error-exitcode 1 "${only[@]}" \
    "$tests" --gtest_filter="$filter" || status=1
done
exit $status
