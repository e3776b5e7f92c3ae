#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the constants of kernels/gemm/sm90/time_model_sm90.cpp to what assay_gemm_sweep measured.

Searches for the constants by which the choice that the model likes best costs least over the best that was measured.
Where a sweep has rows of calls beside single ones, a choice's time is the geometric mean of a call of both; one that was
timed alone is taken to gain in a row what the others of its shape do in the median. A shape that
was swept with and without rest counts twice, so that the choice is good in bursts and at the power limit. Prints them
as kernels/gemm/sm90/time_constants_sm90.hpp has them, which holds those of 16-bit and of 8-bit operands, then how good
the choices are on the shapes fitted and on shapes held out.

  scripts/fit_gemm_sm90.py results/h200/2026-11-23-gemm-forms/fitted.csv.gz --held-out .../held_out.csv.gz

With --keep the constants of the sweeps' operands, of 16 or of 8 bits, stay what the header has, and only the factors of forms are fitted, to the
sweeps and, nine times as much, to those of --heavy. A shape that several sweeps have is the last one's. With --forms the
choices of other forms are left out, where a sweep was for a selection among more than are there; with --only the factors of
other forms stay, where a sweep was of small products alone; with --constants these are fitted, and all else stays. --near
hides slow choices from the search, which may make one of them the model's favourite: look at the choices once more without it.

  scripts/fit_gemm_sm90.py SWEEPS... --keep kernels/gemm/sm90/time_constants_sm90.hpp --heavy SWEEPS... --forms LIST
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import differential_evolution

# Each constant of the C++ file, in its order, and where it is looked for.
BOUNDS = {
    "start": (1500, 9000), "mma_stretch": (0.95, 1.4), "mma_least": (8, 40), "step_more": (0, 120), "l2": (25, 80), "joined_p": (0, 0.9), "joined_q": (0, 0.9),
    "l2_alone": (0.2, 1), "delivered": (50, 150), "cluster": (0, 20), "misaligned": (1, 1.9), "spread": (1, 1.9),
    "tile_together": (500, 5000), "tile_pingpong": (0, 2500), "out": (0.02, 0.6), "out_tile": (0, 2000), "out_box": (0, 3000), "join": (500, 8000), "leave": (0.01, 0.4),
    "add": (0, 0.4), "uneven": (1, 1.3), "reread": (0, 2), "dram": (1800, 3100), "dram_busy": (0.1, 1), "dram_out": (0, 1),
    "reduce": (500, 8000), "reduce_l2": (200, 4000),
}
CHOICE = re.compile(r"(swapped_)?(pingpong_)?(\d+)x(\d+)(?:x(\d+))?_c(\d)x(\d)_s\d+(?: stream (\d+) over (\d+)| split (\d+))?(?: band \d+)?")
NAME = re.compile(r"(?:taken )?(.*?)( x\d+)?")  # the model's favourite, a choice, a row of so many calls
MISALIGNED = "~"  # ends the name of a form whose operands' rows begin within a line
WEIGHT = 9  # of a shape of --heavy
CLUSTERS = {1: 132, 2: 66, 4: 30, 8: 15}  # that an H200 holds at once, by CTAs


@dataclass
class Sweep:
    """One entry per (shape, choice): features by name, measured ns, the shape's number; and names, library's best."""

    x: dict[str, np.ndarray]
    ns: np.ndarray
    shape: np.ndarray
    names: list[tuple[str, str]]
    library: np.ndarray

    def kinds(self) -> np.ndarray:
        """The form of each choice, and whether rows begin within lines of 128 bytes."""
        marks = (self.x["misaligned_p"] + self.x["misaligned_q"]) > 0
        return np.array([name.split(" ")[0] + MISALIGNED * bool(mark) for (_, name), mark in zip(self.names, marks, strict=True)])

    def is_narrow(self) -> bool:
        return self.names[0][0].startswith(("e4m3 ", "e5m2 "))

    def best(self) -> np.ndarray:
        least = np.full(len(self.library), np.inf)
        np.minimum.at(least, self.shape, self.ns)
        return least


def _up(a: int, b: int) -> int:
    return -(-a // b)


def features(shape: str, choice: str) -> dict[str, float]:
    type_, layout, m, n, k = shape.split()[:5]  # "rest 50" may follow: the same from rest
    m, n, k = int(m), int(n), int(k)
    match = CHOICE.fullmatch(choice)
    if not match:
        raise ValueError(f"{choice!r} is no choice of the product; GemmChoiceSm90::text() writes them")
    swapped, pingpong, tile_m, tile_n, tile_k, cluster_m, cluster_n, stream, workers, parts = match.groups()
    tile_m, tile_n, cluster_m, cluster_n = int(tile_m), int(tile_n), int(cluster_m), int(cluster_n)
    each = 1 if type_ in ("e4m3", "e5m2") else 2
    depth = int(tile_k) * each // 128 if tile_k else 1  # FormSm90::depth
    rows, columns = (n, m) if swapped else (m, n)
    row_a, row_b = m if layout[0] == "t" else k, n if layout[1] == "n" else k
    row_p, row_q = (row_b, row_a) if swapped else (row_a, row_b)
    whole_boxes = layout[0] == "t" if swapped else layout[1] == "n"  # of 64 columns of Q: GemmTileSm90::kLoadedN
    tiles_m, tiles_n = _up(rows, tile_m * cluster_m), _up(columns, tile_n * cluster_n)
    tiles, k_steps = tiles_m * tiles_n, _up(k * each, 128 * depth)
    if stream:
        streamed, used = int(stream), int(workers)
    elif parts:
        streamed, used = 0, tiles * int(parts)
    else:
        streamed = 0
        most = min(tiles, CLUSTERS[cluster_m * cluster_n])
        used = _up(tiles, _up(tiles, most))
        eights = _up(used, 8) * 8
        used = eights if eights <= most else used
    block = {(1, 1): (4, 4)}.get((cluster_m, cluster_n), (1, 1) if cluster_m > 1 and cluster_n > 1 else  # cluster_block()
                                 (1, 16 // cluster_m) if cluster_n == 1 else (16 // cluster_n, 1))
    return {
        "tile_m": tile_m, "tile_n": tile_n, "loaded_n": _up(tile_n, 64) * 64 if whole_boxes else tile_n, "cluster_m": cluster_m,
        "cluster_n": cluster_n, "pingpong": bool(pingpong), "depth": depth,
        "together_p": max(1, min(block[1], tiles_n)), "together_q": max(1, min(block[0], tiles_m)),
        "tiles_m": tiles_m, "tiles_n": tiles_n, "k_steps": k_steps, "stream": streamed, "workers": used, "split": bool(parts),
        "busy": used * cluster_m * cluster_n / 132, "misaligned_p": row_p * each % 128 != 0,
        "misaligned_q": row_q * each % 128 != 0,
        "bytes_p": each * rows * k, "bytes_q": each * columns * k, "bytes_d": 2 * m * n,
    }


def read_times(paths: list[Path], forms: set[str] | None = None) -> dict[tuple[str, str], dict[bool, float]]:
    """Nanoseconds of a call by (shape, choice) and whether it is one of a row. A shape that several files have is the last one's.

    Of the library and, where they are given, of these forms alone.
    """
    times: dict[str, dict[str, dict[bool, float]]] = {}
    for path in paths:
        opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
        found: dict[str, dict[str, dict[bool, float]]] = {}
        with opened as file:
            for shape, name, ns, _ in list(csv.reader(file))[1:]:
                match = NAME.fullmatch(name)
                if forms and not match[1].startswith("cublaslt") and match[1].split(" ")[0] not in forms:
                    continue
                found.setdefault(shape, {}).setdefault(match[1], {})[match[2] is not None] = float(ns)
        times.update(found)
    return {(shape, choice): of for shape, choices in times.items() for choice, of in choices.items()}


def load(paths: list[Path], near: float = float("inf"), forms: set[str] | None = None, without: Sequence[Path] = ()) -> Sweep:
    """Of choices that take more than `near` times as long as the best of their shape, every eighth.

    `forms`: as read_times() has them. The shapes of `without` are left out.
    """
    others = {shape for shape, _ in read_times(list(without))}
    times = {key: of for key, of in read_times(paths, forms).items() if key[0] not in others}
    shapes = list(dict.fromkeys(shape for shape, _ in times))
    number = {shape: index for index, shape in enumerate(shapes)}
    gains: dict[str, list[float]] = {}
    for (shape, choice), of in times.items():
        if len(of) == 2 and not choice.startswith("cublaslt"):
            gains.setdefault(shape, []).append(of[True] / of[False])
    usual = {shape: float(np.median(found)) for shape, found in gains.items()}
    library = np.full((len(shapes), 2), np.nan)
    ours = []
    for (shape, choice), of in times.items():
        if choice.startswith("cublaslt"):
            for row, ns in of.items():
                library[number[shape], int(row)] = np.nanmin([library[number[shape], int(row)], ns])
        elif False in of:
            in_row = of.get(True, of[False] * usual.get(shape, 1))
            ours.append((shape, choice, float(np.sqrt(of[False] * in_row))))
    library = np.exp(np.nanmean(np.log(library), axis=1))
    if not ours:
        raise ValueError(f"{paths[0]}: every shape is in a later sweep too, or none of its choices is one of the forms")
    best: dict[str, float] = {}
    for shape, _, ns in ours:
        best[shape] = min(best.get(shape, ns), ns)
    ours = [entry for index, entry in enumerate(ours) if entry[2] <= near * best[entry[0]] or index % 8 == 0]
    found = [features(shape, choice) for shape, choice, _ in ours]
    return Sweep({name: np.array([float(f[name]) for f in found]) for name in found[0]},
                 np.array([ns for *_, ns in ours]), np.array([number[shape] for shape, *_ in ours]),
                 [(shape, choice) for shape, choice, _ in ours], library)


@dataclass
class Model:
    """The constants of the C++ file, and its factors for each form: of Sweep.kinds()."""

    constants: dict[str, float]
    factors: dict[str, float]

    def predict(self, sweep: Sweep) -> np.ndarray:
        """predicted_cycles_sm90() of the C++ file."""
        factors = [self.factors.get(kind, 1.0) for kind in sweep.kinds()]
        return predict(self.constants, sweep.x) * np.array(factors)

    def factor_lines(self) -> list[str]:
        """As the header has them; of forms that have the factor 1, none."""
        forms = sorted({kind.removesuffix(MISALIGNED) for kind in self.factors})
        pairs = [(form, self.factors.get(form, 1.0), self.factors.get(form + MISALIGNED, 1.0)) for form in forms]
        return [f'    {{"{form}", {a:.4g}, {b:.4g}}},' for form, a, b in pairs if max(abs(a - 1), abs(b - 1)) > 1e-3]


def predict(c: dict[str, float], x: dict[str, np.ndarray]) -> np.ndarray:
    """The same without the factors."""
    area = x["tile_m"] * x["tile_n"]
    mma = 4 * x["depth"] * x["tile_m"] / 64 * np.maximum(x["tile_n"] / 2, c["mma_least"] + x["tile_n"] / 4) * c["mma_stretch"]
    slowed_p, slowed_q = (np.where(x[f"misaligned_{name}"] > 0, c["misaligned"], 1) for name in "pq")
    read_p, read_q = (1 - c[f"joined_{name}"] * (1 - 1 / x[f"together_{name}"]) for name in "pq")
    spread_p, spread_q = (np.where(x[f"misaligned_{name}"] > 0, c["spread"], 1) for name in "pq")
    taken_in = 128 * x["depth"] * (x["tile_m"] * spread_p + x["loaded_n"] * spread_q) / c["delivered"] * x["busy"]

    def step_of(read_p: np.ndarray | float, read_q: np.ndarray | float) -> np.ndarray:
        l2 = 128 * x["depth"] * (x["tile_m"] / x["cluster_n"] * slowed_p * read_p + x["loaded_n"] / x["cluster_m"] * slowed_q * read_q)
        l2 *= (c["l2_alone"] + (1 - c["l2_alone"]) * x["busy"]) / c["l2"]
        return np.maximum(np.maximum(mma, l2), taken_in) + c["step_more"] + c["cluster"] * (x["cluster_m"] * x["cluster_n"] - 1)

    streams, tiles = x["stream"] > 0, x["tiles_m"] * x["tiles_n"]
    split = x["split"] > 0
    whole = np.where(split, 0, np.ceil((tiles - x["stream"]) / x["workers"]))
    share = np.ceil(np.where(split, tiles, x["stream"]) * x["k_steps"] / x["workers"])
    some = np.maximum(x["stream"], 1)
    uneven = streams & (x["workers"] % some != 0)
    cycles = whole * x["k_steps"] * step_of(read_p, read_q) + area * c["out"]
    cycles += share * np.where(split, step_of(read_p, read_q), step_of(1, 1) * np.where(uneven, c["uneven"], 1))
    between = np.where(x["pingpong"] > 0, c["tile_pingpong"], c["tile_together"])
    boxes = np.ceil(x["tile_n"] / 64) * x["tile_m"] / 128  # of D in 16 bits
    between = np.maximum(between, c["out_tile"] + boxes * c["out_box"] - x["k_steps"] * step_of(read_p, read_q))
    cycles += np.maximum(0, whole + (streams | split) - 1) * between
    others = np.maximum(0, np.ceil(x["workers"] / some) - 1)
    written = 4 * area * x["cluster_m"] * x["cluster_n"] * x["workers"]
    joined = streams * (c["join"] + area * (c["leave"] + c["add"] * others))
    joined += split * (c["reduce"] + area * (c["leave"] - c["out"]) + written / c["reduce_l2"])
    cycles += joined
    again = np.minimum(x["tiles_n"] - 1, 3) * x["bytes_p"] + np.minimum(x["tiles_m"] - 1, 3) * x["bytes_q"]
    bytes_moved = x["bytes_p"] + x["bytes_q"] + x["bytes_d"] + uneven * c["reread"] * x["stream"] / tiles * again
    dram = bytes_moved / c["dram"] / np.minimum(1, c["dram_busy"] + 1.3 * x["busy"] * (1 - c["dram_busy"]))
    dram += area * c["dram_out"] + np.where(whole == 0, joined, 0)
    return c["start"] + (cycles**8 + dram**8) ** (1 / 8)


def chosen(model: Model, sweep: Sweep) -> np.ndarray:
    """The index of the choice that the model takes for each shape."""
    order = np.lexsort((model.predict(sweep), sweep.shape))
    return order[np.unique(sweep.shape[order], return_index=True)[1]]


def report(name: str, model: Model, sweep: Sweep) -> None:
    picked = chosen(model, sweep)
    over = sweep.ns[picked] / sweep.best()
    print(f"{name}: {len(over)} shapes, over the best {over.mean() - 1:.1%} in the mean, {over.max() - 1:.0%} at worst; "
          f"within 3% on {np.mean(over <= 1.03):.0%}, within 10% on {np.mean(over <= 1.1):.0%}")
    ratio = sweep.library / sweep.ns[picked]
    print(f"  times as fast as the library's best: {np.exp(np.nanmean(np.log(ratio))):.3f}, at worst {np.nanmin(ratio):.3f};"
          f" the best choice {np.exp(np.nanmean(np.log(sweep.library / sweep.best()))):.3f}")
    for index in np.argsort(-over)[:5]:
        print(f"  {over[index] - 1:5.0%} {sweep.names[picked[index]][0]}: {sweep.names[picked[index]][1]}")


def soft_cost(sweep: Sweep, y: np.ndarray) -> np.ndarray:
    """What the choice by the least of `y`, logarithms of times, costs on each shape over the best that was measured.

    The choice is soft, so that a search sees how near the next one is: one that is said to take 0.5% longer has 1 / e of
    the weight. With twice as much, choices of large products cost 0.3% more.
    """
    cost = np.minimum(np.log(sweep.ns / sweep.best()[sweep.shape]), 0.5)
    shapes = len(sweep.library)
    least = np.full(shapes, np.inf)
    np.minimum.at(least, sweep.shape, y)
    weight = np.exp(-(y - least[sweep.shape]) / 0.005)
    total, costs = np.zeros(shapes), np.zeros(shapes)
    np.add.at(total, sweep.shape, weight)
    np.add.at(costs, sweep.shape, weight * cost)
    return costs / total


def loss_of(cost: np.ndarray) -> float:
    return cost.mean() + 0.5 * np.maximum(0, cost - 0.03).mean()


def fit(sweep: Sweep, rounds: int) -> Model:
    return refit(fit_constants(Model({}, {}), list(BOUNDS), [sweep], rounds), [(sweep, 1.0)])


def fit_constants(model: Model, names: Sequence[str], sweeps: list[Sweep], rounds: int) -> Model:
    """The model with others of the constants that `names` has, by which the choices in sweeps get better: from its own on."""
    def with_values(values: np.ndarray) -> Model:
        return Model(model.constants | dict(zip(names, values, strict=True)), model.factors)

    def loss(values: np.ndarray) -> float:
        return sum(loss_of(soft_cost(sweep, np.log(with_values(values).predict(sweep)))) for sweep in sweeps)

    bounds = [BOUNDS[name] for name in names]
    known = [np.clip(model.constants[name], *BOUNDS[name]) for name in names] if set(names) <= model.constants.keys() else None
    found = differential_evolution(loss, bounds, maxiter=rounds, popsize=10, seed=1, polish=False, x0=known)
    return with_values(found.x)


def kept(header: Path, narrow: bool) -> Model:
    """The model of 8-bit (`narrow`) or of 16-bit operands that a header holds. Raises ValueError."""
    text = header.read_text()
    if narrow:
        text = text.partition("kNarrowFactorsSm90[]")[2]
    else:
        text = text.partition("kWideFactorsSm90[]")[2].partition("kNarrowFactorsSm90[]")[0]
    constants = {name: float(value) for name, value in re.findall(r"\.(\w+) = ([\d.e+]+),", text)}
    if constants.keys() != BOUNDS.keys():
        raise ValueError(f"{header}: the constants of {8 if narrow else 16}-bit operands are not those that are fitted")
    factors = {}
    for form, aligned, misaligned in re.findall(r'\{"([^"]+)", ([\d.]+), ([\d.]+)\}', text):
        factors[form], factors[form + MISALIGNED] = float(aligned), float(misaligned)
    return Model(constants, factors)


def refit(model: Model, sweeps: list[tuple[Sweep, float]], only: str = "") -> Model:
    """The model with other factors of forms, by which the choices in sweeps of such weights get better.

    Of forms whose names match `only`, a regular expression; factors of others stay.

    Factors near 1 are preferred: with a tenth of this weight they followed what noise a sweep had, and choices were
    within 3% of the best on 70% of the shapes held out, in place of 73%.
    """
    times = [np.log(model.predict(sweep)) for sweep, _ in sweeps]
    kinds = sorted(set(np.concatenate([sweep.kinds() for sweep, _ in sweeps])))
    of = [np.searchsorted(kinds, sweep.kinds()) for sweep, _ in sweeps]
    logs = np.log([model.factors.get(kind, 1.0) for kind in kinds])

    def loss(times: list[np.ndarray], logs: np.ndarray) -> float:
        costs = [(soft_cost(sweep, y), weight) for (sweep, weight), y in zip(sweeps, times, strict=True)]
        total = sum(weight * (cost.sum() + 0.5 * np.maximum(0, cost - 0.03).sum()) for cost, weight in costs)
        return total / sum(weight * len(cost) for cost, weight in costs) + 2 * float((logs**2).mean())

    least, random = loss(times, logs), np.random.default_rng(1)
    for step in (0.06, 0.03, 0.015):
        for _ in range(3):
            for kind in random.permutation([at for at, name in enumerate(kinds) if re.search(only, name)]):
                for change in (step, -step):
                    moved = [y + change * (number == kind) for y, number in zip(times, of, strict=True)]
                    changed = logs + change * (np.arange(len(kinds)) == kind)
                    now = loss(moved, changed)
                    if now < least - 1e-6:
                        least, times, logs = now, moved, changed
                        break
    found = {kind: float(np.exp(value)) for kind, value in zip(kinds, logs, strict=True)}
    return Model(model.constants, model.factors | found if only else found)


def constant(text: str) -> str:
    if text not in BOUNDS:
        raise argparse.ArgumentTypeError(f"{text!r} is no constant of the model; they are {', '.join(BOUNDS)}")
    return text


def expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from error
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=Path, nargs="+", help="CSV of assay_gemm_sweep, also gzipped")
    parser.add_argument("--held-out", type=Path, nargs="+", help="others, of shapes that are not fitted")
    parser.add_argument("--rounds", type=int, default=500, help="of the search (default: 500, about two minutes)")
    parser.add_argument("--near", type=float, default=float("inf"),
                        help="fit to choices within so many times the best of their shape and an eighth of the others, which is quicker")
    parser.add_argument("--keep", type=Path, metavar="HEADER", help="fit only factors of forms, to these constants")
    parser.add_argument("--heavy", type=Path, nargs="+", default=[], help="with --keep: sweeps that weigh more")
    parser.add_argument("--forms", type=Path, metavar="LIST", help="a file with a form's name a line: only choices of these")
    parser.add_argument("--only", type=expression, default="", metavar="REGEX", help="with --keep: fit factors of forms of such names, and keep those of all others")
    parser.add_argument("--constants", type=constant, nargs="+", metavar="NAME", help="with --keep: fit these, and keep factors and all others")
    options = parser.parse_args()
    try:
        forms = set(options.forms.read_text().split()) if options.forms else None
        if options.keep:
            sweeps = [(load([path], options.near, forms, options.sweep[at + 1 :]), 1.0) for at, path in enumerate(options.sweep)]
            if options.heavy:
                sweeps.append((load(options.heavy, forms=forms), WEIGHT))
            before = kept(options.keep, sweeps[0][0].is_narrow())
            if options.constants:
                model = fit_constants(before, options.constants, [sweep for sweep, _ in sweeps], options.rounds)
                print("\n".join(f"    .{name} = {model.constants[name]:.4g}," for name in options.constants))
            else:
                model = refit(before, sweeps, options.only)
                print("\n".join(model.factor_lines()))
            named = list(zip([*options.sweep, *(["heavy"] if options.heavy else [])], [sweep for sweep, _ in sweeps], strict=True))
            if options.held_out:
                named.append(("held out", load(options.held_out, forms=forms)))
            for path, sweep in named:
                report(f"{path} before", before, sweep)
                report(f"{path} now", model, sweep)
            return 0
        sweep = load(options.sweep, options.near, forms)
        held_out = load(options.held_out, forms=forms) if options.held_out else None
    except (OSError, ValueError) as error:
        print(f"fit_gemm_sm90: {error}", file=sys.stderr)
        return 2
    model = fit(sweep, options.rounds)
    for name, value in model.constants.items():
        print(f"    .{name} = {value:.4g},")
    print("\n".join(model.factor_lines()))
    report("fitted", model, sweep)
    if held_out:
        report("held out", model, held_out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
