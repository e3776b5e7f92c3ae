# SPDX-License-Identifier: Apache-2.0
"""Whether an instruction alone kept its pipe busy in the loops that pair it with others. Pure.

Two that take T_a and T_b alone queue for T_a + T_b on one pipe only if each of them kept the pipe busy alone. One that
waited for its operands or its results leaves gaps, into which a partner of the same pipe fits.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.files import Measurement

from ...book.identity import gpu_name
from ...book.instructions import LOOP_CONTROL, RATES, opcodes
from ...book.model import Book, Column

SHORT = 0.02  # of the best rate; less is how well rates repeat


@dataclass(frozen=True)
class Short:
    """An instruction that alone was slower than it can be: its rate there, the best one, and of which case that is."""

    rate: float
    best: float
    name: str
    column: Column

    @property
    def words(self) -> str:
        return f"{self.rate:.1f} alone, {self.best:.1f} in {self.name}"


def short(book: Book, column: Column, m: Measurement) -> Short | None:
    """How far a case of pairs fell short of the best rate of the same opcodes; None where it did not, or where nothing
    of the same unit was measured on a GPU of this name."""
    instruction, own = str(m.params.get("instruction", "")), _opcodes(m)
    group = "/".join(instruction.split("/")[:2]) + "/"
    rate = next((r for r in RATES if r in m.metrics), None)
    if not instruction or rate is None or not own:
        return None
    alike = [
        Short(m.metrics[rate].value, other.metrics[rate].value, other.name, c)
        for c, other in book.measurements
        if other.name.startswith(group)
        and rate in other.metrics
        and gpu_name(c.run) == gpu_name(column.run)
        and _opcodes(other) == own
    ]
    best = max(alike, key=lambda s: s.best, default=None)
    # What controls the loop takes slots of the pipe too, and shorter loops have more of it.
    return best if best and best.rate * _with_control(m) < (1 - SHORT) * best.best else None


def _opcodes(m: Measurement) -> frozenset[str]:
    """The assembler alternates between opcodes of one operation, such as HFMA2 and HFMA2.MMA."""
    return frozenset(opcode for opcode, _ in opcodes(m))


def _with_control(m: Measurement) -> float:
    """How many times as many instructions the loop has as are measured."""
    loop = (m.sass or {}).get("loop") or {}
    control = sum(n for op, n in loop.items() if LOOP_CONTROL.match(op))
    own = sum(loop.values()) - control
    return 1 + control / own if own else 1.0
