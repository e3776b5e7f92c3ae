# SPDX-License-Identifier: Apache-2.0
"""Question 15: tensor memory. Measured where there is some, else what the disassembly of every target shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assay.files import Measurement

from ..answer.findings import Finding, one_line
from ..block.declaration import Family
from ..block.kinds import Block, Cell, Evidence, Table
from ..block.tables import metric_table, of_column, who
from ..book import labels, text
from ..book.model import Book, Column, base_architecture

PREFIX = "tmem/"
OWN = re.compile(r"LDTM|STTM|UTC|FENCE\.VIEW\.ASYNC\.T")  # opcodes that move tensor memory or order it


def evidence(book: Book) -> list[Block]:
    found = Evidence(15, "assay sass --check '^tmem/' --out DIR")
    found.findings += assembled(book)
    found.remark = without(book)
    built = {name: by_target for name, by_target in book.not_run.items() if name.startswith(PREFIX)}
    if built:
        _built(book, found, built)
    for column in book.columns[:4]:
        found.tabulate(measured(book, column))
    return [found]


def lacks(column: Column) -> bool:
    """Whether the run's GPU is known to have no tensor memory.

    PTX ISA, tcgen05: "supported on sm_100a, sm_101a (sm_110a from PTX ISA 9.0), sm_103a", and their families.
    """
    number = base_architecture(column.architecture)[3:]
    return number.isdigit() and not 100 <= int(number) < 120


def without(book: Book) -> str:
    """Which of this report's GPUs have no tensor memory, in a sentence."""
    none = list(dict.fromkeys(base_architecture(c.architecture) for c in book.columns if lacks(c)))
    return f"{', '.join(none)} has no tensor memory, accumulators are registers there" if none else ""


def assembled(book: Book) -> list[Finding]:
    """How many forms of tcgen05 the assembler takes for each target that is not of this report's GPUs."""
    forms = [form for form in (book.isa.forms if book.isa else []) if "tcgen05" in form["ptx"]]
    if not forms:
        return []
    count = {
        target: sum(form["targets"].get(target, {}).get("status", "rejected") != "rejected" for form in forms)
        for target in book.isa.targets
    }
    there = ", ".join(f"{n} for {target}" for target, n in count.items() if n)
    absent = ", ".join(target for target, n in count.items() if not n)
    said = [f"of {len(forms)} forms of tcgen05 it takes {there}"] + ([f"none for {absent}"] if absent else [])
    return [one_line("the assembler", "; ".join(said), book.isa_page)]


def _built(book: Book, found: Evidence, built: dict[str, dict[str, Measurement]]) -> None:
    """One sentence for the targets that have tensor memory, one for those that do not, and the table of opcodes."""
    count = {target: [by[target] for by in built.values() if target in by] for target in book.targets}
    for target, cases in count.items():
        if cases:
            good = sum(1 for m in cases if (m.sass or {}).get("verified"))
            said = f"{good} of {len(cases)} cases built and disassembled hold their opcodes; not run"
            found.findings.append(one_line(base_architecture(target), said, "not-run"))
    none = [base_architecture(target) for target, cases in count.items() if not cases]
    if none:
        found.findings.append(
            one_line(", ".join(none), "no tensor memory: none of its instructions exist there", "not-run")
        )
    found.tabulate(opcode_table(book, built))


@dataclass
class _Form:
    """Cases that differ in nothing but how many columns one instruction moves."""

    times: list[str] = field(default_factory=list)
    opcodes: dict[str, None] = field(default_factory=dict)
    by_target: dict[str, list[Measurement]] = field(default_factory=dict)


def opcode_table(book: Book, built: dict[str, dict[str, Measurement]]) -> Table:
    forms: dict[str, _Form] = {}
    for name, by_target in built.items():
        shape = re.fullmatch(r"(.*?)(?:_x(\d+))?(?:/latency)?", name.removeprefix(PREFIX))
        form = forms.setdefault(shape[1], _Form())
        if shape[2] and f"x{shape[2]}" not in form.times:
            form.times.append(f"x{shape[2]}")
        for target, m in by_target.items():
            form.by_target.setdefault(target, []).append(m)
            form.opcodes |= dict.fromkeys(o for o in (m.sass or {}).get("loop") or {} if OWN.match(o))
    targets = [t for t in book.targets if any(t in form.by_target for form in forms.values())]
    rows = []
    for name, form in forms.items():
        marks = []
        for target in targets:
            cases = form.by_target.get(target, [])
            good = all((m.sass or {}).get("verified") for m in cases)
            marks.append(Cell("✓" if good else "✗", kind="good" if good else "bad") if cases else Cell(""))
        form.times.sort(key=lambda x: int(x[1:]))
        rows.append([Cell(name.replace("/", " ")), Cell(" ".join(form.times)), Cell(", ".join(form.opcodes)), *marks])
    caption = "Tensor memory, built and disassembled, not run: the opcodes of each loop; ✓ as the probe expects them"
    return Table(caption, ["tcgen05", "Columns at once", "Opcodes", *targets], rows)


def measured(book: Book, column: Column) -> Table | None:
    rows = [(name.replace("/", " "), m) for name, m in of_column(book, column, PREFIX)]
    metrics = {
        key: ", ".join(filter(None, (labels.quantity(key), text.unit(metric.unit))))
        for _, m in rows
        for key, metric in m.metrics.items()
    }
    return metric_table(f"Tensor memory{who(book, column)}", column, rows, metrics)


FAMILY = Family(
    "tmem",
    "Tensor memory",
    "The accumulator memory of SM100: loads, stores, copies.",
    blocks=(evidence,),
    of_instructions=True,
)
