// SPDX-License-Identifier: Apache-2.0
// Forms of loads, stores, prefetches and cache policies, and of matrix loads from shared memory.
#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

const InstructionForms loads{"ld", notation::rows_of(R"(
    ld(|.weak|.volatile|.relaxed.cta|.relaxed.cluster|.relaxed.gpu|.relaxed.sys|.acquire.cta|.acquire.cluster|.acquire.gpu|.acquire.sys|.mmio.relaxed.sys).global.b32 %r0, [%gmem];
    ld.global(|.ca|.cg|.cs|.lu|.cv|.nc|.nc.L1::no_allocate|.nc.L1::evict_last|.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate|.L2::64B|.L2::128B|.L2::256B|.L1::no_allocate.L2::256B|.nc.L1::no_allocate.L2::256B).v4.b32 {%r[0:4]}, [%gmem];
    ld.global.L2::cache_hint.b32 %r0, [%gmem], %policy;
    ld.global.L1::no_allocate.L2::cache_hint.v4.b32 {%r[0:4]}, [%gmem], %policy;
    ld.global(|.nc).(L2::evict_first|L2::evict_last|L2::evict_normal|L1::evict_last.L2::evict_last|L1::no_allocate.L2::evict_first).v8.b32 {%r[0:8]}, [%gmem];
    ld.global.L2::(evict_first|evict_last).v4.b64 {%rd[0:4]}, [%gmem];
    ld.global.(u8|s8|b8|u16|s16|b16) %h0, [%gmem];
    ld.global.(u8|s8|u16|s16|u32|s32) %r0, [%gmem]; # to 32 bits
    ld.global.(b64 %rd0|f64 %fd0), [%gmem];
    ld.global.f32 %f0, [%gmem];
    ld.global.b128 %q0, [%gmem];
    ld.(acquire|relaxed).gpu.global.b128 %q0, [%gmem];
    ld.global.v2.(b32 {%r[0:2]}|b16 {%h[0:2]}), [%gmem];
    ld.global.v2.b64 {%rd[0:2]}, [%gmem];
    ld.global(|.nc).v8.(b32 {%r[0:8]}|f32 {%f[0:8]}), [%gmem];
    ld.global(|.nc).v4.(b64 {%rd[0:4]}|f64 {%fd[0:4]}), [%gmem];
    ld.global.(relaxed|acquire).gpu.v8.b32 {%r[0:8]}, [%gmem];
    ld.(relaxed|acquire).gpu.global.v4.b32 {%r[0:4]}, [%gmem];
    ld.(relaxed|acquire).gpu.global.v8.b32 {%r[0:8]}, [%gmem];
    ld(|.relaxed.gpu|.acquire.gpu).b32 %r0, [%generic];
    ld.shared(|::cta).b32 %r0, [%smem];
    ld.shared.(u8|b16) %h0, [%smem];
    ld.shared.b64 %rd0, [%smem];
    ld.shared.v2.b32 {%r[0:2]}, [%smem];
    ld.shared.v4.b32 {%r[0:4]}, [%smem];
    ld.shared.b128 %q0, [%smem];
    ld.volatile.shared.b32 %r0, [%smem];
    ld.(relaxed|acquire).(cta|cluster).shared.b32 %r0, [%smem];
    ld.local.b32 %r0, [%rd0];
    ld.const.b32 %r0, [%rd0];
    ldu.global.b32 %r0, [%gmem];
    ldu.global.v4.b32 {%r[0:4]}, [%gmem];
)")};

const InstructionForms stores{"st", notation::rows_of(R"(
    st(|.weak|.volatile|.relaxed.cta|.relaxed.cluster|.relaxed.gpu|.relaxed.sys|.release.cta|.release.cluster|.release.gpu|.release.sys|.mmio.relaxed.sys).global.b32 [%gmem], %r0;
    st.global(|.wb|.cg|.cs|.wt|.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate).v4.b32 [%gmem], {%r[0:4]};
    st.global.L2::cache_hint.b32 [%gmem], %r0, %policy;
    st.global.L1::no_allocate.L2::cache_hint.v4.b32 [%gmem], {%r[0:4]}, %policy;
    st.global.(L2::evict_first|L2::evict_last|L2::evict_normal|L1::no_allocate.L2::evict_first).v8.b32 [%gmem], {%r[0:8]};
    st.global.(b8|b16) [%gmem], %h0;
    st.global.(b64 [%gmem], %rd0|f64 [%gmem], %fd0);
    st.global.f32 [%gmem], %f0;
    st.global.b128 [%gmem], %q0;
    st.(release|relaxed).gpu.global.b128 [%gmem], %q0;
    st.global.v2.b32 [%gmem], {%r[0:2]};
    st.global.v2.b64 [%gmem], {%rd[0:2]};
    st.global.v8.(b32 [%gmem], {%r[0:8]}|f32 [%gmem], {%f[0:8]});
    st.global.v4.(b64 [%gmem], {%rd[0:4]}|f64 [%gmem], {%fd[0:4]});
    st.(relaxed|release).gpu.global.v8.b32 [%gmem], {%r[0:8]};
    st(|.relaxed.gpu|.release.gpu).b32 [%generic], %r0;
    st.shared(|::cta).b32 [%smem], %r0;
    st.shared.(b8|b16) [%smem], %h0;
    st.shared.b64 [%smem], %rd0;
    st.shared.v2.b32 [%smem], {%r[0:2]};
    st.shared.v4.b32 [%smem], {%r[0:4]};
    st.shared.b128 [%smem], %q0;
    st.(relaxed|release).(cta|cluster).shared.b32 [%smem], %r0;
    st.local.b32 [%rd0], %r0;
)")};

const InstructionForms caches{"caches", notation::rows_of(R"(
    prefetch.global.(L1|L2|L2::evict_last|L2::evict_normal) [%gmem];
    prefetch.L1 [%generic];
    prefetchu.L1 [%generic];
    discard(|.global).L2 [%gmem], 128;
    applypriority(|.global).L2::evict_normal [%gmem], 128;
    createpolicy.fractional.L2::(evict_last|evict_normal|evict_first|evict_unchanged).b64 %rd0;
    createpolicy.fractional.L2::(evict_last|evict_first).b64 %rd0, 0.5; # half
    createpolicy.fractional.L2::evict_last.L2::(evict_unchanged|evict_first).b64 %rd0, 0.5; # half
    createpolicy.range(|.global).L2::evict_last(|.L2::evict_unchanged|.L2::evict_first).b64 %rd0, [%gmem], 0x100000, 0x200000;
    createpolicy.cvt.L2.b64 %rd0, 0x10000000;
    isspacep.(global|shared|local|const|param|shared::cta) %p0, %generic;
    cvta(|.to).(global|shared|local|const).u64 %rd0, %generic;
    istypep.texref %p0, %rd0;
)")};

const InstructionForms matrices{"ldmatrix stmatrix movmatrix", notation::rows_of(R"(
    ldmatrix.sync.aligned.m8n8.x1(|.trans)(.shared|.shared::cta|).b16 {%r0}, [%smem];
    ldmatrix.sync.aligned.m8n8.x2(|.trans).shared.b16 {%r[0:2]}, [%smem];
    ldmatrix.sync.aligned.m8n8.x4(|.trans).shared.b16 {%r[0:4]}, [%smem];
    ldmatrix.sync.aligned.m16n16.x1.trans.shared.(b8|b8x16.b6x16_p32|b8x16.b4x16_p64) {%r[0:2]}, [%smem];
    ldmatrix.sync.aligned.m16n16.x2.trans.shared.(b8|b8x16.b6x16_p32|b8x16.b4x16_p64) {%r[0:4]}, [%smem];
    ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.(b6x16_p32|b4x16_p64) {%r0}, [%smem];
    ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.(b6x16_p32|b4x16_p64) {%r[0:2]}, [%smem];
    ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.(b6x16_p32|b4x16_p64) {%r[0:4]}, [%smem];
    stmatrix.sync.aligned.m8n8.x1(|.trans).shared.b16 [%smem], {%r0};
    stmatrix.sync.aligned.m8n8.x2(|.trans).shared.b16 [%smem], {%r[0:2]};
    stmatrix.sync.aligned.m8n8.x4(|.trans).shared.b16 [%smem], {%r[0:4]};
    stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%smem], {%r0};
    stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%smem], {%r[0:2]};
    stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%smem], {%r[0:4]};
    movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;
)")};

}  // namespace
