# SPDX-License-Identifier: Apache-2.0
"""One iteration of a loop along time, as `assay sass --json` describes it: an SVG document, complete in itself.

For each role of warps a lane for the issue slot and one for every pipe, the instructions of an iteration along the
cycles of one warp alone, and arrows from what was waited for to who waited. What a pipe still does when the next
iteration has begun is drawn at its beginning, where that of the iteration before is seen.
"""

from __future__ import annotations

import html
import math
import re
from typing import Any

from assay.plain_text import printable

LEFT, PLOT, LANE, GAP, RIGHT = 90, 1080, 26, 8, 20
OTHERS = 7  # the colour of pipes beyond those that have one each
NO_WAIT = 0.5  # cycles; less is the rhythm of issue

# Colours that a viewer's dark mode replaces.
STYLE = """<style>
svg { font: 12px system-ui, sans-serif; background: #fff; --ink: #1a1a1a; --faint: #d9d9d9; --lane: #f4f4f4; --wait: #b3261e; }
.c0 { fill: #0072b2; } .c1 { fill: #d55e00; } .c2 { fill: #009e73; } .c3 { fill: #cc79a7; }
.c4 { fill: #e69f00; } .c5 { fill: #56b4e9; } .c6 { fill: #7a6a00; } .c7 { fill: #777; }
text { fill: var(--ink); } .small { font-size: 10px; } .on { fill: #fff; font-size: 10px; pointer-events: none; }
rect[class^=c] { stroke: var(--lane); stroke-width: .4; }
.lane { fill: var(--lane); } .grid { stroke: var(--faint); } .before { opacity: .45; }
.wait { fill: var(--wait); opacity: .3; } .arrow { fill: none; stroke: var(--wait); marker-end: url(#tip); }
#tip path { fill: var(--wait); }
@media (prefers-color-scheme: dark) {
  svg { background: #16181c; --ink: #e6e6e6; --faint: #3a3d44; --lane: #1f2228; --wait: #ff8a80; }
}
</style>
"""
TIP = (
    "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
    "<path d='M0 0L8 4L0 8z'/></marker></defs>\n"
)


def timeline(kernel: dict[str, Any], loop: dict[str, Any]) -> str:
    """The picture of a hot loop of a kernel, both of schema `assay.sass/1`."""
    panels, top = [], 50.0
    for part in loop["parts"]:
        panel = _Panel(part, top + 14)
        said = f"warps {_escaped(part['warps_of_cta'])}: {part['single_warp']['cycles']:.0f} cycles an iteration, alone"
        panels.append(f"<text x='{LEFT}' y='{top + 4:.1f}'>{said}</text>\n{panel.draw()}")
        top += panel.height + 24
    name = _escaped(kernel["name"][:140])
    predicted = loop["predicted"]
    said = f"loop {loop['range']} for {kernel['target']}; {loop['warps']} warps an SM: "
    said = _escaped(f"{said}{predicted['cycles']:.0f} cycles an iteration predicted, bound by {predicted['bound_by']}")
    width = LEFT + PLOT + RIGHT
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {top:.0f}' width='{width}' height='{top:.0f}' "
        f"role='img'>\n<title>{name}</title>\n{STYLE}{TIP}<text x='{LEFT}' y='20' font-weight='bold'>{name}</text>\n"
        f"<text x='{LEFT}' y='37' class='small'>{said}</text>\n{''.join(panels)}</svg>\n"
    )


def _tick(cycles: float) -> float:
    """A step between 1, 2 and 5 times a power of ten, about ten of which fill the cycles."""
    power = 10.0 ** math.floor(math.log10(max(cycles, 1.0) / 10))
    return max(next((s * power for s in (1, 2, 5) if cycles / (s * power) <= 12), 10 * power), 1.0)


def _escaped(said: str) -> str:
    return html.escape(printable(said), quote=False).replace('"', "&quot;")


class _Panel:
    """The lanes of one role."""

    def __init__(self, part: dict[str, Any], top: float) -> None:
        self.steps = part["single_warp"]["steps"]
        self.cycles = max(part["single_warp"]["cycles"], 1.0)
        self.top = top
        self.pipe_of = {opcode["opcode"]: opcode["pipe"] for opcode in part["opcodes"]}
        used = set(self.pipe_of.values())
        self.lanes = ["issue", *(load["pipe"] for load in part["pipes"] if load["pipe"] in used)]

    @property
    def height(self) -> float:
        return len(self.lanes) * (LANE + GAP) + 30

    def draw(self) -> str:
        tick, drawn, at = _tick(self.cycles), [], 0.0
        while at <= self.cycles:
            x, bottom = self._x(at), self.top + self.height
            drawn.append(
                f"<line class='grid' x1='{x:.1f}' x2='{x:.1f}' y1='{self.top:.1f}' y2='{bottom - 26:.1f}'/>"
                f"<text class='small' x='{x:.1f}' y='{bottom - 14:.1f}' text-anchor='middle'>{at:g}</text>\n"
            )
            at += tick
        for lane, name in enumerate(self.lanes):
            y = self._y(lane)
            drawn.append(
                f"<text x='{LEFT - 8:.1f}' y='{y + LANE * 0.68:.1f}' text-anchor='end'>{_escaped(name)}</text>"
                f"<rect class='lane' x='{LEFT}' y='{y:.1f}' width='{PLOT}' height='{LANE}'/>\n"
            )
        drawn += [self._instruction(step) for step in self.steps]
        drawn += [self._wait(step) for step in self.steps]
        return "".join(drawn)

    def _x(self, cycle: float) -> float:
        return LEFT + cycle / self.cycles * PLOT

    def _y(self, lane: int) -> float:
        return self.top + lane * (LANE + GAP)

    def _lane(self, step: dict[str, Any]) -> int:
        """That of the pipe of its opcode; the issue slot's where the opcode has no pipe of its own."""
        words = step["text"].split()
        opcode = next((word for word in words if not re.match(r"@!?U?P", word)), "").rstrip(";,")
        pipe = self.pipe_of.get(opcode)
        return self.lanes.index(pipe) if pipe in self.lanes else 0

    def _box(self, lane: int, colour: int, begin: float, end: float, title: str, extra: str = "") -> str:
        x, width = self._x(begin), max(self._x(end) - self._x(begin), 0.7)
        drawn = (
            f"<rect class='c{min(colour, OTHERS)}{extra}' x='{x:.2f}' y='{self._y(lane) + 2:.1f}' width='{width:.2f}' "
            f"height='{LANE - 4}'><title>{title}</title></rect>\n"
        )
        label = re.split("[ .]", title, maxsplit=1)[0]
        if lane > 0 and width > 8 * len(label):
            drawn += f"<text class='on' x='{x + 4:.1f}' y='{self._y(lane) + LANE * 0.64:.1f}'>{label}</text>\n"
        return drawn

    def _instruction(self, step: dict[str, Any]) -> str:
        lane, issue = self._lane(step), step["issue"]
        colour = OTHERS if lane == 0 else lane - 1
        title = f"{_escaped(step['text'])} (at {int(step['address']):04x}, cycle {issue:.0f})"
        drawn = self._box(0, colour, issue, min(issue + 1, self.cycles), title)
        if lane == 0:
            return drawn
        # Busy beyond the iteration: the rest comes round to its beginning.
        begin, left = math.fmod(step["pipe_begin"], self.cycles), step["pipe_end"] - step["pipe_begin"]
        before = step["pipe_begin"] >= self.cycles
        for _ in range(2):
            if left <= 1e-9:
                break
            end = min(begin + left, self.cycles)
            drawn += self._box(lane, colour, begin, end, title, " before" if before else "")
            left, begin, before = left - (end - begin), 0.0, True
        return drawn

    def _wait(self, step: dict[str, Any]) -> str:
        if step["waited"] < NO_WAIT:
            return ""
        asked, x = max(step["issue"] - step["waited"], 0.0), self._x(step["issue"])
        title = f"{step['waited']:.0f} cycles for {_escaped(step['why'])}"
        drawn = (
            f"<rect class='wait' x='{self._x(asked):.2f}' y='{self._y(0):.1f}' width='{x - self._x(asked):.2f}' "
            f"height='{LANE}'><title>{title}</title></rect>\n"
        )
        if not step["producer"]:
            return drawn
        number = int(step["producer"]["step"])  # 3.0 is an integer to a schema
        if number >= len(self.steps):
            raise KeyError(f"steps[{number}]")
        producer = self.steps[number]
        if (lane := self._lane(producer)) == 0:
            return drawn
        # From the end of the producer's work, as far as that lies in view.
        end = producer["pipe_end"] - step["producer"]["iterations_ago"] * self.cycles
        x1, y1, y2 = self._x(min(max(end, 0.0), step["issue"])), self._y(lane) + 2, self._y(0) + LANE
        middle = (y1 + y2) / 2
        return drawn + (
            f"<path class='arrow' d='M{x1:.1f} {y1:.1f}C{x1:.1f} {middle:.1f} {x:.1f} {middle:.1f} {x:.1f} {y2:.1f}'/>\n"
        )
