# SPDX-License-Identifier: Apache-2.0
"""The machine as a block diagram, with what was measured on its wires."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from ..book import machine, text
from ..book.headline import shown
from ..book.machine import Level
from ..book.model import Book, Column, Number
from . import placing
from .svg import Data, Figure, seen

WIDTH, HEIGHT = 420, 350
FONT = 9.5  # as templates/pictures.css.j2 sets it
AIR = 2  # between a text and the wire
LEFT, RIGHT = 6, WIDTH - 6
HEAD = ["from", "to", "quantity", "value", "low", "high", "unit"]


@dataclass
class Drawing:
    """The parts of the SVG, and the rows of what they say."""

    parts: list[str] = field(default_factory=list)
    rows: list[list[object]] = field(default_factory=list)

    def box(
        self, x: float, y: float, width: float, height: float, said: str, more: str = "", kind: str = "box"
    ) -> None:
        self.parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>')
        at = y + height / 2 + 3.5
        if more:
            self.words(x + 8, at, said, "name")
            self.words(x + width - 8, at, more, "size", "end")
        elif said:
            self.words(x + width / 2, at, said, "name", "middle")

    def words(self, x: float, y: float, said: str, kind: str, anchor: str = "start") -> None:
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(said)}</text>')

    def on_wire(self, x: float, top: float, lines: list[str], kind: str = "gap", pitch: float = 13) -> None:
        """Lines of text in a gap of the wire: a rectangle of the ground's colour is under them."""
        if not lines:
            return
        wide = max(placing.width(line, FONT) for line in lines) + 2 * AIR
        high = pitch * (len(lines) - 1) + FONT + 2 * AIR
        self.parts.append(
            f'<rect class="{kind}" x="{x - wide / 2:.1f}" y="{top - FONT:.1f}" width="{wide:.1f}" height="{high:.1f}"/>'
        )
        for i, line in enumerate(lines):
            self.words(x, top + pitch * i, line, "rate", "middle")

    def wire(self, x: float, top: float, bottom: float, weight: float = 2, color: str = "") -> None:
        kind = f"wire {color}".strip()
        self.parts.append(f'<path class="{kind}" d="M{x:g} {top:g}V{bottom:g}" stroke-width="{weight:g}"/>')

    def note(self, start: str, end: str, quantity: str, n: Number, unit: str) -> None:
        self.rows.append([start, end, quantity, n.value, n.low, n.high, text.unit(unit)])


def _rate(n: Number) -> str:
    """ "35.8", "4 096": of a clock."""
    near = round(n.value)
    return text.number(near) if abs(n.value - near) < 0.001 * n.value else shown(n)


def sm_diagram(book: Book, column: Column) -> Figure | None:
    """An SM and what is around it; None where less than its units and two levels was measured."""
    units, found = machine.units(book, column), {level.key: level for level in machine.levels(book, column)}
    if len(units) < 2 or len(found) < 2:
        return None
    drawing = Drawing()
    _sm(drawing, column, units)
    _inside(drawing, book, column, found)
    _outside(drawing, column, found)
    wires = ", ".join(
        f"{start} to {end} {quantity} {text.number(value)} {unit}"
        for start, end, quantity, value, *_, unit in drawing.rows
    )
    title = "What an SM gets per clock"
    finding = f"{_finding(found)}{_operands(units)}"
    description = f"{finding} On the wires: {wires}."
    key = f"sm{column.index}"
    svg = (
        f'<svg class="diagram" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{key}-title {key}-desc">'
        f'<title id="{key}-title">{title}</title><desc id="{key}-desc">{html.escape(description)}</desc>'
        f"{''.join(drawing.parts)}</svg>"
    )
    return Figure(key, title, description, seen(svg), finding, Data(HEAD, drawing.rows))


def _finding(found: dict[str, Level]) -> str:
    """How much narrower the way becomes from one level to the next."""
    rates = [(found[key].name, found[key].rate) for key in ("shared", "l1", "l2", "memory") if key in found]
    known = [(name, n) for name, n in rates if n]
    if len(known) < 2:
        return "Rates are per clock of one SM."
    (near, first), (far, last) = known[0], known[-1]
    return (
        f"Per clock an SM gets {_rate(first)} bytes from {near}{' memory' if near == 'shared' else ''} "
        f"and {_rate(last)} from {far}."
    )


def _operands(units: list[machine.Unit]) -> str:
    """ " FMAs are shown at their fastest operands: FP32 with two registers; FP64 with a uniform factor."."""
    said = [f"{unit.name} with {unit.operands}" for unit in units if unit.operands]
    return f" FMAs are shown at their fastest operands: {'; '.join(said)}." if said else ""


def _sm(drawing: Drawing, column: Column, units: list[machine.Unit]) -> None:
    count = f", one of {column.sm_count}" if column.sm_count else ""
    drawing.box(LEFT, 6, RIGHT - LEFT, 194, "", kind="frame")
    drawing.words(LEFT + 8, 20, f"SM{count}", "name")
    drawing.words(RIGHT - 8, 20, "operations a clock", "size", "end")
    drawing.box(LEFT + 8, 102, RIGHT - LEFT - 16, 22, "registers", machine.size_of_registers(column))
    pitch = (RIGHT - LEFT - 16) / len(units)
    for i, unit in enumerate(units):
        x = LEFT + 8 + i * pitch
        drawing.box(x + 2, 28, pitch - 4, 24, unit.name, kind=f"box unit{' tensor' if unit.name == 'tensor' else ''}")
        drawing.wire(x + pitch / 2, 52, 102, 6 if unit.name == "tensor" else 2)
        drawing.on_wire(x + pitch / 2, 72, [f"{_rate(n)} {what}" for what, n in unit.lines], "gap raised")
        for what, n in unit.lines:
            counted = "FLOP/clk/SM" if unit.name == "tensor" else "op/clk/SM"
            drawing.note("registers", unit.name, what, n, counted)


def _rates(drawing: Drawing, level: Level, start: str, end: str, *, whole: bool = False) -> str:
    """ "35.8 B/clk, 9.10 TB/s in all": kept for the rows too."""
    said = []
    if level.rate:
        said.append(f"{_rate(level.rate)} B/clk")
        drawing.note(start, end, "rate", level.rate, "B/clk/SM")
    if whole and level.bandwidth:
        said.append(f"{shown(level.bandwidth, 1e-3)} TB/s in all")
        drawing.note(start, end, "bandwidth", level.bandwidth, "GB/s")
    return ", ".join(said)


def _cycles(drawing: Drawing, level: Level, start: str, end: str) -> str:
    """ "280 cycles near, 463 far"."""
    if not level.cycles:
        return ""
    drawing.note(start, end, "latency", level.cycles, "cycle")
    said = f"{round(level.cycles.value)} cycles"
    if level.far_cycles:
        drawing.note(start, end, "latency of the far partition", level.far_cycles, "cycle")
        said += f" near, {round(level.far_cycles.value)} far"
    return said


def _inside(drawing: Drawing, book: Book, column: Column, found: dict[str, Level]) -> None:
    """Shared memory and L1, and the SMs around this one."""
    size = machine.size_of(column, "shared_bytes_per_sm")
    drawing.box(LEFT + 8, 166, RIGHT - LEFT - 16, 22, "shared memory and L1", size)
    for x, key, name in ((112, "shared", "shared"), (308, "l1", "L1")):
        if level := found.get(key):
            drawing.wire(x, 124, 166, 4)
            said = [
                f"{name} {_rates(drawing, level, name, 'registers')}".strip(),
                _cycles(drawing, level, name, "registers"),
            ]
            drawing.on_wire(x, 141, [*filter(None, said)], "gap raised")
    rate, cycles = machine.other_sms(book, column)
    if rate or cycles:
        said = [f"{_rate(rate)} B/clk" if rate else "", f"{round(cycles.value)} cycles" if cycles else ""]
        drawing.wire(326, 188, 214)
        drawing.words(326, 224, "another SM of the cluster", "rate", "middle")
        drawing.words(326, 237, ", ".join(filter(None, said)), "rate", "middle")
        for quantity, n, unit in (("rate", rate, "B/clk/SM"), ("latency", cycles, "cycle")):
            if n:
                drawing.note("shared memory of another SM", "registers", quantity, n, unit)


def _outside(drawing: Drawing, column: Column, found: dict[str, Level]) -> None:
    """L2, memory, and what is beyond the GPU."""
    drawing.box(LEFT, 248, RIGHT - LEFT, 22, "L2", machine.size_of(column, "l2_bytes"))
    drawing.box(LEFT, 322, 226, 22, "memory", machine.size_of(column, "memory_bytes"))
    for key, top, bottom in (("l2", 200, 248), ("memory", 270, 322)):
        drawing.wire(112, top, bottom, 3)
        if level := found.get(key):
            said = [_rates(drawing, level, level.name, "SM", whole=True), _cycles(drawing, level, level.name, "SM")]
            drawing.on_wire(112, (top + bottom) / 2 - 3, [*filter(None, said)], pitch=14)
    for key, x, width in (("peer", 280, 86), ("host", 370, 84)):
        if level := found.get(key):
            drawing.wire(x, 270, 322, 1.5)
            drawing.box(x - width / 2, 322, width, 22, level.name)
            known = [(n, unit) for n, unit in ((level.bandwidth, "GB/s"), (level.latency, "ns")) if n]
            drawing.on_wire(x, 293, [f"{text.number(round(n.value))} {unit}" for n, unit in known], pitch=14)
            for n, unit in known:
                drawing.note(level.name, "L2", "bandwidth" if unit == "GB/s" else "latency", n, unit)
