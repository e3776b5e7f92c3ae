// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/plan.hpp"

#include <fmt/format.h>

#include <cctype>
#include <string>
#include <utility>

#include "harness/cuda.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/skinny/variants.hpp"

namespace assay::kernels {
namespace {

struct Launcher {
  const void* kernel;
  bool early;
  SkinnyLayout layout;

  void operator()(cudaStream_t stream) {
    void* arguments[] = {&layout.arguments};
    launch_kernel(kernel,
                  {.ctas = layout.grid,
                   .threads = layout.threads,
                   .shared_bytes = layout.shared_bytes,
                   .cluster = layout.arguments.cluster,
                   .early = early},
                  arguments, stream);
  }
};

const SkinnyPaths::Registration path{
    skinny_paths(),
    {.name = "plain",
     .targets = all_gpu_targets(),
     .refusal = [](const SkinnyProblem&) { return std::string(); },
     .plan = plan_skinny_plain,
     .kernels = [](const SkinnyProblem& p) { return skinny_kernel_use(p, false); }}};

}  // namespace

Plan plan_skinny_plain(const SkinnyProblem& p, const SkinnyOperands& operands) {
  const SkinnyRoom room = skinny_room();
  const SkinnyLayout layout = arrange(p.weights, p.m, p.n, p.k, room);
  const void* kernel = skinny_kernel(p.weights, layout.tokens);
  check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room.shared_bytes));
  return skinny_launch(kernel, false, layout, p, operands);
}

Plan skinny_launch(const void* kernel, bool early, const SkinnyLayout& layout,
                   const SkinnyProblem& problem, const SkinnyOperands& operands) {
  Launcher l{kernel, early, layout};
  SkinnyArguments& a = l.layout.arguments;
  a.d = static_cast<__nv_bfloat16*>(operands.d);
  a.x = static_cast<const __nv_bfloat16*>(operands.x);
  a.w = static_cast<const std::uint8_t*>(operands.w);
  a.scales = static_cast<const std::uint8_t*>(operands.scales);
  a.scale = operands.scale;
  std::string variant =
      fmt::format("{}_c{}_k{}x{}", name(problem.weights), a.cluster, a.k_groups, a.row_groups);
  return {.variant = std::move(variant), .run = l};
}

SkinnyRoom skinny_room() {
  int device = 0, sms = 0, shared = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return {.ctas = sms, .shared_bytes = shared};
}

std::string skinny_kernel_name(SkinnyWeights weights, int tokens, bool hopper) {
  std::string format = name(weights);
  format.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(format.front())));
  return fmt::format("skinny_product<assay::kernels::{}, {}, {}>", format, tokens, hopper);
}

std::vector<KernelUse> skinny_kernel_use(const SkinnyProblem& p, bool hopper) {
  // Layouts of different rooms differ, but not in the tokens that the kernel is made for.
  const int tokens = skinny_tokens(p.m);
  // That for the most tokens has the pieces of a slot in an inner loop, without copies.
  std::vector<SassRule> sass = {{"HMMA.16816.F32.BF16"}};
  if (tokens < kMostTokens) sass.push_back({"LDGSTS.E.BYPASS.128"});
  if (hopper) sass.push_back(waits_for_dependencies());
  return {{.kernel = skinny_kernel_name(p.weights, tokens, hopper),
           .sass = sass,
           // The plain kernels for 32 and 64 tokens spill a few words on some targets.
           .local_memory = !hopper && tokens >= kMostTokens / 2}};
}

}  // namespace assay::kernels
