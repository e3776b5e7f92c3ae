#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves quickstart.sh and test.sh in a clean Debian 12, each run twice, and prints what they took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# > 1)) || [[ ${1:-} == -* ]]; then
  cat <<'EOF'
usage: scripts/check_fresh_machine.sh [FOLDER]
Makes a minimal Debian 12 in FOLDER (default: a new one under /tmp, removed again afterwards), puts
a clone of this checkout's HEAD into it and runs the two commands there. Needs root, the package
debootstrap and about 8 GB. This machine's package index, proxies and certificates go along.
EOF
  [[ ${1:-} == -h || ${1:-} == --help ]] && exit
  exit 2
fi
say() { printf 'assay: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
((EUID == 0)) || fail "making a Debian root needs root"
command -v debootstrap >/dev/null || fail "debootstrap is missing; run  apt-get install debootstrap"

root=${1:-$(mktemp -d /tmp/assay-fresh.XXXXXX)}
leave() {
  for mounted in proc dev/shm dev/pts dev; do
    if mountpoint -q "$root/$mounted"; then umount "$root/$mounted"; fi
  done
  if [[ -z ${1:-} ]]; then rm -rf --one-file-system "$root"; fi
}
trap 'leave "${1:-}"' EXIT

say "making a Debian 12 in $root"
debootstrap --variant=minbase --include=ca-certificates bookworm "$root" >/dev/null
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
git clone -q --no-local . "$root/root/assay"

mapfile -t environment < <(env | grep -E '^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|CERT)|[a-z]+_proxy)=' || true)
enter() {
  chroot "$root" env -i "${environment[@]}" HOME=/root LC_ALL=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
summary=()
for command in quickstart.sh test.sh quickstart.sh test.sh; do
  start=$SECONDS
  enter /root/assay/scripts/$command </dev/null || fail "$command failed in the fresh machine"
  summary+=("$command: $((SECONDS - start)) s")
done
printf '%s\n' "${summary[@]}"
