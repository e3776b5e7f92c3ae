#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs what the kernels' tests do on a GPU under each tool of compute-sanitizer:
#   scripts/sanitize.sh [FILTER] [TOOL...]     (all tests on a GPU but the longest; all tools)
# FILTER is GoogleTest's. ASSAY_BUILD_DIR says where assay_tests is (build). Exit status 1: a tool found
# something, or a test failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

filter=${1:-'*OnGpu*-CublasLt*:*In64Bits*'}
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
  # initcheck must see the kernels that fill operands, too.
  only=(--kernel-name kernel_substring=gemm)
  if [[ $tool == initcheck ]]; then only=(); fi
  "$sanitizer" --tool "$tool" --error-exitcode 1 "${only[@]}" \
    "$tests" --gtest_filter="$filter" || status=1
done
exit $status
