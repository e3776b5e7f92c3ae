# SPDX-License-Identifier: Apache-2.0
"""Did anything get slower? `compare` decides on two runs, `present` shows, `command` is `assay-gate`.

`ab` measures both sides in turns, `self_test` measures how often the gate is right.
"""

from assay.gate.command import main

__all__ = ["main"]
