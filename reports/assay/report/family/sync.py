# SPDX-License-Identifier: Apache-2.0
"""Question 20: cycles of every barrier and fence by who takes part, and what setmaxnreg costs."""

from __future__ import annotations

import re

from assay.files import Measurement

from ..answer.findings import Part, lines
from ..block.declaration import Family
from ..block.kinds import EMPTY, Block, Cell, Evidence, Table
from ..block.tables import metric_table, of_column, who
from ..book import labels, text
from ..book.model import Book, Column
from ..draw import curves
from ..draw.curves import Axis, Line
from ..draw.svg import Figure

PREFIX, LATENCY = "sync/", "latency_cycles"
# By who takes part, kinds by the beginnings of names.
GROUPS = {
    "A warp": {"syncwarp": "__syncwarp"},
    "A CTA": {
        "syncthreads": "__syncthreads",
        "named_barrier/sync": "named barrier, its number in a register",
        "named_barrier/hand_over": "named barrier, handed over",
        "setmaxnreg": "setmaxnreg, down and up",
    },
    "mbarriers": {
        "mbarrier/arrive_wait": "mbarrier, arrive and wait",
        "mbarrier": "mbarrier",
        "mbarrier_remote": "mbarrier of another CTA",
    },
    "Clusters and grids": {"cluster": "barrier of a cluster", "grid": "barrier of the grid"},
    "Fences": {"fence": "fence", "fence_parts": "a fence at GPU scope and its parts"},
}
KINDS = {kind: words for kinds in GROUPS.values() for kind, words in kinds.items()}
CONSTANT = ("named_barrier/sync", "latency_cycles_of_constant_barrier", "named barrier, its number a constant")
COUNTED = {"syncwarp": "lane", "cluster": "CTA", "setmaxnreg": "warpgroup"}  # what cases are numbered by; else threads
ORDERS = {"acq rel": "acquire-release", "sc": "sequentially consistent"}
SCOPES = {"cta": "a CTA", "cluster": "a cluster", "gpu": "the GPU", "sys": "the system"}
SAID = {
    ("syncwarp", "whole"): "where no lane has left the others",
    ("syncwarp", "masked"): "lanes of a mask, known at run time",
    ("mbarrier", "arrive"): "arriving alone",
    ("mbarrier", "test wait"): "asking whether a phase has ended (test_wait)",
    ("mbarrier", "try wait"): "asking whether a phase has ended (try_wait)",
    ("mbarrier", "expect tx"): "one thread expects bytes, gets them and waits",
    ("mbarrier", "warp arrive wait"): "one lane of each warp arrives, all wait",
    ("mbarrier", "arrive spin"): "all arrive, and ask until the phase has ended",
    ("mbarrier", "hand over"): "two groups take turns, as a producer and a consumer do",
    **{
        ("mbarrier_remote", f"{form}{end}"): f"{words}{said}"
        for form, words in (("hand over", "one way"), ("all to all", "all CTAs of the cluster wait for each other"))
        for end, said in (("", ""), (" ordered", ", with release and acquire"))
    },
    ("grid", "clusters"): "by clusters",
    ("grid", "cooperative"): "by cooperative groups",
    ("grid", "counter"): "by a counter",
    ("setmaxnreg", "wait"): "from another's release to having its registers",
    **{
        ("fence", f"{order} {scope}"): f"{words}, scope of {of}"
        for order, words in ORDERS.items()
        for scope, of in SCOPES.items()
    },
    **{
        ("fence", f"proxy async {space}"): f"generic and async proxy, {space} memory"
        for space in ("all", "global", "shared")
    },
    ("cluster", "release acquire"): "release and acquire",
    **{("fence_parts", order): words for order, words in ORDERS.items()},
    ("fence_parts", "release"): "the waiting alone (MEMBAR)",
    ("fence_parts", "acquire"): "emptying L1 alone (CCTL.IVALL)",
}
BY_PLACE = ("fence", "fence_parts")  # what leaves the SM takes as long as the SM is far
SAME = 0.01
OVER_THREADS = ("syncthreads", "named_barrier/sync", "named_barrier/hand_over", "mbarrier/arrive_wait")


def evidence(book: Book) -> list[Block]:
    found = Evidence(20, "assay run '^sync/'")
    found.tabulate(overview(book))
    for kind, words in KINDS.items():
        found.findings += lines(book, words, lambda c, k=kind: ends(book, c, k))
    for column in book.columns[:4]:
        found.draw(over_threads(book, column))
        for kind, name, axis in SWEEPS:
            found.draw(sweep(book, column, kind, name, axis))
        for kind in KINDS:
            found.tabulate(table(book, column, kind))
    return [found]


def kind_of(name: str) -> str:
    """The longest of KINDS that the name begins with."""
    fitting = [kind for kind in KINDS if name == kind or name.startswith(f"{kind}/")]
    return max(fitting, key=len, default="")


def _cases(book: Book, column: Column, kind: str) -> list[tuple[str, Measurement]]:
    return [
        (name.removeprefix(kind).strip("/") or kind, m)
        for name, m in of_column(book, column, PREFIX)
        if kind_of(name) == kind and "latency_cycles" in m.metrics
    ]


def _first_and_last(book: Book, column: Column, kind: str) -> dict[str, list[tuple[str, Measurement]]]:
    """The cases of a kind; of those with a number at the end of their name the first and the last."""
    groups: dict[str, list[tuple[str, Measurement]]] = {}
    for name, m in sorted(_cases(book, column, kind), key=lambda case: _number(case[0])):
        stem, of = _worded(kind, name)
        groups.setdefault(stem, []).append((of, m))
    return {stem: cases[:1] if len(cases) == 1 else [cases[0], cases[-1]] for stem, cases in groups.items()}


def ends(book: Book, column: Column, kind: str) -> list[Part]:
    """Cycles of the cases of a kind, each in words."""
    found = []
    for stem, cases in _first_and_last(book, column, kind).items():
        for of, m in cases:
            label = stem if m is cases[0][1] else ""
            cycles = f"{text.number(round(m.metrics['latency_cycles'].value, 1))} cycles"
            if kind in BY_PLACE:
                cycles += _over_sms(m)
            found.append((" ".join(part for part in (label, of, cycles) if part), column.anchor(m.name)))
    return found[:12]


def _over_sms(m: Measurement) -> str:
    """How far SMs are apart: nothing where the figure is not of all of them."""
    spread = m.metrics["latency_cycles"].spread
    if not spread:
        return ""
    least, most = spread["min"], spread["max"]
    if most - least <= SAME * least:
        return " on every SM"
    return f" ({text.number(round(least))} to {text.number(round(most))}, by SM)"


def overview(book: Book) -> Table | None:
    """Every kind, with the fewest and the most that take part, a column of cycles for each run."""
    rows: list[list[Cell]] = []
    groups: dict[int, str] = {}
    for heading, kinds in GROUPS.items():
        if found := _rows(book, kinds):
            groups[len(rows)] = heading
            rows += found
    head = ["Barrier or fence", *(f"{c.tag} cycles".strip() for c in book.columns)]
    caption = "Barriers and fences, with the fewest and the most that take part"
    return Table(caption, head, rows, groups=groups) if rows else None


def _rows(book: Book, kinds: dict[str, str]) -> list[list[Cell]]:
    rows: dict[str, list[Cell]] = {}
    for kind, words in kinds.items():
        for metric, said in ((LATENCY, words), *([CONSTANT[1:]] if kind == CONSTANT[0] else [])):
            for column in book.columns:
                for stem, cases in _first_and_last(book, column, kind).items():
                    for of, m in cases:
                        if (cycles := m.value(metric)) is None:
                            continue
                        label = ", ".join([said, *(part for part in (stem, of) if part and part not in (words, kind))])
                        cells = rows.setdefault(label, [Cell(label), *([EMPTY] * len(book.columns))])
                        cells[1 + column.index] = Cell(text.number(round(cycles, 1)), column.anchor(m.name))
    return list(rows.values())


def _number(case: str) -> int:
    """What a case's name ends with, or 0."""
    return int(re.search(r"(\d*)$", case)[1] or 0)


def _worded(kind: str, case: str) -> tuple[str, str]:
    """ "relaxed/16" of a cluster: "relaxed", "16 CTAs"."""
    of = text.counted(_number(case), COUNTED.get(kind, "thread")) if _number(case) else ""
    stem = re.sub("[/_]", " ", re.sub(r"/?\d+$", "", case))
    return SAID.get((kind, stem), stem), of


# --- figures ---------------------------------------------------------------------------------------------------------


def over_threads(book: Book, column: Column) -> Figure | None:
    """Cycles over the threads of a CTA that take part, a line for each kind of barrier."""
    drawn = []
    for kind in OVER_THREADS:
        points = sorted(
            (float(m.params.get("threads", 0)), m.metrics["latency_cycles"].value)
            for _, m in _cases(book, column, kind)
        )
        drawn.append(Line(KINDS[kind], [p for p in points if p[0] > 0]))
    return curves.draw(
        f"barriers{column.index}",
        f"Barriers of a CTA over the threads that meet{who(book, column)}",
        drawn,
        Axis("threads", 2),
        Axis("cycles"),
        note="From one barrier to the next, nothing else between them.",
    )


TITLES = {
    "cluster": "Barriers of a cluster",
    "grid": "Barriers of a grid",
    "syncwarp": "__syncwarp",
    "named_barrier/sync": "Named barriers",
}
SWEEPS = (
    ("cluster", "latency_cycles_by_threads", Axis("threads of a CTA", 2)),
    ("grid", "latency_cycles_by_ctas", Axis("CTAs", 2)),
    ("syncwarp", "latency_cycles_by_warps", Axis("warps", 2)),
    ("named_barrier/sync", "latency_cycles_by_groups", Axis("groups, each with a barrier of its own", 2)),
)


def sweep(book: Book, column: Column, kind: str, name: str, axis: Axis) -> Figure | None:
    """A series that the cases of a kind share: a line for each of them."""
    drawn = []
    for case, m in _cases(book, column, kind):
        stem, of = _worded(kind, case)
        drawn += curves.lines_of(m.series_named(name), ", ".join(part for part in (stem, of) if part))
    return curves.draw(
        f"sync-{text.slug(kind)}{column.index}",
        f"{TITLES[kind]} over {axis.label}{who(book, column)}",
        drawn,
        axis,
        Axis("cycles"),
    )


def table(book: Book, column: Column, kind: str) -> Table | None:
    """All cases of a kind with what they have beside their latency."""
    rows = [(" ".join(w for w in _worded(kind, name) if w), m) for name, m in _cases(book, column, kind)]
    metrics = {"latency_cycles": "cycles", "latency_ns": "ns"}
    for _, m in rows:
        for key in m.metrics:
            if key.startswith("latency_cycles_") and len(metrics) < 8:
                metrics[key] = labels.words(key.removeprefix("latency_cycles_"))
    return metric_table(
        f"{KINDS[kind]}{who(book, column)}", column, rows, metrics, "Case", lambda v: text.number(round(v, 1))
    )


FAMILY = Family(
    "sync",
    "Barriers and synchronization",
    "Cycles per barrier, from a warp to the grid.",
    blocks=(evidence,),
)
