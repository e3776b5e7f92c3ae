// SPDX-License-Identifier: Apache-2.0
// Single bugs planted into the PTX of kernels that are right: what is replaced by what, and the
// rules, any of which names the bug. "wrong result" where no rule can know: a descriptor that
// describes another matrix is as good as any other.
#pragma once
#include <string>
#include <vector>

namespace assay::model {

struct Edit {
  const char* pattern;      // RE2
  const char* replacement;  // \1 is the pattern's first group
  int which = 0;            // of the matches in the kernel; -1: all
};

struct Planted {
  const char* name;
  const char* kernel;  // of kernels/clean.cu, or "gemm": the suite's dense product, of f16
  std::vector<Edit> edits;
  std::vector<std::string> rules;
};

// Words that many edits share.
inline constexpr const char* kWait =
    R"(mbarrier\.try_wait\.parity\.shared::cta\.b64 p, \[(%r\d+)\], (%r\d+);)";
inline constexpr const char* kNoWait = "setp.eq.u32 p, 0, 0;";
inline constexpr const char* kOtherParity =
    "{ .reg .b32 q; xor.b32 q, \\2, 1; mbarrier.try_wait.parity.shared::cta.b64 p, [\\1], q; }";
inline constexpr const char* kExpect =
    R"(mbarrier\.arrive\.expect_tx\.shared::cta\.b64 _, \[(%r\d+)\], (%r\d+);)";
inline constexpr const char* kProxyFence = R"(fence\.proxy\.async\.shared::cta;)";
inline constexpr const char* kInitFence = R"(fence\.mbarrier_init\.release\.cluster;)";
inline constexpr const char* kWaitRead1 = R"(cp\.async\.bulk\.wait_group\.read 1;)";
inline constexpr const char* kWaitRead0 = R"(cp\.async\.bulk\.wait_group\.read 0;)";
inline constexpr const char* kDescriptor = R"(4611686293305294848)";

// Waits 0 and 1 are the consumers' at f16, 2 and 3 at bf16; the loader's follow.
inline std::vector<Planted> planted_in_gemm() {
  return {
      {"full_wait_dropped",
       "gemm",
       {{kWait, kNoWait, 0}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      // Of the loader's second loop: every tile of this shape is cut short.
      {"empty_wait_dropped",
       "gemm",
       {{kWait, kNoWait, 5}},
       {"async.overwritten_while_read", "async.overwrites_unread", "mbarrier.too_many_arrivals"}},
      {"consumer_parity_wrong",
       "gemm",
       {{kWait, kOtherParity, 0}},
       {"async.read_before_complete", "memory.uninitialized_shared"}},
      {"producer_parity_wrong", "gemm", {{kWait, kOtherParity, 4}}, {"deadlock"}},
      {"operands_loaded_before_they_are_there",
       "gemm",
       {{R"(griddepcontrol\.wait;)", "", -1}},
       {"grid.before_wait"}},
      {"init_fence_dropped", "gemm", {{kInitFence, ""}}, {"mbarrier.init_not_fenced"}},
      {"first_cluster_barrier_dropped",
       "gemm",
       {{R"(barrier\.cluster\.arrive\.relaxed\.aligned;)", ""},
        {R"(barrier\.cluster\.wait\.acquire\.aligned;)", "", -1}},
       {"cluster.not_begun", "mbarrier.uninitialized", "mbarrier.init_not_seen"}},
      // The loader's waits for the last releases of its ring of four.
      {"left_before_the_neighbour_has_released",
       "gemm",
       {{kWait, kNoWait, 6}, {kWait, kNoWait, 6}, {kWait, kNoWait, 6}, {kWait, kNoWait, 6}},
       {"cluster.left", "exit.pending"}},
      {"store_fence_dropped", "gemm", {{kProxyFence, "", -1}}, {"proxy.shared"}},
      {"store_fence_before_the_writes",
       "gemm",
       {{kProxyFence, "", -1},
        {kWaitRead1, "cp.async.bulk.wait_group.read 1; fence.proxy.async;", -1}},
       {"proxy.shared"}},
      {"expect_a_box_too_many",
       "gemm",
       {{kExpect,
         "{ .reg .b32 q; add.u32 q, \\2, 16384; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\1], q; }"}},
       {"mbarrier.tx_left"}},
      {"expect_a_box_too_few",
       "gemm",
       {{kExpect,
         "{ .reg .b32 q; sub.u32 q, \\2, 16384; "
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [\\1], q; }"}},
       {"mbarrier.tx_phase", "mbarrier.tx_left", "async.read_before_complete"}},
      {"expect_dropped",
       "gemm",
       {{kExpect, "mbarrier.arrive.shared::cta.b64 _, [\\1];"}},
       {"mbarrier.tx_phase", "mbarrier.tx_left"}},
      {"stage_released_a_group_early",
       "gemm",
       {{R"(wgmma\.wait_group\.sync\.aligned 1;)", "wgmma.wait_group.sync.aligned 2;"}},
       {"async.overwritten_while_read"}},
      {"stage_wait_dropped",
       "gemm",
       {{R"(wgmma\.wait_group\.sync\.aligned 1;)", ""}},
       {"async.overwritten_while_read"}},
      {"last_wgmma_wait_dropped",
       "gemm",
       {{R"(wgmma\.wait_group\.sync\.aligned 0;)", ""}},
       {"wgmma.register_in_flight"}},
      {"wgmma_fence_dropped",
       "gemm",
       {{R"(wgmma\.fence\.sync\.aligned;)", ""}},
       {"wgmma.fence_missing"}},
      {"wgmma_commit_dropped",
       "gemm",
       {{R"(wgmma\.commit_group\.sync\.aligned;)", ""}},
       {"wgmma.register_in_flight", "async.overwritten_while_read"}},
      {"store_wait_dropped", "gemm", {{kWaitRead1, "", -1}}, {"async.overwritten_while_read"}},
      {"store_wait_off_by_one",
       "gemm",
       {{kWaitRead1, "cp.async.bulk.wait_group.read 2;", -1}},
       {"async.overwritten_while_read"}},
      {"store_commit_dropped",
       "gemm",
       {{R"(cp\.async\.bulk\.commit_group;)", "", -1}},
       {"bulk.uncommitted", "async.overwritten_while_read"}},
      {"last_store_wait_dropped", "gemm", {{kWaitRead0, ""}}, {"exit.pending"}},
      {"store_before_the_warp_is_there",
       "gemm",
       {{R"(bar\.warp\.sync\s+-1;)", "", -1}},
       {"race.shared"}},
      {"registers_beyond_the_file",
       "gemm",
       {{R"(setmaxnreg\.inc\.sync\.aligned\.u32 232;)", "setmaxnreg.inc.sync.aligned.u32 256;"}},
       {"deadlock"}},
      {"registers_not_given_away",
       "gemm",
       {{R"(setmaxnreg\.dec\.sync\.aligned\.u32 40;)", ""}},
       {"deadlock"}},
      {"registers_no_multiple_of_8",
       "gemm",
       {{R"(setmaxnreg\.dec\.sync\.aligned\.u32 40;)", "setmaxnreg.dec.sync.aligned.u32 44;"}},
       {"setmaxnreg.count"}},
      {"empty_expects_one_more", "gemm", {{R"((mov\.u32\s+%r\d+), 4;)", "\\1, 5;"}}, {"deadlock"}},
      {"empty_expects_one_less",
       "gemm",
       {{R"((mov\.u32\s+%r\d+), 4;)", "\\1, 3;"}},
       {"async.overwritten_while_read", "mbarrier.too_many_arrivals"}},
      {"full_expects_two", "gemm", {{R"((mov\.u32\s+%r\d+), 1;)", "\\1, 2;"}}, {"deadlock"}},
      {"multicast_to_one",
       "gemm",
       {{R"((mov\.u16\s+%rs\d+), 3;)", "\\1, 1;"}},
       {"mbarrier.tx_left", "mbarrier.tx_phase"}},
      {"multicast_to_a_third",
       "gemm",
       {{R"((mov\.u16\s+%rs\d+), 3;)", "\\1, 7;"}},
       {"multicast.mask"}},
      {"multicast_to_none",
       "gemm",
       {{R"((mov\.u16\s+%rs\d+), 3;)", "\\1, 0;"}},
       {"multicast.mask"}},
      {"released_to_the_wrong_cta",
       "gemm",
       {{R"((mapa\.shared::cluster\.u32 %r\d+, %r\d+), %r\d+;)", "\\1, 0;", -1}},
       {"deadlock", "mbarrier.too_many_arrivals"}},
      {"release_dropped",
       "gemm",
       {{R"(mbarrier\.arrive\.shared::cluster\.b64 _, \[%r\d+\];)", "", 0}},
       {"deadlock"}},
      {"consumer_ring_of_three",
       "gemm",
       {{R"((setp\.eq\.s32\s+%p\d+, %r\d+), 4;)", "\\1, 3;", 1}},
       {"deadlock", "async.read_before_complete", "async.overwritten_while_read"}},
      {"ring_beyond_its_stages",
       "gemm",
       {{R"((setp\.eq\.s32\s+%p\d+, %r\d+), 4;)", "\\1, 5;", -1}},
       {"memory.shared_bounds", "mbarrier.overwritten"}},
      {"descriptor_without_swizzle", "gemm", {{kDescriptor, "274877906944"}}, {"matrix.swizzle"}},
      {"descriptor_of_another_swizzle",
       "gemm",
       {{kDescriptor, "-9223371761976868864"}},
       {"matrix.swizzle"}},
      {"descriptor_stride_doubled",
       "gemm",
       {{kDescriptor, "4611686568183201792"}},
       {"wrong result", "async.read_before_complete", "memory.uninitialized_shared"}},
  };
}

}  // namespace assay::model
