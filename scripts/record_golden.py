#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the golden forms of the host model on this machine's GPU.

    build/assay_golden_forms [NAME...] > forms.bin                     # all, or those named
    python3 scripts/record_golden.py forms.bin > left.txt              # on the machine with the GPU
    python3 scripts/record_golden.py left.txt --merge harness/model/tests/golden/silicon.txt

Prints a line for each form: its name and a hash of what each case left. Of approximations a second
line follows, with `=` and every number that was left. A form that fails has the word `failed` in
place of hashes, and why on stderr. Needs the driver alone, and Python's own library. `--bytes FOLDER`
also keeps what each form left, for the test to show where the model differs (ASSAY_GOLDEN_BYTES).
`--merge` puts such lines into a file in place of those of the same forms, new ones at its end. The
forms of the product on Hopper are recorded by assay_gemm_record (kernels/gemm/sweep/).
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import multiprocessing
import os
import struct
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

PATIENCE = 30  # seconds until a form counts as hung


class Driver:
    """The few calls of libcuda that are needed. A call that fails raises RuntimeError with its name."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: object) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} failed with {status}")

    def allocate(self, count: int) -> ctypes.c_uint64:
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(count, 256)))
        return pointer


def run(driver: Driver, ptx: bytes, source: bytes, form: dict[str, int]) -> bytes:
    log = ctypes.create_string_buffer(4096)
    options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
    values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(4096))
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    try:
        driver.call("cuModuleLoadDataEx", ctypes.byref(module), ctypes.c_char_p(ptx), 2, options, values)
    except RuntimeError as error:
        raise RuntimeError(f"{error}: {log.value.decode(errors='replace')}") from None
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"form")
    size = form["cases"] * form["output_bytes"]
    into, out = driver.allocate(len(source)), driver.allocate(size)
    data = bytearray(source)
    if form["map_of_input"] >= 0:
        data[0:8] = (into.value + form["map_of_input"]).to_bytes(8, "little")
    if form["map_of_output"] >= 0:
        data[0:8] = (out.value + form["map_of_output"]).to_bytes(8, "little")
    driver.call("cuMemcpyHtoD_v2", into, bytes(data), ctypes.c_size_t(len(data)))
    driver.call("cuMemsetD8_v2", out, ctypes.c_ubyte(0), ctypes.c_size_t(size))
    if form["shared"] > 48 * 1024:
        driver.call("cuFuncSetAttribute", function, 8, form["shared"])
    arguments = (ctypes.c_void_p * 2)(
        ctypes.cast(ctypes.byref(into), ctypes.c_void_p), ctypes.cast(ctypes.byref(out), ctypes.c_void_p)
    )
    driver.call(
        "cuLaunchKernel", function, form["cases"], 1, 1, form["threads"], 1, 1, form["shared"], None, arguments, None
    )
    driver.call("cuCtxSynchronize")
    result = ctypes.create_string_buffer(size)
    driver.call("cuMemcpyDtoH_v2", result, out, ctypes.c_size_t(size))
    for pointer in (into, out):
        driver.call("cuMemFree_v2", pointer)
    driver.call("cuModuleUnload", module)
    return result.raw


def serve(pipe: Any) -> None:
    """Runs the forms that come until one leaves the context unusable: what follows needs a new process."""
    try:
        driver = Driver()
    except (OSError, RuntimeError) as error:
        # Before the answer: the parent ends on it, and ends this process too.
        print(f"record_golden.py: there is no usable GPU here: {error}", file=sys.stderr, flush=True)
        pipe.send(None)
        os._exit(1)
    while True:
        try:
            ptx, source, form = pipe.recv()
        except (EOFError, OSError):  # all are done
            return
        try:
            pipe.send(run(driver, ptx, source, form))
        except RuntimeError as error:
            pipe.send(str(error))
            if "cuModuleLoadDataEx" not in str(error):
                os._exit(1)


class Worker:
    """A process that runs forms, and another one after each that it does not survive."""

    def __init__(self) -> None:
        self.process: Any = None
        self.pipe: Any = None

    def run(self, ptx: bytes, source: bytes, form: dict[str, int]) -> bytes | str | None:
        """What the form left, why it failed, or None where there is no GPU."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        try:
            self.pipe.send((ptx, source, form))
            if self.pipe.poll(PATIENCE):
                result = self.pipe.recv()
                if not isinstance(result, str) or "cuModuleLoadDataEx" in result:
                    return result
            else:
                result = f"no end after {PATIENCE} seconds"
        except (EOFError, OSError):
            result = "the process died"
        self.process.kill()
        self.process.join()
        self.process = None
        return result


def letters(numbers: list[int]) -> str:
    """Small numbers as a letter each: 0, a to z from 1 on, A to Z from -1 on; others in parentheses.

    Four and more that are alike are one with their count: `0*768.`.
    """

    def letter(n: int) -> str:
        if n == 0:
            return "0"
        return (chr(96 + n) if n > 0 else chr(64 - n)) if abs(n) <= 26 else f"({n})"

    text = ""
    for number, same in itertools.groupby(numbers):
        count = len(list(same))
        text += f"{letter(number)}*{count}." if count > 3 else letter(number) * count
    return text


def lines(name: str, form: dict[str, int], left: bytes | str) -> list[str]:
    if isinstance(left, str):
        return [f"{name} failed"]
    size = form["output_bytes"]
    cases = [left[i : i + size] for i in range(0, len(left), size)]
    hashes = " ".join([name, *(f"{zlib.crc32(case):08x}" for case in cases)])
    if form["values_of"] == 0:
        return [hashes]
    kind = {16: "h", 32: "i"}[form["values_of"]]
    numbers = list(struct.unpack(f"<{len(left) * 8 // form['values_of']}{kind}", left))
    return [hashes, f"{name} = {letters(numbers)}"]


def by_form(text: str) -> dict[str, list[str]]:
    """The lines of each form; what begins with `#` under the empty name."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.endswith(" failed"):
            found.setdefault("" if line.startswith("#") else line.split()[0], []).append(line)
    return found


def merge(left: Path, known: Path) -> None:
    """Puts the forms of `left` into `known`, each in its old place if it has one."""
    forms = by_form(known.read_text())
    forms.update({name: rows for name, rows in by_form(left.read_text()).items() if name})
    known.write_text("".join(f"{row}\n" for rows in forms.values() for row in rows))


def file_of(form: str) -> str:
    return form.replace("/", "_") + ".bin"


def record_all(path: Path, folder: Path | None) -> int:
    names = ("cases", "threads", "shared", "output_bytes", "map_of_input", "map_of_output", "values_of", "ptx", "input")
    forms = []
    with path.open("rb") as file:
        while header := file.readline():
            name, *numbers = header.decode().split()
            form = dict(zip(names, map(int, numbers), strict=True))
            forms.append((name, form, file.read(form["ptx"]) + b"\0", file.read(form["input"])))
    own = threading.local()

    def record(item: tuple[str, dict[str, int], bytes, bytes]) -> bytes | str | None:
        if not hasattr(own, "worker"):
            own.worker = Worker()
        return own.worker.run(item[2], item[3], item[1])

    failed = 0
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1, len(forms) or 1)) as pool:
        if forms and record(forms[0]) is None:
            return 1
        for (name, form, _, _), left in zip(forms, pool.map(record, forms), strict=True):
            left = left or "the GPU is gone"
            if isinstance(left, str):
                print(f"{name}: {left}", file=sys.stderr)
                failed += 1
            elif folder is not None:
                (folder / file_of(name)).write_bytes(left)
            for line in lines(name, form, left):
                print(line, flush=True)
    return 1 if failed == len(forms) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="what assay_golden_forms wrote, or with --merge lines that were recorded")
    parser.add_argument("--bytes", type=Path, metavar="FOLDER", help="keep what each form left there, FORM.bin")
    parser.add_argument("--merge", type=Path, metavar="SILICON", help="put FILE's lines into this file; needs no GPU")
    words = parser.parse_intermixed_args()
    try:
        if words.merge is not None:
            merge(words.file, words.merge)
            return 0
        if words.bytes is not None:
            words.bytes.mkdir(parents=True, exist_ok=True)
        return record_all(words.file, words.bytes)
    except OSError as error:
        print(f"record_golden.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
