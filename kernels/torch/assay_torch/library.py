# SPDX-License-Identifier: Apache-2.0
"""libassay_kernels.so through ctypes: kernels/c_api/assay_kernels.h on torch tensors."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay_torch.problem import BLOCK, Problem, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import torch

NAME = "libassay_kernels.so"
VARIABLE = "ASSAY_KERNELS_LIBRARY"


class KernelError(Exception):
    """One line: what was refused and why."""


def find_library() -> Path:
    """$ASSAY_KERNELS_LIBRARY, else the newest build*/libassay_kernels.so above this file or the current folder."""
    if chosen := os.environ.get(VARIABLE):
        if not Path(chosen).is_file():
            raise KernelError(f"{VARIABLE}={chosen}: no such file")
        return Path(chosen)
    roots = [*Path(__file__).resolve().parents, *Path.cwd().resolve().parents, Path.cwd()]
    found = [path for root in roots for path in root.glob(f"build*/{NAME}")]
    if not found:
        raise KernelError(f"{NAME} not found: build the target assay_kernels, or set {VARIABLE} to the file")
    return max(found, key=lambda path: path.stat().st_mtime)


# The numbers of kernels/c_api/assay_kernels.h.
TYPE = {"bf16": 0, "f16": 1, "f32": 2, "e4m3": 3, "e5m2": 4}
LAYOUT = {"nt": 0, "nn": 1, "tn": 2, "tt": 3}
ACTIVATION = {"identity": 0, "gelu": 1, "silu": 2, "gelu_tanh": 3}
SCALING = {"tensor": 1, "row": 2}
SETS = ("quick", "full", "survey")


@dataclass
class Operands:
    """The tensors of a product; those that a problem has not are None."""

    d: torch.Tensor
    a: torch.Tensor
    b: torch.Tensor
    c: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    scale_a: torch.Tensor | None = None  # float32
    scale_b: torch.Tensor | None = None

    def every(self) -> dict[str, torch.Tensor]:
        """Those that are there, by name."""
        return {name: tensor for name, tensor in vars(self).items() if tensor is not None}


def expected_shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
    """Of the operands that a problem has."""
    m, n, k = problem.shape.m, problem.shape.n, problem.shape.k
    shapes: dict[str, tuple[int, ...]] = {
        "d": (m, n),
        "a": (m, k) if problem.layout[0] == "n" else (k, m),
        "b": (k, n) if problem.layout[1] == "n" else (n, k),
    }
    if problem.beta:
        shapes["c"] = (m, n)
    if problem.bias:
        shapes["bias"] = (n,)
    if problem.blocks:
        along_k = -(-k // BLOCK)
        shapes |= {"scale_a": (along_k, padded(m)), "scale_b": (-(-n // BLOCK), padded(along_k))}
    elif problem.scaling == "row":
        shapes |= {"scale_a": (m, 1), "scale_b": (1, n)}
    elif problem.scaling == "tensor":
        shapes |= {"scale_a": (), "scale_b": ()}
    return shapes


def padded(count: int) -> int:
    """Floats from one row of a block's scales to the next."""
    return -(-count // 4) * 4


def expected_types(problem: Problem) -> dict[str, str]:
    """The types of all operands that there may be."""
    result = dict.fromkeys(("d", "c", "bias"), problem.type_d)
    return {**result, "a": problem.type, "b": problem.type_b, "scale_a": "f32", "scale_b": "f32"}


def torch_type(name: str) -> torch.dtype:
    import torch

    return {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "e4m3": torch.float8_e4m3fn,
            "e5m2": torch.float8_e5m2}[name]


def require(what: str, wanted: Iterable[tuple[str, torch.Tensor, torch.dtype, tuple[int, ...]]]) -> None:
    """Raises KernelError for a tensor of another type or shape than a kernel reads."""
    for name, tensor, kind, shape in wanted:
        if tensor.dtype != kind or tuple(tensor.shape) != shape:
            raise KernelError(f"{what}: {name} is {tensor.dtype} {[*tensor.shape]}; it must be {kind} {[*shape]}")


class Kernels:
    """The opened library. Launches go to torch's current stream."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or find_library()
        pointer, size, number, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.c_float
        try:
            self._library = ctypes.CDLL(str(self.path))
            self._last_error = self._library.assay_last_error
            self._gemm = self._library.assay_gemm
            self._gemm_fp8 = self._library.assay_gemm_fp8
            self._gemm_shape = self._library.assay_gemm_shape
            self._skinny = self._library.assay_skinny
            self._skinny_layer = self._library.assay_skinny_layer
            self._commit = self._library.assay_commit
        except (OSError, AttributeError) as error:
            raise KernelError(f"{self.path}: {error}") from None
        self._last_error.restype = self._commit.restype = ctypes.c_char_p
        self._gemm.argtypes = [pointer] * 5 + [number] * 3 + [size] * 3 + [real] * 2 + [number, pointer]
        self._gemm_fp8.argtypes = [pointer] * 7 + [number] * 4 + [size] * 3 + [real] * 2 + [number, pointer]
        self._skinny.argtypes = [ctypes.c_char_p, *[pointer] * 5, *[number] * 3, pointer]

    @property
    def commit(self) -> str:
        """What the library was built from; empty outside a git checkout."""
        return self._commit().decode()

    def _check(self, status: int) -> None:
        if status != 0:
            raise KernelError(self._last_error().decode())

    def call(self, name: str, pointers: Sequence[torch.Tensor], numbers: Sequence[int]) -> None:
        """A function that takes tensors' addresses, then ints, then the stream of the tensors' GPU.

        Tensors are contiguous and on one GPU. Raises KernelError.
        """
        import torch

        device = pointers[0].device
        for tensor in pointers:
            if not tensor.is_contiguous() or tensor.device != device:
                raise KernelError(f"{name}: needs contiguous tensors on one GPU")
        try:
            function = getattr(self._library, name)
        except AttributeError as error:
            raise KernelError(f"{self.path}: {error}") from None
        with torch.cuda.device(device):
            self._check(function(*(ctypes.c_void_p(tensor.data_ptr()) for tensor in pointers),
                                 *map(ctypes.c_int, numbers),
                                 ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))

    def shapes(self, chosen: str) -> list[Shape]:
        """The shapes of a set, "quick", "full" or "survey", each with those of the sets before it."""
        m, n, k, number = (ctypes.c_int() for _ in range(4))
        model, layer = ctypes.c_char_p(), ctypes.c_char_p()
        found = []
        while self._gemm_shape(len(found), *map(ctypes.byref, (m, n, k, number, model, layer))) == 0:
            found.append((number.value, Shape(m.value, n.value, k.value)))
        return [shape for level, shape in found if level <= SETS.index(chosen)]

    def layers(self, chosen: str) -> list[tuple[int, int]]:
        """n and k of the layers that few tokens are multiplied by, of a set, each with those of the sets before it."""
        n, k, number = (ctypes.c_int() for _ in range(3))
        model, layer = ctypes.c_char_p(), ctypes.c_char_p()
        found = []
        while self._skinny_layer(len(found), *map(ctypes.byref, (n, k, number, model, layer))) == 0:
            found.append((number.value, (n.value, k.value)))
        return [size for level, size in found if level <= SETS.index(chosen)]

    def gemm(self, problem: Problem, operands: Operands) -> torch.Tensor:
        """Contiguous tensors on one GPU. Raises KernelError; returns operands.d."""
        import torch

        shapes, types = expected_shapes(problem), expected_types(problem)
        tensors = operands.every()
        if tensors.keys() != shapes.keys():
            raise KernelError(f"gemm: needs the operands {', '.join(shapes)}, not {', '.join(tensors)}")
        for name, tensor in tensors.items():
            if tuple(tensor.shape) != shapes[name]:
                raise KernelError(f"gemm: {name} must be {[*shapes[name]]}, not {[*tensor.shape]}")
            if tensor.dtype != torch_type(types[name]):
                raise KernelError(f"gemm: {name} must be {types[name]}, not {tensor.dtype}")
            if not tensor.is_contiguous() or tensor.device != operands.d.device or not tensor.is_cuda:
                raise KernelError(f"gemm: {name} must be contiguous and on the GPU of d")

        def at(name: str) -> int | None:
            return tensors[name].data_ptr() if name in tensors else None

        shape, activation = problem.shape, ACTIVATION[problem.activation]
        with torch.cuda.device(operands.d.device):
            stream = torch.cuda.current_stream().cuda_stream
            last = (shape.m, shape.n, shape.k, problem.alpha, problem.beta, activation, stream)
            if problem.blocks:
                self.call("assay_gemm_e4m3_block128_nt", [tensors[name] for name in ("d", "a", "b", "scale_a", "scale_b")],
                          last[:3])
            elif problem.narrow:
                pointers = map(at, ("d", "a", "b", "scale_a", "scale_b", "c", "bias"))
                self._check(self._gemm_fp8(*pointers, TYPE[problem.type], TYPE[problem.type_b],
                                           TYPE[problem.type_d], SCALING[problem.scaling], *last))
            else:
                pointers = map(at, ("d", "a", "b", "c", "bias"))
                self._check(self._gemm(*pointers, TYPE[problem.type], TYPE[problem.type_d],
                                       LAYOUT[problem.layout], *last))
        return operands.d

    def skinny(self, weights: str, out: torch.Tensor, x: torch.Tensor, data: torch.Tensor,
               scales: torch.Tensor | None, scale: torch.Tensor | None, m: int, n: int, k: int) -> None:
        """assay_skinny() on the tensors' memory; assay_torch.skinny has what checks them. Raises KernelError."""
        import torch

        def pointer(tensor: torch.Tensor | None) -> int | None:
            return None if tensor is None else tensor.data_ptr()

        with torch.cuda.device(x.device):
            stream = torch.cuda.current_stream().cuda_stream
            self._check(self._skinny(weights.encode(), out.data_ptr(), x.data_ptr(), data.data_ptr(), pointer(scales),
                                     pointer(scale), m, n, k, stream))
