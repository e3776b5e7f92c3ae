# SPDX-License-Identifier: Apache-2.0
"""What assay_gemm_sweep wrote, and the features by which fit_gemm_sm90.py predicts a choice's time."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CHOICE = re.compile(r"(swapped_)?(pingpong_)?(\d+)x(\d+)(?:x(\d+))?_c(\d)x(\d)_s\d+(?: stream (\d+) over (\d+)| split (\d+))?(?: band \d+)?")
NAME = re.compile(r"(?:taken )?(.*?)( x\d+)?")  # the model's favourite, a choice, a row of so many calls
MISALIGNED = "~"  # ends the name of a form whose operands' rows begin within a line
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
    best: dict[str, float] = {}
    for shape, _, ns in ours:
        best[shape] = min(best.get(shape, ns), ns)
    ours = [entry for index, entry in enumerate(ours) if entry[2] <= near * best[entry[0]] or index % 8 == 0]
    found = [features(shape, choice) for shape, choice, _ in ours]
    return Sweep({name: np.array([float(f[name]) for f in found]) for name in found[0]},
                 np.array([ns for *_, ns in ours]), np.array([number[shape] for shape, *_ in ours]),
                 [(shape, choice) for shape, choice, _ in ours], library)
