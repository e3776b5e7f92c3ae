# SPDX-License-Identifier: Apache-2.0
"""libassay_kernels.so through ctypes: kernels/c_api/assay_kernels.h on torch tensors."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay_torch.problem import Problem, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

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
ACTIVATION = {"identity": 0, "gelu": 1, "silu": 2}
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
    if problem.scaling == "row":
        shapes |= {"scale_a": (m, 1), "scale_b": (1, n)}
    elif problem.scaling == "tensor":
        shapes |= {"scale_a": (), "scale_b": ()}
    return shapes


def expected_types(problem: Problem) -> dict[str, str]:
    """The types of all operands that there may be."""
    result = dict.fromkeys(("d", "c", "bias"), problem.type_d)
    return {**result, "a": problem.type, "b": problem.type_b, "scale_a": "f32", "scale_b": "f32"}


def torch_type(name: str) -> torch.dtype:
    import torch

    return {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "e4m3": torch.float8_e4m3fn,
            "e5m2": torch.float8_e5m2}[name]


def _require_types(what: str, tensors: Sequence[torch.Tensor], types: Sequence[torch.dtype]) -> None:
    """Contiguous, on the first one's GPU, and of these types, one for each."""
    for tensor, kind in zip(tensors, types, strict=False):
        if tensor.dtype != kind or not tensor.is_contiguous() or tensor.device != tensors[0].device:
            raise KernelError(f"{what}: a tensor is {tensor.dtype} on {tensor.device}; it must be contiguous, {kind}, "
                              f"on {tensors[0].device}")


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
            self._gemm_e4m3_block128_nt = self._library.assay_gemm_e4m3_block128_nt
            self._grouped_bf16_nt = self._library.assay_grouped_bf16_nt
            self._grouped_e4m3_block128_nt = self._library.assay_grouped_e4m3_block128_nt
            self._commit = self._library.assay_commit
        except (OSError, AttributeError) as error:
            raise KernelError(f"{self.path}: {error}") from None
        self._last_error.restype = self._commit.restype = ctypes.c_char_p
        self._gemm.argtypes = [pointer] * 5 + [number] * 3 + [size] * 3 + [real] * 2 + [number, pointer]
        self._gemm_fp8.argtypes = [pointer] * 7 + [number] * 4 + [size] * 3 + [real] * 2 + [number, pointer]

        self._skinny.argtypes = [ctypes.c_char_p, *[ctypes.c_void_p] * 5, *[ctypes.c_int] * 3, ctypes.c_void_p]
        self._gemm_e4m3_block128_nt.argtypes = [pointer] * 5 + [number] * 3 + [pointer]
        self._grouped_bf16_nt.argtypes = [pointer] * 4 + [number] * 5 + [pointer]
        self._grouped_e4m3_block128_nt.argtypes = [pointer] * 6 + [number] * 5 + [pointer]

    @property
    def commit(self) -> str:
        """What the library was built from; empty outside a git checkout."""
        return self._commit().decode()

    def _check(self, status: int) -> None:
        if status != 0:
            raise KernelError(self._last_error().decode())

    def shapes(self, chosen: str) -> list[Shape]:
        """The shapes of a set, "quick", "full" or "survey", each with those of the sets before it."""
        m, n, k, number = (ctypes.c_int() for _ in range(4))
        model, layer = ctypes.c_char_p(), ctypes.c_char_p()
        found = []
        while self._gemm_shape(len(found), *map(ctypes.byref, (m, n, k, number, model, layer))) == 0:
            found.append((number.value, Shape(m.value, n.value, k.value)))
        return [shape for level, shape in found if level <= SETS.index(chosen)]

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
            if problem.narrow:
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

    def gemm_e4m3_block128_nt(self, a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor,
                              out: torch.Tensor) -> torch.Tensor:
        """out[m, n] = a[m, k] @ b[n, k].T, a and b float8_e4m3fn with a scale for each block, out bfloat16.

        scale_a[kb, m] belongs to a[m, 128 kb : 128 kb + 128], scale_b[nb, kb] to 128 x 128 elements of b. Rows of both
        are padded to multiples of 4 floats: scale_a is [ceil(k / 128), m rounded up], scale_b [ceil(n / 128),
        ceil(k / 128) rounded up]. All contiguous on one GPU. Raises KernelError.
        """
        import torch

        m, k = a.shape
        n = b.shape[0]
        k_blocks, n_blocks = -(-k // 128), -(-n // 128)
        expected = [("b", b, (n, k)), ("out", out, (m, n)), ("scale_a", scale_a, (k_blocks, -(-m // 4) * 4)),
                    ("scale_b", scale_b, (n_blocks, -(-k_blocks // 4) * 4))]
        for name, tensor, shape in expected:
            if tuple(tensor.shape) != shape:
                raise KernelError(f"gemm_e4m3_block128_nt: {name} is {[*tensor.shape]}, not {[*shape]}")
        types = [torch.float8_e4m3fn] * 2 + [torch.float32] * 2 + [torch.bfloat16]
        _require_types("gemm_e4m3_block128_nt", (a, b, scale_a, scale_b, out), types)
        with torch.cuda.device(a.device):
            stream = torch.cuda.current_stream().cuda_stream
            self._check(self._gemm_e4m3_block128_nt(out.data_ptr(), a.data_ptr(), b.data_ptr(), scale_a.data_ptr(),
                                                    scale_b.data_ptr(), m, n, k, stream))
        return out

    def grouped_nt(self, a: torch.Tensor, b: torch.Tensor, sizes: torch.Tensor, out: torch.Tensor,
                   scales: tuple[torch.Tensor, torch.Tensor] | None = None) -> torch.Tensor:
        """Groups of rows of `a`, each times its own b[group].T; all contiguous tensors on one GPU. Raises KernelError.

        a [rows, k] and out [rows, n] sorted by group: sizes[g] is where group g's rows end, as torch._grouped_mm's
        `offs`. a [groups, rows, k] and out [groups, rows, n]: the first sizes[g] rows of group g are used. b is
        [groups, n, k], sizes int32. bfloat16, or float8_e4m3fn with `scales` of a and of b: one group's after the other
        of what gemm_e4m3_block128_nt takes (for a [rows, k] all rows are as one group's).
        """
        import torch

        groups, n, k = b.shape
        rows, masked = a.shape[-2], a.dim() == 3
        shape = (groups, rows) if masked else (rows,)
        k_blocks, n_blocks = -(-k // 128), -(-n // 128)
        expected = [("a", a, (*shape, k)), ("out", out, (*shape, n)), ("sizes", sizes, (groups,))]
        if scales:
            expected += [("scale_a", scales[0], ((groups,) if masked else ()) + (k_blocks, -(-rows // 4) * 4)),
                         ("scale_b", scales[1], (groups, n_blocks, -(-k_blocks // 4) * 4))]
        for name, tensor, wanted in expected:
            if tuple(tensor.shape) != wanted:
                raise KernelError(f"grouped_nt: {name} is {[*tensor.shape]}, not {[*wanted]}")
        element = torch.float8_e4m3fn if scales else torch.bfloat16
        _require_types("grouped_nt", (a, b, sizes, out, *(scales or ())),
                       [element, element, torch.int32, torch.bfloat16, torch.float32, torch.float32])
        numbers = (int(masked), groups, rows, n, k)
        with torch.cuda.device(a.device):
            stream = torch.cuda.current_stream().cuda_stream
            if scales:
                status = self._grouped_e4m3_block128_nt(
                    out.data_ptr(), a.data_ptr(), b.data_ptr(), scales[0].data_ptr(), scales[1].data_ptr(),
                    sizes.data_ptr(), *numbers, stream)
            else:
                status = self._grouped_bf16_nt(out.data_ptr(), a.data_ptr(), b.data_ptr(), sizes.data_ptr(), *numbers,
                                               stream)
            self._check(status)
        return out
