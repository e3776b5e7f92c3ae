// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into the skinny product: a queue of cp.async for each warp, tokens that all
// share, sums that a cluster adds up.
#pragma once
#include "harness/model/tests/planted_bugs.hpp"

namespace assay::model {

inline std::vector<Planted> planted_in_skinny() {
  constexpr const char* kMeet = R"(bar\.sync\s+0;)";
  constexpr const char* kGroup = R"(cp\.async\.commit_group;)";
  // Two depths of the queue have a wait each: of all but two groups, and of all.
  constexpr const char* kTwo = R"(cp\.async\.wait_group 2;)";
  constexpr const char* kAll = R"(cp\.async\.wait_group 0;)";
  constexpr const char* kClusterWait = R"(barrier\.cluster\.wait\.acquire\.aligned;)";
  std::vector<Planted> all = {
      {"weights_waited_for_one_group_short",
       "",
       {{kTwo, "cp.async.wait_group 3;", 1}, {kAll, "cp.async.wait_group 1;", 3}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"weights_of_other_lanes_not_waited_for",
       "",
       {{R"(bar\.warp\.sync\s+-1;)", "", 0}},
       {"async.read_before_complete", "memory.uninitialized_shared", "race.shared"}},
      {"queue_never_commits",
       "",
       {{kGroup, "", -1}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"tokens_read_before_all_have_put_them_in_order",
       "",
       {{kMeet, "", 1}},
       {"race.shared", "async.read_before_complete", "memory.uninitialized_shared"}},
      {"outside_is_not_zero",
       "",
       {{R"((cp\.async\.cg\.shared\.global \[%r\d+\], \[%rd\d+\], 16), %r\d+;)", "\\1;", -1}},
       {"memory.global_bounds", "wrong result"}},
      {"sums_shown_to_no_one",
       "",
       {{R"(barrier\.cluster\.arrive\.release\.aligned;)",
         "barrier.cluster.arrive.relaxed.aligned;", 0}},
       {"race.shared"}},
      {"sums_read_before_the_neighbour_wrote_them",
       "",
       {{R"(barrier\.cluster\.arrive\.release\.aligned;)", "", 0}, {kClusterWait, "", 0}},
       {"race.shared", "cluster.not_begun", "memory.uninitialized_shared"}},
      {"left_while_the_neighbour_reads",
       "",
       {{R"(barrier\.cluster\.arrive\.release\.aligned;)", "", 1}, {kClusterWait, "", 1}},
       {"cluster.left", "race.shared"}},
      {"sums_of_a_cta_that_is_not_there",
       "",
       {{R"((mapa\.shared::cluster\.u32 %r\d+, %r\d+), (%r\d+);)",
         "{ .reg .b32 q; add.u32 q, \\2, 1; \\1, q; }"}},
       {"cluster.rank"}},
      {"sums_read_beyond_their_room",
       "",
       {{R"((ld\.shared::cluster)\.u32 (%r\d+), \[(%r\d+)\];)",
         "{ .reg .b32 q; add.u32 q, \\3, 0x40000; \\1.u32 \\2, [q]; }", -1}},
       {"memory.shared_bounds", "memory.uninitialized_shared", "async.read_before_complete"}},
  };
  for (Planted& planted : all) planted.kernel = "skinny";
  return all;
}

}  // namespace assay::model
