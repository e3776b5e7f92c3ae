# SPDX-License-Identifier: Apache-2.0
"""`assay torch` / `assay-torch`: our kernels against torch's, in one process, taking turns."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from assay.files import Run, save
from assay.program import Exit, command, complain, say
from assay_torch import __version__
from assay_torch.library import KernelError, Kernels

PROGRAM = "assay torch"
SHAPES = ["m4096n4096k4096", "m8192n8192k8192"]


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
        "cuda": torch.version.cuda,
        "host": None,
        "assay": {"version": __version__, "commit": commit},
        "torch": torch.__version__,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    parser.add_argument("shapes", nargs="*", default=SHAPES, metavar="SHAPE",
                        help="products D[m,n] = A[m,k] B[n,k]^T, written m4096n4096k4096, or of 8 groups of rows of A, "
                             f"each with a B of its own, g8m32768n4096k7168 (default: {' '.join(SHAPES)})")
    parser.add_argument("--rounds", type=int, default=100, help="turns of each contender, at least 6 (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs and of the order (default: 1)")
    parser.add_argument("--sustained", action="store_true", help="under continuous load instead of after a rest")
    parser.add_argument("--out", type=Path, help="folder to write run.json to")
    parser.add_argument("--library", type=Path, help="libassay_kernels.so (default: $ASSAY_KERNELS_LIBRARY or build*/)")
    return parser


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
    from assay_torch import gemm, grouped

    try:
        shapes = [grouped.GroupedShape.parse(text) if text.startswith("g") else gemm.Shape.parse(text)
                  for text in options.shapes]
    except ValueError as error:
        parser.error(str(error))
    try:
        kernels = Kernels(options.library)
        run = Run(_environment(kernels.commit))
        for shape in shapes:
            module = grouped if isinstance(shape, grouped.GroupedShape) else gemm
            found = module.measure(kernels, shape, options.rounds, options.seed, options.sustained)
            run.measurements.append(found)
            tflops = found.metrics["tflops"]
            say(f"{found.name}: {tflops.value:.1f} TFLOP/s [{tflops.ci95[0]:.1f}, {tflops.ci95[1]:.1f}]")
            for baseline in found.baselines:
                low, high = baseline.speedup.ci95
                say(f"  {baseline.speedup.value:.3f} [{low:.3f}, {high:.3f}] times as fast as {baseline.name}")
    except KernelError as error:
        return complain(PROGRAM, str(error), Exit.FAILED)
    if options.out:
        try:
            options.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            return complain(PROGRAM, f"{options.out}: cannot be made: {error.strerror}", Exit.NOT_WRITTEN)
        save(run, options.out / "run.json")
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
