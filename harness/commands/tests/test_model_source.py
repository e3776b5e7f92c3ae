# SPDX-License-Identifier: Apache-2.0
"""What `assay model` makes of a file before it runs the kernel."""

import subprocess

from command_line import built


def test_what_the_assembler_crashes_on_is_run_all_the_same(tmp_path):
    """ptxas and nvJitLink of CUDA 13.0 crash on a load of eight 16-bit values, past L1, from local memory."""
    ptx = tmp_path / "eight.ptx"
    ptx.write_text("""
        .version 8.8
        .target sm_90a
        .address_size 64
        .visible .entry eight() {
          .reg .b16 %h<8>;
          .reg .b64 %address;
          .local .align 16 .b8 memory[16];
          mov.u64 %address, memory;
          ld.cg.local.v8.u16 {%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}, [%address];
          ret;
        }
    """)
    found = subprocess.run([built("assay"), "model", str(ptx)], capture_output=True, text=True)
    assert "eight.ptx: not assembled beforehand" in found.stderr
    assert "the assembler crashes on it (Segmentation fault)" in found.stderr
    assert found.returncode >= 0 and len(found.stderr.splitlines()) <= 2
