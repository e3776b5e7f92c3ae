# SPDX-License-Identifier: Apache-2.0
"""Which instructions share a pipe: from how long pairs of them take, beside what the hardware counted.

Copies of two instructions in turn (`sass/pipes/...`) take, per pair and scheduler, T_ab cycles; alone they take T_a and
T_b. On two pipes nothing is lost: T_ab = max(T_a, T_b, 2), for a pair needs two issue slots. On one pipe they queue:
T_ab = T_a + T_b. The interference is where T_ab lies between the two: 0 apart, 1 on one pipe.

Where both bounds nearly meet the index says nothing, and it says little where one instruction is much faster than the
other: any stall, of register ports for one, is as long as the fast one. So the clustering weighs an index with the
distance between the bounds, as a share of T_a + T_b, which is 1/2 for two equals. Stalls lengthen pairs and never
shorten them: one pair that overlaps says that two instructions are not on one pipe, whatever others say. Hence complete
linkage, in which a cluster is as good as the worst of its pairs. It is greedy, and instructions that wait for register
ports (mma.sync does) queue with members of several clusters: at the end each goes where it interferes most on average.

Two of the pipes that the counters name may be one for a scheduler: sm__pipe_shared_cycles_active counts what FP64 and
tensor cores do on chips where they share their dispatch. Which run's counters are taken is said in book/counters.py.

An instruction that alone was slower than it can be is judged in no pair and stands in no cluster (saturation.py).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from assay.files import Measurement

from ...block.kinds import Block, Bullets, Facts, Figures, Fold, Paragraph, Part, Span, sentence
from ...block.tables import who
from ...book import counters, text
from ...book.identity import gpu_name
from ...book.instructions import pipes as counted_pipes
from ...book.model import Book, Column
from ...draw import cells
from ...draw.svg import Figure
from .saturation import Short, short

PREFIX = "sass/pipes/"
ISSUE_SLOTS = 2  # that a pair needs
LEAST_DISTANCE = 0.9  # cycles between the bounds; less than an issue slot is not told from a stall
SHARED = 0.5  # weighted interference of every pair from which on a cluster is one pipe
QUEUED = 0.9  # interference of a pair that hardly overlaps
HALF = 0.25  # of an instruction's executions: from here on a counted pipe is one of its pipes
JOINT = "shared"  # the counters' name for FP64 and tensor cores together
PARTITIONS = 4  # of an SM, over which its counters add up


@dataclass
class Pipe:
    """A cluster of instructions, by index into `PipeMap.names`, and what the counters call it."""

    members: list[int]
    label: str = ""


@dataclass
class PipeMap:
    column: Column
    names: list[str]
    opcodes: list[str]
    alone: np.ndarray  # cycles per instruction and scheduler
    pair: np.ndarray  # cycles per pair; NaN where not measured
    index: np.ndarray  # interference; NaN where undefined
    counted: list[list[tuple[str, float]]]  # per instruction: its pipes by the counters
    pipes: list[Pipe] = field(default_factory=list)  # in the order of the picture
    disagreements: list[str] = field(default_factory=list)
    across: list[str] = field(default_factory=list)  # pairs on different pipes that queue all the same
    short: dict[int, Short] = field(default_factory=dict)  # those that did not keep their pipe busy alone
    sources: list[Column] = field(default_factory=list)  # runs whose counters these are

    @property
    def compared(self) -> int:
        return sum(1 for i, pipes in enumerate(self.counted) if pipes and i not in self.short)

    @property
    def agreement(self) -> float | None:
        """The share of counted instructions whose cluster is a pipe that the counters name for them."""
        return 1 - len(self.disagreements) / self.compared if self.compared else None


def interference(alone_a: float, alone_b: float, pair: float) -> float:
    """0 where the two overlap fully, 1 where they queue; NaN where these do not differ."""
    apart = max(alone_a, alone_b, ISSUE_SLOTS)
    queued = alone_a + alone_b
    return (pair - apart) / (queued - apart) if queued - apart >= LEAST_DISTANCE else math.nan


def _weight(alone_a: float, alone_b: float) -> float:
    """How much an index says: all, if its bounds are a cycle or more apart, else that part of it."""
    return min(1.0, max(0.0, alone_a + alone_b - max(alone_a, alone_b, ISSUE_SLOTS)))


@lru_cache(maxsize=8)
def pipe_map(book: Book, column: Column) -> PipeMap | None:
    """The pairs of one run, clustered; None with fewer than three instructions."""
    found: dict[str, Measurement] = {}
    for c, m in book.measurements:
        if c is column and m.name.startswith(PREFIX) and "cycles_per_instruction" in m.metrics:
            found[m.name.removeprefix(PREFIX)] = m
    if len(found) < 3:
        return None
    # As measured: an instruction is paired with those after it, so that the first has the most partners.
    names = sorted(found, key=lambda n: -len(s.values) if (s := found[n].series_named("pair_cycles")) else 0)
    place = {name: i for i, name in enumerate(names)}
    alone = np.array([found[n].metrics["cycles_per_instruction"].value for n in names])
    pair = np.full((len(names), len(names)), np.nan)
    for name, m in found.items():
        series = m.series_named("pair_cycles")
        for partner, cycles in series.curve if series else []:
            if partner in place:
                pair[place[name], place[partner]] = pair[place[partner], place[name]] = cycles
    index = np.array([[interference(a, b, pair[i, j]) for j, b in enumerate(alone)] for i, a in enumerate(alone)])
    unsaturated = {i: said for i, n in enumerate(names) if (said := short(book, column, found[n]))}
    if len(names) - len(unsaturated) < 3:
        return None
    index[list(unsaturated), :] = index[:, list(unsaturated)] = np.nan
    of_kind = counters.counted(book, gpu_name(column.run))
    speaking = counters.alike({name: of_kind[name] for n in names if (name := PREFIX + n) in of_kind})
    result = PipeMap(
        column,
        names,
        [str(found[n].params.get("opcode", n)) for n in names],
        alone,
        pair,
        index,
        [_counted(speaking[PREFIX + n][1]) if PREFIX + n in speaking else [] for n in names],
        short=unsaturated,
        sources=list(dict.fromkeys(speaking[PREFIX + n][0] for n in names if PREFIX + n in speaking)),
    )
    _cluster(result)
    _compare(result)
    return result


def _counted(m: Measurement) -> list[tuple[str, float]]:
    """The pipes that the counters name for an instruction, largest share of it first, the joint one last."""
    found = [p for p in counted_pipes(m) if p[1] >= HALF]
    elapsed = m.counters.get("sm__cycles_active.avg")
    joint = m.counters.get(f"sm__pipe_{JOINT}_cycles_active.avg")
    if found and elapsed and joint and (share := joint / elapsed / PARTITIONS) >= HALF:
        found.append((JOINT, share))
    return found


def _cluster(result: PipeMap) -> None:
    """Complete linkage over 1 - weighted interference, cut at SHARED; then each instruction to its nearest cluster."""
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
    from scipy.spatial.distance import squareform

    judged = [i for i in range(len(result.names)) if i not in result.short]
    alone, index = result.alone[judged], result.index[np.ix_(judged, judged)]
    weight = np.array([[_weight(a, b) for b in alone] for a in alone])
    shared = np.clip(np.nan_to_num(index, nan=0.0), 0, 1) * weight
    # Of a pair that says nothing itself, others speak: it is as far apart as its profiles of interference are.
    for i, j in zip(*np.where(np.isnan(index))):
        others = [k for k in range(len(judged)) if k not in (i, j)]
        apart = np.abs(shared[i, others] - shared[j, others])
        shared[i, j] = shared[j, i] = 1 - min(1.0, 2 * float(np.mean(apart)))
    distance = 1 - shared
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "complete", optimal_ordering=True)
    labels = fcluster(tree, 1 - SHARED, "distance")
    _settle(shared, labels)
    by_label: dict[int, list[int]] = {}
    for leaf in leaves_list(tree):
        by_label.setdefault(labels[leaf], []).append(judged[int(leaf)])
    result.pipes = [Pipe(members) for members in by_label.values()]


def _settle(shared: np.ndarray, labels: np.ndarray) -> None:
    """Moves instructions, by label, to the cluster with which they interfere most on average and with all of which
    they interfere; in place, until none is better off elsewhere."""
    for _ in labels:  # as a rule two rounds; two that court each other's clusters for ever end here
        settled = True
        for i in range(len(labels)):
            means = {}
            for label in set(labels):
                others = [k for k in np.flatnonzero(labels == label) if k != i]
                if others and min(shared[i, others]) >= SHARED:
                    means[label] = float(np.mean(shared[i, others]))
            nearest = max(means, key=lambda label: (means[label], label == labels[i]), default=labels[i])
            if nearest != labels[i]:
                labels[i], settled = nearest, False
        if settled:
            return


def _compare(result: PipeMap) -> None:
    """Names the clusters after the counters, and says in words which instruction does not fit."""
    taken: dict[str, Pipe] = {}
    for pipe in sorted(result.pipes, key=lambda p: -len(p.members)):
        votes = Counter(name for i in pipe.members for name, _ in result.counted[i])
        if votes:
            # Of names for equally many, the one of a single pipe.
            pipe.label = max(votes, key=lambda name: (votes[name], name != JOINT))
            if pipe.label in taken:
                pipe.label += "′"  # the counters see one pipe where pairs show two
            taken[pipe.label] = pipe
    for pipe in result.pipes:
        for i in pipe.members:
            counted = result.counted[i]
            if counted and pipe.label not in [name for name, _ in counted]:
                result.disagreements.append(_in_words(result, pipe, i))
    at = {i: pipe for pipe in result.pipes for i in pipe.members}
    for i, j in zip(*np.where(np.triu(result.index, 1) >= QUEUED)):
        if at[i] is not at[j] and _weight(result.alone[i], result.alone[j]) >= SHARED:
            first, second = (
                f"{result.opcodes[k]} ({at[k].label})" if at[k].label else result.opcodes[k] for k in (i, j)
            )
            result.across.append(
                f"{first} and {second}: {result.pair[i, j]:.1f} cycles, {result.alone[i]:.1f} and "
                f"{result.alone[j]:.1f} alone"
            )


def _in_words(result: PipeMap, pipe: Pipe, i: int) -> str:
    counted = " and ".join(f"{share:.0%} on {name}" if share < 0.9 else name for name, share in result.counted[i])
    others = [j for j in pipe.members if j != i and not math.isnan(result.index[i, j])]
    said = [result.index[i, j] * _weight(result.alone[i], result.alone[j]) for j in others]
    nearest = others[int(np.argmax(said))] if others else None
    own = f"{result.opcodes[i]} is counted on {counted}"
    if nearest is None:
        return f"{own}, but shares a pipe with none of the others in pairs"
    return (
        f"{own}, but beside {result.opcodes[nearest]} a pair takes {result.pair[i, nearest]:.1f} cycles, where "
        f"{max(result.alone[i], result.alone[nearest], ISSUE_SLOTS):.1f} would be two pipes and "
        f"{result.alone[i] + result.alone[nearest]:.1f} one"
    )


def pictures(book: Book) -> list[Figure]:
    """One map for each kind of GPU."""
    known = best_known(book)
    return [figure for column in known for make in (summary, picture) if (figure := make(book, column))]


def best_known(book: Book) -> list[Column]:
    """Of each kind of GPU the run that knows the names of most pipes, else the first that has any."""
    best: dict[str, tuple[int, Column]] = {}
    for column in book.columns:
        if found := pipe_map(book, column):
            kind, named = (column.run.gpu or {}).get("name", ""), sum(bool(p.label) for p in found.pipes)
            if kind not in best or named > best[kind][0]:
                best[kind] = (named, column)
    return [column for _, column in best.values()]


def summary(book: Book, column: Column) -> Figure | None:
    """Pipe by pipe: the middle of the interference of all pairs of their instructions."""
    found = pipe_map(book, column)
    if found is None or len(found.pipes) < 3:
        return None
    names = [_pipe_words(found, pipe) for pipe in found.pipes]

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        one, other = found.pipes[y], found.pipes[x]
        pairs = [found.index[i, j] for i in one.members for j in other.members if i != j]
        known = [value for value in pairs if not math.isnan(value)]
        if not known:
            return None
        middle = max(0.0, float(np.median(known)))
        words = f"{names[y]} and {names[x]}: interference {middle:.2f}, median of {text.counted(len(known), 'pair')}"
        return f"{middle:.1f}", "s1", 0.75 * middle, words

    alone = [
        i for i, pipe in enumerate(found.pipes) if all(_quiet(found, pipe, o) for o in found.pipes if o is not pipe)
    ]
    finding = (
        f"{text.counted(len(found.names), 'instruction')} run on {len(found.pipes)} pipes, of which {len(alone)} hardly "
        "slow any other."
    )
    return cells.grid(
        f"pipe-pairs{column.index}",
        f"Which pipes get in each other's way{who(book, column)}",
        finding,
        names,
        names,
        cell,
        f"{finding} 0: both go on at full rate. 1: they queue. Medians over pairs of instructions.",
        size=(30, 20),
    )


def _quiet(found: PipeMap, one: Pipe, other: Pipe) -> bool:
    values = [v for i in one.members for j in other.members if not math.isnan(v := found.index[i, j])]
    return not values or float(np.median(values)) < HALF


def _pipe_words(found: PipeMap, pipe: Pipe) -> str:
    """The counters' name of a pipe, else its first instruction; with how many it has."""
    name = pipe.label or found.opcodes[pipe.members[0]].split(".")[0]
    return f"{name}, {len(pipe.members)}" if len(pipe.members) > 1 else name


def _also(found: PipeMap) -> tuple[str, str]:
    """What indices above 1 mean, and cells without a number, where there are such."""
    judged = [i for i in range(len(found.names)) if i not in found.short]
    index, pair = (of[np.ix_(judged, judged)] for of in (found.index, found.pair))
    blank = np.isnan(index) & ~np.isnan(pair) & ~np.eye(len(judged), dtype=bool)
    above = ", more where they take longer than one after the other" if np.nanmax(index, initial=0) >= 1.05 else ""
    return above, " A blank pair takes as long on one pipe as on two." if blank.any() else ""


def picture(book: Book, column: Column) -> Figure | None:
    """The pairs as a map: instructions in the order of the clusters, lines between pipes."""
    found = pipe_map(book, column)
    if found is None:
        return None
    above, blank = _also(found)
    order = [*(i for pipe in found.pipes for i in pipe.members), *found.short]
    label_of = {i: pipe.label for pipe in found.pipes for i in pipe.members}
    names = [found.opcodes[i].split("|")[0] for i in order]  # a case of several opcodes by its first
    breaks, row = [], 0
    for pipe in found.pipes if found.short else found.pipes[:-1]:
        row += len(pipe.members)
        breaks.append(row)

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        i, j = order[y], order[x]
        if i == j:
            return text.number(round(found.alone[i], 1)), "own", 1, f"{names[y]} alone: {found.alone[i]:.2f} cycles"
        value, pair = found.index[i, j], found.pair[i, j]
        if math.isnan(pair):
            return None
        alone = f"{found.alone[i]:.2f} and {found.alone[j]:.2f} alone"
        words = f"{names[y]} and {names[x]}: {pair:.2f} cycles a pair, {alone}"
        if i in found.short or j in found.short:
            why = "; ".join(f"{found.opcodes[k]}: {found.short[k].words}" for k in (i, j) if k in found.short)
            return "n", "none", 1, f"{words}; not saturated, not judged: {why}"
        if math.isnan(value):
            return "", "none", 1, f"{words}; one pipe or two would take as long"
        return f"{max(0, value):.1f}".replace("0.", "."), "s1", value, f"{words}; interference {value:.2f}"

    rows = [f"{label} · {name}" if (label := label_of.get(i)) else name for i, name in zip(order, names)]
    placed = enumerate(found.pipes, 1)
    said = (f"{p.label or f'pipe {n}'}: {', '.join(found.opcodes[i] for i in p.members)}" for n, p in placed)
    return cells.grid(
        f"pipes{column.index}",
        f"Which instructions share a pipe, {column.label}",
        f"Pairs show that {len(names)} instructions run on {text.counted(len(found.pipes), 'pipe')}. {'; '.join(said)}.",
        rows,
        names,
        cell,
        f"Interference of pairs: 0 where both go on at full rate, 1 where they queue{above}; the diagonal is "
        "cycles per instruction and scheduler, alone. Lines part the pipes that pairs show."
        + (" Their names are the counters'." if any(pipe.label for pipe in found.pipes) else "")
        + blank
        + (" n: one of the two was not saturated alone, and the pair is not judged." if found.short else ""),
        size=(24, 17),
        left=24 + 6 * max(len(r) for r in rows),
        breaks=breaks,
    )


def pictures_of_pairs(book: Book) -> list[Block]:
    return [Figures(pictures(book))]


def blocks(book: Book) -> list[Block]:
    """What each run's pairs say in words, and where counters say otherwise."""
    maps = [found for c in book.columns if (found := pipe_map(book, c))]
    if book.columns and not maps:
        how = [Span("No map of pipes: it needs "), Span("assay run --counters '^sass/pipes/'", kind="code"), Span(".")]
        return [Paragraph(how, "muted")]
    return [_in_blocks(found, f", {found.column.tag}" if len(book.columns) > 1 else "") for found in maps]


def anchor(column: Column) -> str:
    return f"pipes-of-{column.index}"


def _in_blocks(found: PipeMap, of: str) -> Block:
    members = [
        (pipe.label or f"pipe {i}", [Span(found.opcodes[m], kind="code") for m in pipe.members])
        for i, pipe in enumerate(found.pipes, 1)
    ]
    blocks: list[Block] = [Facts(members)]
    if found.agreement is not None:
        said = f"For {text.percent(found.agreement)} of {found.compared} instructions, pairs and the hardware's "
        from_runs = " and ".join(column.tag for column in found.sources if column.tag)
        said += f"counters{f' (run {from_runs})' if from_runs else ''} name the same pipe." + (
            " Not for:" if found.disagreements else ""
        )
        blocks += [sentence(said), Bullets([f"{line}." for line in found.disagreements])]
    else:
        how = [Span("This run has no counters to compare with: "), Span("assay run --counters '^sass/pipes/'", kind="code")]
        blocks.append(Paragraph([*how, Span(" takes them.")], "muted"))
    if found.short:
        why = sentence("Alone each was slower than it can be, so that its pairs do not tell one pipe from two.")
        lines = [f"{found.opcodes[i]} not saturated: {s.words} ops/clk/SM." for i, s in found.short.items()]
        blocks.append(Fold("Not judged in pairs", str(len(lines)), [why, Bullets(lines)]))
    if found.across:
        why = sentence("Register ports, dispatch or a shared path may be the reason.")
        summary = "Pairs on different pipes that hardly overlap"
        blocks.append(Fold(summary, str(len(found.across)), [why, Bullets(found.across)]))
    return Part(f"Pipes{of}", blocks, anchor(found.column))
