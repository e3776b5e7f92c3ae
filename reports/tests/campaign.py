# SPDX-License-Identifier: Apache-2.0
"""Mutated files by the thousand against one reader: python reports/tests/campaign.py gate --count 20000

Prints what came out, the slowest file and the most memory. Every file is known by its seed: `--seed N --count 1` makes
the one again that broke a reader. Exit status: 0 none did, 1 one did.
"""

import argparse
import collections
import random
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

import readers
from assay.report.page import guard

SLOWEST, LARGEST = 20.0, 1 << 30  # seconds for one file, bytes of this process


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=readers.READERS)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first file; each next has the next")
    parser.add_argument("--strict", action="store_true", help="what a page leaves out in words breaks it, too")
    options = parser.parse_args()
    if options.strict:
        guard.STRANGE = ()
    outcomes: collections.Counter = collections.Counter()
    broken: collections.Counter = collections.Counter()
    slowest = (0.0, 0)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            start = time.process_time()
            try:
                outcomes[readers.READERS[options.reader](random.Random(seed), Path(folder))] += 1
            except Exception as error:
                said = " ".join(str(error).split())[-220:]
                broken[said] += 1
                if broken[said] == 1:
                    print(f"seed {seed}: {type(error).__name__}: {said}", flush=True)
                    if not isinstance(error, readers.Broken):
                        traceback.print_exc()
            slowest = max(slowest, (time.process_time() - start, seed))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"{options.reader}: {options.count} files in {time.monotonic() - begin:.0f} s, {broken.total()} broke it; "
        f"slowest {slowest[0]:.2f} s of CPU time (seed {slowest[1]}), at most {peak / 2**20:.0f} MiB; "
        + ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    )
    return 1 if broken or slowest[0] > SLOWEST or peak > LARGEST else 0


if __name__ == "__main__":
    sys.exit(main())
