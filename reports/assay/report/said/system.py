# SPDX-License-Identifier: Apache-2.0
"""Sentences on launches, placement, small workers, links and collectives: questions 17 to 19, 21, 29 to 31 and 39."""

from __future__ import annotations

import re

from ..answer.findings import Part, Sentence
from ..block.tables import of_column
from ..book import graph, text
from ..book.model import Book, Column
from ..family import host, link
from ..family.launch.workers import fewest, lasting
from .write import figure, first, million, number_in, say, short

Found = list[Sentence | None]


def launches(book: Book, column: Column) -> Found:
    def us(name: str, metric: str = "time_us") -> Part | None:
        return figure(book, column, f"launch/{name}", metric)

    both = graph.two_times(book, column)
    least, most = ((short(n.value), n.anchor) for n in both) if both else (None, None)
    return [
        first(
            say(
                "Empty kernels in a row take {stream} µs each in a stream, and {least} or {most} µs in a graph, which is "
                "not explained.",
                stream=us("empty/stream"),
                least=least,
                most=most,
            ),
            say(
                "Empty kernels in a row take {stream} µs each in a stream, {pdl} µs as programmatic dependent launches, and "
                "{graph} µs in a graph.",
                stream=us("empty/stream"),
                pdl=us("empty/programmatic"),
                graph=us("empty/graph"),
            ),
            say(
                "Empty kernels in a row take {stream} µs each in a stream, and {graph} µs in a graph.",
                stream=us("empty/stream"),
                graph=us("empty/graph"),
            ),
            say("Empty kernels in a row take {stream} µs each.", stream=us("empty/stream")),
        ),
        say(
            "The CPU knows of the end of one after {sync} µs, or {flag} µs if it watches a flag.",
            sync=us("call/stream_sync"),
            flag=us("call/flag"),
        ),
    ]


def placement(book: Book, column: Column) -> Found:
    """Whether as many CTAs as SMs spread evenly, and what one more costs."""
    even = figure(book, column, "placement/one_each/alone", "even_fraction_1_residents", lambda v: f"{v:g}")
    sms = figure(book, column, "placement/one_each/alone", "sms_used_1_residents")
    spread = None
    if even:
        spread = say("As many CTAs as SMs land on {sms} SMs, one each, every time.", sms=sms)
        if float(even[0]) < 1:
            spread = say("As many CTAs as SMs do not always land one on each: they use {sms} SMs.", sms=sms)
    clusters = book.measurement(column, "placement/clusters")
    idle = dict(s.curve) if clusters and (s := clusters.series_named("sms_idle")) else {}
    more = figure(book, column, "placement/waves/1", "one_cta_more_over_full_wave")
    return [
        spread,
        first(
            say(
                "Where one fills an SM, one CTA more takes {more} times as long; clusters of {size} leave {idle} SMs idle.",
                more=more,
                size=(f"{max(idle):g}", "") if idle else None,
                idle=(f"{idle[max(idle)]:g}", column.anchor(clusters.name)) if idle else None,
            ),
            say("Where one fills an SM, one CTA more takes {more} times as long.", more=more),
        ),
    ]


def workers(book: Book, column: Column) -> Found:
    """Where graphs and streams saturate, with kernels of 5 µs: the fewest workers with 95% of the most."""
    work = "5us"
    said: Found = []
    for way in ("graphs", "streams"):
        m = book.measurement(column, f"launch/workers/{way}/{work}")
        at = m.value("workers_at_95_percent") if m else None
        if at is None:
            continue
        rate = figure(book, column, m.name, "kernels_per_s", million)
        if at > 1:
            least = (str(fewest(at)), column.anchor(m.name))
            template = (
                f"{way.capitalize()} of kernels of {{work}} reach {{rate}} a second, nearly all with {{least}} workers."
            )
            said.append(say(template, work=(lasting(work), ""), rate=rate, least=least))
        else:
            template = (
                f"{way.capitalize()} of kernels of {{work}} reach {{rate}} a second, and more workers gain nothing."
            )
            said.append(say(template, work=(lasting(work), ""), rate=rate))
    return said


def host_links(book: Book, column: Column) -> Found:
    """Pinned and pageable copies to the GPU, and how large one must be."""
    rates = link.rates(book, column, "h2d")

    def rate(kind: str) -> Part | None:
        return (short(rates[kind][0]), rates[kind][1]) if kind in rates else None

    half = figure(book, column, f"{link.PREFIX}h2d/sizes/pinned", "half_bandwidth_bytes", text.size)
    least = figure(book, column, f"{link.PREFIX}h2d/sizes/pinned", "smallest_copy_us")
    return [
        first(
            say(
                "Copies to the GPU run at {pinned} GB/s from pinned memory, and at {pageable} from pageable memory.",
                pinned=rate("pinned"),
                pageable=rate("pageable"),
            ),
            say("Copies to the GPU run at {pinned} GB/s from pinned memory.", pinned=rate("pinned")),
        ),
        say("The smallest takes {least} µs, and {half} reach half of the bandwidth.", least=least, half=half),
    ]


def cpu(book: Book, column: Column) -> Found:
    """A load from the nearest cache and from memory; what all threads reach."""
    near = host.latencies(book, column)
    return [
        first(
            say(
                "A load of the CPU takes {near} ns from {size}, and {far} ns from its memory.",
                near=(short(near[0][1].value), near[0][1].anchor) if near else None,
                size=(text.size(near[0][0]), "") if near else None,
                far=figure(book, column, "host/dram_latency", "latency_ns"),
            ),
            say("A load of the CPU takes {far} ns from its memory.", far=figure(book, column, "host/dram_latency", "latency_ns")),
        ),
        first(
            say(
                "Its memory reads at {read} GB/s, and all its threads do {flops} TFLOP/s in fp32.",
                read=figure(book, column, "host/dram_bandwidth/read", "bandwidth_gb_per_s"),
                flops=figure(book, column, "host/peak_fma/f32/all_threads", "tflops"),
            ),
            say(
                "Its memory reads at {read} GB/s.",
                read=figure(book, column, "host/dram_bandwidth/read", "bandwidth_gb_per_s"),
            ),
        ),
    ]


def peers(book: Book, column: Column) -> Found:
    writes = f"{link.PREFIX}peer/write"
    engine, sms = (figure(book, column, f"{writes}/{by}", "bandwidth_gb_per_s") for by in ("copy_engine", "sm"))
    latency = [figure(book, column, m.name, "latency_ns") for _, m in of_column(book, column, f"{link.PREFIX}peer/latency/")]
    return [
        first(
            say(
                "A GPU writes to another at {engine} GB/s by its copy engine, and at {sms} GB/s by its SMs.",
                engine=engine,
                sms=sms,
            ),
            say("A GPU writes to another at {engine} GB/s by its copy engine.", engine=engine),
        ),
        say("One access takes {ns} ns.", ns=latency[0] if latency else None),
    ]


FLAT = 1.25  # of the quickest: collectives within it take as long whatever their size


def _by_size(book: Book, column: Column, operation: str, metric: str) -> dict[str, list[tuple[int, float, str]]]:
    """Type and GPUs -> (bytes, value, anchor) of a collective, the smallest first."""
    found: dict[str, list[tuple[int, float, str]]] = {}
    for row in book.find(rf"collective/{operation}/\w+/\d+/\w+", metric):
        _, _, kind, size, gpus = row.name.split("/")
        if n := number_in(row, column):
            found.setdefault(f"{kind} {gpus}", []).append((int(size), n.value, n.anchor))
    return {of: sorted(points) for of, points in found.items()}


def _as_long(book: Book, column: Column) -> Sentence | None:
    """Up to which size an all-gather takes as long whatever it holds, so that smaller elements gain nothing."""
    found = _by_size(book, column, "all_gather", "time_us")
    of = max((of for of in found if of.startswith("bf16 ")), key=lambda of: of.split()[1], default="")
    points = found.get(of, [])
    least = min((us for _, us, _ in points), default=0.0)
    flat = [points[i] for i in range(len(points)) if all(us <= FLAT * least for _, us, _ in points[: i + 1])]
    if len(flat) < 2:
        return None
    ends = [(short(pick(us for _, us, _ in flat)), flat[-1][2]) for pick in (min, max)]
    return say(
        "Up to {size} an all-gather takes {least} to {most} µs, whatever its size: as many elements of fp8 take as long as "
        "of bf16.",
        size=(text.size(flat[-1][0]), flat[-1][2]),
        least=ends[0],
        most=ends[1],
    )


def collectives(book: Book, column: Column) -> Found:
    """The best of all-reduce, and how many bytes reach half of it; where the size of an all-gather does not matter."""
    found = _by_size(book, column, "all_reduce", "bus_bandwidth_gb_per_s")
    if not found:
        return [_as_long(book, column)]
    of = max(found, key=lambda key: max(rate for _, rate, _ in found[key]))
    _, top, at = max(found[of], key=lambda point: point[1])
    half = min(point[0] for point in found[of] if point[1] >= top / 2)
    return [
        say(
            "All-reduce over {gpus} moves {top} GB/s over the bus at best; {half} are enough for half of that.",
            gpus=(re.sub(r"gpus", " GPUs", of.split()[1]), ""),
            top=(short(top), at),
            half=(text.size(half), at),
        ),
        _as_long(book, column),
    ]


def beside_gemm(book: Book, column: Column) -> Found:
    """The slowdown of a GEMM beside a collective, where a case has it."""
    rows = book.find(r"collective/.*overlap.*", "gemm_slowdown")
    worst = max((n for row in rows if (n := number_in(row, column))), key=lambda n: n.value, default=None)
    return [
        say(
            "A GEMM takes up to {times} times as long beside a collective.",
            times=(short(worst.value), worst.anchor) if worst else None,
        )
    ]
