# SPDX-License-Identifier: Apache-2.0
"""Question 19: on which SM a CTA runs, which SMs are of one GPC, what clusters leave idle, and what waves cost."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from assay.files import Measurement

from ..answer.findings import Part, lines
from ..block.declaration import Family
from ..block.every_series import add_every_series
from ..block.kinds import EMPTY, Block, Cell, Evidence, Table
from ..block.tables import of_column, sweep_table, who
from ..book import labels, text
from ..book.model import Book, Column
from ..draw import cells, curves
from ..draw.curves import Axis
from ..draw.svg import Figure

PREFIX = "placement/"
DRAWN = ("gpc_map", "clusters", "one_each", "order", "waves", "schedule")
SPOKEN = (2, 4, 8, 16)  # CTAs of a cluster in the sentence; the table has all
GRIDS = {
    "half": "SMs / 2",
    "sms_minus_1": "SMs − 1",
    "sms": "SMs",
    "sms_plus_1": "SMs + 1",
}
LAUNCHED = {"alone": "alone", "back_to_back": "back to back", "behind_running": "behind one that still runs"}
METHODS = {
    "one_cta_each": "a CTA each",
    "persistent": "persistent, dealt in turn",
    "counter": "persistent, from a counter",
    "counter_ahead": "persistent, from a counter asked ahead",
    "launch_control": "cluster launch control",
}


def evidence(book: Book) -> list[Block]:
    found = Evidence(19, "assay run '^placement/'")
    found.findings += lines(book, "as many CTAs as SMs", lambda c: one_each(book, c))
    found.findings += lines(book, "more CTAs than SMs", lambda c: doubled(book, c))
    found.findings += lines(book, "GPCs", lambda c: gpcs(book, c))
    found.findings += lines(book, "clusters", lambda c: idle(book, c))
    found.findings += lines(book, "one CTA more than a full wave", lambda c: tails(book, c))
    found.findings += lines(book, "giving out tiles", lambda c: schedules(book, c))
    found.findings += lines(book, "what full waves leave to wait for", lambda c: others(book, c))
    for column in book.columns[:4]:
        found.draw(gpc_map(book, column))
        for name, m in of_column(book, column, f"{PREFIX}order/"):
            found.draw(order(book, column, name, m))
        found.draw(waves(book, column, "time_us", "Time of so many CTAs of equal work", Axis("µs")))
        found.draw(waves(book, column, "efficiency", "Share of the SMs' time that is used", Axis("share")))
        for table in spread_tables(book, column):
            found.tabulate(table)
        found.tabulate(clusters(book, column))
        for name, m in of_column(book, column, f"{PREFIX}schedule/"):
            caption = f"Tiles of {labels.words(name)} cost: efficiency by how they are given out{who(book, column)}"
            found.tabulate(sweep_table(caption, column, m, "efficiency", "Way"))
        add_every_series(book, column, PREFIX, found, DRAWN)
    return [found]


def one_each(book: Book, column: Column) -> list[Part]:
    """What was found of each way to launch; ways with the same finding in one part."""
    ways: dict[str, list[str]] = {}
    anchors: dict[str, str] = {}
    for name, m in of_column(book, column, f"{PREFIX}one_each/"):
        if said := m.params.get("finding"):
            ways.setdefault(said, []).append(LAUNCHED.get(name, labels.words(name)))
            anchors.setdefault(said, column.anchor(m.name))
    return [(f"launched {' or '.join(names)}, {said}", anchors[said]) for said, names in ways.items()]


def doubled(book: Book, column: Column) -> list[Part]:
    """Which CTA of a grid of more is the first that does not get an SM of its own, by how many fit on one."""
    found = []
    for name, m in of_column(book, column, f"{PREFIX}order/"):
        series, first = m.series_named("sm"), m.value("first_doubled_cta")
        if series and first is not None:
            grid = len(series.axes[-1].points)
            fate = "waits for an SM" if name == "1" else "shares an SM"
            found.append(
                (
                    f"of {grid} with room for {name} on an SM, CTA {first:g} is the first that {fate}",
                    column.anchor(m.name),
                )
            )
    return found


def others(book: Book, column: Column) -> list[Part]:
    """What further cases found, in their own words, each once."""
    told = ("one_each", "order", "gpc_map", "schedule")
    gpc_map = book.measurement(column, f"{PREFIX}gpc_map")
    known, found = {gpc_map.params.get("finding") if gpc_map else None}, []
    for name, m in of_column(book, column, PREFIX):
        said = m.params.get("finding") or None
        if isinstance(said, str) and said not in known and name.split("/")[0] not in told:
            found.append((f"{labels.words(name.replace('/', '_'))}: {said}", column.anchor(m.name)))
            known.add(said)
    return found


def gpcs(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, f"{PREFIX}gpc_map")
    if m is None or (count := m.value("gpcs")) is None:
        return []
    said = f"{count:g}"
    least, most = m.value("sms_in_smallest_gpc"), m.value("sms_in_largest_gpc")
    if told := m.params.get("finding"):
        said = re.sub(r"^GPCs: ", "", told)
    elif least is not None and most is not None:
        said += f" of {least:g} to {most:g} SMs" if least != most else f" of {least:g} SMs"
    said += ". They are virtual: the groups of SMs within which clusters are placed, not what lies on the die"
    found = [(said, column.anchor(m.name))]
    if (alike := m.value("sms_mapped_alike_twice")) is not None:
        found.append((f"{text.percent(alike)} of the SMs mapped alike twice", column.anchor(m.name)))
    return found


def idle(book: Book, column: Column) -> list[Part]:
    m = book.measurement(column, f"{PREFIX}clusters")
    series = m.series_named("sms_idle") if m else None
    left = [(size, value) for size, value in (series.curve if series else []) if size in SPOKEN]
    return [
        (f"{'those ' if i == 0 else ''}of {size:g} CTAs leave {value:g} SMs idle", column.anchor(m.name))
        for i, (size, value) in enumerate(left)
    ]


def tails(book: Book, column: Column) -> list[Part]:
    return [
        (f"takes {ratio:.2f} × as long with {name} on an SM", column.anchor(m.name))
        for name, m in of_column(book, column, f"{PREFIX}waves/")
        if (ratio := m.value("one_cta_more_over_full_wave")) is not None
    ]


def schedules(book: Book, column: Column) -> list[Part]:
    """Of each kind of costs the best way and what the plain grid reaches."""
    found = []
    for name, m in of_column(book, column, f"{PREFIX}schedule/"):
        reached = {k: v for k in METHODS if (v := m.value(f"efficiency_{k}")) is not None}
        if reached:
            said = ", ".join(f"{text.percent(v)} {METHODS[k]}" for k, v in reached.items())
            found.append((f"{labels.words(name)} cost: {said}", column.anchor(m.name)))
    return found


# --- figures ---------------------------------------------------------------------------------------------------------


def gpc_map(book: Book, column: Column) -> Figure | None:
    """A row for each GPC, in it the numbers of its SMs."""
    m = book.measurement(column, f"{PREFIX}gpc_map")
    series = m.series_named("gpc") if m else None
    if series is None or not series.curve:
        return None
    members: dict[int, list[int]] = {}
    for sm, gpc in series.curve:
        members.setdefault(int(gpc), []).append(int(sm))
    ordered = sorted(members)
    widest = max(len(sms) for sms in members.values())

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        sms = members[ordered[y]]
        return (str(sms[x]), *_shade(ordered[y]), f"SM {sms[x]}, {names[ordered[y]]}") if x < len(sms) else None

    count = m.value("gpcs")
    # Those past the number of GPCs are TPCs that share a cluster with no other: their GPC is not known.
    names = {g: f"GPC {g}" if count is None or g < count else "alone" for g in ordered}
    sizes = ", ".join(f"{names[g]} {len(members[g])}" for g in ordered)
    counts = [len(members[g]) for g in ordered if names[g] != "alone"] or [widest]
    return cells.grid(
        f"gpc-map{column.index}",
        f"Which SMs are of one GPC{who(book, column)}",
        f"GPCs have from {min(counts)} to {max(counts)} SMs. {sizes}.",
        [f"{names[g]}, {len(members[g])} SMs" for g in ordered],
        [""] * widest,
        cell,
        "Numbers are %smid. SMs whose CTAs were seen in one cluster are of one GPC; the GPCs' order is ours.",
        size=(26, 18),
        left=82,
        slanted=False,
    )


def _shade(gpc: int) -> tuple[str, float]:
    """A colour for each GPC: six, then the same six darker."""
    return f"s{gpc % 6 + 1}", 0.25 if gpc % 12 < 6 else 0.6


def order(book: Book, column: Column, name: str, m: Measurement) -> Figure | None:
    """CTAs from left to right in the colours of the GPCs they went to, a row for each size of cluster."""
    series = m.series_named("gpc")
    if series is None or len(series.axes) != 2:
        return None
    rows, said = [], []
    for size, values in zip(series.axes[0].points, series.grid):
        runs, at = [], 0
        for gpc, same in itertools.groupby(values):
            count = len(list(same))
            if gpc == gpc:
                words = f"CTAs {at} to {at + count - 1}: GPC {gpc:g}"
                runs.append((at, count, *_shade(int(gpc)), f"{gpc:g}", words))
            at += count
        first = m.value("first_doubled_cta" if size == 1 else f"first_doubled_cta_cluster_{size:g}")
        rows.append((f"{text.counted(size, 'CTA')} a cluster", runs, first))
        if first is not None:
            said.append(f"clusters of {size:g}: CTA {first:g} is the first to share an SM")
    return cells.strips(
        f"order-{text.slug(name)}{column.index}",
        f"GPC of each CTA, {name} on an SM{who(book, column)}",
        f"{'; '.join(said)}.",
        rows,
        len(series.axes[1].points),
        f"CTAs of one grid in the order of blockIdx, by the colours of the map above; room for {name} on an SM. "
        "The mark is the first that shares an SM with another or waits for one to end.",
    )


def waves(book: Book, column: Column, series: str, title: str, y: Axis) -> Figure | None:
    """A line for each number of CTAs that fit on an SM, as far as the shortest of them goes."""
    drawn = []
    for name, m in of_column(book, column, f"{PREFIX}waves"):
        drawn += curves.lines_of(m.series_named(series), f"{name.strip('/')} on an SM" if name else "")
    last = min((line.points[-1][0] for line in drawn), default=0)
    shown = [replace(line, points=[p for p in line.points if p[0] <= last]) for line in drawn]
    return curves.draw(f"waves-{series}{column.index}", f"{title}{who(book, column)}", shown, Axis("CTAs"), y)


# --- tables ----------------------------------------------------------------------------------------------------------


def spread_tables(book: Book, column: Column) -> list[Table]:
    """How many CTAs run on how many SMs at first, by room on an SM, cluster and grid; after the first way to launch
    only what another has otherwise."""
    tables: list[Table] = []
    known: dict[str, list[str]] = {}
    for name, m in of_column(book, column, f"{PREFIX}one_each/"):
        series = {key: m.series_named(key) for key in ("first_wave_ctas", "sms_used", "max_ctas_on_one_sm")}
        if not all(s and len(s.axes) == 3 for s in series.values()):
            continue
        room, cluster, grids = series["sms_used"].axes
        rows = []
        for (i, residents), (j, size) in itertools.product(enumerate(room.points), enumerate(cluster.points)):
            label = f"{residents:g} on an SM, clusters of {size:g}"
            said = []
            for k in range(len(grids.points)):
                ctas, used, most = (s.grid[i, j, k] for s in series.values())
                shared = f" on {used:g}, ≤{text.THIN}{most:g}" if most > 1 else ""
                said.append("" if used != used else f"{ctas:g}{shared}")
            if known.setdefault(label, said) is said or known[label] != said:
                rows.append([Cell(label, column.anchor(m.name)), *(Cell(s) if s else EMPTY for s in said)])
        way = LAUNCHED.get(name, labels.words(name))
        head = [GRIDS.get(str(g), str(g).replace("_sms", f"{text.THIN}×{text.THIN}SMs")) for g in grids.points]
        caption = (
            f"CTAs that run at once, by the CTAs of the grid; launched {way}{', where it differs' if tables else ''}"
        )
        note = "Each on an SM of its own; or so many CTAs on so many SMs, and on none more than so many."
        tables.append(Table(caption + who(book, column), ["Room", *head], rows, [note]))
    return tables


def clusters(book: Book, column: Column) -> Table | None:
    """What the driver promises of clusters, what runs at once, and what stays idle, by the size of the cluster."""
    rows: dict[str, list[Cell]] = {}
    head: list[str] = []
    for name, m in of_column(book, column, PREFIX):
        if name.split("/")[0] != "clusters":
            continue
        head = ["CTAs of a cluster"]
        for series in (s for s in m.series if len(s.axes) == 1):
            head.append(labels.words(series.name))
            for size, value in series.curve:
                rows.setdefault(f"{size:g}", [Cell(f"{size:g}", column.anchor(m.name))]).append(
                    Cell(text.number(value))
                )
    whole = [row for row in rows.values() if len(row) == len(head)]
    return Table(f"Clusters at once, one CTA per SM{who(book, column)}", head, whole) if whole else None


FAMILY = Family(
    "placement",
    "Placement",
    "On which SM a CTA runs, and what clusters leave idle.",
    blocks=(evidence,),
)
