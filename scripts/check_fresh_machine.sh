#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves quickstart.sh and test.sh on a clean machine, each run twice, and prints what they took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'EOF'
usage: scripts/check_fresh_machine.sh [debian|ubuntu]
Makes a minimal Debian 12 (or Ubuntu 24.04) under $TMPDIR or /tmp, puts a clone of this checkout's
HEAD into it, runs the two commands there twice and removes it all again. Needs root, the package
debootstrap and about 8 GB. This machine's package index, proxies and certificates go along.
EOF
}
say() { printf 'assay: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

distribution=${1:-debian}
case $distribution in
  debian) options=() source=(bookworm) ;;
  # Debian has neither Ubuntu's keys nor its releases' names; all of them are made like gutsy.
  ubuntu)
    options=(--no-check-gpg "--components=main,universe")
    source=(noble http://archive.ubuntu.com/ubuntu gutsy)
    ;;
  -h | --help) usage; exit ;;
  *) usage >&2; exit 2 ;;
esac
((EUID == 0)) || fail "making a clean root folder needs root"
command -v debootstrap >/dev/null || fail "debootstrap is missing; run  apt-get install debootstrap"

# In a mount namespace of its own, whose mounts end with this process however it ends: a bound /dev
# left behind would be emptied by whoever removes the folder.
[[ -n ${ASSAY_OWN_MOUNTS-} ]] || ASSAY_OWN_MOUNTS=1 exec unshare --mount "$BASH" "scripts/${0##*/}" "$@"

root=$(mktemp -d "${TMPDIR:-/tmp}/assay-fresh.XXXXXX")
chmod 755 "$root"  # as any machine's root folder
leave() {
  for mounted in proc dev/shm dev/pts dev; do
    if mountpoint -q "$root/$mounted"; then umount "$root/$mounted"; fi
  done
  rm -rf --one-file-system "$root"
}
trap leave EXIT

say "making a clean $distribution in $root"
debootstrap --variant=minbase --include=ca-certificates "${options[@]}" \
  "${source[0]}" "$root" "${source[@]:1}" >/dev/null
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
git clone -q --no-local . "$root/opt/assay"

mapfile -t environment < <(env |
  grep -E '^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|CERT)|[a-z]+_proxy)=' || true)
enter() {
  chroot "$root" env -i "${environment[@]}" HOME=/opt LC_ALL=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
summary=()
for command in quickstart.sh test.sh quickstart.sh test.sh; do
  start=$SECONDS
  enter /opt/assay/scripts/$command </dev/null || fail "$command failed on the clean machine"
  summary+=("$command: $((SECONDS - start)) s")
done
printf '%s\n' "${summary[@]}"
