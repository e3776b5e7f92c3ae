# SPDX-License-Identifier: Apache-2.0
"""Question 19: on which SM a CTA runs, which SMs are of one GPC, what clusters leave idle, and what waves cost."""

from __future__ import annotations

from . import anything, cells, text
from .blocks import Block, Cell, Table, of_column, who
from .findings import Part, lines
from .model import Book, Column
from .svg import Figure

PREFIX = "placement/"
DRAWN = ("gpc_map", "clusters")


def block(book: Book) -> Block:
    found = Block(19, "assay run '^placement/'")
    found.findings += lines(book, "found", lambda c: anything.said(book, c, PREFIX))
    found.findings += lines(book, "GPCs", lambda c: gpcs(book, c))
    found.findings += lines(book, "clusters", lambda c: idle(book, c))
    for column in book.columns[:4]:
        found.draw(gpc_map(book, column))
        found.tabulate(clusters(book, column))
        anything.add(book, column, PREFIX, found, DRAWN)
    return found


def gpcs(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, f"{PREFIX}gpc_map")
    if m is None or (count := m.value("gpcs")) is None:
        return []
    said = f"{count:g}"
    least, most = m.value("sms_in_smallest_gpc"), m.value("sms_in_largest_gpc")
    if least is not None and most is not None:
        said += f" of {least:g} to {most:g} SMs" if least != most else f" of {least:g} SMs"
    found = [(said, column.anchor(m.name))]
    if (alike := m.value("sms_mapped_alike_twice")) is not None:
        found.append((f"{text.percent(alike)} of the SMs mapped alike twice", column.anchor(m.name)))
    return found


def idle(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, f"{PREFIX}clusters")
    series = m.series_named("sms_idle") if m else None
    return [
        (f"of {size:g} CTAs leave {value:g} SMs idle", column.anchor(m.name))
        for size, value in (series.curve if series else [])
    ]


def gpc_map(book: Book, column: Column) -> Figure | None:
    """A row for each GPC, in it the numbers of its SMs."""
    m = book.measurement(column, f"{PREFIX}gpc_map")
    series = m.series_named("gpc") if m else None
    if series is None or not series.curve:
        return None
    members: dict[int, list[int]] = {}
    for sm, gpc in series.curve:
        members.setdefault(int(gpc), []).append(int(sm))
    order = sorted(members)
    widest = max(len(sms) for sms in members.values())

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        sms = members[order[y]]
        return (str(sms[x]), f"s{y % 6 + 1}", 0.25, f"SM {sms[x]} is of GPC {order[y]}") if x < len(sms) else None

    sizes = ", ".join(f"GPC {g} {len(members[g])}" for g in order)
    return cells.grid(
        f"gpc-map{column.index}",
        f"Which SMs are of one GPC{who(book, column)}",
        f"SMs of each GPC: {sizes}.",
        [f"GPC {g}, {len(members[g])} SMs" for g in order],
        [""] * widest,
        cell,
        "Numbers are %smid. SMs whose CTAs were seen in one cluster are of one GPC; the GPCs' order is ours.",
        size=(26, 18),
        left=82,
        slanted=False,
    )


def clusters(book: Book, column: Column) -> Table | None:
    """What the driver promises of clusters, what runs at once, and what stays idle, by the size of the cluster."""
    rows: dict[str, list[Cell]] = {}
    head: list[str] = []
    for name, m in of_column(book, column, PREFIX):
        if name.split("/")[0] != "clusters":
            continue
        head = ["CTAs of a cluster"]
        for series in (s for s in m.series if len(s.axes) == 1):
            head.append(text.words(series.name))
            for size, value in series.curve:
                rows.setdefault(f"{size:g}", [Cell(f"{size:g}", column.anchor(m.name))]).append(
                    Cell(text.number(value))
                )
    whole = [row for row in rows.values() if len(row) == len(head)]
    return Table(f"Clusters at once, one CTA per SM{who(book, column)}", head, whole) if whole else None
