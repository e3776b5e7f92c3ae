#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, configures and builds every target into build/. Does only what is left to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
fi
# Another toolkit than last time means a new start; anything else Ninja sees by itself.
if [[ .toolchain/.stamp -nt build/CMakeCache.txt ]]; then
  echo "assay: configuring build/ for every target" >&2
  cmake --preset default --fresh --log-level=WARNING >/dev/null
fi
cmake --build build
