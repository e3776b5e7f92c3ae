# SPDX-License-Identifier: Apache-2.0
"""What `assay isa --ptx` is given: what is no PTX is told at once, and places in messages are those of the file."""

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build"))
CODE = ROOT / "results/h200/2026-11-22-foreign-kernels/code.fatbin"
MODULE = """/* A kernel
   of .version 1 */ .version 8.0
.target sm_90a
.address_size 64
.visible .entry k() {
  .reg .b32 %a;  // .target sm_10
  add.bogus.u32 %a, %a, %a;
  ret;
}
"""


@pytest.fixture
def isa(tmp_path):
    def run(*arguments):
        environment = {**os.environ, "ASSAY_CACHE_DIR": str(tmp_path / "cache")}
        command = [BUILD / "assay", "isa", "--targets", "sm_90a", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)

    return run


@pytest.mark.quiet
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("random", random.Random(1).randbytes(1_000_000), "is no text"),
        ("k.cubin", b"\x7fELF" + bytes(2000), "machine code"),
        ("k.fatbin", CODE.read_bytes(), "machine code"),
        ("k.cu", b"__global__ void k(int* p) { *p = 1; }\n", "nvcc -ptx"),
        ("big.ptx", b".version 9.0\n.target sm_90a\n" + b"// filler\n" * 2_000_000, "at most 4 MiB"),
        ("list.txt", b"add.u32 %r0, %r1, %r2;\n" * 100_000, "at most 1 MiB"),
        ("blank", b" \n\n", "holds no PTX"),
        ("mark", b"\xef\xbb\xbf.version 8.0\n.target sm_90a\n", "byte order mark"),
        ("comment", b"/* only */\n// this\n", "holds no PTX"),
    ],
)
def test_what_cannot_be_judged_is_told_at_once(isa, tmp_path, name, content, said):
    file = tmp_path / name
    file.write_bytes(content)
    begin = time.monotonic()
    result = isa("--ptx", file)
    assert result.returncode == 2
    assert said in result.stderr and str(file) in result.stderr
    assert result.stderr.count("\n") == 1
    assert time.monotonic() - begin < 5


def test_empty(isa):
    result = isa("--ptx", "")
    assert (result.returncode, result.stderr) == (2, "assay: --ptx holds no PTX: give some, or a file of it\n")


@pytest.mark.parametrize(
    ("target", "status", "said"),
    [
        ("sm_70", 2, "knows some from sm_75, the oldest, to sm_"),
        ("sm_95", 2, "choose one of them"),
        ("sm_299a", 4, "install a newer one"),
    ],
)
def test_a_target_that_the_assembler_does_not_know(tmp_path, target, status, said):
    result = subprocess.run(
        [BUILD / "assay", "isa", "--targets", target, "--ptx", "add.u32 %r0, %r1, %r2;"],
        capture_output=True, text=True, timeout=60, env={**os.environ, "ASSAY_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert result.returncode == status and result.stderr.count("\n") == 1
    assert f"unknown target '{target}'" in result.stderr and said in result.stderr


def test_lines_of_a_module_are_those_of_the_file(isa, tmp_path):
    file = tmp_path / "k.ptx"
    file.write_text(MODULE)
    result = isa("--ptx", file, "--details")
    assert result.returncode == 0, result.stderr
    assert "line 7: Unknown modifier '.bogus'" in result.stdout


@pytest.mark.parametrize(
    ("form", "cell"),
    [
        ("setmaxnreg.inc.sync.aligned.u32 240;", "N   1 USETMAXREG.TRY_ALLOC.CTAPOOL"),
        ("setmaxnreg.dec.sync.aligned.u32 40;", "N   1 USETMAXREG.DEALLOC.CTAPOOL"),
        ("fence.acquire.cta;", "?   nothing is left of it"),
        ('.pragma "enable_smem_spilling";', "?   "),
        ("{ .reg .b32 t; add.u32 t, %r0, %r1; mul.lo.u32 %r2, t, t; }", "N   1 IADD3, 1 IMAD"),
        (".reg .b32 t; add.u32 t, %r0, %r1; mul.lo.u32 %r2, t, t;", "N   1 IADD3, 1 IMAD"),
        ("fence.proxy.alias;", "x2  "),
        ("add.s32 %r0, %r1, %r2; // x", "N   1 IADD3"),
        ("add.s32 %r0, %r1, %r2; /* x */", "N   1 IADD3"),
        ("/*/ x */ add.s32 %r0, %r1, /* y */ %r2;", "N   1 IADD3"),
        ("// the sum\nadd.s32 %r0, %r1, %r2; //", "N   1 IADD3"),
        ('.pragma "a /* b"; add.s32 %r0, %r1, %r2;', "N   1 IADD3"),
        (".reqntid 64; .reqnctapercluster 2; .blocksareclusters;", "N   nothing"),
        ("ld.cg.local.v8.u16 {%h[0:8]}, [%gmem];", "?   the assembler crashes on it (Segmentation fault)"),
    ],
)
def test_verdicts(isa, form, cell):
    result = isa("--details", "--ptx", form)
    assert result.returncode == 0, result.stderr
    assert cell in result.stdout
