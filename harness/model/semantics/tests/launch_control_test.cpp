// SPDX-License-Identifier: Apache-2.0
// Cluster launch control, as PTX text. Model, not silicon: PTX ISA 9.0, "Cluster Launch Control",
// "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel".
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/model/model.hpp"

namespace assay::model {
namespace {

// A CTA of one thread does its own work, and then that of CTAs that it cancels: counts[cta] is how
// often that was done, by[cta] who did it. `asked` stands where the answer has come.
std::string kernel(const std::string& asked) {
  return R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 counts, .param .u64 by)
{
  .shared .align 16 .b8 answer[16];
  .shared .align 8 .b64 bar;
  .reg .b64 %counts, %by, %to;
  .reg .b128 %q;
  .reg .b32 %answer, %bar, %cta, %own, %parity;
  .reg .pred %p;
  ld.param.u64 %counts, [counts];
  ld.param.u64 %by, [by];
  mov.u32 %answer, answer;
  mov.u32 %bar, bar;
  mov.u32 %own, %ctaid.x;
  mov.u32 %cta, %own;
  mov.u32 %parity, 0;
  mbarrier.init.shared::cta.b64 [%bar], 1;
  fence.mbarrier_init.release.cluster;
NEXT:
  mad.wide.u32 %to, %cta, 4, %counts;
  red.relaxed.gpu.global.add.u32 [%to], 1;
  mad.wide.u32 %to, %cta, 4, %by;
  st.relaxed.gpu.global.u32 [%to], %own;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16;
  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128
      [%answer], [%bar];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], %parity;
  @!%p bra WAIT;
  xor.b32 %parity, %parity, 1;
  ld.shared.b128 %q, [%answer];
  fence.proxy.async;
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %q;
  )" + asked +
         R"(
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %cta, %q;
  @%p bra NEXT;
DONE:
  ret;
}
)";
}

constexpr std::uint32_t kCtas = 40;

struct Done {
  std::vector<std::uint32_t> counts, by;
  Outcome outcome;
};

Done run(const std::string& asked, const Options& options) {
  Gpu gpu(kernel(asked));
  const Address counts = gpu.allocate("counts", kCtas * 4), by = gpu.allocate("by", kCtas * 4);
  gpu.write(counts, std::vector<std::uint32_t>(kCtas));
  Arguments arguments;
  arguments.push(counts).push(by);
  Outcome outcome = gpu.launch("k", {.grid = {static_cast<int>(kCtas), 1, 1}, .block = {1, 1, 1}},
                               arguments, options);
  return {gpu.read<std::uint32_t>(counts, kCtas), gpu.read<std::uint32_t>(by, kCtas),
          std::move(outcome)};
}

TEST(LaunchControl, EveryCtaIsDoneOnceInWhateverOrderTheyAreCancelled) {
  for (const bool last_first : {false, true})
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Done done =
          run("@!%p bra DONE;",
              {.seed = seed, .second = {{Reading::launch_control_order, last_first}}});
      ASSERT_TRUE(done.outcome.finished);
      for (const Finding& f : done.outcome.findings) ADD_FAILURE() << to_text(f);
      EXPECT_EQ(done.counts, std::vector<std::uint32_t>(kCtas, 1)) << "seed " << seed;
      EXPECT_TRUE(done.outcome.second.contains(Reading::launch_control_order));
      // The last one is cancelled first.
      EXPECT_TRUE(!last_first || done.by[kCtas - 1] != kCtas - 1) << "seed " << seed;
    }
}

TEST(LaunchControl, TheCtaOfAnAnswerThatCancelledNoneIsNamed) {
  const Done done = run("", {.seed = 2});
  ASSERT_FALSE(done.outcome.findings.empty());
  EXPECT_EQ(done.outcome.findings.front().rule, "launch_control.not_cancelled");
}

}  // namespace
}  // namespace assay::model
