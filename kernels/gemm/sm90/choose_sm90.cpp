// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/element.hpp"
#include "harness/error.hpp"
#include "kernels/frame/choice_cache.hpp"
#include "kernels/frame/divide_up.hpp"
#include "kernels/frame/launch.hpp"
#include "kernels/frame/workers/resident.hpp"
#include "kernels/frame/workers/worker_places.hpp"
#include "kernels/gemm/sm90/plan_sm90.hpp"

namespace assay::kernels {
namespace {

std::string refusal(const GemmProblem& problem) {
  if (fitting_variants_sm90(problem).empty())
    return "has no form for " + problem.type + " x " + problem.b_type() + " " + problem.layout;
  if (problem.scaling == Scaling::row && element_bits(problem.type) == 16)
    return "has scales by row for 8-bit types alone";
  const std::string& d = problem.d_type();
  return d == "bf16" || d == "f16" || d == "f32" ? "" : "writes bf16, f16 or f32";
}

// What an SM count says, so that the choice is known without a GPU too: clusters of four and eight
// find no place in the rest of a GPC's SMs, and an H200 holds 30 and 15 of them.
int clusters_of(int sms, const GemmVariantSm90& v) {
  return v.cluster_size() >= 4 ? sms * 10 / 11 / v.cluster_size() : sms / v.cluster_size();
}

constexpr int kUsualSms = 132;  // H100 SXM, H200

// Rows of tiles that a band has (Raster).
//
// Where D outweighs its operands and L2 cannot hold it, DRAM is busy with D, and tiles that follow
// each other along D's rows fill its pages: on an H200 that saved 4 to 9% at k = 64 and 128, 1 to
// 2% at k = 512.
int band_of(const GemmProblem& problem, const GemmVariantSm90& v) {
  constexpr double kL2Bytes = 50e6, kOutweighs = 6;
  const double bytes_d = element_bits(problem.d_type()) / 8.0 * problem.m * problem.n;
  const double bytes_in =
      element_bits(problem.type) / 8.0 * (double{1} * problem.m + problem.n) * problem.k;
  if (bytes_d >= std::max(kL2Bytes, kOutweighs * bytes_in))
    return v.swapped ? divide_up(problem.n, v.tile_m * v.cluster_m) : 2;
  return kUsualBand;
}

std::vector<KernelUse> kernels(const GemmProblem& problem) {
  const GemmChoiceSm90 choice =
      choose_gemm_sm90(problem, [](const GemmVariantSm90& v) { return clusters_of(kUsualSms, v); });
  const GemmVariantSm90& v = *choice.variant;
  // A consumer's 64-row blocks x steps along k.
  const int per_stage = v.tile_m / (v.pingpong ? 64 : 128) * 4 * v.depth;
  const bool wide = element_bits(problem.type) == 16;
  const std::string opcode = std::string(wide ? "HGMMA" : "QGMMA") + ".64x" +
                             std::to_string(v.tile_n) + (wide ? "x16" : "x32") + ".F32";
  // Kernels for 16-bit types have a loop for each. What it multiplies, it multiplies alone.
  const std::string type = problem.type == "bf16" ? ".BF16" : "";
  std::vector<KernelUse> all = {
      {.kernel = v.kernel_name,
       .sass = {{opcode + type, per_stage, per_stage}, waits_for_dependencies()}}};
  if (problem.type == "f16") all[0].sass.push_back({opcode + ".BF16", 0, 0});
  if (choice.parts > 1)
    all.push_back({.kernel = v.reduce.name, .sass = {waits_for_dependencies()}});
  return all;
}

const GemmPaths::Registration path{
    gemm_paths(),
    {.name = "sm90",
     .targets = {Target::sm_90a},
     .refusal = refusal,
     .plan =
         [](const GemmProblem& problem, const GemmOperands& operands) {
           return plan_gemm_sm90(problem, operands, choose_gemm_here_sm90(problem));
         },
     .kernels = kernels}};

}  // namespace

std::span<const GemmVariantSm90> gemm_variants_sm90() {
  static const std::vector<GemmVariantSm90> all = [] {
    std::vector<GemmVariantSm90> variants = gemm_variants_b16_sm90();
    for (const auto& more : {gemm_variants_b16_plain_sm90(), gemm_variants_b16_layouts_sm90(),
                             gemm_variants_b16_plain_layouts_sm90(), gemm_variants_fp8_sm90(),
                             gemm_variants_fp8_plain_sm90()})
      variants.insert(variants.end(), more.begin(), more.end());
    return variants;
  }();
  return all;
}

std::vector<const GemmVariantSm90*> fitting_variants_sm90(const GemmProblem& problem) {
  const int major_a = problem.layout[0] == 'n' ? 0 : 1, major_b = problem.layout[1] == 't' ? 0 : 1;
  std::vector<const GemmVariantSm90*> found;
  for (const GemmVariantSm90& v : gemm_variants_sm90()) {
    const bool fits = v.swapped ? v.type_p == problem.b_type() && v.type_q == problem.type &&
                                      v.major_p == major_b && v.major_q == major_a
                                : v.type_p == problem.type && v.type_q == problem.b_type() &&
                                      v.major_p == major_a && v.major_q == major_b;
    const bool little = element_bits(problem.type) == 16 ? problem.plain() : problem.scaled();
    const bool wide_c = problem.beta != 0 && problem.d_type() == "f32";
    if (fits && (v.plain ? little : v.adds_wide_c || !wide_c)) found.push_back(&v);
  }
  // Those that can do little, if there are any: theirs is a quarter of the machine code, which a
  // call that comes after others' finds in no cache. By 128x128 in tt, nine products of up to 20 us
  // took 0.89 of the time, and 29 of 40 us and more 0.98 (results/h200/2026-11-30-more-forms,
  // second beside first).
  if (std::ranges::any_of(found, &GemmVariantSm90::plain))
    std::erase_if(found, [](const auto* v) { return !v->plain; });
  return found;
}

std::vector<const GemmVariantSm90*> splitting_variants_sm90(const GemmProblem& problem) {
  GemmProblem sums{.m = problem.m, .n = problem.n, .k = problem.k, .type = problem.type};
  sums.type_b = problem.type_b;
  sums.type_d = "bf16";  // of what is left, nothing is asked
  sums.layout = problem.layout;
  std::vector<const GemmVariantSm90*> found = fitting_variants_sm90(sums);
  std::erase_if(found, [](const auto* v) { return !v->reduce.kernel; });
  return found;
}

std::vector<GemmChoiceSm90> gemm_choices_sm90(const GemmProblem& problem,
                                              const ClustersSm90& clusters) {
  std::vector<GemmChoiceSm90> all;
  const auto tiles_of = [&](const GemmVariantSm90& v) {
    const int rows = v.swapped ? problem.n : problem.m, columns = v.swapped ? problem.m : problem.n;
    return divide_up(rows, v.tile_m * v.cluster_m) * divide_up(columns, v.tile_n * v.cluster_n);
  };
  // On a GPU of more SMs than any yet, the others stay idle: FirstStepsSm90 is of so many.
  const auto most_of = [&](const GemmVariantSm90& v) {
    return std::min(clusters(v), WorkerPlaces::kMost);
  };
  // Few tiles, each in many parts.
  for (const GemmVariantSm90* v : splitting_variants_sm90(problem)) {
    constexpr int kFewestParts = 2, kFewestSteps = 8;    // of 128 bytes along k
    const int tiles = tiles_of(*v), most = most_of(*v);  // of which there may be none
    for (const int parts : {most / tiles, most / tiles / 2}) {
      if (parts < kFewestParts || divide_up(problem.k, v->tile_k) * v->depth / parts < kFewestSteps)
        continue;
      all.push_back(
          {.variant = v, .workers = tiles * parts, .band = band_of(problem, *v), .parts = parts});
    }
  }
  for (const GemmVariantSm90* v : fitting_variants_sm90(problem)) {
    const int tiles = tiles_of(*v);
    const int k_steps = divide_up(problem.k, v->tile_k);
    const int most = most_of(*v);
    if (most < 1) continue;
    const int band = band_of(problem, *v);
    all.push_back({.variant = v, .workers = workers_of_waves(tiles, most), .band = band});
    const int rest = tiles % most;
    if (rest == 0) continue;
    // The rest shared by all; also with a whole wave before it, so that shares are longer.
    const int shared[] = {rest, rest + most};
    for (const int stream : shared) {
      if (stream > tiles || std::int64_t{stream} * k_steps > INT_MAX) continue;
      const int workers = std::min(most, stream * k_steps);
      all.push_back({.variant = v, .stream_tiles = stream, .workers = workers, .band = band});
      // Equal splits of every tile, in fewer workers than there could be.
      if (tiles < most && most / tiles > 1 && most % tiles != 0) {
        const int parts = std::min(most / tiles, k_steps);
        all.push_back(
            {.variant = v, .stream_tiles = tiles, .workers = tiles * parts, .band = band});
      }
      for (const int parts : {2, 4, 8}) {
        if (stream != tiles || tiles * parts >= most || parts > k_steps) continue;
        all.push_back(
            {.variant = v, .stream_tiles = tiles, .workers = tiles * parts, .band = band});
      }
    }
  }
  return all;
}

int clusters_here_sm90(const GemmVariantSm90& v) {
  int device = 0, sms = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const int resident = clusters_that_fit(v.kernel, v.cluster_size(), v.threads, v.shared_bytes);
  return std::min(resident, clusters_of(sms, v));
}

GemmChoiceSm90 choose_gemm_sm90(const GemmProblem& problem, const ClustersSm90& clusters) {
  const std::vector<GemmChoiceSm90> choices = gemm_choices_sm90(problem, clusters);
  if (choices.empty())
    throw Error(ExitCode::unfit, problem.text() + ": no cluster of any form fits on this GPU");
  return *std::ranges::min_element(choices, {}, [&](const GemmChoiceSm90& choice) {
    return predicted_cycles_sm90(problem, choice);
  });
}

GemmChoiceSm90 choose_gemm_here_sm90(const GemmProblem& problem) {
  using Key = std::tuple<int, int, int, int, std::string, std::string, std::string, std::string,
                         bool, bool, bool, Activation, Scaling>;
  static ChoiceCache<Key, GemmChoiceSm90> made;
  int device = 0;
  check(cudaGetDevice(&device));
  const Key key{
      device,           problem.m,          problem.n,      problem.k,         problem.type,
      problem.b_type(), problem.d_type(),   problem.layout, problem.beta != 0, problem.bias,
      problem.plain(),  problem.activation, problem.scaling};
  return made.get(key, [&] { return choose_gemm_sm90(problem, clusters_here_sm90); });
}

}  // namespace assay::kernels
