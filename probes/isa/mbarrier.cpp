// SPDX-License-Identifier: Apache-2.0
// Forms of mbarrier, barriers of a CTA and of a cluster, and fences. PTX ISA 9.0, "Parallel
// synchronization and communication instructions".
#include <fmt/format.h>

#include "harness/instruction/notation.hpp"
#include "harness/instruction/registry.hpp"

namespace {

using namespace assay;

const InstructionForms mbarrier{"mbarrier", notation::rows_of(R"(
    mbarrier.init.(b64 [%ugeneric]|shared.b64 [%bar]|shared::cta.b64 [%bar]), %count;
    mbarrier.inval.shared.b64 [%bar];
    mbarrier.expect_tx.relaxed.(cta|cluster).shared::cta.b64 [%bar], %bytes;
    mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%udbar], %bytes;
    mbarrier.complete_tx.relaxed.(cta|cluster).shared::cta.b64 [%bar], %bytes;
    mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%udbar], %bytes;
    mbarrier.arrive.(b64 %rd0, [%ugeneric]|shared.b64 %rd0, [%bar]|shared::cta.b64 %rd0, [%bar]);
    mbarrier.arrive.shared.b64 %rd0, [%bar], %count; # count
    mbarrier.arrive.(release|relaxed).(cta|cluster).shared::cta.b64 %rd0, [%bar];
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%udbar];
    mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%udbar];
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%udbar], %count; # count
    mbarrier.arrive.noComplete.shared.b64 %rd0, [%bar], %count;
    mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd0, [%bar], %count;
    mbarrier.arrive.expect_tx.shared.b64 %rd0, [%bar], %bytes;
    mbarrier.arrive.expect_tx.(release|relaxed).(cta|cluster).shared::cta.b64 %rd0, [%bar], %bytes;
    mbarrier.arrive.expect_tx.(release|relaxed).cluster.shared::cluster.b64 _, [%udbar], %bytes;
    mbarrier.arrive_drop.(b64 %rd0, [%ugeneric]|shared.b64 %rd0, [%bar]);
    mbarrier.arrive_drop.shared.b64 %rd0, [%bar], %count; # count
    mbarrier.arrive_drop.(release|relaxed).(cta|cluster).shared::cta.b64 %rd0, [%bar];
    mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%udbar];
    mbarrier.arrive_drop.noComplete.shared.b64 %rd0, [%bar], %count;
    mbarrier.arrive_drop.expect_tx.shared.b64 %rd0, [%bar], %bytes;
    mbarrier.arrive_drop.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%udbar], %bytes;
    mbarrier.test_wait.(b64 %p0, [%ugeneric]|shared.b64 %p0, [%bar]|shared::cta.b64 %p0, [%bar]), %rd0;
    mbarrier.test_wait.parity.shared.b64 %p0, [%bar], %r0;
    mbarrier.test_wait.parity.(acquire|relaxed).(cta|cluster).shared::cta.b64 %p0, [%bar], %r0;
    mbarrier.test_wait.(acquire|relaxed).(cta|cluster).shared::cta.b64 %p0, [%bar], %rd0;
    mbarrier.try_wait.(b64 %p0, [%ugeneric]|shared.b64 %p0, [%bar]|shared::cta.b64 %p0, [%bar]), %rd0;
    mbarrier.try_wait.shared.b64 %p0, [%bar], %rd0, %r0; # time
    mbarrier.try_wait.parity.shared.b64 %p0, [%bar], %r0;
    mbarrier.try_wait.parity.shared.b64 %p0, [%bar], %r0, %r1; # time
    mbarrier.try_wait.(acquire|relaxed).(cta|cluster).shared::cta.b64 %p0, [%bar], %rd0;
    mbarrier.try_wait.parity.(acquire|relaxed).(cta|cluster).shared::cta.b64 %p0, [%bar], %r0;
    mbarrier.pending_count.b64 %r0, %rd0;
)")};

const InstructionForms barriers{"barriers", notation::rows_of(R"(
    bar.sync 0;
    bar.sync 1, 64; # named
    bar.sync %r0, %count; # any
    bar.arrive 1, 64;
    bar.red.popc.u32 %r0, 1, %p0;
    bar.red.(and|or).pred %p0, 1, %p1;
    bar.warp.sync 0xffffffff;
    bar.warp.sync %r0; # any
    barrier(|.cta).sync(|.aligned) 1, 64;
    barrier(|.cta).arrive(|.aligned) 1, 64;
    barrier.cta.red.popc.aligned.u32 %r0, 1, %p0;
    barrier.cta.red.(and|or).pred %p0, 1, %p1;
    barrier.cluster.arrive(|.release|.relaxed)(|.aligned);
    barrier.cluster.wait(|.acquire)(|.aligned);
)")};

const InstructionForms fences{"fences", notation::rows_of(R"(
    fence(|.sc|.acq_rel).(cta|cluster|gpu|sys);
    fence.(acquire|release).(cta|cluster|gpu|sys);
    fence.acquire.sync_restrict::shared::cluster.cluster;
    fence.release.sync_restrict::shared::cta.cluster;
    fence.mbarrier_init.release.cluster;
    fence.proxy.(alias|async|async.global|async.shared::cta|async.shared::cluster);
    fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
    fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
    membar.(cta|gl|sys);
    membar.proxy.alias;
)")};

const InstructionForms control{"control", notation::rows_of(R"(
    setmaxnreg.inc.sync.aligned.u32 240;
    setmaxnreg.dec.sync.aligned.u32 24; # 24
    .(maxntid|reqntid|minnctapersm|reqnctapercluster|maxclusterrank|maxnreg) 64; # launch
    .explicitcluster; # launch
    .reqntid 64; .reqnctapercluster 2; .blocksareclusters; # launch of clusters
    (stacksave|stackrestore).(u32 %r0|u64 %rd0);
    griddepcontrol.(wait|launch_dependents);
    elect.sync %r0|%p0, -1;
    elect.sync _|%p0, %r1; # mask
    activemask.b32 %r0;
    nanosleep.u32 100;
    nanosleep.u32 %r0; # any
    pmevent 3;
    pmevent.mask 3;
    @%p0 trap;
    @%p0 brkpt;
    @%p0 exit;
)")};

const InstructionForms special{
    "special registers", [] {
      std::string lines =
          "mov.pred %p0, %is_explicit_cluster;\n"
          "mov.u64 %rd0, %(clock64; # clock64|globaltimer; # globaltimer);\n";
      for (const char* name : {"tid.x",
                               "ntid.x",
                               "laneid",
                               "warpid",
                               "nwarpid",
                               "ctaid.x",
                               "nctaid.x",
                               "smid",
                               "nsmid",
                               "lanemask_eq",
                               "lanemask_lt",
                               "clock",
                               "clock_hi",
                               "globaltimer_lo",
                               "envreg0",
                               "total_smem_size",
                               "aggr_smem_size",
                               "dynamic_smem_size",
                               "reserved_smem_offset_begin",
                               "clusterid.x",
                               "nclusterid.x",
                               "cluster_ctaid.x",
                               "cluster_nctaid.x",
                               "cluster_ctarank",
                               "cluster_nctarank"})
        lines += fmt::format("mov.u32 %r0, %{0}; # {0}\n", name);
      return notation::rows_of(lines);
    }()};

// How much shared memory a kernel may declare; more than that is a matter of the launch.
const InstructionForms statics{"static shared memory", notation::rows_of(R"(
    .shared .align 16 .b8 array[49152]; st.shared.b32 [array], %r0; # 48 KiB
    .shared .align 16 .b8 array[49168]; st.shared.b32 [array], %r0; # 48 KiB + 16 B
    .shared .align 16 .b8 array[65536]; st.shared.b32 [array], %r0; # 64 KiB
    .shared .align 16 .b8 array[101376]; st.shared.b32 [array], %r0; # 99 KiB
    .shared .align 16 .b8 array[131072]; st.shared.b32 [array], %r0; # 128 KiB
    .shared .align 16 .b8 array[166912]; st.shared.b32 [array], %r0; # 163 KiB
    .shared .align 16 .b8 array[232448]; st.shared.b32 [array], %r0; # 227 KiB
    .shared .align 16 .b8 array[232464]; st.shared.b32 [array], %r0; # 227 KiB + 16 B
)")};

}  // namespace
