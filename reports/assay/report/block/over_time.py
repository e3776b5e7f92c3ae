# SPDX-License-Identifier: Apache-2.0
"""Clock and power while matrix math begins and lasts: what the SMs count beside what the driver reports."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from assay.files import Measurement

from ..answer.findings import Finding, Part, lines
from ..book import labels, text
from ..book.model import Book, Column
from ..draw import placing
from ..draw.svg import CLOCK, INK, MUTED, POWER, Data, Figure, axes, finish, name_dot
from .tables import of_column, who

# A GEMM first: it is what people run. Then the bare loop of MMAs, by the data that it multiplies.
GEMMS, LOOPS = "kernels/gemm_over_time/", "tensor_core/power_over_time/"
BOTH = (GEMMS, LOOPS)
MOST_LOADS = 4  # side by side in a picture
ALIKE = 0.01  # of the reported clock: counted and reported agree
Curve = dict[float, float]  # by ms


@dataclass
class Load:
    """One load over time. `counted` has a value for each step in which the SMs worked."""

    name: str
    anchor: str
    counted: Curve
    reported: Curve
    power: Curve
    reasons: dict[float, list[str]]

    @property
    def shape(self) -> str:
        """Of a GEMM; "" of the loop."""
        return self.name.partition(" GEMM ")[2]

    @property
    def kind(self) -> str:
        return self.name.split(" ")[0].rstrip(",")

    @property
    def called(self) -> str:
        """In a sentence."""
        return f"a GEMM in {self.kind}, {self.shape}" if self.shape else f"matrix math ({self.name} data)"

    @property
    def step(self) -> float:
        """ms between two places, which name the ends of their steps."""
        times = sorted(self.reported)
        return times[1] - times[0]

    @property
    def begins(self) -> float:
        return min(self.counted) - self.step

    def settled(self, curve: Curve) -> float | None:
        """The median over the second half of the load."""
        half = (min(self.counted) + max(self.counted)) / 2
        late = [curve[t] for t in self.counted if t >= half and t in curve]
        return statistics.median(late) if late else None

    @property
    def reasons_given(self) -> dict[str, float]:
        """Reason -> ms from the beginning of the load until the driver first gave it, during the load."""
        found: dict[str, float] = {}
        for t in sorted(self.counted):
            for reason in self.reasons.get(t, []):
                found.setdefault(reason, t - self.begins)
        return found


def _shapes(found: list[Load]) -> str:
    """What the GEMMs of a picture are of."""
    shapes = dict.fromkeys(load.shape for load in found if load.shape)
    return f"GEMM of {', '.join(shapes)}. " if shapes else ""


def loads(book: Book, column: Column, prefixes: Sequence[str] = BOTH) -> list[Load]:
    found = (
        _load(_called(name, prefix), m, column.anchor(m.name))
        for prefix in prefixes
        for name, m in of_column(book, column, prefix)
    )
    return [load for load in found if load]


def _called(name: str, prefix: str) -> str:
    """ "bf16 GEMM 8192×8192×8192" of a kernel, "bf16, normal" of the loop of MMAs."""
    if prefix != GEMMS:
        return labels.words(name)
    kind, shape = name.split("/")[:2]
    return f"{kind} GEMM {labels.product(shape)}"


def _load(name: str, m: Measurement, anchor: str) -> Load | None:
    curves = [dict(s.curve) if (s := m.series_named(key)) else {} for key in ("sm_clock_mhz", "reported_clock_mhz")]
    if not curves[0] or len(curves[1]) < 2:
        return None
    power = m.series_named("power_w")
    given = m.series_named("reason_given")
    reasons: dict[float, list[str]] = {}
    if given and len(given.axes) == 2:
        for reason, row in zip(given.axes[0].points, given.grid):
            for t, value in zip(given.axes[1].points, row):
                if value > 0:
                    reasons.setdefault(t, []).append(str(reason))
    return Load(name, anchor, *curves, dict(power.curve) if power else {}, reasons)


def _beside(counted: float, reported: float | None) -> str:
    """ "1514 MHz counted by the SMs where the driver reports 1680, 9.9 % below"."""
    said = f"{counted:.0f}{text.THIN}MHz counted by the SMs"
    if not reported:
        return said
    apart = counted / reported - 1
    if abs(apart) <= ALIKE:
        return f"{said}, as the driver reports"
    side = "below" if apart < 0 else "above"
    return f"{said} where the driver reports {reported:.0f}, {text.percent(abs(apart))} {side}"


def in_words(load: Load, column: Column) -> list[str]:
    """Settled, in the first step, and what reasons the driver gave, each in words."""
    said = [_beside(load.settled(load.counted), load.settled(load.reported))]
    if (watts := load.settled(load.power)) is not None:
        allowed = (column.run.gpu or {}).get("power_limit_w")
        said[0] += f", at {watts:.0f}{text.THIN}W" + (f" of {allowed:.0f} allowed" if allowed else "")
    first = min(load.counted)
    said.append(f"in the first {load.step:g}{text.THIN}ms {_beside(load.counted[first], load.reported.get(first))}")
    if reasons := load.reasons_given:
        only = "the only reason given" if len(reasons) == 1 else "the reasons given"
        named = " and ".join(
            f"{labels.words(r)}, first {after:g}{text.THIN}ms after the load began" for r, after in reasons.items()
        )
        said.append(f"{only}: {named}")
    else:
        said.append("the driver gave no reason")
    return said


def findings(book: Book, prefix: str) -> list[Finding]:
    """A line for each load and run."""
    names = dict.fromkeys(load.name for column in book.columns for load in loads(book, column, (prefix,)))
    found: list[Finding] = []
    for name in names:

        def said(column: Column, name: str = name) -> list[Part]:
            of_name = (load for load in loads(book, column, (prefix,)) if load.name == name)
            return [(words, load.anchor) for load in of_name for words in in_words(load, column)]

        found += lines(book, f"clock under load, {name}", said)
    return found


def _furthest(found: list[Load]) -> str:
    """The load under which the SMs count least of what the driver reports, in a sentence."""
    settled = [(load.settled(load.counted), load.settled(load.reported), load) for load in found]
    apart = [(counted / reported, load) for counted, reported, load in settled if counted and reported]
    if not apart:
        return ""
    share, load = min(apart, key=lambda of: of[0])
    return f"The SMs count {text.percent(share)} of the clock that the driver reports under {load.called}. "


def picture(book: Book, column: Column, prefix: str = LOOPS) -> Figure | None:
    """A panel of clocks and one of power for each load, side by side."""
    found = loads(book, column, (prefix,))[:MOST_LOADS]
    if not found:
        return None
    allowed = (column.run.gpu or {}).get("power_limit_w")
    with axes(3.2, panels=(2, len(found))) as (canvas, panels):
        panels = panels.reshape(2, len(found))
        for i, ((clock, watts), load) in enumerate(zip(panels.T, found)):
            clock.set_title(load.name.removesuffix(load.shape).strip(), fontsize=9, color=INK)
            curves = [("driver", load.reported, MUTED, 1.1), ("SMs", load.counted, CLOCK, 1.6)]
            for _, curve, color, width in curves:
                clock.plot(*zip(*sorted(curve.items())), color=color, lw=width)
            if load.power:
                watts.plot(*zip(*sorted(load.power.items())), color=POWER)
            if load.power and allowed:
                watts.axhline(allowed, color=MUTED, lw=0.9, ls=(0, (4, 3)))
            watts.set_xlabel("ms")
            watts.locator_params(axis="x", nbins=4)
            for axis in (clock.yaxis, watts.xaxis, watts.yaxis):
                axis.set_major_formatter(lambda v, _: text.number(v))
            if i == 0:
                named = curves
        panels[1, 0].set_ylim(bottom=0)  # of all panels, when each has its curve: it ends the search for a top
        panels[0, 0].set_ylabel("SM clock, MHz")
        panels[1, 0].set_ylabel("power, W")
        canvas.get_layout_engine().execute(canvas)
        lines = [sorted(curve.items()) for _, curve, *_ in named]
        room = placing.room_of(panels[0, 0], lines, [])
        for (name, _, color, _), line in zip(named, lines):
            name_dot(panels[0, 0], room, *line[len(line) // 2], name, color)
        said = "; ".join(f"{load.name}: {', '.join(in_words(load, column))}" for load in found)
        return finish(
            canvas,
            f"{'clock-under-gemm' if prefix == GEMMS else 'power-over-time'}{column.index}",
            f"Clock and power while {'a GEMM' if prefix == GEMMS else 'matrix math'} lasts{who(book, column)}",
            f"{_furthest(found)}{said}.",
            f"{_shapes(found)}Above: the clock that the SMs counted while they worked, and the one that the driver reported. "
            f"Below: the power that it reported{f'; dashed, the {allowed:.0f}{text.THIN}W that it allows' if allowed else ''}.",
            Data(
                ["load", "quantity", "ms", "value", "unit"],
                [
                    [load.name, quantity, t, value, unit]
                    for load in found
                    for quantity, curve, unit in (
                        ("clock counted by the SMs", load.counted, "MHz"),
                        ("clock reported", load.reported, "MHz"),
                        ("power", load.power, "W"),
                    )
                    for t, value in sorted(curve.items())
                ],
            ),
        )
