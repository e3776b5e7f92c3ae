# SPDX-License-Identifier: Apache-2.0
"""Two builds in turns on one GPU: `side` runs a process of one, `campaign` takes turns, `command` is `assay-ab`."""
