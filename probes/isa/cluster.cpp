// SPDX-License-Identifier: Apache-2.0
// Forms for clusters of CTAs and for several GPUs: distributed shared memory, asynchronous stores,
// multimem, cluster launch control. They are assembled here; nothing of multimem is ever run.
#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

const InstructionForms cluster{"cluster", notation::rows_of(R"(
    mapa.shared::cluster.u32 %r0, %smem, %rank;
    mapa.u64 %rd0, %generic, %rank;
    getctarank.shared::cluster.u32 %r0, %dsmem;
    getctarank.u64 %r0, %generic;
    isspacep.shared::cluster %p0, %generic;
    ld.shared::cluster.(b32 %r0|b64 %rd0|v4.b32 {%r[0:4]}), [%dsmem];
    st.shared::cluster.b32 [%dsmem], %r0;
    st.shared::cluster.v4.b32 [%dsmem], {%r[0:4]};
    ld.acquire.cluster.shared::cluster.b32 %r0, [%dsmem];
    st.release.cluster.shared::cluster.b32 [%dsmem], %r0;
    atom.shared::cluster.add.u32 %r0, [%dsmem], %r1;
    atom.shared::cluster.cas.b32 %r0, [%dsmem], %r1, %r2;
    red.shared::cluster.add.u32 [%dsmem], %r0;
    st.async(|.weak).shared::cluster.mbarrier::complete_tx::bytes.(b32|u32|s32) [%dsmem], %r0, [%dbar];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%dsmem], %f0, [%dbar];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%dsmem], %rd0, [%dbar];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%dsmem], {%r[0:2]}, [%dbar];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%dsmem], {%r[0:4]}, [%dbar];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%dsmem], {%rd[0:2]}, [%dbar];
    st.async.mmio.release.(gpu|sys).global.(b32|u32|s32) [%gmem], %r0;
    st.async.mmio.release.sys.global.b64 [%gmem], %rd0;
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.(inc|dec|min|max|add).u32 [%dsmem], %r0, [%dbar];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.(min|max|add).s32 [%dsmem], %r0, [%dbar];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.(and|or|xor).b32 [%dsmem], %r0, [%dbar];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%dsmem], %rd0, [%dbar];
    red.async.mmio.release.(gpu|sys).global.add.(u32|s32) [%gmem], %r0;
    red.async.mmio.release.sys.global.add.u64 [%gmem], %rd0;
    st.bulk(|.weak).shared::cta [%smem], 1024, 0;
    st.bulk [%generic], 1024, 0;
    clusterlaunchcontrol.try_cancel.async(|.shared::cta).mbarrier::complete_tx::bytes(|.multicast::cluster::all).b128 [%usmem], [%bar];
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q0;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, %r2, %r3}, %q0;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::(x|y|z).b32.b128 %r0, %q0;
)")};

const InstructionForms multimem{"multimem", notation::rows_of(R"(
    multimem.ld_reduce.relaxed.(gpu|sys).global.add.(f32 %f0|f64 %fd0), [%gmem];
    multimem.ld_reduce(|.weak).global.add.f32 %f0, [%gmem];
    multimem.ld_reduce.acquire.sys.global.add.f32 %f0, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.add.v2.f32 {%f[0:2]}, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%f[0:4]}, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.(add|min|max).(f16x2|bf16x2) %r0, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.(add|min|max).v2.(f16x2|bf16x2) {%r[0:2]}, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.(add|min|max).v4.(f16x2|bf16x2) {%r[0:4]}, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.(f16x2|bf16x2) %r0, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.v4.(f16x2|bf16x2) {%r[0:4]}, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.(add|min|max|add.acc::f16).(e4m3x4|e5m2x4) %r0, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.(add|min|max|add.acc::f16).v4.(e4m3x4|e5m2x4) {%r[0:4]}, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.(min|max|add).(u32|s32) %r0, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.(min|max).(u64|s64) %rd0, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.add.u64 %rd0, [%gmem];
    multimem.ld_reduce.relaxed.gpu.global.(and|or|xor).(b32 %r0|b64 %rd0), [%gmem];
    multimem.st.(weak|relaxed.gpu|relaxed.sys|release.gpu|release.sys).global.f32 [%gmem], %f0;
    multimem.st.relaxed.gpu.global.(b32|u32|s32) [%gmem], %r0;
    multimem.st.relaxed.gpu.global.(b64|u64) [%gmem], %rd0;
    multimem.st.relaxed.gpu.global.v4.(f16x2|bf16x2) [%gmem], {%r[0:4]};
    multimem.st.relaxed.gpu.global.v4.f32 [%gmem], {%f[0:4]};
    multimem.st.relaxed.gpu.global.v4.(e4m3x4|e5m2x4) [%gmem], {%r[0:4]};
    multimem.red.relaxed.(gpu|sys).global.add.f32 [%gmem], %f0;
    multimem.red.release.gpu.global.add.f32 [%gmem], %f0;
    multimem.red.relaxed.gpu.global.add.f64 [%gmem], %fd0;
    multimem.red.relaxed.gpu.global.add.(f16x2|bf16x2) [%gmem], %r0;
    multimem.red.relaxed.gpu.global.add.v4.f32 [%gmem], {%f[0:4]};
    multimem.red.relaxed.gpu.global.add.v4.(f16x2|bf16x2) [%gmem], {%r[0:4]};
    multimem.red.relaxed.gpu.global.(min|max|add).(u32|s32) [%gmem], %r0;
    multimem.red.relaxed.gpu.global.(and|or|xor).b32 [%gmem], %r0;
    multimem.red.relaxed.gpu.global.add.u64 [%gmem], %rd0;
)")};

}  // namespace
