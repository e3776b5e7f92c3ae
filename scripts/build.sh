#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, configures and builds into build/, every target unless CMake is told otherwise. Does only
# what is left to do. Words given are what to build, such as `assay`; without any it is everything.
# ASSAY_BUILD_DIR and ASSAY_TARGETS choose another folder and targets (`native`: this machine's GPU).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${ASSAY_BUILD_DIR:-build}
scripts/setup.sh
if command -v ccache >/dev/null; then
  # Precompiled headers know their files by absolute paths: one made in another checkout is of other
  # files, and with a base_dir of the user's ccache would take it for the same.
  export CCACHE_BASEDIR=
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
fi
# Another toolkit than last time means a new start; anything else Ninja sees by itself.
if [[ .toolchain/.stamp -nt $build/CMakeCache.txt ]]; then
  echo "assay: configuring $build/ for ${ASSAY_TARGETS:-every target}" >&2
  cmake --preset default -B "$build" ${ASSAY_TARGETS:+-DASSAY_TARGETS="$ASSAY_TARGETS"} \
    --fresh --log-level=WARNING >/dev/null
fi
cmake --build "$build" ${1:+--target "$@"}
