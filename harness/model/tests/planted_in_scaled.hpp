// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into the block-scaled product ("scaled"), the same of groups
// ("grouped_scaled") and weight gradients of groups ("gradients"). All reuse shared memory that
// ordinary instructions read or wrote, in the loader's ring and in the buffers of stores.
#pragma once
#include "harness/model/tests/planted_bugs.hpp"

namespace assay::model {

// With the numbers of matches as the PTX has them. The main loop's body has four stages, and what
// is left has loops of its own. Warp barriers of "scaled": 0 at the start, 1 to 7 before a stage is
// given back, 8 before the first store's buffer is filled, 9 before it is stored. Of
// "grouped_scaled": 1 to 5, 6, and 7 before a group's edge is read back.
inline std::vector<Planted> planted_in_scaled() {
  constexpr const char* kWarp = R"(bar\.warp\.sync\s+-1;)";
  constexpr const char* kClusterWait = R"(barrier\.cluster\.wait\.acquire\.aligned;)";
  constexpr const char* kCommit = R"(cp\.async\.bulk\.commit_group;)";
  constexpr const char* kClear = R"(fence\.proxy\.async\.shared::cta;)";
  constexpr const char* kMeet = R"(bar\.sync (%r\d+), (%r\d+);)";
  constexpr const char* kLoadA =
      R"((cp\.async\.bulk\.tensor[^;]*multicast::cluster \[%r\d+\], \[%rd\d+, \{(%r\d+), %r\d+\}\], \[(%r\d+)\], %rs\d+;))";
  return {
      // Consumers read scales by ordinary loads.
      // Of both of the loader's loops.
      {"loader_fence_dropped",
       "scaled",
       {{kProxyFence, "", 2}, {kProxyFence, "", 2}},
       {"proxy.shared_read"}},
      {"loader_fence_of_global_memory",
       "scaled",
       {{kProxyFence, "fence.proxy.async.global;", 2},
        {kProxyFence, "fence.proxy.async.global;", 2}},
       {"proxy.shared_read"}},
      {"scales_not_announced",
       "scaled",
       {{kExpect,
         "{ .reg .b32 q; sub.u32 q, \\2, 544; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\1], q; }"}},
       {"mbarrier.tx_phase", "mbarrier.tx_left", "async.read_before_complete"}},
      // A box beyond the end of k is filled with zeros, and counts whole.
      {"clipped_boxes_announced_clipped",
       "scaled",
       {{kExpect, ""},
        {kLoadA,
         "{ .reg .pred z; .reg .b32 q; setp.ge.u32 z, \\2, 384; selp.u32 q, 4640, 33312, z; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\3], q; } \\1"}},
       {"mbarrier.tx_phase", "mbarrier.tx_left", "async.read_before_complete"}},
      {"stage_given_back_before_the_warp_has_read",
       "scaled",
       {{kWarp, "", 1},
        {kWarp, "", 1},
        {kWarp, "", 1},
        {kWarp, "", 1},
        {kWarp, "", 1},
        {kWarp, "", 1},
        {kWarp, "", 1}},
       {"async.overwrites_unread", "proxy.shared_read"}},
      {"sums_used_before_the_wait",
       "scaled",
       {{R"(wgmma\.wait_group\.sync\.aligned 0;)", "wgmma.wait_group.sync.aligned 1;", -1}},
       {"wgmma.register_in_flight"}},
      {"store_buffer_filled_too_early",
       "scaled",
       {{kWarp, "", 8}},
       {"async.overwritten_while_read"}},
      {"store_buffers_counted_one_too_many",
       "scaled",
       {{kWaitRead1, "cp.async.bulk.wait_group.read 2;", -1}},
       {"async.overwritten_while_read"}},
      {"store_waits_for_all_but_what_it_fills",
       "scaled",
       {{kWaitRead1, "cp.async.wait_group 1;", -1}},
       {"async.overwritten_while_read"}},
      {"second_store_fence_dropped", "scaled", {{kProxyFence, "", 1}}, {"proxy.shared"}},
      {"init_shown_by_an_ordinary_fence",
       "scaled",
       {{kInitFence, "fence.acq_rel.cluster;"}},
       {"mbarrier.init_not_fenced"}},
      {"init_fence_after_the_cluster_met",
       "scaled",
       {{kInitFence, ""},
        {kClusterWait, "barrier.cluster.wait.acquire.aligned; fence.mbarrier_init.release.cluster;",
         0}},
       {"mbarrier.init_not_fenced"}},
      // The loader's waits for the last releases of its ring of five.
      {"left_before_the_neighbour_has_released",
       "scaled",
       {{kWait, kNoWait, 9},
        {kWait, kNoWait, 9},
        {kWait, kNoWait, 9},
        {kWait, kNoWait, 9},
        {kWait, kNoWait, 9}},
       {"cluster.left", "exit.pending"}},
      {"scales_of_b_beyond_the_map",
       "scaled",
       {{R"((cp\.async\.bulk\.tensor\.2d\.shared::cta[^;]*\]), \[(%rd\d+), \{(%r\d+), (%r\d+)\}\])",
         "{ .reg .b32 q; add.u32 q, \\3, 1; \\1, [\\2, {q, \\4}]", 2},
        {R"((\[%rd\d+, \{q, %r\d+\}\], \[%r\d+\];))", "\\1 }"}},
       {"tensor_copy.coordinate"}},

      // Rows of a group's edge are read back from the store's buffer.
      {"edge_read_before_all_have_written",
       "grouped_scaled",
       {{kWarp, "", 7}},
       {"race.shared", "memory.uninitialized_shared"}},
      {"edge_without_its_empty_group",
       "grouped_scaled",
       {{kCommit, "", 1}, {kCommit, "", 2}, {kCommit, "", 3}},
       {"async.overwritten_while_read"}},
      {"loader_fence_dropped", "grouped_scaled", {{kProxyFence, "", 0}}, {"proxy.shared_read"}},
      {"left_before_the_neighbour_has_released",
       "grouped_scaled",
       {{kWait, kNoWait, 6}, {kWait, kNoWait, 6}, {kWait, kNoWait, 6}, {kWait, kNoWait, 6}},
       {"cluster.left", "exit.pending"}},

      // Consumers clear the end of a group's last stage; then wgmma reads it.
      {"cleared_without_a_fence",
       "gradients",
       {{kClear, "", 0}, {kClear, "", 0}},
       {"proxy.shared"}},
      {"cleared_and_fenced_after_the_barrier",
       "gradients",
       {{kClear, "", 0}, {kClear, "", 0}, {kMeet, "bar.sync \\1, \\2; fence.proxy.async;", -1}},
       {"proxy.shared_late"}},
      {"cleared_without_meeting",
       "gradients",
       {{kMeet, "", -1}},
       {"race.shared", "proxy.shared", "async.overwritten_while_read", "async.overwrites_unread"}},
      {"met_at_the_other_warpgroups_number",
       "gradients",
       {{kMeet, "{ .reg .b32 q; shr.u32 q, \\2, 1; bar.sync \\1, q; }", -1}},
       {"barrier.count", "race.shared", "proxy.shared", "async.overwritten_while_read"}},
  };
}

}  // namespace assay::model
