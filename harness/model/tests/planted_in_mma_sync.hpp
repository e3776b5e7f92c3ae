// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into the suite's plain product on cp.async and mma.sync: in its ring, and in
// the way of the sums through shared memory.
#pragma once
#include "harness/model/tests/planted_bugs.hpp"

namespace assay::model {

inline std::vector<Planted> planted_in_mma_sync() {
  constexpr const char* kCopy =
      R"(cp\.async\.cg\.shared\.global \[(%r\d+)\], \[(%rd\d+)\], 16, (%r\d+);)";
  std::vector<Planted> all = {
      {"wait_dropped",
       "",
       {{R"(cp\.async\.wait_group 2;)", ""}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"wait_one_group_short",
       "",
       {{R"(cp\.async\.wait_group 2;)", "cp.async.wait_group 3;"}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"barrier_of_the_ring_dropped",
       "",
       {{R"(bar\.sync \t?0;)", "", 0}},
       {"async.read_before_complete", "race.shared", "async.overwritten_while_read",
        "async.overwrites_unread", "memory.uninitialized_shared"}},
      {"barrier_before_the_sums_dropped", "", {{R"(bar\.sync \t?0;)", "", 1}}, {"race.shared"}},
      {"sums_read_before_all_are_stored",
       "",
       {{R"(bar\.warp\.sync \t?-1;)", "", 0}},
       {"race.shared", "memory.uninitialized_shared"}},
      {"sums_stored_before_all_are_read",
       "",
       {{R"(bar\.warp\.sync \t?-1;)", "", 1}},
       {"race.shared"}},
      {"outside_is_not_zero",
       "",
       {{kCopy, "cp.async.cg.shared.global [\\1], [\\2], 16;", -1}},
       {"wrong result", "memory.global_bounds"}},
      {"commit_of_the_ring_dropped",
       "",
       {{R"(cp\.async\.commit_group;)", "", 3}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
  };
  for (Planted& planted : all) planted.kernel = "mma_sync";
  return all;
}

}  // namespace assay::model
