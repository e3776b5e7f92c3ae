# SPDX-License-Identifier: Apache-2.0
"""What surprised, found by rule: figures far from their limit, from what others published, and from siblings. Pure.

A rule needs no list of cases: it compares every figure with what the page has to compare it with.
"""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..book import identity, labels, text
from ..book.deviation import NOTABLE, TIMED_LOADS, reason
from ..book.instructions import OTHERS
from ..book.model import STATES, SUSTAINED, Book, Column, Number, Published, Row, name_in, of_state
from ..book.published import comparable, short_title

SHOWN = 3  # of each rule
LOW, HIGH = 0.05, 0.8  # shares of a limit that surprise: below the first a case measures something else
# Bounds of what is possible at all, of any case of an SM, which no case is meant to reach.
OF_ANY_CASE = re.compile(r"\d+ warps of \d+ lanes|(\d+ SMs, .*: )?a line, or \d+ banks")


@dataclass
class Surprise:
    said: str
    anchor: str
    size: float  # what ranks it


def surprises(book: Book, column: Column, siblings: Sequence[Sibling] = ()) -> list[Surprise]:
    """Those of all rules, in the order of the rules; `siblings` are beside those of the book."""
    known = [*siblings_in(book, column), *siblings]
    of_rules = far_from_limits(book, column), unlike_published(book, column), unlike_siblings(book, column, known)
    return [surprise for found in of_rules for surprise in sorted(found, key=lambda s: -s.size)[:SHOWN]]


def far_from_limits(book: Book, column: Column) -> list[Surprise]:
    """Groups of cases of which not even the best comes near the limit that all of them have. A sweep of another probe, of
    all sizes, counts among the cases of a group that it names."""
    best: dict[tuple[str, str, bool], dict[str, tuple[Row, Number]]] = {}
    for row, n in _figures(book, column):
        if not row.primary or n.share is None or row.name.endswith(SUSTAINED) or OTHERS.match(row.name):
            continue
        kind = row.name.split("/")[2] if row.family == "tensor_core" and row.name.count("/") > 1 else ""
        # No kernel here multiplies bits, and operands of two types are as fast as of one.
        if kind == "b1" or re.search("[0-9]_[a-z]", kind) or OF_ANY_CASE.search(n.limit_source or ""):
            continue
        of_group = best.setdefault((row.group, n.limit_source or "", "emulated" in n.flags), {})
        if kind not in of_group or n.share > of_group[kind][1].share:
            of_group[kind] = (row, n)
    found = []
    for (group, source, emulated), by_kind in best.items():
        by_kind = {kind: _best_of_sweeps(book, column, *entry) for kind, entry in by_kind.items()}
        far = {kind: entry for kind, entry in by_kind.items() if LOW <= entry[1].share < HIGH}
        if far:
            row, n = min(far.values(), key=lambda entry: entry[1].share)
            found.append(Surprise(_of_limit(book, column, group, source, emulated, far), n.anchor, -math.log(n.share)))
    return found


def _best_of_sweeps(book: Book, column: Column, row: Row, n: Number) -> tuple[Row, Number]:
    """The case, or what does better of the metrics that name its probe, as best_gb_per_s_tensor_1d does, where their case
    has the same limit."""
    probe = row.group.partition("/")[2]
    i, source = column.index, n.limit_source
    ends = f"_{probe}"  # asked first: of thousands of rows nearly none
    sweeps = [r for r in book.rows if r.metric.endswith(ends) and r.family == row.family and r.unit == row.unit]
    if not probe or not sweeps:
        return row, n
    limited = {r.name for r in book.rows if r.primary and r.numbers[i] and r.numbers[i].limit_source == source}
    best = row, n
    for sweep in sweeps:
        found = sweep.numbers[i] if sweep.name in limited else None
        if found and found.value > best[1].value:
            best = sweep, replace(found, limit=n.limit, limit_source=source)
    return best


MEMORIES = ("shared", "constant", "texture")  # which are called so only with that word
# What limits are called, by a part of what their file says of them.
LIMITS = {
    "dense peak": "the tensor cores' dense peak",
    "sparse peak": "the tensor cores' sparse peak",
    "at the highest SM clock": "the peak at the highest SM clock",
    "memory clock x bus width": "the peak of memory",
    "port to L2": "what an SM's port to L2 takes",
    "PCIe link": "the PCIe link",
}


def _of_limit(
    book: Book, column: Column, group: str, source: str, emulated: bool, far: dict[str, tuple[Row, Number]]
) -> str:
    family, probe = group.split("/")[0], group.partition("/")[2]
    what = labels.subject_of(group) if family not in ("tensor_core", "kernels") else ""
    what = what or labels.words(probe if family in ("tensor_core", "kernels", "memory") else group.replace("/", "_"))
    what += " memory" if probe in MEMORIES and family == "memory" else ""
    what = what.upper() if what == "gemm" else what
    # Of a limit at the highest clock the file also says how its peak is known: the last phrase that fits is the nearest.
    limit = next((words for part, words in reversed(LIMITS.items()) if part in source), "its limit")
    shares = sorted(n.share for _, n in far.values())
    low, high = text.percent(shares[0]), text.percent(shares[-1])
    reach = low if low == high else f"{low} to {high}"
    kinds = [kind for kind in far if kind]
    row, _ = next(iter(far.values()))
    cases = _listed(kinds) if kinds else labels.words(row.case)
    cases = "" if cases in ("bandwidth", "latency", "read") else cases  # which says nothing of which case
    m = book.measurement(column, row.name)
    each = m.params.get("copy_bytes") if m else None
    of = ", ".join(filter(None, [cases, f"{text.size(each)} each" if type(each) is int else ""]))
    of = f" ({of})" if of else ""
    return f"At best, {'emulated ' if emulated else ''}{what} reaches {reach} of {limit}{of}."


def _listed(kinds: list[str], most: int = 5) -> str:
    more = f" and {len(kinds) - most} more types" if len(kinds) > most else ""
    return ", ".join(labels.words(kind) for kind in kinds[:most]) + more


def _figures(book: Book, column: Column) -> Iterator[tuple[Row, Number]]:
    """Those of the GPU: a host may be any machine."""
    for row in book.rows:
        n = row.numbers[column.index]
        if n and row.family != "host":
            yield row, n


def unlike_published(book: Book, column: Column) -> list[Surprise]:
    """Of each probe the figure that is furthest from what others found, with no reason that holds; but for loads timed
    alone, which by what their probe says of itself show no latency."""
    widest: dict[str, tuple[float, Row, Number, Published]] = {}
    for row, n in _figures(book, column):
        for p in [] if row.name.startswith(TIMED_LOADS) else row.published:
            if n.value <= 0 or p.unit != row.unit or p.datasheet or p.value <= 0 or not comparable(p, column):
                continue
            apart = abs(math.log(n.value / p.value))
            if apart <= math.log1p(NOTABLE) or reason(book, column, row, n, p):
                continue
            if apart > widest.get(row.group, (0.0,))[0]:
                widest[row.group] = (apart, row, n, p)
    return [Surprise(_of_published(row, n, p), n.anchor, apart) for apart, row, n, p in widest.values()]


def _of_published(row: Row, n: Number, p: Published) -> str:
    in_bytes = row.unit in ("B", "byte")
    ours, theirs = (text.size(v) if in_bytes else text.number(float(f"{v:.3g}")) for v in (n.value, p.value))
    unit = "" if in_bytes else f" {text.unit(row.unit)}"
    gpu = p.gpu.replace("NVIDIA ", "")
    return (
        f"This run found {ours}{unit} for “{labels.figure_words(row.name, row.metric)}”; {short_title(p.title)} found "
        f"{theirs} on the {gpu}, and no reason is known."
    )


Sibling = tuple[Book, Column]  # another GPU of the same name, in this book or in one of its own


def siblings_in(book: Book, column: Column) -> list[Sibling]:
    """The other columns of GPUs of this name."""
    name = identity.gpu_name(column.run)
    return [(book, c) for c in book.columns if c is not column and identity.gpu_name(c.run) == name]


def unlike_siblings(book: Book, column: Column, siblings: Sequence[Sibling]) -> list[Surprise]:
    """Of each probe the figure of this GPU that is furthest from the median of its siblings. What the host's clock took is
    the host's, and kernels of another commit are other kernels: neither says anything of the GPU."""
    found: dict[str, Surprise] = {}
    commit = identity.commit_of(column.run)
    alike = [(other, c) for other, c in siblings if identity.commit_of(c.run) == commit]
    for row, state in itertools.product(book.rows, STATES):
        own = of_state(row, column.index, state)
        if not row.primary or not own or not _is_sure(own) or _is_of_host(book, column, row, state):
            continue
        of_row = alike if row.family == "kernels" else siblings
        rows = ((other.row(row.name, row.metric), c) for other, c in of_row)
        numbers = [n for theirs, c in rows if theirs and (n := of_state(theirs, c.index, state)) and _is_sure(n)]
        middle = statistics.median(n.value for n in numbers) if numbers else 0
        apart = own.value / middle - 1 if middle else 0.0
        if abs(apart) > max(NOTABLE, found[row.group].size if row.group in found else 0):
            side = "above" if apart > 0 else "below"
            who = "another GPU" if len(numbers) == 1 else f"the median of {len(numbers)} other GPUs"
            words = labels.figure_words(row.name, row.metric)
            share = text.percent(abs(apart))
            said = f"{state[:1].upper()}{state[1:]}, “{words}” is {share} {side} {who} of this name."
            found[row.group] = Surprise(said, own.anchor, abs(apart))
    return list(found.values())


def _is_of_host(book: Book, column: Column, row: Row, state: str) -> bool:
    """Whether the figure is of the machine around the GPU, which may be any: of the CPU, or timed by its clock."""
    m = book.measurement(column, name_in(row, state))
    return row.family == "host" or (m is not None and m.conditions.get("clock_domain") == "host")


def _is_sure(n: Number) -> bool:
    """Whether the figure is not within its noise of nothing: a share of that says nothing."""
    return n.low is None or n.high is None or n.low > 0 or n.high < 0
