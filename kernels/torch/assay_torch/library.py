# SPDX-License-Identifier: Apache-2.0
"""libassay_kernels.so through ctypes: kernels/c_api/assay_kernels.h on torch tensors."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING

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
        try:
            self._library = ctypes.CDLL(str(self.path))
            self._last_error = self._library.assay_last_error
            self._gemm_bf16_nt = self._library.assay_gemm_bf16_nt
            self._gemm_e4m3_block128_nt = self._library.assay_gemm_e4m3_block128_nt
            self._grouped_bf16_nt = self._library.assay_grouped_bf16_nt
            self._grouped_e4m3_block128_nt = self._library.assay_grouped_e4m3_block128_nt
            self._commit = self._library.assay_commit
        except (OSError, AttributeError) as error:
            raise KernelError(f"{self.path}: {error}") from None
        self._last_error.restype = self._commit.restype = ctypes.c_char_p
        self._gemm_bf16_nt.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 3 + [ctypes.c_void_p]
        self._gemm_e4m3_block128_nt.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_int] * 3 + [ctypes.c_void_p]
        self._grouped_bf16_nt.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int] * 5 + [ctypes.c_void_p]
        self._grouped_e4m3_block128_nt.argtypes = [ctypes.c_void_p] * 6 + [ctypes.c_int] * 5 + [ctypes.c_void_p]

    @property
    def commit(self) -> str:
        """What the library was built from; empty outside a git checkout."""
        return self._commit().decode()

    def _check(self, status: int) -> None:
        if status != 0:
            raise KernelError(self._last_error().decode())

    def gemm_bf16_nt(self, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """out[m, n] = a[m, k] @ b[n, k].T, contiguous bfloat16 tensors on one GPU. Raises KernelError."""
        import torch

        m, k = a.shape
        n = b.shape[0]
        if b.shape != (n, k) or out.shape != (m, n):
            raise KernelError(f"gemm_bf16_nt: shapes {[*a.shape]}, {[*b.shape]} and {[*out.shape]} do not fit")
        for tensor in (a, b, out):
            if tensor.dtype != torch.bfloat16 or not tensor.is_contiguous() or tensor.device != a.device:
                raise KernelError("gemm_bf16_nt: needs contiguous bfloat16 tensors on one GPU")
        with torch.cuda.device(a.device):
            stream = torch.cuda.current_stream().cuda_stream
            self._check(self._gemm_bf16_nt(out.data_ptr(), a.data_ptr(), b.data_ptr(), m, n, k, stream))
        return out

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
