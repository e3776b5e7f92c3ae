# SPDX-License-Identifier: Apache-2.0
"""Did anything get slower? `compare` decides, `present` shows, `command` is `assay-gate`."""

from assay.gate.command import main

__all__ = ["main"]
