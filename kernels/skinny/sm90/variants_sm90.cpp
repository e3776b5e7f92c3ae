// SPDX-License-Identifier: Apache-2.0
#include "kernels/skinny/sm90/variants_sm90.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernels/skinny/skinny.hpp"

namespace assay::kernels {
namespace {

// As the source spells a format.
std::string format(SkinnyWeights weights) {
  std::string text = name(weights);
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

}  // namespace

std::span<const SkinnyVariantSm90> skinny_s8_sm90();
std::span<const SkinnyVariantSm90> skinny_e4m3_sm90();
std::span<const SkinnyVariantSm90> skinny_s4_sm90();
std::span<const SkinnyVariantSm90> skinny_s2_sm90();
std::span<const SkinnyVariantSm90> skinny_mxf4_sm90();
std::span<const SkinnyVariantSm90> skinny_nvf4_sm90();

std::string SkinnyVariantSm90::name() const {
  return fmt::format("128x{}x{}_s{}", columns, stage_elements, stages);
}

std::string SkinnyVariantSm90::kernel_name() const {
  return fmt::format("skinny_sm90<assay::kernels::{}, {}, {}, {}>", format(weights), columns,
                     line_bytes, lines);
}

std::string SkinnyVariantSm90::symbol() const {
  const std::string f = format(weights);
  return fmt::format("skinny_sm90INS0_{}{}ELi{}ELi{}ELi{}E", f.size(), f, columns, line_bytes,
                     lines);
}

std::span<const SkinnyVariantSm90> skinny_variants_sm90(SkinnyWeights weights) {
  switch (weights) {
    case SkinnyWeights::bf16:
      return {};  // dense products do those
    case SkinnyWeights::s8:
      return skinny_s8_sm90();
    case SkinnyWeights::e4m3:
      return skinny_e4m3_sm90();
    case SkinnyWeights::s4:
      return skinny_s4_sm90();
    case SkinnyWeights::s2:
      return skinny_s2_sm90();
    case SkinnyWeights::mxf4:
      return skinny_mxf4_sm90();
    default:
      return skinny_nvf4_sm90();
  }
}

const SkinnyVariantSm90& skinny_variant_for_sm90(SkinnyWeights weights, int tokens) {
  return *std::ranges::find_if(skinny_variants_sm90(weights),
                               [=](const SkinnyVariantSm90& v) { return v.columns >= tokens; });
}

}  // namespace assay::kernels
