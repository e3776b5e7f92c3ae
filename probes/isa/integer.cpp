// SPDX-License-Identifier: Apache-2.0
// Forms of integer arithmetic, bit manipulation, comparison, selection, packed integers.
#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

const InstructionForms arithmetic{"integer", notation::rows_of(R"(
    (add|sub|min|max).(s16|u16) %h0, %h1, %h2;
    (add|sub|min|max).(s32|u32) %r0, %r1, %r2;
    (add|sub|min|max).(s64|u64) %rd0, %rd1, %rd2;
    (add|min|max).(s16x2|u16x2) %r0, %r1, %r2;
    (min|max).relu.(s32|s16x2) %r0, %r1, %r2;
    (add|sub).sat.s32 %r0, %r1, %r2;
    (add|sub).cc.(s32|u32) %r0, %r1, %r2;
    (add.cc|sub.cc).u64 %rd0, %rd1, %rd2;
    add.cc.u32 %r0, %r1, %r2; addc.u32 %r3, %r4, %r5; # addc
    add.cc.u32 %r0, %r1, %r2; addc.cc.u32 %r3, %r4, %r5; addc.u32 %r6, %r7, %r8; # addc twice
    sub.cc.u32 %r0, %r1, %r2; subc.u32 %r3, %r4, %r5; # subc
    mad.lo.cc.u32 %r0, %r1, %r2, %r3; madc.hi.u32 %r4, %r1, %r2, %r5; # madc
    mul.(lo|hi).(s16|u16) %h0, %h1, %h2;
    mul.(lo|hi).(s32|u32) %r0, %r1, %r2;
    mul.(lo|hi).(s64|u64) %rd0, %rd1, %rd2;
    mul.wide.(s16|u16) %r0, %h0, %h1;
    mul.wide.(s32|u32) %rd0, %r0, %r1;
    mad.(lo|hi).(s32|u32) %r0, %r1, %r2, %r3;
    mad.lo.(s16|u16) %h0, %h1, %h2, %h3;
    mad.(lo|hi).(s64|u64) %rd0, %rd1, %rd2, %rd3;
    mad.wide.(s32|u32) %rd0, %r0, %r1, %rd1;
    mad.wide.(s16|u16) %r0, %h0, %h1, %r1;
    mad.hi.sat.s32 %r0, %r1, %r2, %r3;
    mul24.(lo|hi).(s32|u32) %r0, %r1, %r2;
    mad24.(lo|hi).(s32|u32) %r0, %r1, %r2, %r3;
    mad24.hi.sat.s32 %r0, %r1, %r2, %r3;
    (div|rem).(s16|u16) %h0, %h1, %h2;
    (div|rem).(s32|u32) %r0, %r1, %r2;
    (div|rem).(s64|u64) %rd0, %rd1, %rd2;
    sad.(s32|u32) %r0, %r1, %r2, %r3;
    sad.(s16|u16) %h0, %h1, %h2, %h3;
    sad.(s64|u64) %rd0, %rd1, %rd2, %rd3;
    (abs|neg).s16 %h0, %h1;
    (abs|neg).s32 %r0, %r1;
    (abs|neg).s64 %rd0, %rd1;
    dp4a.(s32|u32).(s32|u32) %r0, %r1, %r2, %r3;
    dp2a.(lo|hi).(s32|u32).(s32|u32) %r0, %r1, %r2, %r3;
)")};

const InstructionForms bits{"bits", notation::rows_of(R"(
    (and|or|xor).b16 %h0, %h1, %h2;
    (and|or|xor).b32 %r0, %r1, %r2;
    (and|or|xor).b64 %rd0, %rd1, %rd2;
    (and|or|xor).pred %p0, %p1, %p2;
    (not|cnot).b32 %r0, %r1;
    (not|cnot).b64 %rd0, %rd1;
    not.pred %p0, %p1;
    lop3.b32 %r0, %r1, %r2, %r3, 0x96;
    lop3.(or|and).b32 %r0|%p0, %r1, %r2, %r3, 0x96, %p1;
    shl.(b16 %h0, %h1|b32 %r0, %r1|b64 %rd0, %rd1), %r2;
    shr.(b16 %h0, %h1|u16 %h0, %h1|s16 %h0, %h1|u32 %r0, %r1|s32 %r0, %r1|u64 %rd0, %rd1|s64 %rd0, %rd1), %r2;
    shf.(l|r).(wrap|clamp).b32 %r0, %r1, %r2, %r3;
    prmt.b32(|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16) %r0, %r1, %r2, %r3;
    popc.(b32 %r0, %r1|b64 %r0, %rd1);
    clz.(b32 %r0, %r1|b64 %r0, %rd1);
    brev.(b32 %r0, %r1|b64 %rd0, %rd1);
    bfind(|.shiftamt).(u32|s32) %r0, %r1;
    bfind(|.shiftamt).(u64|s64) %r0, %rd1;
    fns.b32 %r0, %r1, %r2, %r3;
    bfe.(u32|s32) %r0, %r1, %r2, %r3;
    bfe.(u64|s64) %rd0, %rd1, %r2, %r3;
    bfi.b32 %r0, %r1, %r2, %r3, %r4;
    bfi.b64 %rd0, %rd1, %rd2, %r3, %r4;
    szext.(wrap|clamp).(u32|s32) %r0, %r1, %r2;
    bmsk.(wrap|clamp).b32 %r0, %r1, %r2;
)")};

const InstructionForms select{"select", notation::rows_of(R"(
    setp.(eq|ne|lt|le|gt|ge).s32 %p0, %r0, %r1;
    setp.(eq|lt).(s64|u64) %p0, %rd0, %rd1;
    setp.(lo|ls|hi|hs).u32 %p0, %r0, %r1;
    setp.lt.(s16|u16) %p0, %h0, %h1;
    setp.lt.(and|or|xor).s32 %p0|%p1, %r0, %r1, %p2;
    set.lt.(u32.s32|s32.u32) %r0, %r1, %r2;
    set.lt(|.ftz).(u32|f32).f32 %r0, %f1, %f2;
    setp.(eq|lt|equ|ltu|num|nan)(|.ftz).f32 %p0, %f0, %f1;
    setp.(eq|lt|nan).f64 %p0, %fd0, %fd1;
    setp.(eq|lt|nan).(f16|bf16) %p0, %h0, %h1;
    setp.(eq|lt|nan).(f16x2|bf16x2) %p0|%p1, %r0, %r1;
    set.lt.(f16x2.f16x2|bf16x2.bf16x2|u32.f16x2|u32.bf16x2) %r0, %r1, %r2;
    set.lt.u32.(f16|bf16) %r0, %h0, %h1;
    selp.(b16 %h0, %h1, %h2|b32 %r0, %r1, %r2|f32 %f0, %f1, %f2|b64 %rd0, %rd1, %rd2|f64 %fd0, %fd1, %fd2), %p0;
    slct.(s32.s32 %r0, %r1, %r2, %r3|f32.s32 %f0, %f1, %f2, %r3|f32.f32 %f0, %f1, %f2, %f3|u64.s32 %rd0, %rd1, %rd2, %r3);
    mov.(b16 %h0, %h1|b32 %r0, %r1|b64 %rd0, %rd1|f32 %f0, %f1|f64 %fd0, %fd1|b128 %q0, %q1);
    mov.b32 %r0, {%h0, %h1}; # pack
    mov.b32 {%h0, %h1}, %r0; # unpack
    mov.b64 %rd0, {%r0, %r1}; # pack
    mov.b64 {%r0, %r1}, %rd0; # unpack
    mov.b128 %q0, {%rd0, %rd1}; # pack
    mov.b128 {%rd0, %rd1}, %q0; # unpack
    testp.(finite|infinite|number|notanumber|normal|subnormal).f32 %p0, %f0;
    testp.(finite|subnormal).f64 %p0, %fd0;
)")};

// Sums and extrema in one instruction where there is one: what dynamic programming asks for.
const InstructionForms extrema{"dynamic programming", notation::rows_of(R"(
    max.s32 %r0, %r1, %r2; max.s32 %r0, %r0, %r3; # then max.s32
    max.u32 %r0, %r1, %r2; max.u32 %r0, %r0, %r3; # then max.u32
    min.s32 %r0, %r1, %r2; min.s32 %r0, %r0, %r3; # then min.s32
    min.u32 %r0, %r1, %r2; min.u32 %r0, %r0, %r3; # then min.u32
    max.s32 %r0, %r1, %r2; min.s32 %r0, %r0, %r3; # then min.s32
    add.s32 %r0, %r1, %r2; (max.s32 %r0, %r0, %r3; # then max.s32|min.s32 %r0, %r0, %r3; # then min.s32|max.u32 %r0, %r0, %r3; # then max.u32|min.u32 %r0, %r0, %r3; # then min.u32)
    add.s32 %r0, %r1, %r2; max.s32 %r0, %r0, %r3; max.s32 %r0, %r0, 0; # then max.s32, relu
    max.s32 %r0, %r1, %r2; max.s32 %r0, %r0, 0; # then relu
    max.s16x2 %r0, %r1, %r2; max.s16x2 %r0, %r0, %r3; # then max.s16x2
    min.u16x2 %r0, %r1, %r2; min.u16x2 %r0, %r0, %r3; # then min.u16x2
    add.s16x2 %r0, %r1, %r2; max.s16x2 %r0, %r0, %r3; # then max.s16x2
)")};

const InstructionForms video{"video", notation::rows_of(R"(
    (vadd|vsub|vabsdiff|vmin|vmax).(s32|u32).(s32|u32).s32 %r0, %r1, %r2;
    (vshl|vshr).u32.u32.u32.clamp %r0, %r1, %r2;
    vmad.s32.s32.s32 %r0, %r1, %r2, %r3;
    vset.s32.s32.lt %r0, %r1, %r2;
    (vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2).s32.s32.s32 %r0, %r1, %r2, %r3;
    (vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4).s32.s32.s32 %r0, %r1, %r2, %r3;
    vset4.s32.s32.lt %r0, %r1, %r2, %r3;
)")};

}  // namespace
