# SPDX-License-Identifier: Apache-2.0
"""Findings, and how far runs agree, as sentences. Pure."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable

from .. import family
from ..book import labels, text
from ..book.model import LASTING
from .causes import BUILD, Cause, not_told_apart
from .figures import AMOUNT, KINDS, PER_CLOCK, Figure, Value, counted, ratio
from .findings import Finding
from .subjects import Subject

COLUMNS = 4  # more subjects are said as a distribution, not one by one
NAMES = 3  # of a parameter that are said
TOLD_SWING = 0.2  # of an effect: if stored runs are apart by more, it is said
SHARES = ("", "ratio")  # units that are not said
# How the value of a parameter is said, of those that do not speak for themselves.
QUALIFIED = {
    "data": "{} data",
    "form": "by {}",
    "level": "from {}",
    "per_element": "{} for each element",
    "schedule": "schedule {}",
    "scope": "scope {}",
    "source": "source {}",
    "space": "{} memory",
    "way": "by {}",
}


def joined(said: Iterable[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    *most, last = said
    return f"{', '.join(most)} and {last}" if most else last


def value(v: Value, unit: str) -> str:
    return with_unit(v.number.value, unit)


def with_unit(number: float, unit: str) -> str:
    shown = text.number(float(f"{number:.4g}"))
    return f"{shown}{text.THIN}{text.unit(unit)}" if unit not in SHARES else shown


def by_subject(figure: Figure) -> str:
    """ "661 cycles on H100 and 267 cycles on H200"; of many, the ends and the middle."""
    if len(figure.values) <= COLUMNS:
        return joined(f"{value(v, figure.unit)} on {v.subject.short}" for v in figure.values)
    low, high = figure.ends
    middle = with_unit(statistics.median(v.number.value for v in figure.values), figure.unit)
    ends = [f"{value(v, figure.unit)} ({v.subject.short})" for v in (low, high)]
    return f"{ends[0]} to {ends[1]} over {len(figure.values)} runs, median {middle}"


def times(effect: float) -> str:
    """A ratio in words: "7.1 %" below a half more, then "2.48 times"."""
    more = ratio(effect) - 1
    return f"{ratio(effect):.3g} times" if more >= 0.5 else f"{100 * more:.2g}{text.THIN}%"


def statement(figure: Figure) -> str:
    """ "H100 takes 2.48 times as many cycles as H200", "H200 reaches 40 % more per clock than H100"; of counts and shares
    what each has."""
    if figure.kind == AMOUNT:
        return by_subject(figure)
    low, high = (_who(figure, v) for v in figure.ends)
    factor = times(figure.effect)
    many = factor.endswith("times")
    if figure.unit.startswith("cycle"):
        return f"{high} takes {factor} as many cycles as {low}" if many else f"{high} takes {factor} more cycles than {low}"
    if figure.unit.startswith("pJ"):
        return f"{high} needs {factor} the energy of {low}" if many else f"{high} needs {factor} more energy than {low}"
    if figure.is_time:
        return f"{high} takes {factor} as long as {low}" if many else f"{high} takes {factor} longer than {low}"
    verb = "draws" if figure.unit == "W" else "reaches"
    what = SAID_QUANTITIES.get(labels.quantity(figure.metric), "")
    per = f"{what} per clock" if figure.kind == PER_CLOCK else what
    return f"{high} {verb} {factor} as much{per} as {low}" if many else f"{high} {verb} {factor} more{per} than {low}"


# Quantities that a statement names by itself, with the word that it needs for them.
SAID_QUANTITIES = {"latency": "", "rate": "", "bandwidth": " bandwidth", "throughput": " throughput"}


def _who(figure: Figure, of: Value) -> str:
    """A figure of the host's is none of its GPU's."""
    return f"{of.subject.short}'s host" if figure.family == "host" else of.subject.short


def values(figure: Figure) -> str:
    """ "It is 661 cycles on H100 and 267 cycles on H200. ", where the statement does not say it already."""
    return "" if figure.kind == AMOUNT else f"It is {by_subject(figure)}. "


def case(figure: Figure, alike: Iterable[Figure] = ()) -> str:
    """The case in words, with what its parameters are; those of cases that move alike are said with it.

    sync/fence/sc/gpu and sync/fence/acq_rel/gpu are "fence, acquire-release and sequentially consistent, scope GPU".
    """
    said = figure.name.removesuffix(f"/{LASTING}")
    same = [
        f
        for f in alike
        if f.probe == figure.probe and f.metric == figure.metric and f.name.count("/") == figure.name.count("/")
    ]
    measured = next((v.measurement for v in figure.values if v.measurement), None)
    parameters = {str(value): key for key, value in (measured.params if measured else {}).items()}
    parts = []
    for place, part in enumerate(said.split("/")):
        if place == 0:
            continue
        there = sorted({f.name.split("/")[place] for f in [figure, *same]}, key=lambda v: (len(v) * v.isdigit(), v))
        words = _of_several(figure.name, there)
        named = parameters.get(part, "") if not part.isdigit() else ""
        parts.append(QUALIFIED.get(named, "{}").format(words))
    if subject := labels.subject_of(said):
        return ", ".join([subject, *parts[1:]])
    return ", ".join(parts) if parameters.keys() & set(said.split("/")) else labels.case_words(said)


def _of_several(of: str, values: list[str]) -> str:
    """The values of one part of a name: "32 and 64 threads", "acquire-release and relaxed", "5 shapes"."""
    if len(values) > NAMES:
        shapes = all(re.fullmatch(r"(g\d+)?(m\d+)?n\d+(k\d+)?", value) for value in values)
        return f"{len(values)} {'shapes' if shapes else 'kinds'}"
    counted = labels.counts(of)
    if counted and len(values) > 1 and all(value.isdigit() for value in values):
        return counted.format(joined(values))
    return joined(labels.part_words(of, value) for value in values)


def name(finding: Finding) -> str:
    """What the finding is of: the case, the quantity and the state."""
    lead = finding.lead
    named = labels.with_quantity(case(lead, finding.alike), labels.quantity(lead.metric))
    state = ", sustained" if lead.state == LASTING else ""
    return f"{named[:1].upper()}{named[1:]}{state}"


def title(finding: Finding) -> str:
    """The finding as a claim: "H100 takes 2.48 times as many cycles as H200 for “fence of GPU scope”"; of counts and shares
    what each has."""
    lead = finding.lead
    if lead.kind == AMOUNT:
        return f"{name(finding)}: {statement(lead)}"
    said = case(lead, finding.alike)
    if labels.quantity(lead.metric) not in SAID_QUANTITIES:
        said = labels.with_quantity(said, labels.quantity(lead.metric))
    state = f", {lead.state}" if lead.state == LASTING else ""
    return f"{statement(lead)} {'for' if lead.is_time else 'in'} “{said}{state}”"


def ratio_range(figures: list[Figure]) -> str:
    """ "by 1.04 to 2.5 times", "by 0.8 to 7 %"."""
    low, high = (ratio(f(figure.effect for figure in figures)) for f in (min, max))
    if high < 1.5:
        return f"by {100 * (low - 1):.2g} to {100 * (high - 1):.2g}{text.THIN}%"
    return f"by {low:.3g} to {high:.3g} times"


def support(finding: Finding) -> str:
    """How many figures the finding stands for, and how far they are apart."""
    cases = len({figure.name for figure in finding.figures})
    if cases == 1:
        return "No other case moves like it."
    titles = joined(family.family_of(key).title for key in finding.families)
    where = f", in {titles}" if finding.families != [finding.lead.family] else ""
    said = text.counted(len(finding.figures), "figure")
    return f"{said} of {cases} cases differ so, {ratio_range(finding.figures)}{where}."


FENCE, FENCES = ("sync/fence_parts/release", "latency_cycles"), "sync/fence"


def _fences(finding: Finding, figures: Iterable[Figure]) -> str:
    """That the loop of the lead holds fences, where those differ alike: how much of it they are is not known."""
    lead = finding.lead
    loop = next((v.measurement.sass.get("loop") or {} for v in lead.values if v.measurement and v.measurement.sass), {})
    fence = next((f for f in figures if (f.name, f.metric) == FENCE), None)
    if lead.name.startswith(FENCES) or not fence or not any(opcode.startswith("MEMBAR") for opcode in loop):
        return ""
    if not fence.differs or not fence.sides_with(lead):
        return ""
    low, high = fence.ends
    more = text.number(round(high.number.value - low.number.value))
    return (
        f" Its loop holds fences, of which one alone takes {more} cycles more on {high.subject.short}; how much of the "
        "difference they make was not measured."
    )


def _swing(lead: Figure) -> str:
    """How far stored runs are apart by themselves, where that is no small part of the effect."""
    if lead.swing <= TOLD_SWING * lead.effect:
        return ""
    return f" In other stored runs GPUs of one name are {times(lead.swing)} apart."


def why(finding: Finding, causes: dict[str, Cause], figures: Iterable[Figure] = ()) -> str:
    """The cause where one is known."""
    lead = finding.lead
    if finding.cause is None:
        unsure = "" if lead.sure else " The figures have no interval, so that they may be noise."
        return f"No cause is known: clock, memory and L2 do not account for it.{_fences(finding, figures)}{_swing(lead)}{unsure}"
    if finding.cause == BUILD and (found := not_told_apart(lead)):
        end, other, metric = found
        return (
            f"{end.subject.short} was measured by a build that does not tell “{labels.quantity(metric)}” apart, as that of "
            f"{other.subject.short} does: the two figures may be of different things."
        )
    cause = causes[finding.cause]
    return f"It is in line with {cause.name}: {cause.fact}."


def agreement(figures: list[Figure]) -> str:
    """ "2,289 of 2,503 figures per clock agree within 0.5 %, 432 of 1,627 per second, ..."."""
    said = []
    for kind in KINDS:
        agree, of = counted(figures, lambda f, kind=kind: f.kind == kind)
        if of:
            agree, of = text.number(agree), text.number(of)
            words = f"figures {kind}" if not said else "counts and shares" if kind == AMOUNT else kind
            verb = f" agree within 0.5{text.THIN}%" if not said else ""
            said.append(f"{agree} of {of} {words}{verb}")
    return f"{joined(said)}." if said else "No figure was measured by two of them."


def left_out(cases: int) -> str:
    """That kernels which were called in different ways are not compared; "" where none were."""
    if not cases:
        return ""
    are = "sustained case of a kernel is" if cases == 1 else "sustained cases of kernels are"
    return (
        f"{text.number(cases)} {are} not compared: called one by one in some runs, and in a row, where a call may begin "
        "while the one before it ends, in others; or clock and power were read in some alone."
    )


def shares(figures: list[Figure]) -> str:
    """ "90 % of figures per clock are alike, 26 % per second and 9.1 % per watt"."""
    said = []
    for kind in KINDS[:-1]:
        agree, of = counted(figures, lambda f, kind=kind: f.kind == kind)
        if of:
            said.append(f"{text.percent(agree / of)}{'' if said else ' of figures'} {kind}{'' if said else ' are alike'}")
    return joined(said) if said else "How the figures are spread"


def heading(subjects: list[Subject]) -> str:
    shorts = [s.short for s in subjects]
    return " against ".join(shorts) if len(shorts) <= COLUMNS else f"{len(shorts)} runs compared"


def summary(subjects: list[Subject], figures: list[Figure], found: list[Finding]) -> str:
    """What a reader with a minute takes along."""
    agree, of = counted(figures, lambda f: f.kind == PER_CLOCK)
    cases = len({f.name for f in figures})
    unsure = [f for f in found if f.cause is None and not f.lead.sure]
    open_ = [f for f in found if f.cause is None and f.lead.sure]
    differ, told = sum(f.differs for f in figures), sum(len(f.figures) for f in found)
    who = "both" if len(subjects) == 2 else "at least two of them"
    said = f"{title(found[0])}. " if found and found[0].lead.sure else ""
    said += f"{text.number(cases)} cases were measured by {who}. "
    if of:
        said += f"Of {text.number(of)} figures per clock {text.number(agree)} agree within 0.5{text.THIN}%. "
    if not differ:
        return f"{said}No figure differs by more than that and its noise."
    of_them = "They" if told == differ else f"{text.number(told)} of them, one kind of each case,"
    return (
        f"{said}{text.number(differ)} figures of all kinds differ by more than that and their noise. {of_them} come down to "
        f"{text.counted(len(found), 'finding')}, {len(open_)} of them without a known cause"
        + (f"; {len(unsure)} more without one may be noise, for they have no interval." if unsure else ".")
    )
