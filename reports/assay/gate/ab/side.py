# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison: a program, and what one process of it measures."""

from __future__ import annotations

import math
import mmap
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from pathlib import Path

import re2

from assay import files
from assay.files import Measurement, Run, RunFileError
from assay.gate import foreign
from assay.gate.ab.watch import Watch
from assay.gate.outcome import LONGEST_EXPRESSION
from assay.gate.sides import SHARED
from assay.plain_text import CUT, one_line
from assay.program import Exit

HOW = "`assay ab --help` shows what can be compared"
MOST_PRINTED = 64 << 20  # bytes of a process, as of a file that is read
LAST_SAID = 1 << 16  # bytes of standard error that are kept, for a last line


class Kind(str, Enum):
    """What a program speaks."""

    ASSAY = "assay"
    GOOGLE_BENCHMARK = "gbench"
    NVBENCH = "nvbench"
    COMMAND = "command"  # anything that prints a number


class CannotMeasure(Exception):
    """The machine cannot run it. One line."""


# Text that each kind of program holds: the schema it writes, a flag, a tag; or the library that has them.
MARKS = {
    Kind.ASSAY: (b"assay.run/1",),
    Kind.NVBENCH: (b"nv/cold/time", b"libnvbench.so"),
    Kind.GOOGLE_BENCHMARK: (b"benchmark_out_format", b"libbenchmark.so"),
}


# What is special to every engine of regular expressions; some refuse a backslash before anything else.
SPECIAL = re.compile(r"[][\\.^$*+?{}|()]")


@dataclass(frozen=True)
class Printed:
    """How to read what a command prints."""

    expression: str  # with the number in its first group, or in (?P<value>...); (?P<case>...) names several
    unit: str = ""
    better: str = "lower"


@dataclass(frozen=True)
class Asked:
    """What every process is asked for."""

    filter: str = ""
    suite: str = "full"
    timeout_s: float = 600.0
    options: tuple[str, ...] = ()  # for the program itself, as they are
    printed: Printed | None = None
    metric: str | None = None  # of programs that speak a format: of what name a figure must be


def words_of(given: str) -> list[str]:
    """The command of a side: a program, a folder with `assay` in it, or a command line."""
    if not given.strip():
        raise RunFileError(f"--base, --candidate: one of them is empty; {HOW}")
    path = Path(given)
    if path.is_dir():
        found = [path / at for at in ("assay", "build/assay", "bin/assay") if os.access(path / at, os.X_OK)]
        if not found:
            raise RunFileError(f"{given}: no program `assay` is in this folder; build it, or name the program; {HOW}")
        return [str(found[0])]
    if path.is_file():
        return [given if "/" in given else f"./{given}"]
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise RunFileError(f"{given}: not a command line: {error}; {HOW}") from None
    if not words:
        raise RunFileError(f"an empty command; {HOW}")
    return words


def program_of(words: Sequence[str]) -> str | None:
    """The file that a command runs; `env` and what it sets are passed over."""
    for word in words:
        if word == "env" or "=" in word.split("/")[0]:
            continue
        return shutil.which(word)
    return None


def detect(words: Sequence[str]) -> Kind | None:
    """What the program speaks, from what is in its file; nothing is run."""
    program = program_of(words)
    if program is None:
        raise RunFileError(f"{shlex.join(words)}: no such program, or it may not be executed; {HOW}")
    with open(program, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for kind, marks in MARKS.items():
                if any(content.find(mark) >= 0 for mark in marks):
                    return kind
    return None


@dataclass
class Side:
    """A program, how it is asked, and what it said."""

    label: str  # "base" or "candidate"
    words: list[str]
    kind: Kind
    asked: Asked
    supported: frozenset[str] = frozenset()  # options of `assay run` that both sides have
    renamed: dict[str, str] = field(default_factory=dict)  # what a case is called when it is compared

    def process(self, seed: int, names: Sequence[str] | None = None) -> Run:
        """One process: everything asked for, or of that the cases of these names."""
        with tempfile.TemporaryDirectory(prefix="assay-ab-") as folder:
            run = self._watched(Path(folder), seed, names)
        for m in run.measurements:
            m.name = self.renamed.get(m.name, m.name)
        self._check_metric(run)
        wanted = None if names is None else set(names)
        run.measurements = [m for m in run.measurements if self._is_wanted(m, wanted)]
        return run

    def _check_metric(self, run: Run) -> None:
        """So that the first process tells what else the last one would."""
        have = {name for m in run.measurements if m.ok for name in m.metrics}
        if self.asked.metric and have and not any(re2.search(self.asked.metric, name) for name in have):
            said = f"no metric of the {self.label} matches --metric {one_line(self.asked.metric, CUT)}"
            raise RunFileError(f"{said}; there are {one_line(', '.join(sorted(have)), CUT)}")

    def _watched(self, folder: Path, seed: int, names: Sequence[str] | None) -> Run:
        """Assay watches the GPU itself; of all other programs what nvidia-smi says goes into their conditions."""
        if self.kind is Kind.ASSAY:
            return self._measure(folder, seed, names)
        watch = Watch(gpu=os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0")
        with watch:
            run = self._measure(folder, seed, names)
        for m in run.measurements:
            m.conditions = {**watch.conditions, **m.conditions}
            if watch.others:
                m.flags = [*m.flags, SHARED]
        return run

    def _is_wanted(self, m: Measurement, names: set[str] | None) -> bool:
        if names is not None:
            return m.name in names
        # assay and Google Benchmark have chosen themselves, with what their filters mean by it.
        chosen = self.kind in (Kind.ASSAY, Kind.GOOGLE_BENCHMARK) or not self.asked.filter
        return chosen or bool(re2.search(self.asked.filter, m.name))

    def _measure(self, folder: Path, seed: int, names: Sequence[str] | None) -> Run:
        out = folder / "out.json"
        exact = names and "^(" + "|".join(SPECIAL.sub(r"\\\g<0>", n) for n in sorted(names)) + ")$"
        if exact and len(exact) > LONGEST_EXPRESSION:
            exact = None  # more names than a program takes: all is measured again, and the rest left out
        pattern = exact or self.asked.filter
        options = list(self.asked.options)
        if self.kind is Kind.ASSAY:
            words = [*self.words, "run", *([pattern] if pattern else []), "--suite", self.asked.suite]
            words += ["--seed", str(seed), "--out", str(folder / "run"), *sorted(self.supported), *options]
            self._call(words, allowed=(0, 1))  # 1: a case failed, and the run says which
            run = files.load(folder / "run")
            for m in run.measurements:  # the text of its loop goes with the folder
                m.loops, m.sass = None, m.sass and {k: v for k, v in m.sass.items() if k != "loop_sha256"}
            return run
        if self.kind is Kind.GOOGLE_BENCHMARK:
            words = [*self.words, f"--benchmark_out={out}", "--benchmark_out_format=json", *options]
            self._call([*words, *([f"--benchmark_filter={pattern}"] if pattern else [])])
            if out.exists() and not out.stat().st_size:  # no benchmark matches
                return Run({"gpu": None, "driver": None, "cuda": None, "host": {}, "assay": None}, [])
            return foreign.load(out)
        if self.kind is Kind.NVBENCH:
            self._call([*self.words, "--json", str(out), *options])
            return foreign.load(out)
        return self._printed(self._call([*self.words, *options]))

    def _printed(self, output: str) -> Run:
        printed = self.asked.printed
        assert printed is not None
        groups = re2.compile(printed.expression).groupindex
        samples: dict[str, list[float]] = {}
        steps: dict[str, list[float]] = {}
        for found in re2.finditer(printed.expression, output):
            text = found.group("value" if "value" in groups else 1)
            name = found.group("case") if "case" in groups else "command"
            samples.setdefault(name.strip(), []).append(self._number(text))
            steps.setdefault(name.strip(), []).append(step_of(text, bool(printed.unit)))
        if not samples:
            end = one_line(output.strip()[-200:], CUT) or "nothing"
            raise RunFileError(
                f"the {self.label}: --metric matches nothing in what it printed, which ends: {end}; {HOW}"
            )
        found = [
            foreign.summarized(n, v, printed.unit, printed.better, "printed", conditions={"clock_domain": "wall"})
            for n, v in samples.items()
        ]
        for m in found:  # where ends of zeros are left out, the longest number says how many places there are
            m.metrics[m.primary].extra["step"] = min(steps[m.name])
        return Run({"gpu": None, "driver": None, "cuda": None, "host": {}, "assay": None}, found)

    def _number(self, text: str | None) -> float:
        try:
            value = float(text)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            said = f"--metric found {text!r:.60}, which is no number; put the number alone into its group"
            raise RunFileError(f"the {self.label}: {said}")
        if value < 0:
            said = f"--metric found {text!r:.60}, and what is below zero has no ratio; print a number that is not"
            raise RunFileError(f"the {self.label}: {said}")
        return value

    def _call(self, words: Sequence[str], allowed: Sequence[int] = (0,)) -> str:
        """What it prints. Raises where it ends in another way than it should."""
        said = f"the {self.label}, {shlex.join(self.words)},"
        try:
            process = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise RunFileError(f"{said} cannot be started: {error.strerror}; {HOW}") from None
        try:
            out, err = _read(process, time.monotonic() + self.asked.timeout_s)
        except subprocess.TimeoutExpired:
            end_group(process)
            raise RunFileError(f"{said} did not end within {self.asked.timeout_s:g} s; see --timeout") from None
        except _TooMuch:
            end_group(process)
            most = f"{MOST_PRINTED >> 20} MiB"
            raise RunFileError(f"{said} printed more than {most}; let it print its figures alone") from None
        except BaseException:
            end_group(process)
            raise
        if process.returncode < 0:
            raise RunFileError(f"{said} was ended by {_signal(-process.returncode)}; run it by itself to see why")
        if process.returncode not in allowed:
            text = [line for line in (err or out).decode(errors="replace").splitlines() if line.strip()]
            last = one_line(text[-1], CUT) if text else "it said nothing"
            ended = f"{said} ended with status {process.returncode}: {last}"
            if self.kind is Kind.ASSAY and process.returncode == Exit.UNFIT:
                raise CannotMeasure(ended)
            raise RunFileError(f"{ended}; run it by itself to see why")
        return out.decode(errors="replace")


class _TooMuch(Exception):
    """More was printed than is kept."""


def _read(process: subprocess.Popen, end: float) -> tuple[bytes, bytes]:
    """What it prints until it ends, of standard error the last of it. Raises _TooMuch and subprocess.TimeoutExpired."""
    out, err = bytearray(), bytearray()
    with process.stdout, process.stderr, selectors.DefaultSelector() as selector:
        for stream, kept in ((process.stdout, out), (process.stderr, err)):
            selector.register(stream, selectors.EVENT_READ, kept)
        while selector.get_map():
            ready = selector.select(max(0.0, end - time.monotonic()))
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(process.args, 0)
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                if not part:
                    selector.unregister(key.fileobj)
                key.data.extend(part)
            if len(out) > MOST_PRINTED:
                raise _TooMuch
            del err[:-LAST_SAID]
    process.wait(max(0.0, end - time.monotonic()))
    return bytes(out), bytes(err)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def step_of(text: str, rounded: bool) -> float:
    """By how much the last place of a printed number counts: 0.1 of `12.5`; 0 of a whole number that is a count."""
    exponent = Decimal(text).as_tuple().exponent
    return 0.0 if exponent == 0 and not rounded else float(10.0**exponent)


def end_group(process: subprocess.Popen) -> None:
    """Ends what was started in a session of its own, with all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def sides(given: dict[str, str], kind: Kind | None, asked: Asked) -> list[Side]:
    """The sides of a comparison, in the order given. Raises RunFileError."""
    words = {label: words_of(text) for label, text in given.items()}
    unknown = Kind.COMMAND if asked.printed else None
    kinds = {label: kind or detect(w) or unknown for label, w in words.items()}
    for label, found in kinds.items():
        if found is None:
            raise RunFileError(
                f"the {label}, {given[label]}: what it speaks is not known; give --metric with a regular expression for "
                f"the number it prints, or --format gbench or nvbench; {HOW}"
            )
    if len(set(kinds.values())) > 1:
        said = ", ".join(f"the {label} speaks {found.value}" for label, found in kinds.items())
        raise RunFileError(f"the two sides cannot be compared: {said}; give two programs of one kind")
    if Kind.COMMAND in kinds.values() and asked.printed is None:
        raise RunFileError(f"a command needs --metric, with a regular expression for the number it prints; {HOW}")
    if Kind.COMMAND in kinds.values() and not re2.compile(asked.printed.expression).groups:
        said = f"--metric {one_line(asked.printed.expression, CUT)}: it has no group"
        raise RunFileError(f"{said}; put the number in parentheses, as in 'takes ([0-9.]+) us'; {HOW}")
    made = [Side(label, words[label], kinds[label], asked) for label in given]
    if made[0].kind is Kind.ASSAY:
        helps = [side._call([*side.words, "run", "--help"]) for side in made]
        supported = frozenset(o for o in ("--no-baselines", "--no-sweeps") if all(o in text for text in helps))
        for side in made:
            side.supported = supported
    return made
