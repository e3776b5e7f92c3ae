# SPDX-License-Identifier: Apache-2.0
"""Small valid runs for tests."""

import copy
import json

SHA = "0123456789abcdef" * 4


def measurement(
    name="memory/hbm/copy",
    value=100.0,
    *,
    metric="time_us",
    unit="us",
    better="lower",
    domain="dram",
    half=0.001,
    **fields,
):
    """One ok measurement; its interval is `half` (a fraction) to either side."""
    conditions = {"clock_domain": domain, "throttle": [], **fields.pop("conditions", {})}
    ci95 = [value * (1 - half), value * (1 + half)]
    return {
        "name": name,
        "kind": "probe",
        "primary": metric,
        "params": {},
        "repetition": 0,
        "metrics": {metric: {"unit": unit, "value": value, "ci95": ci95, "better": better}},
        "conditions": conditions,
        **fields,
    }


def run(*measurements, **environment):
    """A whole document."""
    gpu = {"name": "NVIDIA H200", "architecture": "sm_90", "sm_count": 132, "id": "0123456789abcdef"}
    return {
        "schema": "assay.run/1",
        "environment": {
            "gpu": gpu,
            "driver": "580.65.06",
            "cuda": "13.0",
            "host": {"cpu": "x86"},
            "assay": {"version": "0.1.0"},
            **environment,
        },
        "measurements": copy.deepcopy(list(measurements)),
    }


def write(path, document):
    path.write_text(json.dumps(document))
    return path
