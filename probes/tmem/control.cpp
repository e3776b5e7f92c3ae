// SPDX-License-Identifier: Apache-2.0
// What goes around the work of tensor memory: getting and giving back columns, a commit with
// nothing to wait for, a wait for stores that are done, the shift of rows.
#include <fmt/format.h>

#include <algorithm>

#include "harness/instruction/generated_kernel.hpp"
#include "harness/instruction/ptx_text.hpp"
#include "harness/instruction/tcgen05_batches.hpp"

namespace {

using namespace assay;

constexpr int kThreads = 128;
constexpr int kSteps = Tcgen05Batches::kAlone;  // in one round of the loop
constexpr int kShifted = 8;                     // columns: 32 bytes of each row
constexpr TensorMemory kMemory{.columns = 256, .allocates_more = true};

// What one warp executes, and what the loop must hold for each.
struct Operation {
  const char* name;
  std::string text;
  std::vector<SassRule> sass;
  bool committed;  // one thread issues it and waits for its commit
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"alloc",
       "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], 32;\n"
       "  ld.shared.b32 %more, [%slot];\n"
       "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %more, 32;\n",
       {{"UTCATOMSWS.FIND_AND_SET", kSteps}, {"UTCATOMSWS.AND", kSteps}},
       false},
      {"wait_st",
       "  tcgen05.wait::st.sync.aligned;\n",
       {{"FENCE.VIEW.ASYNC.T", kSteps, kSteps}},
       false},
      {"commit", "", {{"UTCBAR", kSteps, kSteps}, {"ELECT", 0, 0}}, true},
      {"shift",
       "  @%elected tcgen05.shift.cta_group::1.down [%tmem];\n",
       {{"UTCSHIFT.DOWN", kSteps, kSteps}, {"ELECT", 0, 0}},
       true},
  };
  return all;
}

const Operation& operation_of(const Case& c) {
  for (const Operation& operation : operations())
    if (c.name == operation.name) return operation;
  throw std::logic_error("a case of an unknown operation");
}

// Out: [column][lane] of what the first columns hold in the end; every cell starts as its lane.
std::string ptx(const Operation& operation, Target target) {
  const Tcgen05Batches alone{true, 1, [&](int) { return operation.text; }};
  PtxKernel kernel{.target = target, .entry = "control", .threads = kThreads};
  kernel.declarations =
      alone.declarations() + fmt::format(
                                 "  .shared .align 8 .b8 barriers[{}];\n"
                                 "  .reg .pred %idle;\n"
                                 "  .reg .b32 %shared, %slot, %more, %warp, %lanes, %r<{}>;\n",
                                 Tcgen05Batches::kBarrierBytes + 8, kShifted);
  kernel.setup = "  mov.u32 %shared, barriers;\n" + alone.setup("%shared", 0) +
                 fmt::format("  add.u32 %slot, %shared, {};\n", Tcgen05Batches::kBarrierBytes) +
                 allocate_tensor_memory("%slot", kMemory) +
                 "  shr.u32 %warp, %thread, 5;\n"
                 "  shfl.sync.idx.b32 %warp, %warp, 0, 31, 0xffffffff;\n"
                 "  setp.ne.u32 %idle, %warp, 0;\n"
                 "  shl.b32 %lanes, %warp, 21;\n"
                 "  add.u32 %lanes, %lanes, %tmem;\n";
  for (int c = 0; c < kShifted; ++c)
    kernel.setup +=
        fmt::format("  tcgen05.st.sync.aligned.32x32b.x1.b32 [%lanes+{}], {{%thread}};\n", c);
  kernel.setup +=
      "  tcgen05.wait::st.sync.aligned;\n"
      "  tcgen05.fence::before_thread_sync;\n"
      "  bar.sync 0;\n"
      "  tcgen05.fence::after_thread_sync;\n";
  if (operation.committed) {
    kernel.loop = alone.loop();
  } else {
    kernel.loop = "  @%idle bra other;\n";
    for (int i = 0; i < kSteps; ++i) kernel.loop += operation.text;
    kernel.loop += "other:\n";
  }
  kernel.finish =
      "  bar.sync 0;\n"
      "  tcgen05.fence::after_thread_sync;\n"
      "  mad.wide.u32 %out, %thread, 4, %out;\n";
  for (int c = 0; c < kShifted; ++c)
    kernel.finish += fmt::format(
        "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r{0}}}, [%lanes+{0}];\n"
        "  tcgen05.wait::ld.sync.aligned;\n"
        "  @%first st.global.b32 [%out+{1}], %r{0};\n",
        c, c * kThreads * 4);
  kernel.finish += release_tensor_memory(kMemory);
  return ptx_text(kernel);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Operation& operation : operations())
    all.push_back({.name = operation.name, .suite = Suite::full});
  return all;
}

std::vector<KernelUse> kernels(const Case& c, Target target) {
  const Operation& operation = operation_of(c);
  // Allocation is checked by code around it, which calls a trap.
  return {{.kernel = "control",
           .sass = operation.sass,
           .ptx = ptx(operation, target),
           .emulated = c.name == "alloc"}};
}

// Which way a shift moves rows, of which one end stays, is a finding; nothing else moves any.
void check_values(State& s, const std::vector<std::uint32_t>& out) {
  const int shift = s.which().name == "shift" ? kSteps : 0;
  const auto ends_as = [&](int by) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const int lane = static_cast<int>(i % kThreads);
      if (out[i] != static_cast<std::uint32_t>(std::clamp(lane + by, 0, kThreads - 1)))
        return false;
    }
    return true;
  };
  const bool from_above = ends_as(shift), from_below = ends_as(-shift);
  s.require(from_above || from_below,
            fmt::format("after {} shifts lanes 0 and 127 hold rows {} and {}", shift, out[0],
                        out[kThreads - 1]));
  if (shift > 0)
    s.set_param("a_lane_gets_the_row_of", from_above ? "the lane above" : "the lane below");
}

void run(State& s) {
  const GeneratedKernel loaded(s, "control", kThreads, 0, std::size_t{kShifted} * kThreads * 4);
  check_values(s, loaded.outputs_after<std::uint32_t>(1));
  s.cycles({.steps = kSteps}, loaded.on_every_sm());
}

const Registration registration{{
    .name = "tmem/control",
    .question = "What do allocation, commit, wait and shift cost around tensor memory's work?",
    .metrics = {{"latency_cycles",
                 "Cycles of one such operation, where each follows the end of the one before."}},
    .cases = cases(),
    .targets = targets_with(Feature::tcgen05),
    .kernels = kernels,
    .run = run,
}};

}  // namespace
