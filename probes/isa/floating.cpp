// SPDX-License-Identifier: Apache-2.0
// Forms of floating-point arithmetic: f32, f64, halves, packed pairs, mixed precision, and special
// functions.
#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

const InstructionForms f32{"f32", notation::rows_of(R"(
    (add|sub|mul)(|.rn|.rz|.rm|.rp)(|.ftz)(|.sat).f32 %f0, %f1, %f2;
    fma.(rn|rz|rm|rp)(|.ftz)(|.sat).f32 %f0, %f1, %f2, %f3;
    mad.(rn|rz).f32 %f0, %f1, %f2, %f3;
    (min|max)(|.ftz)(|.NaN)(|.xorsign.abs).f32 %f0, %f1, %f2;
    (min|max)(|.ftz)(|.NaN)(|.abs).f32 %f0, %f1, %f2, %f3; # of three
    (abs|neg)(|.ftz).f32 %f0, %f1;
    copysign.f32 %f0, %f1, %f2;
    div.(rn|rz|approx|full|approx.ftz|full.ftz|rn.ftz).f32 %f0, %f1, %f2;
    (rcp|sqrt).(rn|rz|rm|rp|approx|approx.ftz|rn.ftz).f32 %f0, %f1;
)")};

const InstructionForms f32x2{"f32x2", notation::rows_of(R"(
    (add|sub|mul)(|.rn|.rz|.rm|.rp)(|.ftz).f32x2 %rd0, %rd1, %rd2;
    fma.(rn|rz|rm|rp)(|.ftz).f32x2 %rd0, %rd1, %rd2, %rd3;
)")};

const InstructionForms mixed{"mixed precision", notation::rows_of(R"(
    (add|sub)(|.rn|.rz|.rm|.rp)(|.sat).f32.(f16|bf16) %f0, %h0, %f1;
    fma.(rn|rz|rm|rp)(|.sat).f32.(f16|bf16) %f0, %h0, %h1, %f1;
)")};

const InstructionForms f64{"f64", notation::rows_of(R"(
    (add|sub|mul)(|.rn|.rz|.rm|.rp).f64 %fd0, %fd1, %fd2;
    fma.(rn|rz|rm|rp).f64 %fd0, %fd1, %fd2, %fd3;
    (min|max).f64 %fd0, %fd1, %fd2;
    (abs|neg).f64 %fd0, %fd1;
    copysign.f64 %fd0, %fd1, %fd2;
    div.(rn|rz).f64 %fd0, %fd1, %fd2;
    (rcp|sqrt).(rn|rz).f64 %fd0, %fd1;
    (rcp|rsqrt).approx.ftz.f64 %fd0, %fd1;
    rsqrt.approx.f64 %fd0, %fd1;
)")};

const InstructionForms halves{"f16 bf16", notation::rows_of(R"(
    (add|sub|mul)(|.rn)(|.ftz)(|.sat).f16 %h0, %h1, %h2;
    (add|sub|mul)(|.rn).bf16 %h0, %h1, %h2;
    fma.rn(|.ftz)(|.sat|.relu).f16 %h0, %h1, %h2, %h3;
    fma.rn(|.relu).bf16 %h0, %h1, %h2, %h3;
    fma.rn.oob(|.relu).(f16|bf16) %h0, %h1, %h2, %h3;
    (min|max)(|.ftz)(|.NaN)(|.xorsign.abs).f16 %h0, %h1, %h2;
    (min|max)(|.NaN)(|.xorsign.abs).bf16 %h0, %h1, %h2;
    (abs|neg).(f16|bf16) %h0, %h1;
)")};

const InstructionForms pairs{"f16x2 bf16x2", notation::rows_of(R"(
    (add|sub|mul)(|.rn)(|.ftz)(|.sat).f16x2 %r0, %r1, %r2;
    (add|sub|mul)(|.rn).bf16x2 %r0, %r1, %r2;
    fma.rn(|.ftz)(|.sat|.relu).f16x2 %r0, %r1, %r2, %r3;
    fma.rn(|.relu).bf16x2 %r0, %r1, %r2, %r3;
    fma.rn.oob(|.relu).(f16x2|bf16x2) %r0, %r1, %r2, %r3;
    (min|max)(|.ftz)(|.NaN)(|.xorsign.abs).f16x2 %r0, %r1, %r2;
    (min|max)(|.NaN)(|.xorsign.abs).bf16x2 %r0, %r1, %r2;
    (abs|neg).(f16x2|bf16x2) %r0, %r1;
)")};

const InstructionForms special{"special functions", notation::rows_of(R"(
    (ex2|lg2|rsqrt|sin|cos).approx(|.ftz).f32 %f0, %f1;
    tanh.approx.f32 %f0, %f1;
    (ex2|tanh).approx.f16 %h0, %h1;
    (ex2|tanh).approx.f16x2 %r0, %r1;
    (ex2.approx.ftz|tanh.approx).bf16 %h0, %h1;
    (ex2.approx.ftz|tanh.approx).bf16x2 %r0, %r1;
)")};

}  // namespace
