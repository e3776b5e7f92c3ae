// SPDX-License-Identifier: Apache-2.0
// Small generated kernels that the tests assemble and disassemble.
#pragma once
#include <string>
#include <string_view>

#include "harness/target.hpp"

namespace assay::samples {

// A kernel `name(pointer, count)` that runs `body` in a loop of `count` iterations, between loading
// %f0..%f3, %r0..%r9 from memory and storing %f0, %r0 and %r1.
inline std::string loop_kernel(Target target, std::string_view name, std::string_view body) {
  std::string ptx = ".version 9.0\n.target " + std::string(assay::name(target)) +
                    "\n.address_size 64\n.visible .entry " + std::string(name) +
                    "(.param .u64 pointer, .param .u32 count) {\n"
                    ".reg .f32 %f<8>; .reg .b32 %r<16>; .reg .b64 %d<4>; .reg .pred %p;\n"
                    "ld.param.u64 %d0, [pointer]; ld.param.u32 %r10, [count];\n";
  for (int i = 0; i < 4; ++i)
    ptx += "ld.global.f32 %f" + std::to_string(i) + ", [%d0+" + std::to_string(4 * i) + "];\n";
  for (int i = 0; i < 10; ++i)
    ptx += "ld.global.b32 %r" + std::to_string(i) + ", [%d0+" + std::to_string(16 + 4 * i) + "];\n";
  ptx += "mov.u32 %r11, 0;\n.pragma \"nounroll\";\nagain:\n.pragma \"nounroll\";\n";
  ptx += body;
  ptx +=
      "\nadd.u32 %r11, %r11, 1; setp.lt.u32 %p, %r11, %r10; @%p bra again;\n"
      "st.global.f32 [%d0], %f0; st.global.b32 [%d0+4], %r0; st.global.b32 [%d0+8], %r1;\n"
      "ret;\n}\n";
  return ptx;
}

// Eight dependent multiply-adds.
inline std::string fma_chain(Target target) {
  std::string body;
  for (int i = 0; i < 8; ++i) body += "fma.rn.f32 %f0, %f0, %f1, %f2;\n";
  return loop_kernel(target, "fma_chain", body);
}

// The product does not change from one iteration to the next, so ptxas moves it out of the loop.
inline std::string hoisted(Target target) {
  return loop_kernel(target, "hoisted",
                     "sin.approx.f32 %f4, %f1; sin.approx.f32 %f4, %f4; add.f32 %f0, %f0, %f4;\n");
}

// mma.sync of 8-bit floats: native on sm_89 and sm_120, converted to f16 on sm_90 and sm_100.
inline std::string mma_e4m3(Target target) {
  return loop_kernel(target, "mma_e4m3",
                     "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, "
                     "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};\n");
}

// mma.sync of 4-bit integers: native on sm_89, a call of a routine from sm_90 on.
inline std::string mma_s4(Target target) {
  return loop_kernel(target, "mma_s4",
                     "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r0,%r1,%r2,%r3}, "
                     "{%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r0,%r1,%r2,%r3};\n");
}

// One warpgroup multiply of 64x8x16 from shared memory; only sm_90a has it.
inline std::string wgmma_bf16() {
  return loop_kernel(Target::sm_90a, "wgmma_bf16",
                     "cvt.u64.u32 %d1, %r0;\n"
                     "wgmma.fence.sync.aligned;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, "
                     "%d1, %d1, 1, 1, 1, 0, 0;\n"
                     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
}

// An array indexed at run time lives in local memory.
inline std::string local_array(Target target) {
  std::string ptx =
      loop_kernel(target, "local_array",
                  "and.b32 %r12, %r11, 63; shl.b32 %r12, %r12, 2;\n"
                  "cvt.u64.u32 %d2, %r12; mov.u64 %d1, stack; add.u64 %d1, %d1, %d2;\n"
                  "ld.local.f32 %f4, [%d1]; add.f32 %f0, %f0, %f4;\n"
                  "st.local.f32 [%d1], %f0;\n");
  return ptx.insert(ptx.find(".reg"), ".local .align 4 .b8 stack[256];\n");
}

}  // namespace assay::samples
