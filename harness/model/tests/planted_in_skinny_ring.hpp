// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into the skinny product's ring: weights and tokens by TMA, MMAs with A in
// registers, sums that the CTAs of a cluster bring each other.
#pragma once
#include "harness/model/tests/planted_bugs.hpp"

namespace assay::model {

inline std::vector<Planted> planted_in_skinny_ring() {
  constexpr const char* kClusterWait =
      R"(mbarrier\.try_wait\.parity\.acquire\.cluster\.shared::cta\.b64 p, \[(%r\d+)\], (%r\d+);)";
  constexpr const char* kTokens =
      R"((cp\.async\.bulk\.tensor\.3d[^;]*\{%r\d+, %r\d+), (%r\d+)(\}\], \[%r\d+\];))";
  std::vector<Planted> all = {
      {"full_wait_dropped",
       "",
       {{kWait, kNoWait, 0}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"empty_wait_dropped",
       "",
       {{kWait, kNoWait, 1}},
       {"async.overwritten_while_read", "async.overwrites_unread", "mbarrier.too_many_arrivals"}},
      {"consumer_parity_wrong",
       "",
       {{kWait, kOtherParity, 0}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"loader_parity_wrong", "", {{kWait, kOtherParity, 1}}, {"async.overwrites_unread"}},
      {"loader_fence_dropped", "", {{kProxyFence, "", 1}}, {"proxy.shared_read"}},
      {"tokens_loaded_before_they_are_in_order",
       "",
       {{R"(griddepcontrol\.wait;)", "", 2}},
       {"grid.before_wait"}},
      {"a_box_not_announced",
       "",
       {{kExpect,
         "{ .reg .b32 q; sub.u32 q, \\2, 128; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\1], q; }",
         -1}},
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
      {"sums_shown_to_no_one",
       "",
       {{R"(mbarrier\.arrive\.release\.cluster\.shared::cluster\.b64)",
         "mbarrier.arrive.shared::cluster.b64", 0}},
       {"race.scope"}},
      {"sums_read_before_the_neighbour_brought_them",
       "",
       {{kClusterWait, kNoWait, 1}},
       {"race.shared", "memory.uninitialized_shared", "cluster.left"}},
      {"sums_brought_to_a_cta_that_is_not_there",
       "",
       {{R"((mapa\.shared::cluster\.u32 %r\d+, %r\d+), (%r\d+);)",
         "{ .reg .b32 q; add.u32 q, \\2, 2; \\1, q; }", 0}},
       {"cluster.rank"}},
  };
  for (Planted& planted : all) planted.kernel = "skinny_ring";
  return all;
}

// Into the same kernel where its CTAs put the tokens into order themselves.
inline std::vector<Planted> planted_in_skinny_one_grid() {
  std::vector<Planted> all = {
      {"tokens_read_before_they_are_there",
       "",
       {{R"(griddepcontrol\.wait;)", "", 0}},
       {"grid.before_wait"}},
      {"weights_loaded_before_they_are_there",
       "",
       {{R"(griddepcontrol\.wait;)", "", 1}},
       {"grid.before_wait"}},
      {"order_fence_dropped", "", {{kProxyFence, "", 0}}, {"proxy.shared"}},
      {"order_barrier_dropped",
       "",
       {{R"(bar\.sync\s+%r\d+, %r\d+;)", "", 0}},
       {"race.shared", "memory.uninitialized_shared", "proxy.shared"}},
      {"tokens_in_their_neighbours_place",
       "",
       {{R"((st\.shared\.v4\.u32 \s*\[%r\d+)\+133120\])", "\\1+133136]", 5}},
       {"wrong result", "memory.uninitialized_shared"}},
  };
  for (Planted& planted : all) planted.kernel = "skinny_one_grid";
  return all;
}

}  // namespace assay::model
