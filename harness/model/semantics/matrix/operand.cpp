// SPDX-License-Identifier: Apache-2.0
#include "harness/model/semantics/matrix/operand.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::model {
namespace {

constexpr std::size_t kChunk = 16;  // bytes that every swizzle leaves together

struct Laid {
  Epoch epoch;
  std::uint32_t site = 0, thread = 0;
  ptx::Swizzle swizzle = ptx::Swizzle::none;
};

struct State : Extension {
  std::vector<Laid> chunks;
};

// What a matrix descriptor can say, too.
std::optional<ptx::Swizzle> of_descriptors(MapSwizzle swizzle) {
  switch (swizzle) {
    case MapSwizzle::none:
      return ptx::Swizzle::none;
    case MapSwizzle::bytes32:
      return ptx::Swizzle::bytes32;
    case MapSwizzle::bytes64:
      return ptx::Swizzle::bytes64;
    case MapSwizzle::bytes128:
      return ptx::Swizzle::bytes128;
    case MapSwizzle::bytes128_atoms32:
      return ptx::Swizzle::bytes128_atoms32;
    default:
      return {};
  }
}

const char* name(ptx::Swizzle swizzle) {
  static constexpr const char* kNames[] = {"no swizzle", "the 32-byte swizzle",
                                           "the 64-byte swizzle", "the 128-byte swizzle",
                                           "the 128-byte swizzle of 32-byte atoms"};
  return kNames[static_cast<int>(swizzle)];
}

State& state_of(const Where& where) { return where.cta->extension<State>("swizzle"); }

// Of what others than tensor copies wrote last nothing is known. Returns false, and reports it,
// where the descriptor says another swizzle.
bool check_swizzle(Run& run, const Where& where, ptx::Swizzle swizzle, const Actor& reader) {
  const auto& chunks = state_of(where).chunks;
  if (where.at / kChunk >= chunks.size()) return true;
  const Laid& laid = chunks[where.at / kChunk];
  if (laid.epoch.time == 0 || laid.swizzle == swizzle) return true;
  bool still_there = true;
  where.shadow->access(where.at, kChunk, [&](const Cell& cell, std::size_t) {
    still_there &= cell.write.epoch == laid.epoch && cell.write.site == laid.site;
  });
  if (!still_there) return true;
  const Place here = run.place_of(reader.thread, reader.site),
              there = run.place_of(laid.thread, laid.site);
  run.report("matrix.swizzle",
             std::string("the matrix descriptor says ") + name(swizzle) +
                 ", and the tensor map of the copy that brought the operand says " +
                 name(laid.swizzle),
             here, &there, "the same swizzle in the tensor map and in the matrix descriptor");
  return false;
}

}  // namespace

void note_swizzle(const Where& where, std::size_t bytes, MapSwizzle swizzle, const Actor& writer) {
  const auto laid = of_descriptors(swizzle);
  auto& chunks = state_of(where).chunks;
  if (chunks.empty()) chunks.resize(where.cta->shared.size() / kChunk + 1);
  for (std::size_t at = where.at / kChunk; at * kChunk < where.at + bytes; ++at)
    chunks[at] = laid ? Laid{writer.epoch, writer.site, writer.thread, *laid} : Laid{};
}

void check_operand(Run& run, Cta& from, const Cta& cta, const matrix::SharedOperand& operand,
                   const matrix::OperandShape& shape, const Actor& reader) {
  const std::uint32_t rank = static_cast<std::uint32_t>(cta.rank) << kRankShift;
  const int count = matrix::chunk_count(shape);
  bool same = true;
  for (int k = 0; k < count; ++k) {
    const Where where =
        run.resolve_shared(from, matrix::chunk(operand, shape, k).address | rank, kChunk, kChunk);
    run.check_read(where, kChunk, reader);
    same = same && check_swizzle(run, where, operand.swizzle, reader);
  }
}

}  // namespace assay::model
