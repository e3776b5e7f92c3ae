# SPDX-License-Identifier: Apache-2.0
"""What was built and disassembled but not run, and what others published for GPUs that are not in the report."""

from __future__ import annotations

import re
from collections import Counter

from assay.files import Measurement
from assay.files.refused import Refusal

from ..block.kinds import Block, Cell, Fold, Page, Paragraph, Section, Span, Table, sentence
from ..book import labels, text
from ..book.model import Book, Published, base_architecture

PAGE = "built.html"
MARKS = (
    "✓ holds the opcodes it claims, ✗ does not, e is carried out by other instructions, · was built without a check; blank "
    "does not exist there."
)
WHY = f"No such GPU was at hand: these cases were compiled for each target and their machine code was checked. {MARKS}"
REFUSED = (
    "Above a limit, negative, or so that figures per clock and per second contradict each other. No answer, figure or "
    "comparison uses them."
)
KINDS = {"✓": "good", "✗": "bad"}


def matrix(book: Book) -> list[tuple[str, list[tuple[str, str]]]]:
    """(name, one (mark, word) per target) of what was built and disassembled but not run."""
    marks = {True: ("✓", "verified"), False: ("✗", "not what was asked for"), None: ("·", "built")}
    lines = []
    for name, by_target in sorted(book.not_run.items()):
        cells = []
        for target in book.targets:
            m = by_target.get(target)
            if m is None:
                cells.append(("", "does not exist"))
            elif (m.sass or {}).get("emulated") or "emulated" in m.flags:
                cells.append(("e", "emulated"))
            else:
                cells.append(marks[(m.sass or {}).get("verified")])
        lines.append((name, cells))
    return lines


def elsewhere(book: Book) -> dict[tuple[str, str, str], list]:
    """Published figures of architectures that this report has no column for, by (architecture, GPU, source)."""
    ours = {base_architecture(column.architecture) for column in book.columns}
    found: dict[tuple[str, str, str], list] = {}
    for p in sorted(book.published, key=lambda p: (int(p.architecture[3:] or 0), p.gpu)):
        if p.architecture not in ours:
            found.setdefault((p.architecture, p.gpu, p.title), []).append(p)
    return found


def built(book: Book) -> Section | None:
    """A sentence on the matrix, which is on a page of its own."""
    lines = matrix(book)
    if not lines:
        return None
    wrong = sum(mark == "✗" for _, cells in lines for mark, _ in cells)
    said = f" were built and disassembled for {', '.join(book.targets)}, and not run; "
    said += f"{wrong} of them are not what was asked for on some target." if wrong else "all are what was asked for."
    return Section("not-run", "Built, not run", [Paragraph([Span(text.counted(len(lines), "case"), PAGE), Span(said)])])


def built_page(book: Book) -> Page | None:
    """The matrix."""
    lines = matrix(book)
    rows = [
        [Cell(name), *(Cell(mark, kind=KINDS.get(mark, ""), title=word) for mark, word in cells)]
        for name, cells in lines
    ]
    table = Table(f"{len(lines)} cases by target", ["Case", *book.targets], rows, kind="matrix")
    heading = "Built and disassembled, not run"
    return Page(PAGE, "Built, not run", heading, WHY, [table], short="Built, not run") if lines else None


def published_elsewhere(book: Book) -> Section | None:
    folds: list[Block] = [
        Fold(gpu, f"{architecture}, {source}, {text.counted(len(found), 'figure')}", [_published_table(source, found)])
        for (architecture, gpu, source), found in elsewhere(book).items()
    ]
    intro = "Nothing here was measured by this suite."
    return Section("elsewhere", "Published for GPUs not in this report", folds, intro) if folds else None


def _published_table(source: str, found: list[Published]) -> Table:
    rows = [
        [
            Cell(p.name),
            Cell(labels.quantity(p.metric), more=(Span(text.unit(p.unit), kind="muted"),)),
            Cell(text.number(p.value), kind="published"),
            Cell(p.note),
        ]
        for p in found
    ]
    return Table(Span(source, found[0].url, "published"), ["Case", "Quantity", "Published", "Note"], rows)


def refused(book: Book) -> Section | None:
    """Figures that cannot be, and why."""
    several = len(book.columns) > 1
    groups: dict[tuple[int, str, str, str], list[Refusal]] = {}
    for column, refusal in book.refused:
        groups.setdefault((column.index, refusal.name, refusal.figure, refusal.short), []).append(refusal)
    rows = []
    for (index, name, figure, short), found in groups.items():
        column, worst = book.columns[index], found[0]
        more = f", and {len(found) - 1} more of its points" if len(found) > 1 else ""
        rows.append(
            [
                Cell(name, column.anchor(name)),
                *([Cell(column.tag)] if several else []),
                Cell(labels.quantity(figure)),
                Cell(worst.said + more),
                Cell(f"refused: {short}", kind="bad"),
                Cell(worst.why),
            ]
        )
    head = ["Case", *(["Run"] if several else []), "Quantity", "Figure", "Verdict", "Why"]
    table = Table("Figures that cannot be", head, rows)
    return Section("refused", "Refused figures", [Fold(f"{len(rows)} of them", "", [table])], REFUSED) if rows else None


def unmeasured(book: Book) -> Section | None:
    """Cases without a result: how many for which reason, and the list behind it."""
    if not book.unmeasured:
        return None
    several = len(book.columns) > 1
    rows = [
        [
            Cell(m.name),
            *([Cell(column.tag)] if several else []),
            Cell(m.status, kind="bad" if m.status == "failed" else ""),
            Cell(m.reason or ""),
        ]
        for column, m in sorted(book.unmeasured, key=lambda pair: pair[1].status)
    ]
    table = Table("Cases without a result, and why", ["Case", *(["Run"] if several else []), "Status", "Reason"], rows)
    said = [sentence(line) for line in reasons(book)]
    blocks: list[Block] = [*said, Fold("Every one of them", text.counted(len(rows), "case"), [table])]
    return Section("unmeasured", "Failed and skipped", blocks)


MOST_REASONS = 4  # in a sentence
TOO_FEW = re.compile(r"needs (\d+) GPUs, (\d+) visible")


def reasons(book: Book) -> list[str]:
    """ "155 cases were skipped: 83 need 2 GPUs; 72 need 4 GPUs, where 1 is visible.": by status, the failed first."""
    found = []
    for status in dict.fromkeys(["failed", *(m.status for _, m in book.unmeasured)]):
        of_status = [m for _, m in book.unmeasured if m.status == status]
        counts = Counter(reason(m) for m in of_status).most_common()
        if not counts:
            continue
        shown = [_counted(n, why) for why, n in counts[:MOST_REASONS]]
        if rest := sum(n for _, n in counts[MOST_REASONS:]):
            shown.append(f"{rest} for other reasons")
        visible = {few[2] for why, _ in counts[:MOST_REASONS] if (few := TOO_FEW.fullmatch(why))}
        where = f", where {visible.pop()} is visible" if visible == {"1"} else ""
        verb = "was" if len(of_status) == 1 else "were"
        state = "failed" if status == "failed" else f"{verb} {status.replace('_', ' ')}"
        found.append(f"{text.counted(len(of_status), 'case')} {state}: {'; '.join(shown)}{where}.")
    return found


def _counted(n: int, why: str) -> str:
    """ "72 need 4 GPUs", or "3: out of memory" of what another program gives as its reason."""
    if few := TOO_FEW.fullmatch(why):
        return f"{n} {'needs' if n == 1 else 'need'} {few[1]} GPUs"
    if why.startswith("needs "):
        return f"{n} {'needs' if n == 1 else 'need'} {why.removeprefix('needs ')}"
    return f"of {n} the reason is: {why}"


def reason(m: Measurement) -> str:
    """Its first line."""
    return next(iter((m.reason or "").splitlines()), "no reason was given").rstrip(".")
