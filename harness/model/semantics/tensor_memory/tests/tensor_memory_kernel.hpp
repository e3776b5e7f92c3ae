// SPDX-License-Identifier: Apache-2.0
// Small kernels of tcgen05 instructions in PTX, run in the model.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/model/model.hpp"
#include "harness/ptx/descriptor/tcgen05_descriptor.hpp"

namespace assay::model {

// Four warps. 8192 bytes of shared memory at 1024 are those of `in`; columns 0 to 63 are allocated,
// their address is %t. Then `body`; then each thread writes what it loads of columns 0 to 7.
inline std::string kernel(const std::string& body, const std::string& end = "") {
  return R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
.maxntid 128
{
  .shared .align 1024 .b8 data[8192];
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 address;
  .reg .b32 %t, %at, %w<8>, %r<16>, %tid, %lanes, %g<8>;
  .reg .b64 %in, %out, %x, %y;
  .reg .pred %first, %warp0, %p, %done;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %tid, %tid.x;
  setp.eq.u32 %first, %tid, 0;
  setp.lt.u32 %warp0, %tid, 32;
  mad.wide.u32 %x, %tid, 64, %in;
  mov.u32 %at, data;
  mad.lo.u32 %at, %tid, 64, %at;
  mov.u32 %r0, 0;
FILL:
  ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%x];
  st.shared.v4.b32 [%at], {%w0, %w1, %w2, %w3};
  add.u64 %x, %x, 16;
  add.u32 %at, %at, 16;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p, %r0, 4;
  @%p bra FILL;
  fence.proxy.async.shared::cta;
  mov.u32 %r1, bar;
  @%first mbarrier.init.shared::cta.b64 [%r1], 1;
  @%first fence.mbarrier_init.release.cluster;
  mov.u32 %r2, address;
  @!%warp0 bra ALLOCATED;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 64;
ALLOCATED:
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  ld.shared.b32 %t, [%r2];
  and.b32 %lanes, %tid, 0x60;
  shl.b32 %lanes, %lanes, 16;
  add.u32 %lanes, %lanes, %t;
)" + body +
         R"(
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%g0, %g1, %g2, %g3, %g4, %g5, %g6, %g7}, [%lanes];
  tcgen05.wait::ld.sync.aligned;
  mad.wide.u32 %y, %tid, 32, %out;
  st.global.v4.b32 [%y], {%g0, %g1, %g2, %g3};
  st.global.v4.b32 [%y+16], {%g4, %g5, %g6, %g7};
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
)" + end +
         R"(
  @!%warp0 bra FREED;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 64;
FREED:
  ret;
}
)";
}

// Thread 0 does it, and all wait.
inline std::string by_one(const std::string& work) {
  return "  @!%first bra ISSUED;\n" + work + R"(
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];
ISSUED:
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %done, [%r1], 0;
  @!%done bra WAIT;
  tcgen05.fence::after_thread_sync;
)";
}

struct Ran {
  Outcome outcome;
  std::vector<std::uint32_t> out;  // [thread][8]
};

// `second`: Options::second.
inline Ran run(const std::string& ptx, const std::vector<std::uint8_t>& in, std::uint64_t seed,
               const std::map<Reading, bool>& second = {}) {
  Gpu gpu(ptx);
  const Address from = gpu.allocate("in", 8192), to = gpu.allocate("out", 4096);
  std::vector<std::uint8_t> bytes = in;
  bytes.resize(8192);
  gpu.write(from, bytes);
  gpu.write(to, std::vector<std::uint8_t>(4096));
  Arguments arguments;
  arguments.push(from).push(to);
  Ran ran;
  ran.outcome = gpu.launch(gpu.kernel("k"), {.block = {128, 1, 1}}, arguments,
                           {.seed = seed, .second = second});
  ran.out = gpu.read<std::uint32_t>(to, 1024);
  return ran;
}

inline void expect_clean(const Outcome& outcome) {
  EXPECT_TRUE(outcome.finished);
  for (const Finding& f : outcome.findings) ADD_FAILURE() << to_text(f);
}

inline bool found(const Outcome& outcome, const std::string& rule) {
  for (const Finding& f : outcome.findings)
    if (f.rule == rule) return true;
  return false;
}

// A [128][32 bytes] at 1024, B [8][32 bytes] behind it, both K-major in rows of 16 bytes: eight
// rows follow each other, then the next 16 bytes along K, then the next eight rows.
inline constexpr int kB = 128 * 32;
inline int offset(int row, int byte) {
  return row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
}

inline std::string multiply(const std::string& kind, std::uint32_t instruction,
                            const std::string& accumulate = "0", const std::string& a = "%x") {
  const auto descriptor = [](std::uint32_t start) {
    return std::to_string(ptx::tcgen05::matrix_descriptor({start, 128, 256, ptx::Swizzle::none}));
  };
  return "  mov.b64 %x, " + descriptor(1024) + ";\n  mov.b64 %y, " + descriptor(1024 + kB) +
         ";\n  mov.b32 %r3, " + std::to_string(instruction) + ";\n  setp.ne.u32 %p, " + accumulate +
         ", 0;\n  tcgen05.mma.cta_group::1.kind::" + kind + " [%t], " + a + ", %y, %r3, %p;\n";
}

}  // namespace assay::model
