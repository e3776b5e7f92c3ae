# SPDX-License-Identifier: Apache-2.0
"""Cases whose SM clock was below the highest one, with their power and what the driver gave as reasons."""

from __future__ import annotations

from collections import Counter

from assay.files import Measurement

from ..block import over_time
from ..block.kinds import Cell, Table
from ..book import labels, text
from ..book.model import Book, Column

BELOW = 0.02  # of the highest clock: less is how the clock is read
NO_REASON = "no reason reported"


def highest(column: Column) -> float | None:
    return (column.run.gpu or {}).get("sm_clock_max_mhz")


def is_slow(column: Column, m: Measurement) -> bool:
    """Whether its clock, or the lowest it had, was below the highest one by more than BELOW."""
    top = highest(column)
    clock = _clock(m)
    return top is not None and clock is not None and clock < (1 - BELOW) * top


def slow(book: Book, column: Column) -> list[Measurement]:
    return [m for c, m in book.measurements if c is column and is_slow(column, m)]


ABOVE = 0.005  # of the highest clock that the driver tells of: what counts of cycles and of nanoseconds are off by


def above(book: Book, column: Column) -> str:
    """How many cases ran at a higher clock than the driver says there is, as one of the H100s does; "" where none did."""
    top = highest(column)
    found = [clock for c, m in book.measurements if c is column and (clock := m.conditions.get("sm_clock_mhz"))]
    fast = [clock for clock in found if top and clock > (1 + ABOVE) * top]
    if not fast:
        return ""
    return (
        f"{text.counted(len(fast), 'case')}, up to {max(fast):.0f}{text.THIN}MHz by what the SMs counted, "
        f"where the driver's highest is {top:.0f}; not explained"
    )


def remark(column: Column, m: Measurement) -> str:
    """ "clock 1523 MHz below 1980 MHz, no reason reported"; "" for a case at full clock, or with a reason."""
    if not is_slow(column, m) or m.conditions.get("throttle"):
        return ""
    return f"clock {_clock(m):.0f} MHz below {highest(column):.0f} MHz, {NO_REASON}"


def summary(book: Book, column: Column) -> str:
    """The reasons that were reported, and how many cases were slow without one; "never" where there is neither."""
    reasons = Counter(r for c, m in book.measurements if c is column for r in m.conditions.get("throttle") or [])
    said = [f"{labels.words(reason)} ({text.counted(n, 'case')})" for reason, n in reasons.most_common()]
    if silent := [m for m in slow(book, column) if not m.conditions.get("throttle")]:
        top = highest(column)
        said.append(
            f"{text.counted(len(silent), 'case')} more than {100 * BELOW:.0f}{text.THIN}% below {top:.0f}{text.THIN}MHz, "
            + NO_REASON
        )
    return "; ".join(said) or "never"


def table(book: Book, column: Column) -> Table | None:
    """The slow cases by probe and reason, those with the lowest clock first."""
    groups: dict[tuple[str, str], list[Measurement]] = {}
    for m in slow(book, column):
        reasons = ", ".join(map(labels.words, m.conditions.get("throttle") or [])) or NO_REASON
        groups.setdefault(("/".join(m.name.split("/")[:2]), reasons), []).append(m)
    rows = []
    for (probe, reasons), found in sorted(groups.items(), key=lambda item: min(map(_clock, item[1]))):
        least = min(found, key=_clock)
        watts = [w for m in found if (w := m.conditions.get("power_w")) is not None]
        rows.append(
            [
                Cell(probe),
                Cell(str(len(found))),
                Cell(_range([_clock(m) for m in found])),
                Cell(_range(watts) if watts else "–"),
                Cell(reasons, kind="bad" if reasons == NO_REASON else ""),
                Cell(least.name.removeprefix(f"{probe}/"), column.anchor(least.name)),
            ]
        )
    if not rows:
        return None
    of = f", {column.tag} {column.label}" if len(book.columns) > 1 else ""
    caption = f"Cases more than {100 * BELOW:.0f}{text.THIN}% below the highest SM clock, {highest(column):.0f}{text.THIN}MHz{of}"
    head = ["Probe", "Cases", "SM clock, MHz", "Power, W", "Reasons the driver gave", "The slowest"]
    note = (
        "Power is that of the whole board, a mean over tens of milliseconds: a short burst may draw more than it shows."
    )
    silent = [m for m in slow(book, column) if not m.conditions.get("throttle")]
    return Table(
        caption, head, rows, [note, *([*ruled_out(column, silent), *_over_time(book, column)] if silent else [])]
    )


NEAR_LIMIT = 0.9  # of the power limit: what a board draws below it, as a mean, the limit does not hold back


def ruled_out(column: Column, silent: list[Measurement]) -> list[str]:
    """What cannot be why these cases had a lower clock without a reason, from what was recorded of them."""
    gpu, said = column.run.gpu or {}, []
    limit = gpu.get("power_limit_w")
    watts = [w for m in silent if (w := m.conditions.get("power_max_w") or m.conditions.get("power_w")) is not None]
    if limit and watts:
        below = sum(w < NEAR_LIMIT * limit for w in watts)
        said.append(
            f"power as the board's mean shows it ({below} of {len(watts)} drew less than {100 * NEAR_LIMIT:.0f}{text.THIN}% "
            f"of {limit:.0f}{text.THIN}W)"
        )
    if heat := [c for m in silent if (c := m.conditions.get("temperature_c")) is not None]:
        said.append(f"heat (at most {max(heat):.0f}{text.THIN}°C)")
    if gpu.get("other_processes") == 0:
        said.append("another process on the GPU (there was none when the run began)")
    if not said:
        return []
    cases = "the case" if len(silent) == 1 else f"the {len(silent)} cases"
    return [f"Of {cases} without a reason, ruled out: {'; '.join(said)}. What lowers the clock is not explained."]


def _over_time(book: Book, column: Column) -> list[str]:
    """What loads that were watched from their beginning show of clocks for which no reason is given."""
    found = [f"{load.name}: {'; '.join(over_time.in_words(load, column))}." for load in over_time.loads(book, column)]
    late = [min(given.values()) for load in over_time.loads(book, column) if (given := load.reasons_given)]
    if late:
        found.append(
            f"The driver's first reason came {min(late):g}{text.THIN}ms or more after a load began: "
            "a case may be over before."
        )
    lead = "Loads that were watched from their beginning show:"
    return [f"{lead} {' '.join(found)}"] if found else []


def _clock(m: Measurement) -> float | None:
    """The lowest clock that is known of it."""
    clocks = [m.conditions.get(key) for key in ("sm_clock_mhz", "sm_clock_min_mhz")]
    return min((clock for clock in clocks if clock is not None), default=None)


def _range(values: list[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return f"{low}" if low == high else f"{low} to {high}"
