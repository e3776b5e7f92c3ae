// SPDX-License-Identifier: Apache-2.0
// The layers that skinny products are measured in.
#pragma once
#include <span>
#include <string_view>

#include "harness/probe.hpp"

namespace assay::kernels {

// n outputs and k inputs of a model's layer.
struct SkinnyLayer {
  int n, k;
  Suite suite = Suite::full;
  std::string_view model = {}, layer = {};  // empty: of no model
};

std::span<const SkinnyLayer> skinny_layers();

// Tokens: of one sequence, of a few, of a batch.
constexpr int kSkinnyTokens[] = {1, 2, 4, 8, 16, 32, 64};

}  // namespace assay::kernels
