// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into the suite's bf16 product on tcgen05, of one CTA and of a pair. The waits
// in its PTX: 0 the ring's empty, 1 to 4 the last of them, 5 the sums' empty, 6 the ring's full, 7
// the sums' full.
#pragma once
#include "harness/model/tests/planted_bugs.hpp"

namespace assay::model {

inline std::vector<Planted> planted_in_tcgen05() {
  constexpr const char* kCommit = R"(tcgen05\.commit[^;]*;)";
  constexpr const char* kAfter = R"(tcgen05\.fence::after_thread_sync;)";
  constexpr const char* kInstruction = R"((tcgen05\.mma[^;]*, )(%r\d+)(, p;))";
  const std::vector<Planted> of_both = {
      {"ring_full_wait_dropped",
       "",
       {{kWait, kNoWait, 6}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"ring_empty_wait_dropped",
       "",
       {{kWait, kNoWait, 0}},
       {"async.overwritten_while_read", "async.overwrites_unread", "mbarrier.too_many_arrivals"}},
      // A commit of the last stages may come after that of the sums, and to a CTA that has left.
      {"last_empty_waits_dropped",
       "",
       {{kWait, kNoWait, 1}, {kWait, kNoWait, 1}, {kWait, kNoWait, 1}, {kWait, kNoWait, 1}},
       {"exit.pending", "cluster.left"}},
      {"sums_empty_wait_dropped",
       "",
       {{kWait, kNoWait, 5}},
       {"tensor_memory.overwritten_while_read"}},
      {"sums_full_wait_dropped",
       "",
       {{kWait, kNoWait, 7}},
       {"tensor_memory.read_before_complete", "tensor_memory.uninitialized"}},
      {"fence_after_dropped_before_load", "", {{kAfter, "", 3}}, {"tensor_memory.fence_after"}},
      {"fences_after_dropped_before_mma",
       "",
       {{kAfter, "", 2}, {kAfter, "", 1}},
       {"tensor_memory.fence_after"}},
      {"fence_before_dropped_after_load",
       "",
       {{R"(tcgen05\.fence::before_thread_sync;)", "", 1}},
       {"tensor_memory.fence_before"}},
      {"load_wait_dropped",
       "",
       {{R"(tcgen05\.wait::ld\.sync\.aligned;)", "", 3}},
       {"tensor_memory.register_in_flight"}},
      {"stage_commit_dropped", "", {{kCommit, "", 0}}, {"deadlock"}},
      {"sums_commit_dropped", "", {{kCommit, "", 1}}, {"deadlock"}},
      {"sums_release_dropped",
       "",
       {{R"(mbarrier\.arrive\.shared::(cta|cluster)\.b64 _, \[%r\d+\];)", "", 0}},
       {"deadlock"}},
      {"never_freed", "", {{R"(tcgen05\.dealloc[^;]*;)", ""}}, {"tensor_memory.leaked"}},
      {"half_freed",
       "",
       {{R"((tcgen05\.dealloc[^;]*), (%r\d+);)", "{ .reg .b32 q; shr.u32 q, \\2, 1; \\1, q; }"}},
       {"tensor_memory.dealloc"}},
      {"half_allocated",
       "",
       {{R"((tcgen05\.alloc[^;]*), (%r\d+);)", "{ .reg .b32 q; shr.u32 q, \\2, 1; \\1, q; }"}},
       {"tensor_memory.not_allocated"}},
      {"relinquished_before_alloc",
       "",
       {{R"(tcgen05\.alloc(\.cta_group::\d)([^;]*);)",
         "tcgen05.relinquish_alloc_permit\\1.sync.aligned; tcgen05.alloc\\1\\2;"}},
       {"tensor_memory.relinquished"}},
      {"sums_never_begin_at_zero",
       "",
       {{R"((tcgen05\.mma[^;]*), p;)", "\\1, 1;"}},
       {"tensor_memory.uninitialized"}},
      {"sums_begin_again_at_every_step",
       "",
       {{R"((tcgen05\.mma[^;]*), p;)", "{ .reg .pred z; setp.ne.u32 z, 0, 0; \\1, z; }", 1}},
       {"wrong result"}},
      {"lanes_of_the_next_warp",
       "",
       {{R"((tcgen05\.ld[^;]*)\[(%r\d+)\];)",
         "{ .reg .b32 q; xor.b32 q, \\2, 0x200000; \\1[q]; }"}},
       {"tensor_memory.lane"}},
      {"instruction_of_64_rows_less",
       "",
       {{kInstruction, "{ .reg .b32 q; sub.u32 q, \\2, 0x4000000; \\1q\\3 }"}},
       {"tensor_memory.uninitialized", "tcgen05.instruction_descriptor"}},
      {"instruction_with_a_reserved_bit",
       "",
       {{kInstruction, "{ .reg .b32 q; or.b32 q, \\2, 0x40; \\1q\\3 }"}},
       {"tcgen05.instruction_descriptor"}},
      {"instruction_of_f16",
       "",
       {{kInstruction, "{ .reg .b32 q; and.b32 q, \\2, 0xffffff7f; \\1q\\3 }"}},
       {"wrong result"}},
      {"expect_half",
       "",
       {{kExpect,
         "{ .reg .b32 q; shr.u32 q, \\2, 1; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\1], q; }"}},
       {"mbarrier.tx_phase", "mbarrier.tx_left", "async.read_before_complete"}},
  };
  std::vector<Planted> all;
  for (const char* kernel : {"tcgen05", "tcgen05_pair"})
    for (Planted p : of_both) {
      p.kernel = kernel;
      all.push_back(p);
    }
  const char* const mask = R"((tcgen05\.commit[^;]*\], )(%rs\d+);)";
  const char* const first_alone = "{ .reg .b16 q; and.b16 q, \\2, 1; \\1q; }";
  all.push_back({"stage_committed_to_one", "tcgen05_pair", {{mask, first_alone, 0}}, {"deadlock"}});
  all.push_back({"sums_committed_to_one", "tcgen05_pair", {{mask, first_alone, 1}}, {"deadlock"}});
  all.push_back({"bytes_counted_in_each_cta",
                 "tcgen05_pair",
                 {{R"(mapa\.shared::cluster\.u32 (%r\d+), (%r\d+), %r\d+;)", "mov.u32 \\1, \\2;"}},
                 {"deadlock"}});
  return all;
}

}  // namespace assay::model
