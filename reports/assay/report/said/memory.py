# SPDX-License-Identifier: Apache-2.0
"""Sentences on memory, TMA, tensor memory and synchronization: questions 13 to 16, 20 and 41."""

from __future__ import annotations

from ..answer.findings import Part, Sentence
from ..block.tables import named, of_column
from ..book import text
from ..book.model import BURST, Book, Column
from ..book.roofs import best_l2_read, best_read
from ..family import tmem
from .write import figure, first, number_in, say, share, short

Found = list[Sentence | None]
EACH = "thread_atomics"
FIRST = {  # ways to sum an array that need fewer atomics
    "warp_atomics": "summing in each warp first",
    "shared_atomics": "summing by atomics in shared memory first",
    "shuffles": "summing in each CTA by shuffles first",
    "partials": "writing partial sums that a second kernel adds",
}


def levels(book: Book, column: Column) -> Found:
    def cycles(level: str) -> Part | None:
        return figure(book, column, f"memory/{level}/latency", "latency_cycles")

    def rate(case: str) -> Part | None:
        return figure(book, column, f"memory/{case}", "bandwidth_gb_per_s")

    best = best_read(book, column, BURST)
    read = best[0].name.removeprefix("memory/") if best else "hbm/read"
    by_l2 = best_l2_read(book, column)
    l2 = (short(by_l2[1].value), by_l2[1].anchor) if by_l2 else None
    near, l1, dram = cycles("l2_near"), cycles("l1"), cycles("dram")
    return [
        first(
            say(
                "A load takes {l1} cycles from L1, {near} from the near part of L2, and {dram} from memory.",
                l1=l1,
                near=near,
                dram=dram,
            ),
            say("A load takes {l1} cycles from L1 and {dram} from memory.", l1=l1, dram=dram),
            say("A load takes {dram} cycles from memory.", dram=dram),
        ),
        first(
            say(
                "Memory reads at {read} GB/s, {share} of its limit; L2 gives loads {l2} GB/s.",
                read=rate(read),
                share=share(best[1] if best else None),
                l2=l2,
            ),
            say("Memory reads at {read} GB/s.", read=rate(read)),
            say("L2 gives loads {l2} GB/s.", l2=l2),
        ),
    ]


def atomics(book: Book, column: Column) -> Found:
    found = dict(of_column(book, column, "memory/reduction/"))
    rates = {name: rate for name, m in found.items() if (rate := m.value("bandwidth_gb_per_s"))}
    best = max(rates, key=rates.__getitem__, default=EACH)
    fastest = None
    if best in FIRST:
        at = column.anchor(found[best].name)
        fastest = first(
            say(
                f"No: {FIRST[best]} reaches {{rate}} GB/s, {{times}} times as much as an atomic of each thread.",
                rate=(short(rates[best]), at),
                times=(short(rates[best] / rates[EACH]), at) if EACH in rates else None,
            ),
            say(f"The fastest way is {FIRST[best]}, at {{rate}} GB/s.", rate=(short(rates[best]), at)),
        )
    one, own = (
        figure(book, column, "memory/atomics/global/add_f32", f"ops_per_clock_{which}")
        for which in ("one_address", "own_addresses")
    )
    return [
        fastest,
        say(
            "The GPU does {one} atomic adds of f32 per clock to one address, {own} to addresses of their own.",
            one=one,
            own=own,
        ),
    ]


def tma(book: Book, column: Column) -> Found:
    """Bytes in flight that hide the latency of memory, and that latency."""
    m = book.measurement(column, "tma/pipeline/dram")
    knees = named(m, "bytes_in_flight_95_")

    def knee(form: str) -> Part | None:
        return (text.size(knees[form].value), column.anchor(m.name)) if form in knees else None

    copy = "tma/tensor_2d/latency"
    return [
        first(
            say(
                "TMA needs {tma} in flight per SM for 95 % of memory's bandwidth; plain loads need {loads}.",
                tma=knee("tensor_2d") or knee("bulk"),
                loads=knee("ld_16"),
            ),
            say(
                "TMA needs {tma} in flight per SM for 95 % of memory's bandwidth.",
                tma=knee("tensor_2d") or knee("bulk"),
            ),
        ),
        first(
            say(
                "A box of 8 KiB arrives after {l2} cycles from L2 and after {dram} from memory.",
                l2=figure(book, column, copy, "latency_cycles"),
                dram=figure(book, column, f"{copy}/dram", "latency_cycles"),
            ),
            say(
                "A copy of 16 B arrives after {cycles} cycles.",
                cycles=figure(book, column, "tma/bulk_16b/latency", "latency_cycles"),
            ),
        ),
    ]


def tensor_memory(book: Book, column: Column) -> Found:
    if tmem.lacks(column):
        return [say("This GPU has no tensor memory; its accumulators are registers.")]
    found = [number_in(row, column) for row in book.find(r"tmem/.*", "latency_cycles")]
    cycles = sorted((n.value, n.anchor) for n in found if n)
    ends = [(short(value), at) for value, at in (cycles[0], cycles[-1])] if cycles else [None, None]
    return [say("Its instructions take from {least} to {most} cycles.", least=ends[0], most=ends[1])]


def _sync(book: Book, column: Column, name: str, metric: str = "latency_cycles") -> Part | None:
    return figure(book, column, f"sync/{name}", metric)


def barriers(book: Book, column: Column) -> Found:
    """Of a whole CTA by its three kinds, of a cluster and of the grid."""

    def cycles(name: str, metric: str = "latency_cycles") -> Part | None:
        return _sync(book, column, name, metric)

    named = "named_barrier/sync/1024"
    all_of, constant = cycles("syncthreads/1024"), cycles(named, "latency_cycles_of_constant_barrier")
    register, mbarrier = cycles(named), cycles("mbarrier/arrive_wait/1024")
    cluster, grid = cycles("cluster/release_acquire/2"), cycles("grid/cooperative")
    relaxed = cycles("cluster/relaxed/2")
    as_long = constant and all_of and constant[0] == all_of[0]
    return [
        first(
            say(
                "A full CTA meets in {all} cycles by __syncthreads or a named barrier, {register} if its number is in a "
                "register, and {mbarrier} by an mbarrier.",
                all=all_of if as_long else None,
                register=register,
                mbarrier=mbarrier,
            ),
            say(
                "A full CTA meets in {all} cycles by __syncthreads, in {register} by a named barrier whose number is in a "
                "register, and {mbarrier} by an mbarrier.",
                all=all_of,
                register=register,
                mbarrier=mbarrier,
            ),
            say("A full CTA meets in {all} cycles by __syncthreads.", all=all_of),
        ),
        first(
            say(
                "Two CTAs of a cluster meet in {relaxed} cycles relaxed, {cluster} with release and acquire, and all CTAs of a "
                "grid in {grid}.",
                relaxed=relaxed,
                cluster=cluster,
                grid=grid,
            ),
            say(
                "Two CTAs of a cluster meet in {cluster} cycles with release and acquire, and all CTAs of a grid in {grid}.",
                cluster=cluster,
                grid=grid,
            ),
            say(
                "Two CTAs of a cluster meet in {relaxed} cycles relaxed, {cluster} with release and acquire.",
                relaxed=relaxed,
                cluster=cluster,
            ),
            say("Two CTAs of a cluster meet in {cluster} cycles with release and acquire.", cluster=cluster),
            say("All CTAs of a grid meet in {grid} cycles.", grid=grid),
        ),
    ]


def fences(book: Book, column: Column) -> Found:
    """By their scope; and what it takes to hand registers over."""

    def cycles(name: str) -> Part | None:
        return _sync(book, column, name)

    cta, gpu, system = (cycles(f"fence/acq_rel/{scope}") for scope in ("cta", "gpu", "sys"))
    return [
        first(
            say(
                "A fence costs {cta} cycles in the scope of a CTA, {gpu} in that of the GPU, and {system} in that of the "
                "system.",
                cta=cta,
                gpu=gpu,
                system=system,
            ),
            say("A fence costs {cta} cycles in the scope of a CTA and {gpu} in that of the GPU.", cta=cta, gpu=gpu),
        ),
        say(
            "Giving registers up and taking them back by setmaxnreg takes {cycles} cycles.",
            cycles=cycles("setmaxnreg/1"),
        ),
    ]
