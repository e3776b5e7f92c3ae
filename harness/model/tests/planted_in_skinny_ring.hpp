// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into the skinny product's ring: weights and tokens by TMA, MMAs with A in
// registers, sums that the CTAs of a cluster bring each other.
#pragma once
#include "harness/model/tests/planted_bugs.hpp"

namespace assay::model {

inline std::vector<Planted> planted_in_skinny_ring() {
  constexpr const char* kTokens =
      R"((cp\.async\.bulk\.tensor\.3d[^;]*\{%r\d+, %r\d+), (%r\d+)(\}\], \[%r\d+\];))";
  std::vector<Planted> all = {
      {"full_wait_dropped",
       "",
       {{kWait, kNoWait, 0}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"landed_wait_dropped",
       "",
       {{kWait, kNoWait, 3}},
       {"async.read_before_complete", "memory.uninitialized_shared",
        "async.overwritten_while_read"}},
      {"empty_wait_dropped",
       "",
       {{kWait, kNoWait, 4}},
       {"async.overwritten_while_read", "async.overwrites_unread", "mbarrier.too_many_arrivals"}},
      {"consumer_parity_wrong",
       "",
       {{kWait, kOtherParity, 0}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"loader_parity_wrong", "", {{kWait, kOtherParity, 4}}, {"async.overwrites_unread"}},
      {"loader_fence_dropped", "", {{kProxyFence, "", 1}}, {"proxy.shared_read"}},
      {"order_fence_dropped", "", {{kProxyFence, "", 0}}, {"proxy.shared"}},
      {"order_overwrites_what_a_lane_has_not_read",
       "",
       {{R"(bar\.warp\.sync\s+-1;)", "", 2}},
       {"race.shared"}},
      {"stage_is_full_before_the_warp_has_ordered",
       "",
       {{R"(bar\.warp\.sync\s+-1;)", "", 3}},
       {"proxy.shared", "race.shared", "async.overwrites_unread", "async.overwritten_while_read"}},
      {"tokens_in_their_neighbours_place",
       "",
       {{R"((st\.shared\.v4\.u32 \s*\[%r\d+)\])", "\\1+16]", 3}},
       {"wrong result", "race.shared"}},
      {"operands_loaded_before_they_are_there",
       "",
       {{R"(griddepcontrol\.wait;)", "", 1}},
       {"grid.before_wait"}},
      {"a_box_not_announced",
       "",
       {{kExpect,
         "{ .reg .b32 q; sub.u32 q, \\2, 128; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\1], q; }",
         1}},
       {"mbarrier.tx_phase", "mbarrier.tx_left", "async.read_before_complete"}},
      {"stage_given_back_before_the_warp_has_read",
       "",
       {{R"(bar\.warp\.sync\s+-1;)", "", 1}},
       {"async.overwrites_unread", "proxy.shared_read", "async.overwritten_while_read"}},
      {"sums_used_before_the_wait",
       "",
       {{R"(wgmma\.wait_group\.sync\.aligned 0;)", "wgmma.wait_group.sync.aligned 1;", 0}},
       {"wgmma.register_in_flight"}},
      {"unpacked_behind_the_fence",
       "",
       {{R"(wgmma\.fence\.sync\.aligned;)", "", 0}},
       {"wgmma.fence_missing"}},
      {"tokens_of_the_block_behind",
       "",
       {{kTokens, "{ .reg .b32 q; add.u32 q, \\2, 1; \\1, q\\3 }", -1}},
       {"wrong result"}},
      {"scale_of_the_group_before",
       "",
       {{R"((ld\.shared\.u16 \s*%rs\d+, \[%r\d+)\+2\];)", "\\1];", 0}},
       {"wrong result"}},
      {"sums_announced_but_for_a_row",
       "",
       {{kExpect,
         "{ .reg .b32 q; sub.u32 q, \\2, 128; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\1], q; }",
         0}},
       {"mbarrier.tx_phase", "mbarrier.tx_left", "async.read_before_complete"}},
      {"sums_read_before_the_neighbour_brought_them",
       "",
       {{kWait, kNoWait, 2}},
       {"async.read_before_complete", "memory.uninitialized_shared", "cluster.left"}},
      {"sums_brought_to_a_cta_that_is_not_there",
       "",
       {{R"((mapa\.shared::cluster\.u32 %r\d+, %r\d+), (%r\d+);)",
         "{ .reg .b32 q; add.u32 q, \\2, 2; \\1, q; }", 0}},
       {"cluster.rank"}},
  };
  for (Planted& planted : all) planted.kernel = "skinny_ring";
  return all;
}

}  // namespace assay::model
