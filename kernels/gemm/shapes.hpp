// SPDX-License-Identifier: Apache-2.0
// The shapes that matrix products are measured in.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace assay::kernels {

// A layer of a language model: y[m, n] = x[m, k] W[n, k]^T for m tokens.
struct GemmLayer {
  std::string_view model, layer;
  int n, k;
  bool curve = false;  // measured at every m from 1 to 512, beside the shapes below
};
std::span<const GemmLayer> gemm_layers();

// In which set a shape is. Quick and full are the suite's; the survey is too long for it and is
// what others are compared with at leisure (`assay torch --shapes survey`). Each holds those before
// it.
enum class GemmSet : std::uint8_t { quick, full, survey };

struct GemmShape {
  int m, n, k;
  GemmSet set;
  std::string_view model = {}, layer = {};  // empty: of no model
};
std::span<const GemmShape> gemm_shapes();

}  // namespace assay::kernels
