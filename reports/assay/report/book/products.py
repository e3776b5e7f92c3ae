# SPDX-License-Identifier: Apache-2.0
"""Our matrix products, each beside the fastest library that took turns with it: shapes of one operation, type and state."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.files import Baseline

from . import labels
from .model import BURST, SUSTAINED, Book, Column, name_in, of_state, watched

# Operation in the name -> what it is called. Question 22 is of the first two, 23 of gemv, 24 of the grouped.
OPERATIONS = {
    "gemm": "GEMM",
    "gemm_block_scaled": "GEMM with block scales",
    "gemv": "product of few tokens",
    "grouped": "grouped GEMM",
}
GEMM = ("gemm", "gemm_block_scaled")
BLOCKS = "_block128"  # ends the types whose operands have a scale for each block
ROWS = "_row"  # ends those with one for each row of A and column of B: in a case's name they stand behind its layout
EIGHT_BITS = ("e4m3", "e5m2")
LAYOUTS = ("nt", "nn", "tn", "tt")  # of A, then B; t: stored as its transpose
PLAIN = ("", "nt")  # variants that are not said
# What is done with the sum, or what the result is, as a sentence has it.
FORMS = {
    "alpha_beta": "with alpha and beta",
    "bias": "with bias",
    "bias_gelu": "with bias and GELU",
    "bias_gelu_tanh": "with bias and GELU (tanh)",
    "bias_silu": "with bias and SiLU",
    "f32": "with f32 results",
}
SHAPE = re.compile(r"(\d+)×(\d+)×(\d+)")


@dataclass
class Product:
    """One shape in one state, ours and the fastest of its baselines."""

    operation: str
    kind: str  # "bf16": of the operands, or of the weights
    shape: str  # "8192×8192×8192", with its variant unless that is "nt"
    name: str  # of the measurement
    value: float  # TFLOP/s; GB/s where tokens are few
    best: Baseline | None
    baselines: tuple[str, ...] = ()  # all that took turns, as files name them
    layout: str = ""  # "nt"; "" where there is one alone
    form: str = ""  # "bias": what the name says beyond the layout
    watched: bool = True  # whether clock or power was read meanwhile

    @property
    def sizes(self) -> tuple[int, int, int] | None:
        """m, n and k of a plain shape."""
        found = SHAPE.fullmatch(self.shape)
        return tuple(map(int, found.groups())) if found else None

    @property
    def library(self) -> float | None:
        return self.value / self.best.speedup.value if self.best and self.best.speedup.value > 0 else None

    @property
    def called(self) -> str:
        return called(self.operation, self.kind)

    @property
    def fastest(self) -> str:
        """What the fastest baseline is called; "" without one."""
        return baseline_of(self.name, self.best.name) if self.best else ""

    @property
    def in_bf16(self) -> bool:
        return bool(self.best) and in_bf16(self.name, self.best.name)


def called(operation: str, kind: str) -> str:
    """ "bf16 GEMM", "e4m3 GEMM with row scales", "e4m3 grouped GEMM with block scales"."""
    types = kind.removesuffix(BLOCKS).removesuffix(ROWS)
    if kind.endswith(BLOCKS):
        scales = "" if "block scales" in OPERATIONS[operation] else " with block scales"
    elif kind.endswith(ROWS):
        scales = " with row scales"
    else:  # of 8 bits all of a GEMM's operands are scaled: by one factor each where nothing else is said
        scales = " with tensor scales" if operation == "gemm" and types.split("_")[0] in EIGHT_BITS else ""
    return f"{types.replace('_', ' by ')} {OPERATIONS[operation]}{scales}"


def kind_of(name: str) -> str:
    """The type of a case, with how its operands are scaled: "bf16", "e4m3_row"."""
    _, _, kind, *more = name.split("/")
    return kind + (ROWS if ROWS.removeprefix("_") in more else "")


def packed(kind: str) -> bool:
    """Whether weights of this type are unpacked by the kernel that multiplies them."""
    return kind not in ("bf16", "f16")


def in_bf16(case: str, baseline: str) -> bool:
    """Whether a baseline multiplies in bf16 what the case has packed: it reads 16 bits of each weight. Those that take
    packed weights have it in their name."""
    _, operation, kind, *_ = [*case.split("/"), "", ""]
    return operation == "gemv" and packed(kind) and "pack" not in baseline


def baseline_of(case: str, name: str) -> str:
    """What a baseline of a case is called: "cuBLASLt's best of 32", beside packed weights "cuBLASLt's best of 32 in bf16"."""
    return labels.baseline(name) + (" in bf16" if in_bf16(case, name) else "")


def tried(baseline: str) -> int:
    """How many of a library's choices it is the best of; 0 where its name does not say."""
    found = re.search(r"_best(\d+)$", baseline)
    return int(found[1]) if found else 0


def metric_of(operation: str) -> str:
    return "bandwidth_gb_per_s" if operation == "gemv" else "tflops"


def unit_of(operation: str) -> str:
    return "GB/s" if operation == "gemv" else "TFLOP/s"


def kinds_of(book: Book, operation: str) -> list[str]:
    rows = book.find(rf"kernels/{operation}/.+/.+", metric_of(operation))
    return list(dict.fromkeys(kind_of(row.name) for row in rows))


def products(book: Book, column: Column, state: str, operation: str, kind: str) -> list[Product]:
    """Every shape of one operation and type that was measured in this state."""
    found = []
    for row in book.find(rf"kernels/{operation}/{re.escape(kind.removesuffix(ROWS))}/.*", metric_of(operation)):
        if kind_of(row.name) != kind:
            continue
        n = of_state(row, column.index, state)
        name = name_in(row, state)
        m = book.measurement(column, name)
        if n and m and m.kind == "kernel":
            shape, *variants = row.name.split("/", 3)[3].removesuffix(SUSTAINED).split("/")
            if kind.endswith(ROWS):
                variants.remove(ROWS.removeprefix("_"))
            variant = "/".join(variants)
            layout = variants[0] if variants and variants[0] in LAYOUTS else ""
            best = min(m.baselines, key=lambda b: b.speedup.value, default=None)
            shape = labels.product(shape)
            said = shape if variant in PLAIN else f"{shape}, {labels.words(variant)}"
            names = tuple(b.name for b in m.baselines)
            form = "/".join(variants[1:]) if layout else ""
            found.append(Product(operation, kind, said, name, n.value, best, names, layout, form, watched(m)))
    return found


@dataclass(frozen=True)
class Tokens:
    """What one number of tokens does with a layer's weights."""

    name: str  # of the measurement
    bandwidth: float | None  # GB/s
    time: float | None  # us


CURVE = "kernels/gemm_curve/"  # of all numbers of tokens


def by_tokens(book: Book, column: Column, kind: str) -> dict[tuple[int, int], dict[int, Tokens]]:
    """n and k of each layer -> number of tokens -> what they do with it, in a burst: of single products, or else of curves."""
    found: dict[tuple[int, int], dict[int, Tokens]] = {}
    for p in products(book, column, BURST, "gemv", kind):
        if p.sizes:
            m, n, k = p.sizes
            time = book.measurement(column, p.name).value("time_us")
            found.setdefault((n, k), {})[m] = Tokens(p.name, p.value, time)
    for c, m in book.measurements if not found else ():
        layer = re.fullmatch(rf"{CURVE}{re.escape(kind)}/n(\d+)k(\d+)", m.name)
        if c is not column or not layer:
            continue
        rates, times = (dict(s.curve) if (s := m.series_named(name)) else {} for name in ("bandwidth_gb_per_s", "time_us"))
        of_layer = found.setdefault((int(layer[1]), int(layer[2])), {})
        of_layer.update({int(at): Tokens(m.name, rates.get(at), times.get(at)) for at in sorted({*rates, *times})})
    return found


def over_one(layers: Mapping[tuple[int, int], Mapping[int, Tokens]]) -> dict[int, float]:
    """Number of tokens -> how many times as long as one token they take, in the median of the layers; of numbers that most
    layers were measured with."""
    ratios: dict[int, list[float]] = {}
    for of_layer in layers.values():
        one = of_layer[1].time if 1 in of_layer else None
        for m, of_tokens in of_layer.items():
            if one and of_tokens.time and m > 1:
                ratios.setdefault(m, []).append(of_tokens.time / one)
    return {m: statistics.median(found) for m, found in sorted(ratios.items()) if 2 * len(found) > len(layers)}


def against(found: Iterable[Product]) -> list[Product]:
    """Those that have a baseline, the worst first."""
    return sorted((p for p in found if p.best), key=lambda p: p.best.speedup.value)


def rivals(paired: Iterable[Product]) -> str:
    """What they are compared with, all by name: "torch.matmul", "the faster of cuBLASLt's best of 32 and first choice"."""
    named = list(dict.fromkeys(baseline_of(p.name, name) for p in paired for name in p.baselines))
    owners = {name.partition("'s ")[0] for name in named if "'s " in name}
    if len(named) > 1 and len(owners) == 1 and all("'s " in name for name in named):
        named[1:] = [name.partition("'s ")[2] for name in named[1:]]
    said = listed(named)
    return said if len(named) < 2 else f"the {'faster' if len(named) == 2 else 'fastest'} of {said}"


def listed(names: Sequence[str]) -> str:
    """ "nt", "nt and nn", "nt, nn and tt"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def shapes_of(found: Sequence[Product]) -> str:
    """Of which layouts and forms they are, in words behind their count: "of layout nt with bias"; "" of a single kind."""
    layouts = [layout for layout in LAYOUTS if any(p.layout == layout for p in found)]
    forms = dict.fromkeys(p.form for p in found)
    said = f" of layout{'s' if len(layouts) > 1 else ''} {listed(layouts)}" if layouts else ""
    if len(forms) > 1:
        return f"{said} and of several forms"
    (form,) = forms or ("",)
    return f"{said} {FORMS.get(form, f'with {labels.words(form)}')}" if form else said


def middle(paired: list[Product]) -> float:
    return statistics.median(p.best.speedup.value for p in paired)
