# SPDX-License-Identifier: Apache-2.0
"""Sentences on question 23: products of one token, and of a few, with the weights of layers."""

from __future__ import annotations

from collections.abc import Mapping

from ..answer.findings import Part, Sentence
from ..block.tables import of_column
from ..book import labels, text
from ..book.model import BURST, Book, Column
from ..book.products import CURVE, Product, Tokens, against, by_tokens, kinds_of, middle, over_one, packed, products, rivals
from ..book.roofs import datasheet, pins
from ..draw import curves
from .write import first, number_in, percent, say, short

Found = list[Sentence | None]
Layers = Mapping[tuple[int, int], Mapping[int, Tokens]]
NEAR = 0.9  # of a bandwidth: at it
AS_LONG = 1.05  # times one token's time
MOST = 5  # sentences
BEHIND = "q23-more"


def few_tokens(book: Book, column: Column) -> Found:
    """How near one token comes to the bandwidth of memory, how many tokens take no longer, and how the product does beside
    the library: where it multiplies what ours does, and where the weights that it reads in bf16 are packed for ours."""
    kinds = _kinds(book, column)
    layers = by_tokens(book, column, kinds[0]) if kinds else {}
    every = [p for kind in kinds for p in against(products(book, column, BURST, "gemv", kind))]
    library = [_plain(column, every), _packed(every)]
    if not any(library):
        library = _curve(book, column)
    found = [*_one_token(book, column, kinds[0], layers), _more_tokens(layers), *library] if kinds else []
    return [sentence for sentence in found if sentence][:MOST]


def _kinds(book: Book, column: Column) -> list[str]:
    """Of weights, bf16 first."""
    drawn = [name.split("/")[0] for name, _ in of_column(book, column, CURVE)]
    kinds = [kind for kind in dict.fromkeys([*kinds_of(book, "gemv"), *drawn]) if by_tokens(book, column, kind)]
    return sorted(kinds, key=lambda kind: (kind != "bf16", packed(kind)))


def _bandwidth(book: Book, column: Column) -> tuple[float, str] | None:
    """GB/s that all of memory can have, and what it is called: as a copy reached them, or else as the pins could."""
    if copy := number_in(book.row("memory/hbm/copy", "bandwidth_gb_per_s"), column):
        return copy.value, "the bandwidth of a copy"
    if of_pins := pins(column.run.gpu or {}):
        return of_pins, "the bandwidth of the memory's pins"
    sheet = datasheet(book, column, r"memory/hbm/\w+", "bandwidth_gb_per_s")
    return (sheet, "the datasheet's bandwidth of memory") if sheet else None


def _one_token(book: Book, column: Column, kind: str, layers: Layers) -> Found:
    one = {layer: of_layer[1] for layer, of_layer in layers.items() if 1 in of_layer and of_layer[1].bandwidth}
    if not one:
        return []
    whole, called = _bandwidth(book, column) or (None, "")

    def reached(layer: tuple[int, int]) -> Part:
        rate = one[layer].bandwidth
        return percent(rate / whole) if whole else f"{short(rate)}{text.THIN}GB/s", column.anchor(one[layer].name)

    in_order = sorted(one, key=lambda layer: one[layer].bandwidth)
    least, most = in_order[0], in_order[-1]
    start = f"For one token our {kind} product moves data at"
    of = f" of {called}" if whole else ""
    if least == most:
        return [say(f"{start} {{most}}{of} over {_sizes(most)}.", most=reached(most))]
    return [
        say(
            f"{start} {{least}}{of} over {_sizes(least)} and at {{most}} over {_sizes(most)}.",
            least=reached(least),
            most=reached(most),
        ),
        _near({layer: of_one.bandwidth / whole for layer, of_one in one.items()}) if whole else None,
    ]


def _near(shares: Mapping[tuple[int, int], float]) -> Sentence | None:
    """From which layer on all of a run reach nearly the whole bandwidth. Other runs may have other layers, so that these are
    counted: "Of these 23 layers those of 8192×28672 and larger reach 90 %."."""
    by_size = sorted(shares, key=lambda layer: layer[0] * layer[1])
    short_of = [i for i, layer in enumerate(by_size) if shares[layer] < NEAR]
    larger = by_size[short_of[-1] + 1 :] if short_of else by_size
    if max(shares.values()) < NEAR:
        reach = "Of these {count} layers none reaches {enough}."
    elif not short_of:
        reach = "All of these {count} layers reach {enough}."
    elif len(larger) == 1:
        reach = "Of these {count} layers only the largest reaches {enough}."
    elif larger:
        reach = f"Of these {{count}} layers those of {_sizes(larger[0])} and larger reach {{enough}}."
    else:
        return None
    return say(reach, count=(str(len(shares)), BEHIND), enough=(percent(NEAR), ""))


def _sizes(layer: tuple[int, int]) -> str:
    return "×".join(map(str, layer))


def _more_tokens(layers: Layers) -> Sentence | None:
    """Up to how many tokens the time is that of one, and how much longer the next number takes."""
    ratios = over_one(layers)
    longer = [m for m, ratio in ratios.items() if ratio > AS_LONG]
    as_long = [m for m in ratios if not longer or m < longer[0]]
    median = ", in the median of the layers" if len(layers) > 1 else ""
    upto = (str(as_long[-1]), BEHIND) if as_long else None
    next_, times = ((str(longer[0]), BEHIND), (f"{ratios[longer[0]]:.3g}", BEHIND)) if longer else (None, None)
    within = "Up to {upto} tokens take as long as one within a twentieth"
    return first(
        say(f"{within}, and {{next}} take {{times}} times as long{median}.", upto=upto, next=next_, times=times),
        say(f"{within}{median}.", upto=upto),
        say(f"Already {{next}} tokens take {{times}} times as long as one{median}.", next=next_, times=times),
    )


def _plain(column: Column, every: list[Product]) -> Sentence | None:
    """Of types that the library multiplies too."""
    paired = against(p for p in every if not packed(p.kind))
    if not paired:
        return None
    worst = paired[0]
    return say(
        f"In {worst.kind} our product of few tokens runs at {{times}} times the speed of {rivals(paired)} in the median of "
        f"the shapes, and at {{worst}} times that of {worst.fastest} in the worst, {worst.shape}.",
        times=(f"{middle(paired):.3f}", BEHIND),
        worst=(f"{worst.best.speedup.value:.3f}", column.anchor(worst.name)),
    )


def _packed(every: list[Product]) -> Sentence | None:
    """Each type by itself: the library reads as many bytes of all of them."""
    paired = [p for p in every if packed(p.kind)]
    medians = {kind: middle([p for p in paired if p.kind == kind]) for kind in dict.fromkeys(p.kind for p in paired)}
    if not medians:
        return None
    library = f"the speed of {rivals(paired)}"
    in_order = sorted(medians, key=medians.__getitem__)
    low, high = in_order[0], in_order[-1]
    least, most = ((f"{medians[kind]:.3f}", BEHIND) for kind in (low, high))
    if low == high:
        return say(f"With {high} weights our product runs at {{most}} times {library}, in the median.", most=most)
    return say(
        f"With packed weights our product runs at {{least}} times ({low}) to {{most}} times ({high}) {library}, in the "
        "median of each type.",
        least=least,
        most=most,
    )


def _curve(book: Book, column: Column) -> Found:
    """Of the first type that was measured with all numbers of tokens."""
    every = of_column(book, column, CURVE)
    kind = every[0][0].split("/")[0] if every else ""
    points: list[tuple[float, float, str, str]] = []
    slower = 0
    for name, m in every:
        of_kind, _, layer = name.partition("/")
        for line in curves.lines_of(m.series_named("speedup")) if of_kind == kind else ():
            points += [(value, tokens, column.anchor(m.name), labels.product(layer)) for tokens, value in line.points]
            slower += sum(line.ends.get(tokens, (value, value))[1] < 1 for tokens, value in line.points)
    if not points:
        return []
    (least, tokens, at, layer), (most, _, at_best, _) = min(points), max(points)
    few, *_, many = sorted({point[1] for point in points})
    return [
        say(
            f"From {'one token' if few == 1 else text.counted(few, 'token')} to {{many}} our {kind} product runs at {{least}} "
            "to {most} times the speed of cuBLASLt.",
            many=(f"{many:g}", BEHIND),
            least=(f"{least:.3f}", at),
            most=(f"{most:.3f}", at_best),
        ),
        say(
            f"The worst is that of {{tokens}} tokens and {layer}; beyond its interval ours is slower at {{slower}} of {{count}} "
            "points.",
            tokens=(f"{tokens:g}", at),
            slower=(str(slower), BEHIND),
            count=(str(len(points)), BEHIND),
        ),
    ]
