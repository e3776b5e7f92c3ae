#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes present what building and testing need, and fetches only what is missing:
#   distribution packages   (root or sudo)
#   .venv/                  Python packages, with assay-report and assay-gate
#   .toolchain/cuda         a link to a CUDA toolkit >= 13.0: the machine's own, or .toolchain/nvidia/cu13
#   .toolchain/nvidia/      what that toolkit lacks, up to a whole one, from NVIDIA's wheels on PyPI
# For Debian 12 and Ubuntu 24.04. Run it as often as you like: with nothing to do it takes a second.
# ASSAY_IGNORE_SYSTEM_CUDA=1 fetches a toolkit even where the machine has one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'assay: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

readonly packages=(g++ cmake ninja-build git ca-certificates python3 python3-venv shellcheck
  zlib1g-dev libzstd-dev libfmt-dev libbenchmark-dev libcli11-dev nlohmann-json3-dev libre2-dev
  libgtest-dev libgmock-dev)
# The pages of reports are tested in a browser. Ubuntu's is a snap, which sees no files of /tmp: there
# those tests are skipped, unless the machine has another Chromium.
readonly browser=(chromium-headless-shell fonts-dejavu-core)
# libFuzzer, for scripts/fuzz.sh: 52 MB to fetch and 305 MB on the disk, 8 seconds of CPU time. Without
# it a mutator of the fuzzers' own takes its place.
readonly debian_fuzzer=(clang-19 libclang-rt-19-dev) ubuntu_fuzzer=(clang-18 libclang-rt-18-dev)

install_packages() {
  local installed package tool wanted=("${packages[@]}") missing=() as_root=()
  if ! command -v chromium google-chrome >/dev/null && grep -q '^ID=debian' /etc/os-release; then
    wanted+=("${browser[@]}")
  fi
  if grep -q '^ID=debian' /etc/os-release; then
    wanted+=("${debian_fuzzer[@]}")
  elif grep -q '^ID=ubuntu' /etc/os-release; then
    wanted+=("${ubuntu_fuzzer[@]}")
  fi
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    [[ $installed == *"$package installed"* ]] || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then return; fi
  if ((EUID != 0)); then as_root=(sudo); fi
  if ! command -v apt-get >/dev/null || { ((EUID != 0)) && ! sudo -v 2>/dev/null; }; then
    say "not installed, for want of root and apt: run  sudo apt-get install ${missing[*]}"
    for tool in g++ cmake ninja git python3; do
      command -v $tool >/dev/null || fail "cannot go on without $tool"
    done
    return
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
}

# A folder with a stamp of the request it was made from is not made again for the same request.
is_made_from() { [[ -f $1/.stamp && $(<"$1/.stamp") == "$2" ]]; }
hash_of() { sha256sum <<<"$*" | cut -c -64; }

python_request() {
  hash_of "$(python3 --version) $PWD $(cat scripts/requirements.txt reports/pyproject.toml)"
}

# pip compiles nothing: Python does that itself, of what it uses.
pip_install() { .venv/bin/python -m pip install -q --disable-pip-version-check --no-compile "$@"; }

# The interpreter and pip, which the toolkit's wheels come by as well.
make_venv() {
  if is_made_from .venv "$(python_request)"; then return; fi
  python3 -m venv .venv || fail "python3 -m venv failed; is the package python3-venv installed?"
}

install_python() {
  if is_made_from .venv "$(python_request)"; then return; fi
  say "installing Python packages into .venv"
  pip_install -r scripts/requirements.txt
  python_request >.venv/.stamp
}

# Prints the folder of the newest usable toolkit that the machine has: the caller's choice first.
system_cuda() {
  local nvcc release
  if [[ -n ${ASSAY_IGNORE_SYSTEM_CUDA:-} ]]; then return; fi
  for nvcc in "${CUDACXX:-}" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$(command -v nvcc || true)" \
    /usr/local/cuda/bin/nvcc /usr/local/cuda-*/bin/nvcc; do
    [[ -x $nvcc ]] || continue
    release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    if ((${release:-0} >= 13)); then
      dirname "$(dirname "$(readlink -f "$nvcc")")"
      return
    fi
  done
}

# Prints the wheels that supply what the toolkit in folder $1 (none: no toolkit) lacks. Releases are
# those of CUDA 13.0 Update 2, the first with every target served here; nvdisasm and cuobjdump have
# wheels from 13.2 on only, and read the cubins of older compilers.
wheels_missing_in() {
  local wheel file
  while read -r wheel file; do
    compgen -G "$1/$file" >/dev/null || compgen -G "/usr/include/${file#include/}" >/dev/null ||
      echo "$wheel"
  done <<'EOF'
nvidia-cuda-nvcc==13.0.88          bin/nvcc
nvidia-cuda-crt==13.0.88           bin/nvcc
nvidia-nvvm==13.0.88               nvvm/bin/cicc
nvidia-cuda-runtime==13.0.96       lib*/libcudart_static.a
nvidia-cuda-cccl==13.0.85          include/cccl/cuda/std
nvidia-cuda-profiler-api==13.0.85  include/cuda_profiler_api.h
nvidia-cuda-nvdisasm==13.2.86      bin/nvdisasm
nvidia-cuda-cuobjdump==13.2.86     bin/cuobjdump
nvidia-nvjitlink==13.0.88          include/nvJitLink.h
nvidia-cuda-cupti==13.0.85         include/cupti_range_profiler.h
nvidia-nvml-dev==13.0.87           include/nvml.h
nvidia-nvtx==13.0.85               include/nvtx3
nvidia-cublas==13.1.0.3            include/cublasLt.h
nvidia-nccl-cu13==2.28.9           include/nccl.h
EOF
}

# Wheels leave out what a toolkit's own installer makes: lib64, names without a version, one
# include folder for NCCL as well.
complete_toolkit() {
  local library
  mkdir -p "$1"/{bin,include,lib}
  ln -sfn lib "$1/lib64"
  if [[ -d $1/../nccl ]]; then
    ln -sfn ../../nccl/include/{nccl.h,nccl_device.h,nccl_device} "$1/include/"
    ln -sfn ../../nccl/lib/libnccl.so.2 "$1/lib/"
  fi
  for library in $(compgen -G "$1/lib/*.so.[0-9]*"); do
    ln -sfn "$(basename "$library")" "${library%.so.*}.so"
  done
}

install_toolchain() {
  local toolkit wheels request
  toolkit=$(system_cuda)
  wheels=$(wheels_missing_in "${toolkit:-/nowhere}")
  request=$(hash_of "$toolkit $wheels $(declare -f complete_toolkit)")
  if is_made_from .toolchain "$request"; then return; fi
  say "installing into .toolchain: ${wheels//$'\n'/ }"
  # Made aside and swapped in whole: pip cannot add to a folder, and a killed download leaves none.
  rm -rf .toolchain.new
  if [[ -n $wheels ]]; then
    # shellcheck disable=SC2086  # a list of words
    pip_install --no-deps --target .toolchain.new $wheels
  fi
  complete_toolkit .toolchain.new/nvidia/cu13
  ln -sfn "${toolkit:-nvidia/cu13}" .toolchain.new/cuda
  echo "$request" >.toolchain.new/.stamp
  rm -rf .toolchain
  mv .toolchain.new .toolchain
}

[[ $(uname -m) == x86_64 ]] || fail "only x86-64 machines are served; this is $(uname -m)"
install_packages
make_venv
# Beside each other: one fetches while the other unpacks.
install_toolchain &
trap 'kill $! 2>/dev/null || true' EXIT
install_python
wait $!
trap - EXIT
