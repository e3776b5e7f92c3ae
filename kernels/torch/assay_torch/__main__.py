# SPDX-License-Identifier: Apache-2.0
"""`assay torch` / `assay-torch`: our kernels against torch's, in one process, taking turns."""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from assay.files import Measurement, Run, RunFileError, save
from assay.plain_text import CUT, one_line
from assay.program import Exit, command, complain, file_path, make_folder, say, write_file
from assay_torch import __version__
from assay_torch.groups import GroupedShape
from assay_torch.library import SETS, KernelError, Kernels
from assay_torch.problem import (
    EPILOGUES,
    LAYOUTS,
    MOST_TOKENS,
    RESULTS,
    SCALINGS,
    TYPES,
    WEIGHTS,
    Problem,
    Shape,
    SkinnyProblem,
)
from assay_torch.summary import summarize

PROGRAM = "assay torch"
EXAMPLES = f"""examples:
  {PROGRAM} m16n8192k8192 m777n8192k4096              two products in bf16
  {PROGRAM} --set full --both --out out/torch         the suite's shapes, after a rest and under load
  {PROGRAM} --set full --type e4m3 --scaling row      8-bit operands against torch._scaled_mm
  {PROGRAM} --type e4m3 --scaling block --both         a scale for each block, also against DeepGEMM if it is there
  {PROGRAM} --type f16 --epilogue bias_gelu --compile  also against torch.compile, max-autotune
  {PROGRAM} --weights s4 m1n8192k8192 m16n8192k8192    few tokens by packed weights, against theirs in bf16
  {PROGRAM} --weights e4m3 --set full --out out/e4m3    1, 16 and 64 tokens by the layers of models
"""
SHAPES = ["m4096n4096k4096", "m8192n8192k8192"]
FEW = ["m1n8192k8192", "m16n8192k8192", "m64n8192k8192"]  # tokens by a layer's weights


def _driver() -> str | None:
    if not shutil.which("nvidia-smi"):
        return None
    answer = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False)
    return answer.stdout.split("\n")[0].strip() or None


def _environment(commit: str) -> dict:
    import torch

    gpu = torch.cuda.get_device_properties(0)
    return {
        "gpu": {"name": gpu.name, "architecture": f"sm_{gpu.major}{gpu.minor}", "sm_count": gpu.multi_processor_count},
        "driver": _driver(),
        "cuda": str(torch.version.cuda),
        "host": None,
        "assay": {"version": __version__, "commit": commit},
        "torch": str(torch.__version__),  # of a class of its own, which no JSON has
    }


def _began() -> dict:
    """What a run file says of the run itself."""
    return {"started": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE",
                        help=f"products of m tokens, n outputs and k inputs, written m4096n4096k4096, or of 8 groups of "
                             f"tokens, each with a B of its own, g8m32768n4096k7168 (default: {' '.join(SHAPES)})")
    parser.add_argument("--set", choices=SETS, help="the suite's shapes instead: quick, full, or all of the survey")
    parser.add_argument("--type", choices=TYPES, default="bf16", help="of A (default: bf16)")
    parser.add_argument("--type-b", choices=TYPES, help="of B (default: A's)")
    parser.add_argument("--type-d", choices=RESULTS, help="of the result (default: A's, bf16 of 8-bit operands)")
    parser.add_argument("--layout", choices=LAYOUTS, default="nt",
                        help="of A, then B; t: stored as its transpose (default: nt)")
    parser.add_argument("--epilogue", choices=EPILOGUES, default="none", help="what follows the sum (default: none)")
    parser.add_argument("--scaling", choices=SCALINGS,
                        help="of 8-bit operands: one factor; one per row of A and column of B; or one per 1x128 elements of "
                             "A and 128x128 of B (default: tensor)")
    parser.add_argument("--weights", choices=WEIGHTS, metavar="PACKING",
                        help=f"few tokens (m up to {MOST_TOKENS}) by weights that are packed: {', '.join(WEIGHTS)}; torch "
                             f"has them in bf16, and s4 in its own packing too (default shapes: {' '.join(FEW)})")
    parser.add_argument("--compile", action="store_true", help="also against torch.compile, max-autotune: slow to start")
    parser.add_argument("--rounds", type=int, default=100, help="turns of each contender, at least 6 (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs and of the order (default: 1)")
    parser.add_argument("--sustained", action="store_true", help="under continuous load instead of after a rest")
    parser.add_argument("--both", action="store_true", help="after a rest, then under continuous load")
    parser.add_argument("--out", type=file_path,
                        help="folder to write run.json and summary.json to, without a run so far")
    parser.add_argument("--library", type=Path, help="libassay_kernels.so (default: $ASSAY_KERNELS_LIBRARY or build*/)")
    return parser


def _refuse_others(options: argparse.Namespace, what: str) -> None:
    """Options that these products do not have. Raises ValueError."""
    others = ("type", "type_b", "type_d", "layout", "epilogue", "scaling", "compile")
    usual = _parser()
    if given := [name for name in others if getattr(options, name) != usual.get_default(name)]:
        raise ValueError(f"--{given[0].replace('_', '-')} belongs to other products than those of {what}")


def _groups(options: argparse.Namespace) -> list[GroupedShape]:
    """Raises ValueError."""
    found = [GroupedShape.parse(text) for text in options.shapes if text.startswith("g")]
    if found:
        _refuse_others(options, f"groups, which are in bf16; measure {found[0]} by itself")
    return found


def _skinny_problems(options: argparse.Namespace, kernels: Kernels) -> list[SkinnyProblem]:
    """Raises ValueError."""
    _refuse_others(options, "--weights")
    shapes = [Shape.parse(text) for text in options.shapes or ([] if options.set else FEW)]
    if options.set:
        shapes += [Shape(m, n, k) for n, k in kernels.layers(options.set) for m in (1, 16, 64)]
    return [SkinnyProblem.of(shape, options.weights) for shape in shapes]


def _problems(options: argparse.Namespace, kernels: Kernels) -> list[Problem]:
    shapes = [Shape.parse(text) for text in options.shapes or ([] if options.set else SHAPES)
              if not text.startswith("g")]
    if options.set:
        step = 16 if options.type in ("e4m3", "e5m2") else 8
        rows = step if options.layout[0] == "t" else 1
        # Of the set those that the type and the layout allow: kernels/gemm/gemm.hpp.
        shapes += [s for s in kernels.shapes(options.set) if s.n % step == 0 and s.k % step == 0 and s.m % rows == 0]
    common = Problem.of(Shape(1, 1, 1), options.type, options.type_b, options.type_d, options.layout,
                        options.epilogue, options.scaling)
    return [common.at(shape) for shape in shapes]


def _say(found: Measurement) -> None:
    main = found.metrics[found.primary]
    say(f"{found.name}: {main.value:.1f} {main.unit} [{main.ci95[0]:.1f}, {main.ci95[1]:.1f}]")
    for baseline in found.baselines:
        low, high = baseline.speedup.ci95
        say(f"  {baseline.speedup.value:.3f} [{low:.3f}, {high:.3f}] times as fast as {baseline.name}")
    for flag in found.flags:
        say(f"  {flag}")


def _failed(what: Problem | SkinnyProblem | GroupedShape, sustained: bool, why: str) -> Measurement:
    """What is recorded in place of a figure, for a gate to tell why there is none."""
    return Measurement(what.name + ("/sustained" if sustained else ""), "kernel", what.probe, status="failed",
                       reason=one_line(why, CUT) or "it gave no reason",
                       params={"state": "sustained" if sustained else "burst"})


def _begin(out: Path) -> None:
    """A folder that cannot be written, or holds another run, is known before anything is measured."""
    if there := [name for name in ("run.json", "journal.jsonl") if (out / name).exists()]:
        raise RunFileError(f"{out}: holds a run already, {there[0]}; choose another folder with --out")
    make_folder(out)
    write_file(out / "summary.json", b"[]\n")


def _keep(run: Run, out: Path | None) -> None:
    """Writes what there is, so that a run that is ended keeps all but the case it was at."""
    if not out:
        return
    write_file(out / "summary.json", (json.dumps(summarize(run.measurements), indent=1) + "\n").encode())
    save(run, out / "run.json")


def _say_summary(entries: list[dict]) -> None:
    for entry in entries:
        worst = entry["worst"]
        say(f"{entry['state']}, {entry['cases']} cases: {entry['geometric_mean']:.3f} times as fast as "
            f"{entry['baseline']} in the geometric mean, {worst['ratio']:.3f} at worst, {worst['case']}")


@command(PROGRAM)
def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 measured, 1 wrong or refused, 2 usage, 4 no GPU or no torch, 5 result not written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.rounds < 6:
        parser.error("--rounds: fewer than 6 give no 95% interval of a median")
    try:
        import torch
    except ImportError:
        return complain(PROGRAM, "needs the Python package torch: pip install torch", Exit.UNFIT)
    if not torch.cuda.is_available():
        return complain(PROGRAM, "torch sees no GPU; `assay info` says why", Exit.UNFIT)
    from assay_torch.gemm import measure
    from assay_torch.grouped import measure as measure_groups
    from assay_torch.skinny import measure as measure_skinny

    states = (False, True) if options.both else (options.sustained,)
    status = Exit.OK
    try:
        kernels = Kernels(options.library)
        try:
            problems = _skinny_problems(options, kernels) if options.weights else _problems(options, kernels)
            groups = _groups(options)
        except ValueError as error:
            parser.error(str(error))
        run = Run(_environment(kernels.commit), extra={"run": _began()})
    except KernelError as error:
        return complain(PROGRAM, str(error), Exit.FAILED)
    if options.out:
        _begin(options.out)
    for what, sustained in itertools.product([*problems, *groups], states):
        try:
            if isinstance(what, GroupedShape):
                found = measure_groups(kernels, what, options.rounds, options.seed, sustained)
            elif isinstance(what, SkinnyProblem):
                found = measure_skinny(kernels, what, options.rounds, options.seed, sustained)
            else:
                found = measure(kernels, what, options.rounds, options.seed, sustained, options.compile)
        except KernelError as error:
            status = complain(PROGRAM, str(error), Exit.FAILED)
            run.measurements.append(_failed(what, sustained, str(error)))
            _keep(run, options.out)
            continue
        run.measurements.append(found)
        _say(found)
        _keep(run, options.out)
        torch.cuda.empty_cache()
    _say_summary(summarize(run.measurements))
    return status


if __name__ == "__main__":
    sys.exit(main())
