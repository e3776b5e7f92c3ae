# SPDX-License-Identifier: Apache-2.0
"""Damage to JSON documents as disks, editors, other programs and malice do it. All choices come from one `Random`."""

import copy
import json
import marshal
import random
import re

# Of any type, each of which has broken a reader somewhere.
STRANGE = [
    *(None, True, False, 0, -1, 1, 0.0, -0.0, 1e-300, 5e-324, 1e300, 1.7e308, -1e300, 2**53, 2**63, 2**64, -(2**63)),
    *(10**30, float("nan"), float("inf"), "", " ", "0", "-1", "1e5", "x", "bf16", "power", "host", "baseline"),
    *("failed", [], {}, [[]], [None], [0], ["x"], {"": 0}, {"x": {}}, [1, "x", None], [0, 0, 0], [1e300, -1e300]),
]
NUMBERS = [0, 1, -1, 0.5, 2, 1e-12, 1e-300, 5e-324, 1e15, 1e300, 1.7e308, -1e300, 2**31, 2**53, 2**63 - 1, 2**64 - 1]
TEXTS = [
    *("page", "base", "index", "instructions", "isa", "built", "report", "blocks", "details", "answers", "..", "."),
    *("a+b", "a*b", "a b", "a/b", "../../x", "/etc/passwd", "x" * 900, "<script>alert(1)</script>", "{{ 7 * 7 }}"),
    *("javascript:alert(1)", "http://x/\"onload='y'", "$x^{", "$$", "\\frac", "a|b`c`[d](e)", "\n::error::x"),
    *("##[error]", "\x00", "\x1b[2J", "\u202e", "\ud800", "\U0001f980", "é", "\ufffe", "NaN", "1e999", "sm_90"),
    *("sm_", "%s%n", "''\""),
]


def _steps(value, path=()):
    """Paths to all that is in a document, the outermost left out."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _steps(item, (*path, key))


def _at(document, path):
    for step in path:
        document = document[step]
    return document


def _strange(rng, old):
    """Mostly of the type that was there, so that it gets past the schema."""
    if rng.random() < 0.2:
        return copy.deepcopy(rng.choice(STRANGE))
    if isinstance(old, bool):
        return not old
    if isinstance(old, (int, float)):
        return rng.choice([rng.choice(NUMBERS), -old, old * 10, old * 1e6, old / 1e6, 0, str(old)])
    if isinstance(old, str):
        return rng.choice([rng.choice(TEXTS), old + rng.choice(TEXTS), old[: len(old) // 2], old.upper()])
    if isinstance(old, list):
        numbers = all(item is None or isinstance(item, (int, float)) for item in old)
        fill = rng.choice([None, 0, 1, -1, 1e300, rng.choice(NUMBERS)]) if numbers else rng.choice(TEXTS)
        return rng.choice([[fill] * len(old), old[::-1], old[:1], [], old + old, [*old[:-1], fill]])
    return copy.deepcopy(rng.choice([{}, {**(old or {}), rng.choice(TEXTS): rng.choice(STRANGE)}, rng.choice(STRANGE)]))


def _change(rng, document):
    """One change in place of one value, list or name of a field."""
    paths = list(_steps(document))
    if not paths:
        return
    *where, key = rng.choice(paths)
    parent = _at(document, where)
    kind = rng.choice(["replace"] * 6 + ["drop", "rename", "double", "splice", "nest"])
    if kind == "drop":
        del parent[key]
    elif kind == "rename" and isinstance(parent, dict):
        value = parent.pop(key)
        parent[rng.choice([f"{key}x", str(key).upper(), rng.choice(TEXTS)])] = value
    elif kind == "double" and isinstance(parent, list):
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
    elif kind == "splice":
        parent[key] = copy.deepcopy(_at(document, rng.choice(paths)) if rng.random() < 0.8 else document)
    elif kind == "nest":
        for _ in range(rng.choice([1, 70])):
            parent[key] = [parent[key]]
    else:
        parent[key] = _strange(rng, parent[key])


def _shake(rng, document):
    """Another value with an interval that holds it, as a machine that is not at rest measures."""
    metrics = [
        metric
        for m in document.get("measurements", ())
        if isinstance(m, dict)
        for metric in m.get("metrics", {}).values()
        if "ci95" in metric
    ]
    if metrics:
        metric = rng.choice(metrics)
        low, high = metric["ci95"]
        factor, wider = rng.choice([0.5, 0.9, 0.99, 1, 1.01, 1.1, 2, 1e6, 1e-6]), rng.choice([1, 1, 1.1, 2, 1e300])
        metric.update(value=metric["value"] * factor, ci95=[low * factor / wider, high * factor * wider])


def _damage(rng, content):
    """Bytes of a file, damaged."""
    kind = rng.choice(["flip", "cut", "insert", "repeat", "double field", "digits"])
    at = rng.randrange(len(content) or 1)
    if kind == "flip":
        changed = bytearray(content)
        for _ in range(rng.choice([1, 2, 8])):
            if changed:
                changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if kind == "cut":
        return content[:at]
    if kind == "insert":
        return content[:at] + rng.choice([b"\0", b"\xff\xfe", b"[" * 5000, b",", b'"', b"NaN", b"1e999"]) + content[at:]
    if kind == "repeat":
        end = min(len(content), at + rng.choice([1, 20, 500]))
        return content[:end] + content[at:]
    fields = list(re.finditer(rb'("[^"]*": ?)("[^"]*"|[-\d.e+]+|null|true|\[[^][]*\])', content))
    if not fields:
        return content
    field = rng.choice(fields)
    if kind == "double field":
        value = rng.choice([field[2], b"0", b'"baseline"', b"null", b"[]"])
        return content[: field.start()] + field[1] + value + b", " + content[field.start() :]
    return content[: field.start(2)] + b"9" * rng.choice([20, 400, 5000]) + content[field.end(2) :]


def mutated(rng: random.Random, document) -> bytes:
    """The document with one to four changes, sometimes with damage to its bytes, as a file holds it."""
    changed = marshal.loads(marshal.dumps(document))  # a copy, in a tenth of the time that copy.deepcopy takes
    if rng.random() < 0.25:
        _shake(rng, changed)
        if rng.random() < 0.5:
            return json.dumps(changed).encode()
    damaged = rng.random() < 0.2
    for _ in range(0 if damaged and rng.random() < 0.5 else rng.choice([1, 1, 1, 1, 1, 1, 2, 3, 4])):
        _change(rng, changed)
        if not isinstance(changed, (dict, list)):
            break
    content = json.dumps(changed).encode()
    return _damage(rng, content) if damaged else content


def mutated_bytes(rng: random.Random, content: bytes) -> bytes:
    for _ in range(rng.choice([1, 1, 2, 4])):
        content = _damage(rng, content)
    return content
