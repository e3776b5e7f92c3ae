// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into how the Hopper product gets C by its ring
// (kernels/gemm/sm90/c_sm90.cuh).
#pragma once
#include "harness/model/tests/planted_bugs.hpp"

namespace assay::model {

// A ping-pong of bf16. Waits 0 to 3 are the consumers' for operands, 4 is for C; then come the
// loader's: 5 and 6 for operands, 7 for C.
inline std::vector<Planted> planted_in_c() {
  constexpr const char* kSync = R"(bar\.sync\s+%r\d+, %r\d+;)";
  return {
      {"wait_dropped",
       "gemm_c",
       {{kWait, kNoWait, 4}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"loader_wait_dropped",
       "gemm_c",
       {{kWait, kNoWait, 7}},
       {"async.overwritten_while_read", "async.overwrites_unread", "mbarrier.too_many_arrivals"}},
      {"release_dropped",
       "gemm_c",
       {{R"(mbarrier\.arrive\.shared::cluster\.b64 _, \[%r\d+\];)", "", 3}},
       {"deadlock"}},
      {"released_before_all_warps_have_read",
       "gemm_c",
       {{kSync, "", 3}},
       {"async.overwrites_unread"}},
      {"read_without_a_fence", "gemm_c", {{kProxyFence, "", 0}}, {"proxy.shared_read"}},
      {"expect_a_box_too_few",
       "gemm_c",
       {{kExpect,
         "{ .reg .b32 q; sub.u32 q, \\2, 16384; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\1], q; }",
         2}},
       {"mbarrier.tx_phase", "mbarrier.tx_left", "async.read_before_complete"}},
  };
}

}  // namespace assay::model
