#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# > 1)) || [[ ${1:-} == -* ]]; then
  cat <<'EOF'
usage: scripts/site.sh [FOLDER]
Makes a static site of results/ in FOLDER (out/site if none is given), to publish as it is, on GitHub Pages
or any server of files: an index of GPUs, measured and published; a report of each measured one; what differs
between each pair; the tables of instructions; what changed when; and a page of each measurement, whose
address stays. With a built assay also what exists on which target: a minute or two, the first time.
Results you add as results/<gpu>/<date>-<purpose>/run.json are in it the next time.
EOF
  [[ ${1:-} == -h || ${1:-} == --help ]] && exit
  exit 2
fi

if [[ ! -x .venv/bin/python ]]; then
  echo "scripts/site.sh: .venv/bin/python is missing; run scripts/setup.sh first" >&2
  exit 4
fi
isa=()
assay=${ASSAY_BUILD_DIR:-build}/assay
if [[ -x $assay ]]; then
  mkdir -p out
  if "$assay" isa --json >out/isa.json; then
    isa=(--isa out/isa.json)
  fi
fi
exec .venv/bin/python -m assay.report.collection results --out "${1:-out/site}" "${isa[@]}"
