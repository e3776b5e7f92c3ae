// SPDX-License-Identifier: Apache-2.0
#include "probes/numerics/mma_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/instruction/ptx_text.hpp"

namespace assay::numerics {
namespace {

constexpr std::size_t kBatch = 256;  // MMAs of one launch

}  // namespace

KernelUse single_mma_kernel(const MmaInstruction& instruction, const std::string& entry,
                            Target target) {
  const MmaPtx ptx{instruction};
  return {
      .kernel = entry,
      .sass = sass_rules(instruction, target, 1),
      .ptx = ptx_text({.target = target,
                       .entry = entry,
                       .threads = instruction.threads(),
                       .declarations = ptx.declarations(),
                       .setup = ptx.setup(),
                       .loop = ptx.load_operands() + ptx.load_c() + ptx.multiply() + ptx.store_d() +
                               ptx.next_block(ptx.block_bytes()) + ptx.next_result()}),
      .emulated = emulated(instruction, target)};
}

MmaRunner::MmaRunner(State& s, const MmaInstruction& instruction, const std::string& entry)
    : s_(s),
      instruction_(instruction),
      layout_(instruction),
      kernel_(s, entry, instruction.threads(),
              kBatch * static_cast<std::size_t>(MmaPtx{instruction}.block_bytes()),
              kBatch * static_cast<std::size_t>(MmaPtx{instruction}.result_bytes())) {}

std::vector<Block> MmaRunner::run(const std::vector<Block>& blocks) const {
  const MmaPtx ptx{instruction_};
  std::vector<Block> results;
  for (std::size_t first = 0; first < blocks.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, blocks.size() - first);
    std::vector<std::byte> in(kBatch * static_cast<std::size_t>(ptx.block_bytes()));
    auto to = in.begin();
    for (std::size_t i = 0; i < count; ++i) to = std::ranges::copy(blocks[first + i], to).out;
    kernel_.set_inputs(in);
    const auto out = kernel_.outputs_after<std::byte>(static_cast<std::int64_t>(count));
    for (auto from = out.begin(); results.size() < first + count; from += ptx.result_bytes())
      results.emplace_back(from, from + ptx.result_bytes());
  }
  return results;
}

std::vector<Bits> MmaRunner::dots(const std::vector<Dot>& dots) const {
  std::vector<Block> blocks;
  for (const Dot& dot : dots) {
    Block& block = blocks.emplace_back(layout_.empty_block());
    for (int k = 0; k < instruction_.k; ++k) {
      const auto at = static_cast<std::size_t>(k);
      for (int row = 0; row < instruction_.m; ++row)
        layout_.put(block, Operand::a, {row, k}, dot.a[at]);
      for (int column = 0; column < instruction_.n; ++column)
        layout_.put(block, Operand::b, {k, column}, dot.b[at]);
    }
    for (int row = 0; row < instruction_.m; ++row)
      for (int column = 0; column < instruction_.n; ++column)
        layout_.put(block, Operand::d, {row, column}, dot.c);
  }
  std::vector<Bits> found;
  for (const Block& result : run(blocks)) {
    found.push_back(layout_.get(result, {0, 0}));
    for (int row = 0; row < instruction_.m; ++row)
      for (int column = 0; column < instruction_.n; ++column) {
        const Bits other = layout_.get(result, {row, column});
        s_.require(other == found.back(),
                   fmt::format("the same dot product is {:#x} in row 0, column 0 of D and {:#x} in "
                               "row {}, column {}",
                               found.back(), other, row, column));
      }
  }
  return found;
}

}  // namespace assay::numerics
