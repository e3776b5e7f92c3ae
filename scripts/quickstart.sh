#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($#)); then
  cat <<'EOF'
usage: scripts/quickstart.sh
From a fresh checkout to a first report. Installs what is missing (scripts/setup.sh), builds every
target, then
  with an NVIDIA GPU     runs the quick suite on it (about a minute) and reports it;
  without one            checks every probe's machine code for every target, measures this CPU, and
                         reports that with the results of GPUs that are committed here.
Run it again whenever you like: what is done is not done again. Results go to out/.
EOF
  [[ $1 == -h || $1 == --help ]] && exit
  exit 2
fi

has_gpu() { [[ -e /dev/nvidia0 ]] || nvidia-smi -L >/dev/null 2>&1; }
say() { printf '\nassay: %s\n' "$*" >&2; }

scripts/build.sh
today=$(date +%Y-%m-%d)
if has_gpu; then
  say "measuring this GPU: the quick suite"
  build/assay run --suite quick --out "out/$today-quick"
  runs=("out/$today-quick")
else
  say "no NVIDIA GPU here: checking the machine code of every probe for every target"
  build/assay sass --check --all-targets --out out/offline
  say "measuring this CPU"
  build/assay run --suite host --out "out/$today-host"
  runs=(out/offline "out/$today-host")
  # The newest results of each purpose that are committed for the H200.
  mapfile -t committed < <(find results -path '*h200*/run.json' | sort -r |
    awk -F/ '{ purpose = $3; sub(/^[0-9-]*/, "", purpose) } !seen[$2, purpose]++')
  runs+=("${committed[@]}")
fi
build/assay report "${runs[@]}" --out out/report
say "the report: file://$PWD/out/report/index.html"
