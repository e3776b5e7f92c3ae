// SPDX-License-Identifier: Apache-2.0
// Forms of cvt: between integers, floats of all widths, packed and narrow formats. PTX ISA 9.0,
// "Data movement and conversion instructions: cvt".
#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

const InstructionForms convert{"convert", notation::rows_of(R"(
    cvt.(rn|rz|rm|rp).f32.(s32|u32|s16|u16|s8|u8) %f0, %r0;
    cvt.(rn|rz).f32.(s64|u64) %f0, %rd0;
    cvt.rn.(f16|bf16).(s32|u32) %h0, %r0;
    cvt.rn.(f16|bf16).(s64|u64) %h0, %rd0;
    cvt.rn.(f16.(s16|u16|s8|u8)|bf16.(s16|u16)) %h0, %h1;
    cvt.rn.f64.(s32|u32) %fd0, %r0;
    cvt.rn.f64.(s64|u64) %fd0, %rd0;
    cvt.(rni|rzi|rmi|rpi).(s32|u32).f32 %r0, %f0;
    cvt.rzi(|.ftz)(|.sat).(s32|u32).f32 %r0, %f0; # modified
    cvt.rzi.(s64|u64).f32 %rd0, %f0;
    cvt.rzi.(s16|u16|s8|u8).f32 %r0, %f0;
    cvt.rzi.(s32|u32).(f16|bf16) %r0, %h0;
    cvt.rzi.(s64|u64).(f16|bf16) %rd0, %h0;
    cvt.rzi.(s32|u32).f64 %r0, %fd0;
    cvt.rzi.(s64|u64).f64 %rd0, %fd0;
    cvt.(rni|rzi|rmi|rpi)(|.ftz).f32.f32 %f0, %f1;
    cvt(|.ftz).sat.f32.f32 %f0, %f1;
    cvt.(rni|rzi|rmi|rpi).f64.f64 %fd0, %fd1;
    cvt.(rni|rzi|rmi|rpi).(f16.f16|bf16.bf16) %h0, %h1;
    cvt.f64.f32 %fd0, %f0;
    cvt.(rn|rz|rm|rp).f32.f64 %f0, %fd0;
    cvt(|.ftz)(|.sat).f32.f16 %f0, %h0;
    cvt(|.ftz).f32.bf16 %f0, %h0;
    cvt.(rn|rz|rm|rp)(|.sat).f16.f32 %h0, %f0;
    cvt.(rm|rp).bf16.f32 %h0, %f0;
    cvt.(rn|rz)(|.relu|.satfinite|.relu.satfinite).bf16.f32 %h0, %f0;
    cvt.(rn|rz)(.relu|.satfinite|.relu.satfinite).f16.f32 %h0, %f0;
    cvt.rn.(f16|bf16).f64 %h0, %fd0;
    cvt.f64.(f16|bf16) %fd0, %h0;
    cvt.rn.(f16.bf16|bf16.f16) %h0, %h1;
    cvt.(u8|s8|u16|s16).(u32|s32) %r0, %r1;
    cvt.sat.(u8|s8|u16|s16).(u32|s32) %r0, %r1;
    cvt.(u64|s64).(u32|s32) %rd0, %r0;
    cvt.(u32|s32).(u64|s64) %r0, %rd0;
    cvt.sat.(u32|s32).(u64|s64) %r0, %rd0;
    cvt.(u32.u16|s32.s16|s32.s8|u32.u8) %r0, %h0;
    cvt.pack.sat.(s16|u16).s32 %r0, %r1, %r2;
    cvt.pack.sat.(s8|u8|s4|u4|s2|u2).s32.b32 %r0, %r1, %r2, %r3;
)")};

const InstructionForms packed{"convert packed", notation::rows_of(R"(
    cvt.(rn|rz)(|.relu|.satfinite|.relu.satfinite).(f16x2|bf16x2).f32 %r0, %f0, %f1;
    cvt.((rn|rz)(|.relu)|rna)(|.satfinite).tf32.f32 %r0, %f0;
    cvt.rn.satfinite(|.relu).(e4m3x2|e5m2x2).f32 %h0, %f0, %f1;
    cvt.rn.satfinite(|.relu).(e4m3x2|e5m2x2).f16x2 %h0, %r0;
    cvt.rn(|.relu).f16x2.(e4m3x2|e5m2x2) %r0, %h0;
    cvt.rn.satfinite(|.relu).(e2m3x2|e3m2x2).f32 %h0, %f0, %f1;
    cvt.rn(|.relu).f16x2.(e2m3x2|e3m2x2) %r0, %h0;
    .reg .b8 byte; cvt.rn.satfinite(|.relu).e2m1x2.f32 byte, %f0, %f1;
    .reg .b8 byte; cvt.rn.satfinite(|.relu).e2m1x2.(f16x2|bf16x2) byte, %r0;
    .reg .b8 byte; cvt.rn(|.relu).f16x2.e2m1x2 %r0, byte;
    cvt.(rz|rp)(|.satfinite).ue8m0x2.f32 %h0, %f0, %f1;
    cvt.(rz|rp)(|.satfinite).ue8m0x2.bf16x2 %h0, %r0;
    cvt.rn.bf16x2.ue8m0x2 %r0, %h0;
    cvt.rs(|.relu|.satfinite|.relu.satfinite).(f16x2|bf16x2).f32 %r0, %f0, %f1, %r1;
    cvt.rs(|.relu).satfinite.(e4m3x4|e5m2x4|e2m3x4|e3m2x4).f32 %r0, {%f[0:4]}, %r1;
    cvt.rs(|.relu).satfinite.e2m1x4.f32 %h0, {%f[0:4]}, %r1;
)")};

// Of later versions of PTX; an assembler of 9.0 knows none of them.
const InstructionForms later{"convert later", notation::rows_of(R"(
    cvt.rn.bf16x2.(e4m3x2|e5m2x2|e2m3x2|e3m2x2) %r0, %h0;
    cvt.rn.satfinite.(e4m3x2|e5m2x2|e2m3x2|e3m2x2).bf16x2 %h0, %r0;
    cvt.rn.satfinite.s2f6x2.f32.scaled::n2::ue8m0 %h0, %f0, %f1, %h1;
    clmad.lo.u64 %rd0, %rd1, %rd2, %rd3;
)")};

}  // namespace
