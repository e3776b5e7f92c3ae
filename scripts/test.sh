#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs every test: GoogleTest, pytest, and the fuzzers. The last line counts them all; the
# exit status is 0 only if none failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh
rm -rf build/gtest build/pytest.xml build/pytest_quiet.xml build-fuzz/fuzz.xml
failed=0
# GoogleTest in parts, as many at a time as there are cores. ctest starts the program for each test: that is
# a minute more, and what one test prepared is not kept for the next. Results of a part that dies are missing
# below, and that counts as a failure.
readonly parts=16
seq 0 $((parts - 1)) | (cd build && xargs --max-procs="$(nproc)" -I{} env GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX={} \
  ./assay_tests --gtest_brief=1 --gtest_output=xml:gtest/{}.xml) || failed=1
mapfile -t of_parts < <(seq -f 'build/gtest/%g.xml' 0 $((parts - 1)))
# Compiled Python is kept, outside of the tree: tests start the program hundreds of times, and without it a
# start takes half as long again.
export PYTHONDONTWRITEBYTECODE='' PYTHONPYCACHEPREFIX=$PWD/build/pycache
python_tests=(.venv/bin/python -m pytest -q --rootdir=.)
"${python_tests[@]}" harness reports kernels scripts -m 'not quiet' --durations=5 --numprocesses "$(nproc)" --dist worksteal \
  --junitxml build/pytest.xml || failed=1
# Each reader of what comes from outside, for twenty seconds.
scripts/fuzz.sh 20 || failed=1
# Those that measure time, with nothing beside them: two threads of a core slow each other down.
mapfile -t with_quiet < <(grep -rl --include='test_*.py' 'pytest.mark.quiet' harness reports kernels scripts)
"${python_tests[@]}" "${with_quiet[@]}" -m quiet --junitxml build/pytest_quiet.xml || failed=1
.venv/bin/python scripts/count_tests.py "${of_parts[@]}" build/pytest.xml build/pytest_quiet.xml build-fuzz/fuzz.xml ||
  failed=1
exit $failed
