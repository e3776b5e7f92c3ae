# SPDX-License-Identifier: Apache-2.0
r"""Times one implementation of a row-wise softmax and prints a line for each sample, for `assay ab` to read.

    assay ab --base 'python time_softmax.py eager' --candidate 'python time_softmax.py fused' \
        --metric '(?P<case>softmax \S+) takes (?P<value>[0-9.]+) us' --unit us

With torch on a GPU, `fused` is a Triton kernel that torch.compile writes; put a kernel of your own there in the same
way. Without a GPU the two are ways to write it in numpy, so that the example runs anywhere.
"""

import sys
import time
from collections.abc import Callable

SAMPLES, SECONDS = 15, 0.02  # of a sample: many calls, so that the clock's step does not show


Timed = tuple[tuple[int, ...], Callable[[int], float]]  # the array's shape, and the seconds that so many calls take


def on_gpu(name: str) -> Timed:
    import torch

    torch.manual_seed(1)  # both sides get the same inputs
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)

    def softmax(x):
        e = torch.exp(x - x.amax(1, keepdim=True))
        return e / e.sum(1, keepdim=True)

    call = torch.compile(softmax) if name == "fused" else softmax
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def seconds(calls: int) -> float:
        begin.record()
        for _ in range(calls):
            call(x)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3

    return tuple(x.shape), seconds


def on_cpu(name: str) -> Timed:
    import numpy

    x = numpy.random.default_rng(1).standard_normal((64, 1024), dtype="float32")
    out = numpy.empty_like(x)

    def eager():
        e = numpy.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    def fused():
        numpy.subtract(x, x.max(1, keepdims=True), out=out)
        numpy.exp(out, out=out)
        numpy.divide(out, out.sum(1, keepdims=True), out=out)

    call = {"eager": eager, "fused": fused}[name]

    def seconds(calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - begin

    return tuple(x.shape), seconds


def has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def main() -> None:
    name = sys.argv[1]
    shape, seconds = (on_gpu if has_gpu() else on_cpu)(name)
    size = "x".join(map(str, shape))  # a case of another size is another case
    seconds(3)  # compiles and warms up
    calls = max(1, int(SECONDS / max(seconds(3) / 3, 1e-6)))
    for _ in range(SAMPLES):
        print(f"softmax {size} takes {seconds(calls) / calls * 1e6:.4f} us")


if __name__ == "__main__":
    main()
