// SPDX-License-Identifier: Apache-2.0
// Forms of atomic operations with and without a result, of all types, vectors, scopes and spaces.
#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

const InstructionForms atom{"atom", notation::rows_of(R"(
    atom.global.(add|min|max).(u32|s32) %r0, [%gmem], %r1;
    atom.global.(and|or|xor|exch).b32 %r0, [%gmem], %r1;
    atom.global.(inc|dec).u32 %r0, [%gmem], %r1;
    atom.global.cas.b32 %r0, [%gmem], %r1, %r2;
    atom.global.(add|min|max).u64 %rd0, [%gmem], %rd1;
    atom.global.(min|max).s64 %rd0, [%gmem], %rd1;
    atom.global.(and|or|xor|exch).b64 %rd0, [%gmem], %rd1;
    atom.global.cas.(b64 %rd0, [%gmem], %rd1, %rd2|b16 %h0, [%gmem], %h1, %h2);
    atom.global.cas.b128 %q0, [%gmem], %q1, %q2;
    atom.global.exch.b128 %q0, [%gmem], %q1;
    atom.global.add.noftz.(f16|bf16) %h0, [%gmem], %h1;
    atom.global.add.noftz.(f16x2|bf16x2) %r0, [%gmem], %r1;
    atom.global.add.(f32 %f0, [%gmem], %f1|f64 %fd0, [%gmem], %fd1);
    atom(|.relaxed|.acquire|.release|.acq_rel).(cta|cluster|gpu|sys).global.add.u32 %r0, [%gmem], %r1;
    atom.add.u32 %r0, [%generic], %r1;
    atom.add.f32 %f0, [%generic], %f1;
    atom.global.add.v2.f32 {%f[0:2]}, [%gmem], {%f[2:4]};
    atom.global.add.v4.f32 {%f[0:4]}, [%gmem], {%f[4:8]};
    atom.global.(add|min|max).noftz.v2.(f16|bf16) {%h[0:2]}, [%gmem], {%h[2:4]};
    atom.global.(add|min|max).noftz.v4.(f16|bf16) {%h[0:4]}, [%gmem], {%h[4:8]};
    atom.global.(add|min|max).noftz.v8.(f16|bf16) {%h[0:8]}, [%gmem], {%h[8:16]};
    atom.global.(add|min|max).noftz.v2.(f16x2|bf16x2) {%r[0:2]}, [%gmem], {%r[2:4]};
    atom.global.(add|min|max).noftz.v4.(f16x2|bf16x2) {%r[0:4]}, [%gmem], {%r[4:8]};
    atom.global.add.L2::cache_hint.u32 %r0, [%gmem], %r1, %policy;
    atom.shared.(add|min|max).(u32|s32) %r0, [%smem], %r1;
    atom.shared.(and|or|xor|exch).b32 %r0, [%smem], %r1;
    atom.shared.(inc|dec).u32 %r0, [%smem], %r1;
    atom.shared.cas.(b32 %r0, [%smem], %r1, %r2|b64 %rd0, [%smem], %rd1, %rd2|b16 %h0, [%smem], %h1, %h2|b128 %q0, [%smem], %q1, %q2);
    atom.shared.exch.(b64 %rd0, [%smem], %rd1|b128 %q0, [%smem], %q1);
    atom.shared.(add.u64|min.u64|max.u64|min.s64|max.s64|and.b64|or.b64|xor.b64) %rd0, [%smem], %rd1;
    atom.shared.add.(f32 %f0, [%smem], %f1|f64 %fd0, [%smem], %fd1);
    atom.shared.add.noftz.(f16 %h0, [%smem], %h1|f16x2 %r0, [%smem], %r1|bf16x2 %r0, [%smem], %r1);
)")};

const InstructionForms red{"red", notation::rows_of(R"(
    red.global.(add|min|max).(u32|s32) [%gmem], %r0;
    red.global.(and|or|xor).b32 [%gmem], %r0;
    red.global.(inc|dec).u32 [%gmem], %r0;
    red.global.(add|min|max).u64 [%gmem], %rd0;
    red.global.(min|max).s64 [%gmem], %rd0;
    red.global.(and|or|xor).b64 [%gmem], %rd0;
    red.global.add.noftz.(f16|bf16) [%gmem], %h0;
    red.global.add.noftz.(f16x2|bf16x2) [%gmem], %r0;
    red.global.add.(f32 [%gmem], %f0|f64 [%gmem], %fd0);
    red.(relaxed|release).(cta|cluster|gpu|sys).global.add.u32 [%gmem], %r0;
    red.add.f32 [%generic], %f0;
    red.global.add.v2.f32 [%gmem], {%f[0:2]};
    red.global.add.v4.f32 [%gmem], {%f[0:4]};
    red.global.(add|min|max).noftz.v2.(f16|bf16) [%gmem], {%h[0:2]};
    red.global.(add|min|max).noftz.v4.(f16|bf16) [%gmem], {%h[0:4]};
    red.global.(add|min|max).noftz.v8.(f16|bf16) [%gmem], {%h[0:8]};
    red.global.(add|min|max).noftz.v2.(f16x2|bf16x2) [%gmem], {%r[0:2]};
    red.global.(add|min|max).noftz.v4.(f16x2|bf16x2) [%gmem], {%r[0:4]};
    red.global.add.L2::cache_hint.f32 [%gmem], %f0, %policy;
    red.shared.(add|min|max).(u32|s32) [%smem], %r0;
    red.shared.(and|or|xor).b32 [%smem], %r0;
    red.shared.add.u64 [%smem], %rd0;
    red.shared.add.(f32 [%smem], %f0|f64 [%smem], %fd0);
)")};

const InstructionForms warp{"warp", notation::rows_of(R"(
    shfl.sync.(up|down|bfly|idx).b32 %r0, %r1, 1, 31, -1;
    shfl.sync.idx.b32 %r0, %r1, %r2, 31, -1; # any lane
    shfl.sync.idx.b32 %r0|%p0, %r1, %r2, 31, -1; # with predicate
    vote.sync.(all|any|uni).pred %p0, %p1, -1;
    vote.sync.ballot.b32 %r0, %p0, -1;
    match.any.sync.(b32 %r0, %r1|b64 %r0, %rd1), -1;
    match.all.sync.b32 %r0|%p0, %r1, -1;
    match.all.sync.b64 %r0|%p0, %rd1, -1;
    redux.sync.(add|min|max).(u32|s32) %r0, %r1, -1;
    redux.sync.(and|or|xor).b32 %r0, %r1, -1;
    redux.sync.(min|max)(|.abs)(|.NaN).f32 %f0, %f1, -1;
)")};

}  // namespace
