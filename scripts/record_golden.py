#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the golden forms of the host model on this machine's GPU.

    build/assay_golden_forms > forms.bin
    python3 scripts/record_golden.py forms.bin > harness/model/tests/golden/silicon.txt

Prints a line for each form: its name and a hash of what each case left. Needs the driver alone. The
forms of the product on Hopper are recorded by assay_gemm_record (kernels/gemm/sweep/).
"""

import ctypes
import sys
import zlib


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


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    driver = Driver()
    names = ("cases", "threads", "shared", "output_bytes", "map_of_input", "map_of_output", "ptx", "input")
    with open(sys.argv[1], "rb") as file:
        while header := file.readline():
            name, *numbers = header.decode().split()
            form = dict(zip(names, map(int, numbers)))
            ptx, source = file.read(form["ptx"]), file.read(form["input"])
            try:
                left = run(driver, ptx + b"\0", source, form)
            except RuntimeError as error:
                print(f"{name}: {error}", file=sys.stderr)
                if "cuCtxSynchronize" in str(error):  # nothing runs after that
                    return 1
                continue
            size = form["output_bytes"]
            cases = [left[i : i + size] for i in range(0, len(left), size)]
            print(name, *(f"{zlib.crc32(case):08x}" for case in cases))
    return 0


if __name__ == "__main__":
    sys.exit(main())
