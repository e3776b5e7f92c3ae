# SPDX-License-Identifier: Apache-2.0
"""Units by what is counted: operations on integers and single bits are OP, only those on floating point are FLOP. Pure.

Names of metrics keep "flop" and "tflops", on which readers of files rely; what a page shows does not.
"""

from __future__ import annotations

import re
from dataclasses import replace

from assay.files import Measurement

INTEGER = re.compile(r"(?:^|[/_])(?:[su](?:4|8)|b1)(?=[/_]|$)")
# There the weights alone are integers; they are multiplied as bf16.
WEIGHTS_ALONE = "kernels/gemv/"
UNITS = {"FLOP/clk/SM": "OP/clk/SM", "TFLOP/s": "TOP/s", "pJ/FLOP": "pJ/OP"}


def is_integer(name: str) -> bool:
    """Whether the products of a case, or of a type, are of integers or bits."""
    return bool(INTEGER.search(name)) and not name.startswith(WEIGHTS_ALONE)


def unit(name: str, of_file: str) -> str:
    """The unit of a figure of this case, or type, as a page shows it."""
    return UNITS.get(of_file, of_file) if is_integer(name) else of_file


def shown(m: Measurement) -> Measurement:
    """The measurement with the units that pages show."""
    if not is_integer(m.name):
        return m
    metrics = {key: replace(metric, unit=unit(m.name, metric.unit)) for key, metric in m.metrics.items()}
    return replace(m, metrics=metrics, series=[replace(s, unit=unit(m.name, s.unit)) for s in m.series])
