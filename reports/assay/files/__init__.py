# SPDX-License-Identifier: Apache-2.0
"""Result files of schema `assay.run/1`: read, check, save; and what `assay isa` and `assay sass` print as JSON.

`load` accepts a run file, a journal, or a folder that holds one of them. Everything that can be wrong with a file is a
`RunFileError` of one line: which file, which field, what is wrong and how to mend it. The format itself is described in
`schema/assay.run-1.schema.json`. `history` keeps figures of many runs, for the gate and for a page.
"""

from .document import document_of
from .errors import NotWritten, RunFileError
from .run_check import SCHEMA, SCHEMA_PATH, validate
from .run_file import Axis, Baseline, Estimate, Interval, Measurement, Metric, Run, Series
from .storage import load, locate, save

__all__ = [
    "SCHEMA",
    "SCHEMA_PATH",
    "Axis",
    "Baseline",
    "Estimate",
    "Interval",
    "Measurement",
    "Metric",
    "NotWritten",
    "Run",
    "RunFileError",
    "Series",
    "document_of",
    "load",
    "locate",
    "save",
    "validate",
]
