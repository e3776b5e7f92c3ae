# SPDX-License-Identifier: Apache-2.0
"""Question 18: what a launch, a synchronization, a small copy costs, on the CPU and between kernels on the GPU."""

from __future__ import annotations

from dataclasses import replace
from assay.files import Measurement

from ...answer.findings import Part, lines
from ...block.kinds import Block, Cell, Evidence, Table
from ...block.tables import metric_table, of_column, who
from ...book import graph, labels, text
from ...book.identity import gpu_name
from ...book.model import Book, Column
from ...draw import curves
from ...draw.curves import Axis
from ...draw.svg import Figure

WAYS = {
    "empty/stream": "a kernel into a stream",
    "empty/programmatic": "with programmatic dependent launch",
    "empty/cluster": "as clusters",
    "empty/cooperative": "cooperative",
    "empty/graph": "a node of a graph",
    "empty/graph_programmatic": "a node, programmatic",
    "empty/stream_sync": "a kernel, waited for",
}
CALLS = {
    "event_record": "event record",
    "event_record_timed": "event record, timed",
    "event_wait": "stream waits for an event",
    "event_query": "event, queried until it is there",
    "event_sync": "kernel, event waited for",
    "event_sync_blocking": "kernel, event waited for, CPU asleep",
    "stream_sync": "kernel, stream waited for",
    "device_sync": "kernel, device waited for",
    "flag": "kernel, a flag that the CPU watches",
    "host_function": "host function",
    "malloc_free": "allocate and free, stream-ordered",
    "malloc_free_kept": "the same, the pool keeping what is freed",
}
COSTS = {
    "time_us": "each, in a row, µs",
    "cpu_us": "CPU, µs",
    "interval_us": "from one to the next, µs",
    "gpu_gap_us": "between the work of two, µs",
    "latency_us": "until the CPU sees the end, µs",
    "gpu_gap_saved_us": "less than plain, µs",
    "resident_kernels": "kernels on the GPU at once",
}
GAP = "between the work of two is of kernels that work for 4 µs and write time stamps, with their begin and end"
APART = 0.1  # of the least: more is not how well a time repeats
MICROSECONDS = Axis("µs")


def evidence(book: Book) -> list[Block]:
    found = Evidence(18, "assay run '^launch/'")
    found.findings += lines(book, "an empty kernel, each in a row", lambda c: each(book, c))
    found.findings += lines(book, "the same, from process to process", lambda c: apart(book, c))
    found.findings += lines(book, "until the CPU sees its end", lambda c: seen(book, c))
    found.findings += lines(book, "empty kernels on the GPU, from one to the next", lambda c: intervals(book, c))
    found.findings += lines(book, "nodes of a graph, one of two times", lambda c: two_times(book, c))
    found.findings += lines(book, "between the work of two, kernels of 4 µs with time stamps", lambda c: gaps(book, c))
    found.findings += lines(book, "small copies and events", lambda c: calls(book, c))
    for column in book.columns[:4]:
        found.draw(graph_size(book, column))
        found.draw(grid_size(book, column))
        found.draw(arguments(book, column))
        found.tabulate(ways_table(book, column))
        found.tabulate(calls_table(book, column))
        found.tabulate(graph_table(book, column))
        found.tabulate(cluster_table(book, column))
        found.tabulate(module_table(book, column))
    return [found]


def _parts(book: Book, column: Column, metric: str, names: dict[str, str]) -> list[Part]:
    """ "in a stream 2.9 µs" for each case that has the metric."""
    found = []
    for name, words in names.items():
        m = book.measurement(column, f"launch/{name}")
        if m and (value := m.value(metric)) is not None:
            found.append((f"{words} {_us(value)} µs", column.anchor(m.name)))
    return found


def _us(value: float) -> str:
    """Three significant digits: launches repeat no better."""
    return f"{value:.3g}" if value < 1000 else text.number(round(value))


def each(book: Book, column: Column) -> list[Part]:
    names = {"empty/stream": "in a stream", "empty/programmatic": "programmatic", "empty/graph": "in a graph"}
    return _parts(book, column, "time_us", names)


def seen(book: Book, column: Column) -> list[Part]:
    names = {"call/flag": "a flag it watches", "call/stream_sync": "stream", "call/event_sync": "event"}
    return _parts(book, column, "time_us", {**names, "call/event_sync_blocking": "event, asleep"})


def intervals(book: Book, column: Column) -> list[Part]:
    names = {"empty/stream": "stream", "empty/programmatic": "programmatic", "empty/graph": "graph"}
    return _parts(book, column, "interval_us", names)


def gaps(book: Book, column: Column) -> list[Part]:
    names = {"empty/stream": "stream", "empty/programmatic": "programmatic", "empty/graph": "graph"}
    return _parts(book, column, "gpu_gap_us", {**names, "empty/graph_programmatic": "graph, programmatic"})


def calls(book: Book, column: Column) -> list[Part]:
    names = {
        "call/event_record": "event record",
        "call/memset/4": "memset of 4 B",
        "call/memcpy_h2d/4": "4 B to the GPU",
    }
    return _parts(
        book, column, "time_us", {**names, "call/memcpy_d2h/4": "and back", "call/memcpy_d2d/4": "on the GPU"}
    )


# --- figures ---------------------------------------------------------------------------------------------------------


def graph_size(book: Book, column: Column) -> Figure | None:
    """Time of a graph per node over its nodes: chain, programmatic, fork and join."""
    drawn = []
    for name, m in of_column(book, column, "launch/graph/"):
        for line in curves.lines_of(m.series_named("latency_us"), labels.words(name)):
            drawn.append(line.with_values(lambda nodes, us: us / nodes))
    return curves.draw(
        f"graph-size{column.index}",
        f"A graph of kernels that write a time stamp: time per node over its nodes{who(book, column)}",
        drawn,
        Axis("nodes", 2),
        Axis("µs per node", 10),
        note="From the launch of the graph until the CPU sees its end.",
    )


def grid_size(book: Book, column: Column) -> Figure | None:
    m = book.measurement(column, "launch/grid")
    return m and curves.draw(
        f"grid-size{column.index}",
        f"Empty kernels in a row over their CTAs{who(book, column)}",
        [replace(line, label=f"{line.label} threads") for line in curves.lines_of(m.series_named("interval_us"))],
        Axis("CTAs", 2),
        Axis("µs from one to the next", 10),
    )


def arguments(book: Book, column: Column) -> Figure | None:
    drawn = []
    for name, m in of_column(book, column, "launch/arguments/"):
        drawn += curves.lines_of(m.series_named("cpu_us"), labels.words(name))
    return curves.draw(
        f"arguments{column.index}",
        f"CPU time of a launch over the bytes of its arguments{who(book, column)}",
        drawn,
        Axis("bytes of arguments", 2, bytes=True),
        MICROSECONDS,
    )


# --- tables ----------------------------------------------------------------------------------------------------------


def ways_table(book: Book, column: Column) -> Table | None:
    found = dict(of_column(book, column, "launch/"))
    rows = [(words, found[name]) for name, words in WAYS.items() if name in found]
    table = metric_table(f"An empty kernel by how it is launched{who(book, column)}", column, rows, COSTS, "Way", _us)
    if table is None:
        return None
    table.notes = _gap_above(rows)
    if found := apart(book, column):
        table.notes.append(f"Each, in a row, differs from process to process: {'; '.join(said for said, _ in found)}.")
    if both := two_times(book, column):
        table.notes.append(f"Nodes of a graph: {'; '.join(said for said, _ in both)}.")
    others = [_published(book, column, m.name) for _, m in rows]
    if any(others):
        table.head.append("Published, each")
        for row, said in zip(table.rows, others):
            row.append(Cell(said, kind="published"))
    return table


def _gap_above(rows: list[tuple[str, Measurement]]) -> list[str]:
    """Why a gap between two kernels may be longer than from one to the next."""
    both = [(words, m) for words, m in rows if {"interval_us", "gpu_gap_us"} <= m.metrics.keys()]
    if not both:
        return []
    said = f"From one to the next is of empty kernels; {GAP}."
    if above := [words for words, m in both if m.value("gpu_gap_us") > m.value("interval_us")]:
        rows = "row" if len(above) == 1 else "rows"
        said += f" So the second may be longer than the first, as in the {rows} {text.listed([f'“{words}”' for words in above])}."
    return [said]


def apart(book: Book, column: Column) -> list[Part]:
    """Which of the ways took one time in one process and another in the next, on GPUs of this name."""
    found = []
    for name, words in WAYS.items():
        row = book.row(f"launch/{name}", "time_us")
        if row is None or row.numbers[column.index] is None:
            continue
        alike = [n for c, n in zip(book.columns, row.numbers) if n and gpu_name(c.run) == gpu_name(column.run)]
        values = [v for n in alike for v in n.processes or (n.value,)]
        if len(values) > 1 and max(values) > (1 + APART) * min(values):
            said = f"{words} {_us(min(values))} to {_us(max(values))} µs in {len(values)} processes"
            found.append((said, row.numbers[column.index].anchor))
    return found


def two_times(book: Book, column: Column) -> list[Part]:
    """Nodes of a graph that followed one another after one time in some cases of the run and another in others."""
    both = graph.two_times(book, column)
    if not both:
        return []
    least, most = both
    found = [
        (f"{_us(least.value)} µs from one to the next in some cases", least.anchor),
        (f"{_us(most.value)} µs in others, which is not explained", most.anchor),
    ]
    without, apart = graph.ruled_out(book, column)
    if without:
        said = f"it depends by {text.percent(apart)} at most on {text.listed(without)}"
        found.append((said, column.anchor(graph.CASE)))
    return found


def _published(book: Book, column: Column, name: str) -> str:
    row = book.row(name, "time_us")
    return (
        "; ".join(f"{text.number(p.value)} µs, {p.gpu.replace('NVIDIA ', '')}" for p in row.published[:2])
        if row
        else ""
    )


def calls_table(book: Book, column: Column) -> Table | None:
    rows = []
    for name, m in of_column(book, column, "launch/call/"):
        call, _, size = name.partition("/")
        words = CALLS.get(call, labels.words(call))
        rows.append((f"{words}, {text.size(int(size))}" if size.isdigit() else words, m))
    return metric_table(f"Calls that stand between kernels{who(book, column)}", column, rows, COSTS, "Call", _us)


def graph_table(book: Book, column: Column) -> Table | None:
    rows = [(labels.words(name), m) for name, m in of_column(book, column, "launch/graph/")]
    metrics = {
        "latency_us": "the least, µs",
        "latency_us_per_node": "each node more, µs",
        "gpu_gap_us": "between nodes, µs",
        "cpu_us": "CPU, µs",
        "instantiate_us_per_node": "instantiate, µs a node",
        "instantiate_exponent": "exponent of instantiating over nodes",
        "upload_us_per_node": "upload, µs a node",
        "update_us_per_node": "update, µs a node",
    }
    table = metric_table(
        f"Graphs of kernels that write a time stamp{who(book, column)}", column, rows, metrics, "Graph", _us
    )
    if table:
        table.notes.append("Each node writes when it began and ended, so that it takes longer than an empty kernel.")
    return table


def cluster_table(book: Book, column: Column) -> Table | None:
    m = book.measurement(column, "launch/cluster")
    series = m.series_named("gpu_gap_us") if m else None
    if series is None or len(series.axes) != 2:
        return None
    others = [(m.series_named(k), words) for k, words in {"interval_us": "each", "cpu_us": "CPU"}.items()]
    rows = []
    for y, grid in enumerate(series.axes[0].points):
        for s, words in [(series, "between kernels"), *others]:
            if s is not None:
                label = f"{labels.words(str(grid))}, {words}"
                rows.append([Cell(label, column.anchor(m.name)), *(Cell(_us(v) if v == v else "") for v in s.grid[y])])
    head = ["Grid", *("no cluster" if p == 0 else text.counted(round(p), "CTA") for p in series.axes[1].points)]
    return Table(f"Launching clusters, µs by their size{who(book, column)}", head, rows)


def module_table(book: Book, column: Column) -> Table | None:
    rows = [(f"{name} instructions", m) for name, m in of_column(book, column, "launch/module/")]
    metrics = {
        "load_us": "load, µs",
        "get_kernel_us": "find the kernel, µs",
        "first_launch_us": "first launch, µs",
        "second_launch_us": "second launch, µs",
        "unload_us": "unload, µs",
    }
    return metric_table(f"Loading a module{who(book, column)}", column, rows, metrics, "Kernel of", _us)
