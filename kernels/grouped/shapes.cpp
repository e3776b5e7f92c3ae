// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped/shapes.hpp"

#include <algorithm>
#include <numeric>

#include "harness/measure/splitmix64.hpp"

namespace assay::kernels {
namespace {

// The sizes of layers follow from config.json of deepseek-ai/DeepSeek-V3 (hidden_size 7168,
// moe_intermediate_size 2048, 256 experts, 8 for each token) and mistralai/Mixtral-8x7B-v0.1
// (hidden_size 4096, intermediate_size 14336, 8 experts, 2 for each token) on huggingface.co. Gate
// and up are one product. A GPU of 64 or 32 has 4 or 8 of DeepSeek-V3's experts.
constexpr std::string_view kDeepSeek = "DeepSeek-V3", kMixtral = "Mixtral-8x7B";
constexpr auto kContiguous = Grouping::contiguous, kMasked = Grouping::masked,
               kGradient = Grouping::gradient;

constexpr GroupedShape kShapes[] = {
    {kContiguous, 4, 32768, 0, 4096, 7168, true, Suite::quick, kDeepSeek, "experts' gate and up"},
    {kContiguous, 4, 32768, 0, 7168, 2048, true, Suite::full, kDeepSeek, "experts' down"},
    {kContiguous, 8, 32768, 0, 4096, 7168, false, Suite::full, kDeepSeek, "experts' gate and up"},
    {kContiguous, 8, 8192, 0, 4096, 7168, true, Suite::full, kDeepSeek, "experts' gate and up"},
    {kContiguous, 32, 8192, 0, 4096, 7168, true, Suite::full, kDeepSeek, "experts' gate and up"},
    {kContiguous, 32, 8192, 0, 7168, 2048, true, Suite::full, kDeepSeek, "experts' down"},
    {kContiguous, 8, 16384, 0, 28672, 4096, true, Suite::full, kMixtral, "experts' gate and up"},
    {kContiguous, 8, 16384, 0, 4096, 14336, true, Suite::full, kMixtral, "experts' down"},
    {kMasked, 4, 1024, 256, 4096, 7168, true, Suite::full, kDeepSeek, "experts' gate and up"},
    {kMasked, 8, 512, 64, 7168, 2048, true, Suite::full, kDeepSeek, "experts' down"},
    {kMasked, 32, 256, 16, 4096, 7168, true, Suite::full, kDeepSeek, "experts' gate and up"},
    {kGradient, 4, 32768, 0, 4096, 7168, true, Suite::full, kDeepSeek, "experts' gate and up"},
    {kGradient, 8, 32768, 0, 7168, 2048, false, Suite::full, kDeepSeek, "experts' down"},
    {kGradient, 32, 8192, 0, 4096, 7168, true, Suite::full, kDeepSeek, "experts' gate and up"},
    {kGradient, 8, 16384, 0, 4096, 14336, true, Suite::full, kMixtral, "experts' down"},
};

}  // namespace

std::span<const GroupedShape> grouped_shapes() { return kShapes; }

std::vector<int> rows_of_groups(const GroupedShape& shape) {
  const int all = shape.grouping == Grouping::masked ? shape.used * shape.groups : shape.rows;
  const int most = shape.rows;
  std::vector<double> weights;
  for (int g = 0; g < shape.groups; ++g) {
    const double unit =
        static_cast<double>(splitmix64(static_cast<std::uint64_t>(g)) >> 11) * 0x1p-53;
    weights.push_back(!shape.uneven ? 1 : g % 8 == 7 ? 0 : 0.1 + unit * unit);
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int> rows;
  double before = 0;
  int given = 0;
  for (const double weight : weights) {
    before += weight;
    const int end = static_cast<int>(all * (before / total));
    rows.push_back(std::min(end - given, most));
    given = end;
  }
  return rows;
}

std::vector<int> sizes_of_groups(const GroupedShape& shape) {
  std::vector<int> sizes = rows_of_groups(shape);
  if (shape.grouping != Grouping::masked)
    std::partial_sum(sizes.begin(), sizes.end(), sizes.begin());
  return sizes;
}

}  // namespace assay::kernels
