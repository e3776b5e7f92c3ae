# SPDX-License-Identifier: Apache-2.0
"""Prints one line that sums the JUnit files named: `N passed, N failed, N skipped`."""

import os
import sys
import xml.etree.ElementTree as ElementTree


def count(path: str) -> tuple[int, int, int]:
    """(passed, failed, skipped) of one JUnit file, counted case by case.

    GoogleTest marks a disabled case by its `status` alone. A file that was not written counts as failed.
    """
    if not os.path.exists(path):
        return 0, 1, 0
    failed = skipped = total = 0
    for case in ElementTree.parse(path).iter("testcase"):
        total += 1
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
            skipped += 1
    return total - failed - skipped, failed, skipped


def main(paths: list[str]) -> int:
    passed, failed, skipped = map(sum, zip(*map(count, paths)))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
