# SPDX-License-Identifier: Apache-2.0
"""The command that measures a case again. Pure."""

from __future__ import annotations

from assay.files import Measurement

from ..book.model import SUSTAINED

# Options of `assay torch` by the parameter of a case, with the value that it has without being asked.
OPTIONS = {"type": "bf16", "layout": "nt", "epilogue": "none"}
OF_8_BITS = ("e4m3", "e5m2")


def command(m: Measurement) -> str:
    """As its file has it; else `assay torch` for what was measured beside torch, and `assay run` for all others."""
    if m.command:
        return m.command
    return _beside_torch(m) if "torch" in m.params else of_name(m.name)


def of_name(name: str) -> str:
    return f"assay run '^{name}$'"


def _beside_torch(m: Measurement) -> str:
    """Of products, groups of them and packed weights, whose files name what was asked for in their parameters."""
    operation, kind, shape = m.name.split("/")[1:4]
    words = ["assay torch"]
    if operation == "gemv":
        words.append(f"--weights {kind}")
    elif "groups" not in m.params:
        asked = {key: str(m.params.get(key, usual)) for key, usual in OPTIONS.items()}
        words += [f"--{key} {value}" for key, value in asked.items() if value != OPTIONS[key]]
        of_a = asked["type"]
        usual = {"type_b": of_a, "type_d": "bf16" if of_a in OF_8_BITS else of_a, "scaling": "tensor"}
        given = {key: m.params.get(key) for key in usual}
        words += [
            f"--{key.replace('_', '-')} {value}" for key, value in given.items() if value not in (None, "none", usual[key])
        ]
        words += ["--compile"] if any("compile" in baseline.name for baseline in m.baselines) else []
    words.append(shape)
    return " ".join([*words, *(["--sustained"] if m.name.endswith(SUSTAINED) else [])])
