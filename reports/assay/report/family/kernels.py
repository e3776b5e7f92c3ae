# SPDX-License-Identifier: Apache-2.0
"""Whole kernels: against their baselines, and what bounds their hot loops."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from dataclasses import dataclass

from assay.files import Baseline
from assay.files.sass_file import HotLoop

from ..answer.findings import Answer, Part, lines, one_line, speedup
from ..answer.overlap import efficiencies
from ..answer.questions import Question
from ..block.declaration import Family
from ..block.kinds import EMPTY, Block, Cell, Evidence, Table, figures, sentence
from ..block.kinds import Part as Headed
from ..block.tables import who
from ..book import interval, labels, text
from ..book.model import LASTING, STATES, Book, Column
from ..book.roofs import Gemm, gemm_shapes
from ..draw import cells
from ..draw.svg import INK, PAPER, SERIES, Data, Figure, axes, finish

HOT_LOOPS = sentence(
    "Read off the machine code: how long the busiest pipe, or one warp alone, needs for an iteration of all warps. Data "
    "of other warps and of memory beyond L1 is taken as there, and branches as the code's structure suggests."
)


@dataclass
class Pair:
    """A kernel against one baseline: how many times faster ours is."""

    name: str
    baseline: Baseline


def pairs(book: Book, column: Column) -> list[Pair]:
    """Every paired comparison of one run, in its order."""
    return [Pair(m.name.removeprefix("kernels/"), b) for c, m in book.measurements if c is column for b in m.baselines]


def paired(book: Book, column: Column, most: int = 48) -> Figure | None:
    """A line of text per kernel, under it a point with its interval per baseline."""
    every = pairs(book, column)
    found = every[:most]
    if not found:
        return None
    kernels = list(dict.fromkeys(p.name for p in found))
    rows = len(found) + len(kernels)
    with axes(0.5 + 0.175 * rows) as (canvas, ax):
        baselines = list(dict.fromkeys(p.baseline.name for p in found))
        ends = [e for p in found for e in (p.baseline.speedup.ci95 or (p.baseline.speedup.value,) * 2)]
        low, high = min([0.9, *ends]), max([1.1, *ends])
        low, high = low - 0.03 * (high - low), high + 0.03 * (high - low)
        ax.axvline(1, color=INK, lw=1)
        y = 0
        for kernel in kernels:
            shade = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
            ax.annotate(kernel, (low, y), va="center", fontsize=8.5, color=INK, bbox=shade)
            for p in (p for p in found if p.name == kernel):
                y += 1
                color, s = SERIES[baselines.index(p.baseline.name) % len(SERIES)], p.baseline.speedup
                if s.ci95:
                    ax.plot(s.ci95, [y, y], color=color, lw=3, alpha=0.45)
                ax.plot(s.value, y, "o", ms=4, color=color)
                ax.annotate(
                    f"{s.value:.3f} {p.baseline.name}",
                    (high, y),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8.5,
                    color=color,
                )
            y += 1
        ax.set(yticks=[], ylim=(rows - 0.4, -0.7), xlim=(low, high), xlabel="times as fast as the baseline")
        said = "; ".join(f"{p.name} against {p.baseline.name} {p.baseline.speedup.value:.3f}" for p in found)
        more = len(every) - len(found)
        return finish(
            canvas,
            f"paired{column.index}",
            f"Against the baselines, in pairs, {column.label}",
            f"Speed-up: {said}.",
            f"Right of 1, ours is faster. Bars: 95% intervals of the paired ratio, {interval.short(book.processes)}."
            + (f" {more} more in the tables." if more else ""),
            Data(["kernel", "baseline", "times as fast", "low", "high"], [_paired_row(p) for p in every]),
        )


def _paired_row(pair: Pair) -> list[object]:
    speedup = pair.baseline.speedup
    return [pair.name, pair.baseline.name, speedup.value, *(speedup.ci95 or (None, None))]


# --- GEMM ----------------------------------------------------------------------------------------------------------


def gemm_evidence(book: Book) -> list[Block]:
    """Question 22: every shape, each state by itself, against the fastest baseline that took turns with it."""
    found = Evidence(22, "assay run '^kernels/gemm/'")
    kinds = dict.fromkeys(row.name.split("/")[2] for row in book.find(r"kernels/gemm/.+", "tflops"))
    for kind, state in itertools.product(kinds, STATES):

        def said(column: Column, kind: str = kind, state: str = state) -> list[Part]:
            return _against_the_best(column, gemm_shapes(book, column, state, kind))

        found.findings += lines(book, f"{kind}, {state}", said)
    for column, kind, state in itertools.product(book.columns, kinds, STATES):
        found.draw(gemm_map(book, column, kind, state))
    for column, kind in itertools.product(book.columns, kinds):
        found.tabulate(_gemm_table(book, column, kind))
    return [found]


def _against_the_best(column: Column, shapes: list[Gemm]) -> list[Part]:
    """How many shapes, the middle of their ratios, and which are the worst and the best."""
    if not shapes:
        return []
    fastest = max(shapes, key=lambda g: g.tflops)
    found = [(f"{text.number(fastest.tflops)} TFLOP/s at {fastest.shape}", column.anchor(fastest.name))]
    against = sorted((g for g in shapes if g.best), key=lambda g: g.best.speedup.value)
    if not against:
        return found
    middle = statistics.median(g.best.speedup.value for g in against)
    found.append((f"{middle:.3f} × the fastest baseline, median of {text.counted(len(against), 'shape')}", ""))
    for word, g in (("worst", against[0]), ("best", against[-1]))[: len(against)]:
        found.append((f"{word} {speedup(g.best)} × {g.best.name} at {g.shape}", column.anchor(g.name)))
    return found


def _gemm_table(book: Book, column: Column, kind: str) -> Table | None:
    by_state = {state: {g.shape: g for g in gemm_shapes(book, column, state, kind)} for state in STATES}
    shapes = dict.fromkeys(shape for found in by_state.values() for shape in found)
    rows = []
    for shape in shapes:
        cells = [Cell(shape)]
        for found in by_state.values():
            g = found.get(shape)
            cells.append(Cell(text.number(g.tflops), column.anchor(g.name)) if g else EMPTY)
            cells.append(Cell(f"{speedup(g.best)} × {g.best.name}") if g and g.best else EMPTY)
        rows.append(cells)
    caption = f"GEMM of {kind}, TFLOP/s, and times as fast as the fastest baseline{who(book, column)}"
    head = ["Shape", *(words for state in STATES for words in (state, f"{state}, of the fastest baseline"))]
    return Table(caption, head, rows) if rows else None


def _beyond(g: Gemm, side: int) -> bool:
    """Whether the whole interval of its speed-up is above 1 (side 1), or below (side -1)."""
    ends = g.best.speedup.ci95 or (g.best.speedup.value,) * 2
    return min(ends) > 1 if side > 0 else max(ends) < 1


FULL = math.log(1.25)  # a ratio so far from 1 has the full colour


def gemm_map(book: Book, column: Column, kind: str, state: str) -> Figure | None:
    """How many times as fast as the fastest baseline, over m (down) and n and k by their product (across)."""
    found: dict[tuple[int, int, int], Gemm] = {}
    for g in gemm_shapes(book, column, state, kind):
        shape = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", g.shape)
        if shape and g.best and g.best.speedup.value > 0:
            found[tuple(map(int, shape.groups()))] = g
    if len(found) < 4:
        return None
    rows = sorted({m for m, _, _ in found})
    across = sorted({(n, k) for _, n, k in found}, key=lambda weights: (weights[0] * weights[1], weights))

    def cell(y: int, x: int) -> tuple[str, str, float, str] | None:
        g = found.get((rows[y], *across[x]))
        if g is None:
            return None
        ratio = g.best.speedup.value
        words = f"{g.shape}: {speedup(g.best)} × as fast as {g.best.name}, {text.number(g.tflops)} TFLOP/s"
        return f"{ratio:.2f}", "s1" if ratio >= 1 else "s2", 0.08 + 0.5 * min(1, abs(math.log(ratio)) / FULL), words

    slower, faster = (sum(_beyond(g, side) for g in found.values()) for side in (-1, 1))
    finding = (
        f"Beyond its interval ours is slower than the fastest baseline in {slower} of {len(found)} shapes, and faster in "
        f"{faster}."
    )
    return cells.grid(
        f"gemm-{kind}{'-sustained' if state == LASTING else ''}{column.index}",
        f"GEMM of {kind} against the library, {state}{who(book, column)}",
        finding,
        [f"m = {m}" for m in rows],
        [f"{n}×{k}" for n, k in across],
        cell,
        f"{finding} Rows: m. Columns: n×k of the weights, by size. From 1 on ours is as fast (first colour).",
        size=(38, 22),
        left=60,
    )


def blocks(book: Book) -> list[Block]:
    found: list[Block] = [figures(*(paired(book, column) for column in book.columns[:4]))]
    if table := hot_loop_table(book):
        found.append(Headed("Hot loops of kernels", [HOT_LOOPS, table], "hot-loops"))
    return found


# --- hot loops -----------------------------------------------------------------------------------------------------


def measured(book: Book) -> list[HotLoop]:
    """The loops whose time is known, each case once."""
    return list({loop.case: loop for loop in book.loops if loop.measured}.values())


def short(kernel: str) -> str:
    """A demangled name without its return type, namespaces and arguments."""
    name = kernel.split("(CU")[0].removeprefix("void ")
    return re.sub(r"\b(?:\w+|\(anonymous namespace\))::", "", name).split("(")[0] or kernel


def anchor(book: Book, loop: HotLoop) -> str:
    return next((c.anchor(loop.case) for c in book.columns if book.measurement(c, loop.case)), "")


def hot_loop_table(book: Book) -> Table | None:
    """What each loop consists of, the pipes it keeps busy, and predicted against measured."""
    rows = []
    for loop in book.loops:
        opcodes = ", ".join(f"{count} {opcode}" for opcode, count in loop.opcodes[:4])
        busy = ", ".join(f"{pipe} {cycles:.0f}" for pipe, cycles in loop.pipes[:4])
        agrees = Cell(text.percent(loop.predicted / loop.measured)) if loop.measured else EMPTY
        rows.append(
            [
                Cell(labels.case_words(loop.case) if loop.case else short(loop.kernel), anchor(book, loop)),
                Cell(short(loop.kernel) if loop.case else ""),
                Cell(str(loop.warps)),
                Cell(opcodes),
                Cell(busy),
                Cell(loop.bound_by),
                Cell(text.number(round(loop.predicted))),
                Cell(text.number(round(loop.measured)) if loop.measured else "–"),
                agrees,
            ]
        )
    head = [
        "Case",
        "Kernel",
        "Warps",
        "Opcodes of a warp",
        "Pipes, cycles",
        "Bound by",
        "Predicted",
        "Measured",
        "Predicted of it",
    ]
    caption = "Hot loops, cycles per iteration: what bounds them, and whether the time agrees"
    return Table(caption, head, rows) if rows else None


def hot_loop(book: Book, question: Question) -> Answer:
    """Of two-stage pipelines the share of their bound; the rest is a question for `assay sass`."""
    pattern = r"special_function/overlap/wgmma_(bf16|e4m3)/two_stage\w*/ffma_ex2_fadd"
    findings = efficiencies(book, book.find(pattern, "overlap_efficiency"))
    for loop in measured(book)[:4]:
        said = f"{loop.bound_by} bounds it: {text.number(round(loop.predicted))} cycles predicted, "
        said += f"{text.number(round(loop.measured))} measured, {text.percent(loop.predicted / loop.measured)}"
        findings.append(one_line(f"hot loop of {labels.case_words(loop.case)}", said, "hot-loops"))
    command = "assay sass WHAT: opcodes by pipe, bound, schedule and stages of its loops"
    if findings:
        findings.append(one_line("of any other kernel", command, ""))
    return Answer(question, findings, remark=command)


FAMILY = Family(
    "kernels",
    "Kernels",
    "Whole kernels against their baselines, in pairs.",
    blocks=(gemm_evidence, blocks),
    answers={11: hot_loop},
)
