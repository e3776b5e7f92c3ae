// SPDX-License-Identifier: Apache-2.0
// Forms of asynchronous copies: cp.async, bulk copies, their reductions and prefetches. PTX
// ISA 9.0, "Data movement and conversion instructions: asynchronous copy".
#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

const InstructionForms threads{"cp.async", notation::rows_of(R"(
    cp.async.ca.shared.global(|.L2::64B|.L2::128B|.L2::256B) [%smem], [%gmem], 4;
    cp.async.ca.shared.global [%smem], [%gmem], 8; # 8 bytes
    cp.async.ca.shared.global [%smem], [%gmem], 16; # 16 bytes
    cp.async.ca.shared::cta.global [%smem], [%gmem], 4;
    cp.async.cg.shared.global(|.L2::64B|.L2::128B|.L2::256B) [%smem], [%gmem], 16;
    cp.async.cg.shared.global.L2::cache_hint [%smem], [%gmem], 16, %policy;
    cp.async.ca.shared.global.L2::cache_hint [%smem], [%gmem], 4, %policy;
    cp.async.ca.shared.global [%smem], [%gmem], 4, %r0; # src-size
    cp.async.cg.shared.global [%smem], [%gmem], 16, %r0; # src-size
    cp.async.cg.shared.global [%smem], [%gmem], 16, %p0; # ignore-src
    cp.async.ca.shared.global [%smem], [%gmem], 4, %p0; # ignore-src
    cp.async.commit_group;
    cp.async.wait_group 0;
    cp.async.wait_group 3; # 3
    cp.async.wait_all;
    cp.async.mbarrier.arrive(|.noinc).shared.b64 [%smem];
    cp.async.mbarrier.arrive(|.noinc).b64 [%generic];
)")};

const InstructionForms bulk{"cp.async.bulk", notation::rows_of(R"(
    cp.async.bulk.shared::(cluster|cta).global.mbarrier::complete_tx::bytes [%usmem], [%ugmem], %bytes, [%bar];
    cp.async.bulk.shared::(cluster|cta).global.mbarrier::complete_tx::bytes.L2::cache_hint [%usmem], [%ugmem], %bytes, [%bar], %policy;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%usmem], [%ugmem], %bytes, [%bar], %ctas;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%usmem], [%ugmem], %bytes, [%bar], %ctas, %policy;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%usmem], [%ugmem], %bytes, %count, %count, [%bar];
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%udsmem], [%usmem], %bytes, [%udbar];
    cp.async.bulk.global.shared::cta.bulk_group [%ugmem], [%usmem], %bytes;
    cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%ugmem], [%usmem], %bytes, %policy;
    cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%ugmem], [%usmem], %bytes, %bytemask;
    cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%ugmem], [%usmem], %bytes, %policy, %bytemask;
    cp.async.bulk.prefetch.L2.global [%ugmem], %bytes;
    cp.async.bulk.prefetch.L2.global.L2::cache_hint [%ugmem], %bytes, %policy;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group(|.read) 0;
)")};

const InstructionForms reduce{"cp.reduce.async.bulk", notation::rows_of(R"(
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(and|or|xor).b32 [%udsmem], [%usmem], %bytes, [%udbar];
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(add|min|max).(u32|s32) [%udsmem], [%usmem], %bytes, [%udbar];
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [%udsmem], [%usmem], %bytes, [%udbar];
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.(inc|dec).u32 [%udsmem], [%usmem], %bytes, [%udbar];
    cp.reduce.async.bulk.global.shared::cta.bulk_group.(and|or|xor).(b32|b64) [%ugmem], [%usmem], %bytes;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.(add|min|max).(u32|s32|u64) [%ugmem], [%usmem], %bytes;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.(min|max).s64 [%ugmem], [%usmem], %bytes;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.(inc|dec).u32 [%ugmem], [%usmem], %bytes;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.(f32|f64) [%ugmem], [%usmem], %bytes;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.(f16|bf16) [%ugmem], [%usmem], %bytes;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.(min|max).(f16|bf16) [%ugmem], [%usmem], %bytes;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.f32 [%ugmem], [%usmem], %bytes, %policy;
)")};

}  // namespace
