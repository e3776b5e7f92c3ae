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

With --keep the constants of 16-bit operands stay what the header has, and only the factors of forms are fitted, to the
sweeps and, nine times as much, to those of --heavy. A shape that several sweeps have is the last one's. With --forms the
choices of other forms are left out, where a sweep was for a selection among more than are there; with --only the factors of
other forms stay, where a sweep was of small products alone. --near hides slow choices from the search, which may make one
of them the model's favourite: look at the choices once more without it.

With --start the constants are sought down the slope from the header's, and there are no factors; with --pull the factors
are what the constants leave unexplained, drawn to 1. Today's are of these two steps, the second from a header with the first's
constants:

  scripts/fit_gemm_sm90.py SWEEPS... --keep HEADER --start --rounds 30 --near 1.3 --heavy SWEEPS... --weight 1.5 --forms LIST
  scripts/fit_gemm_sm90.py SWEEPS... --keep HEADER --heavy SWEEPS... --forms LIST --pull 0.03
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gemm_sweep import MISALIGNED, Sweep, load
from scipy.optimize import differential_evolution, minimize

# Each constant of the C++ file, in its order, and where it is looked for.
BOUNDS = {
    "start": (1500, 9000), "mma_stretch": (0.95, 1.4), "mma_least": (8, 40), "step_more": (0, 120), "l2": (25, 80), "joined_p": (0, 0.9), "joined_q": (0, 0.9),
    "l2_alone": (0.2, 1), "delivered": (50, 150), "cluster": (0, 20), "misaligned": (1, 1.9), "spread": (1, 1.9),
    "tile_together": (500, 6000), "tile_pingpong": (0, 2500), "out": (0.02, 0.6), "join": (500, 8000), "leave": (0.01, 0.4),
    "add": (0, 0.4), "uneven": (1, 1.1), "reread": (0, 2), "dram": (1800, 3100), "dram_busy": (0.1, 1), "dram_out": (0, 1),
    "reduce": (500, 8000), "reduce_l2": (200, 4000),
}
WEIGHT = 9  # of a shape of --heavy
NEAR = 0.12  # a choice counts by e to the power of so many times less as its time is longer than the best


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
    cycles = whole * x["k_steps"] * step_of(read_p, read_q) + share * step_of(1, 1) + area * c["out"]
    between = np.where(x["pingpong"] > 0, c["tile_pingpong"], c["tile_together"])
    cycles += np.maximum(0, whole + (streams | split) - 1) * between
    some = np.maximum(x["stream"], 1)
    others = np.maximum(0, np.ceil(x["workers"] / some) - 1)
    written = 4 * area * x["cluster_m"] * x["cluster_n"] * x["workers"]
    joined = streams * (c["join"] + area * (c["leave"] + c["add"] * others))
    joined += split * (c["reduce"] + area * (c["leave"] - c["out"]) + written / c["reduce_l2"])
    cycles += joined
    uneven = streams & (x["workers"] % some != 0)
    cycles *= np.where(uneven, c["uneven"], 1)
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


def soft_cost(sweep: Sweep, y: np.ndarray, width: float = 0.01) -> np.ndarray:
    """What the choice by the least of `y`, logarithms of times, costs on each shape over the best that was measured.

    The choice is soft, so that a search sees how near the next one is.
    """
    cost = np.minimum(np.log(sweep.ns / sweep.best()[sweep.shape]), 0.5)
    shapes = len(sweep.library)
    least = np.full(shapes, np.inf)
    np.minimum.at(least, sweep.shape, y)
    weight = np.exp(-(y - least[sweep.shape]) / width)
    total, costs = np.zeros(shapes), np.zeros(shapes)
    np.add.at(total, sweep.shape, weight)
    np.add.at(costs, sweep.shape, weight * cost)
    return costs / total


def loss_of(cost: np.ndarray) -> float:
    return cost.mean() + 0.5 * np.maximum(0, cost - 0.03).mean()


def fit(sweep: Sweep, rounds: int) -> Model:
    def loss(values: np.ndarray) -> float:
        return loss_of(soft_cost(sweep, np.log(predict(dict(zip(BOUNDS, values, strict=True)), sweep.x))))

    found = differential_evolution(loss, list(BOUNDS.values()), maxiter=rounds, popsize=10, seed=1, polish=False)
    constants = dict(zip(BOUNDS, found.x, strict=True))
    return refit(Model(constants, {}), [(sweep, 1.0)])


def fit_from(model: Model, sweeps: list[tuple[Sweep, float]], rounds: int) -> Model:
    """The constants by which choices get better, down the slope from those of `model`; it has no factors.

    Three tenths of what the logarithms of times near the best leave unexplained is added to what the choices cost: that
    alone fits to the noise of a few close choices.
    """
    low, high = np.array(list(BOUNDS.values()), float).T
    near = []
    for sweep, _ in sweeps:
        cost = np.exp(-np.log(sweep.ns / sweep.best()[sweep.shape]) / NEAR)
        near.append(cost / np.bincount(sweep.shape, cost)[sweep.shape])

    def loss(places: np.ndarray) -> float:
        constants, total = dict(zip(BOUNDS, low + places * (high - low), strict=True)), 0.0
        for (sweep, weight), part in zip(sweeps, near, strict=True):
            y = np.log(predict(constants, sweep.x))
            left = y - np.log(sweep.ns)
            left = np.abs(left - np.bincount(sweep.shape, part * left)[sweep.shape])
            error = (part * np.where(left < 0.15, left**2, 0.3 * left - 0.0225)).sum()
            total += weight * (len(sweep.library) * loss_of(soft_cost(sweep, y, 0.025)) + 0.3 * error)
        return total / sum(weight * len(sweep.library) for sweep, weight in sweeps)

    start = np.clip((np.array([model.constants[name] for name in BOUNDS]) - low) / (high - low), 0.002, 0.998)
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(0, 1)] * len(start), options={"maxiter": rounds, "eps": 2e-3, "maxfun": 10**6})
    return Model(dict(zip(BOUNDS, (low + found.x * (high - low)).tolist(), strict=True)), {})


def kept(header: Path) -> Model:
    """The model of 16-bit operands that a header holds. Raises ValueError."""
    text = header.read_text()
    wide = text.partition("kWideFactorsSm90[]")[2].partition("kNarrowFactorsSm90[]")[0]
    constants = {name: float(value) for name, value in re.findall(r"\.(\w+) = ([\d.e+]+),", wide)}
    if constants.keys() != BOUNDS.keys():
        raise ValueError(f"{header}: the constants of 16-bit operands are not those that are fitted")
    factors = {}
    for form, aligned, misaligned in re.findall(r'\{"([^"]+)", ([\d.]+), ([\d.]+)\}', wide):
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


def shrunk(model: Model, sweeps: list[tuple[Sweep, float]], pull: float) -> Model:
    """The model with the factors of forms that what it leaves unexplained asks for, drawn to 1.

    Logarithms of measured over predicted times, beside the mean of their shape, are a form's own and, beside it, the
    form's with rows that begin within lines. The `pull` draws both to nothing: with more data a factor resists it better.
    """
    forms = sorted({kind.removesuffix(MISALIGNED) for sweep, _ in sweeps for kind in sweep.kinds()})
    names = [form + mark for mark in ("", MISALIGNED) for form in forms]  # of rows of both sorts the first is for all
    square, right = np.zeros((3 * len(forms),) * 2), np.zeros(3 * len(forms))
    for sweep, weight in sweeps:
        kinds = sweep.kinds()
        cost = np.log(sweep.ns / sweep.best()[sweep.shape])
        near = np.exp(-cost / NEAR)  # what is slow is never chosen
        near /= np.bincount(sweep.shape, near)[sweep.shape]
        left = np.log(sweep.ns) - np.log(predict(model.constants, sweep.x))
        left = np.clip(left - np.bincount(sweep.shape, near * left)[sweep.shape], -0.2, 0.2)
        form = np.searchsorted(forms, [kind.removesuffix(MISALIGNED) for kind in kinds])
        own = (1 + np.char.endswith(kinds, MISALIGNED)) * len(forms) + form
        for shape in range(len(sweep.library)):
            of = np.flatnonzero(sweep.shape == shape)
            x = np.zeros((len(of), len(right)))
            x[np.arange(len(of)), form[of]] = x[np.arange(len(of)), own[of]] = 1
            x -= near[of] @ x
            weighted = x.T * near[of] * weight
            square += weighted @ x
            right += weighted @ left[of]
    total = sum(weight * len(sweep.library) for sweep, weight in sweeps)
    logs = np.linalg.solve(square + np.eye(len(right)) * pull * total, right)
    both, own = logs[: len(forms)], logs[len(forms) :]
    return Model(model.constants, dict(zip(names, np.exp(np.tile(both, 2) + own).tolist(), strict=True)))


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
    parser.add_argument("--start", action="store_true", help="with --keep: look for constants too, down the slope from the header's, in --rounds steps")
    parser.add_argument("--weight", type=float, default=WEIGHT, help=f"of a shape of --heavy (default: {WEIGHT})")
    parser.add_argument("--pull", type=float, help="with --keep: factors from what is unexplained, so much drawn to 1, not by search")
    options = parser.parse_args()
    try:
        forms = set(options.forms.read_text().split()) if options.forms else None
        if options.keep:
            sweeps = [(load([path], options.near, forms, options.sweep[at + 1 :]), 1.0) for at, path in enumerate(options.sweep)]
            sweeps.append((load(options.heavy, options.near if options.start else float("inf"), forms), options.weight))
            before = kept(options.keep)
            if options.start:
                model = fit_from(before, sweeps, options.rounds)
                print("\n".join(f"    .{name} = {value:.4g}," for name, value in model.constants.items()))
            else:
                model = shrunk(before, sweeps, options.pull) if options.pull else refit(before, sweeps, options.only)
            print("\n".join(model.factor_lines()))
            named = list(zip([*options.sweep, "heavy"], [sweep for sweep, _ in sweeps], strict=True))
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
