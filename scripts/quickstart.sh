#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($#)); then
  cat <<'EOF'
usage: scripts/quickstart.sh
From a fresh checkout to a first report. Installs what is missing (scripts/setup.sh), then
  with an NVIDIA GPU     builds for that (into build-native/), runs the quick suite on it, in well
                         under a minute, and reports it;
  without one            builds for every target (into build/), checks every probe's machine code,
                         measures this CPU, and reports that with the committed results of GPUs.
Either way the report says which instruction exists on which target, as the assembler has it.
Run it again whenever you like: only what changed is built and checked again, and all is measured.
Results go to out/.
EOF
  [[ $1 == -h || $1 == --help ]] && exit
  exit 2
fi

say() { printf '\nassay: %s\n' "$*" >&2; }
# A case that failed is part of the report, which is made all the same.
status=0
measure() { "$assay" "$@" || status=$?; ((status <= 1)) || exit $status; }

gpu=
if [[ -e /dev/nvidia0 ]] || nvidia-smi -L >/dev/null 2>&1; then gpu=yes; fi
# What is built for every target serves the GPU, too.
if [[ -n $gpu && ! -x build/assay ]]; then export ASSAY_BUILD_DIR=build-native ASSAY_TARGETS=native; fi
assay=${ASSAY_BUILD_DIR:-build}/assay
scripts/build.sh assay assay_kernels
now=out/$(date +%Y-%m-%dT%H%M%S)
if [[ -n $gpu ]]; then
  say "measuring this GPU: the quick suite"
  measure run --suite quick --out "$now-quick"
  runs=("$now-quick")
else
  if [[ out/offline/passed -nt $assay ]]; then
    say "no NVIDIA GPU here: the machine code of this build was checked before"
  else
    say "no NVIDIA GPU here: checking the machine code of every probe for every target"
    measure sass --check --out out/offline
    ((status)) || touch out/offline/passed
  fi
  say "measuring this CPU"
  measure run --suite host --out "$now-host"
  mapfile -t committed < <(.venv/bin/python -m assay.report.collection results --newest)
  runs=("$now-host" out/offline "${committed[@]}")
fi
say "asking the assembler which instruction exists on which target: a minute or two, the first time"
isa=()
if "$assay" isa --json >out/isa.json; then
  isa=(--isa out/isa.json)
fi
"$assay" report "${runs[@]}" "${isa[@]}" --out out/report
say "the report: $PWD/out/report/index.html"
exit $status
