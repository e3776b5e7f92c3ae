// SPDX-License-Identifier: Apache-2.0
#include "harness/model/tensor_memory/instruction.hpp"

#include <fmt/format.h>

#include "harness/model/violation.hpp"

namespace assay::model {
namespace {

using enum ptx::tcgen05::Kind;
using ptx::tcgen05::Accumulator;
using ptx::tcgen05::Element;
using ptx::tcgen05::Kind;
using ptx::tcgen05::Scale;

template <class... Values>
void require(bool holds, const char* rule, fmt::format_string<Values...> text, Values&&... values) {
  if (!holds) throw Violation(rule, fmt::format(text, std::forward<Values>(values)...));
}

bool is_packed(Kind kind) { return kind == mxf4 || kind == mxf4nvf4; }

Element element_of(Kind kind, std::uint32_t code) {
  for (int i = 0; i <= static_cast<int>(Element::s8); ++i) {
    const auto element = static_cast<Element>(i);
    try {
      if (ptx::tcgen05::element_code(kind, element) == code) return element;
    } catch (const std::invalid_argument&) {
      continue;  // of another kind
    }
  }
  throw Violation("tcgen05.type",
                  fmt::format("this kind of tcgen05.mma has no element type {}", code));
}

// K of a dense A: 32 bytes of shared memory along it.
int dense_k(Kind kind) { return kind == tf32 ? 8 : kind == f16 ? 16 : is_packed(kind) ? 64 : 32; }

}  // namespace

MmaInstruction decode_instruction(Kind kind, std::uint32_t descriptor) {
  const auto bits = [&](int first, int count) { return descriptor >> first & ((1u << count) - 1); };
  const auto reserved = [&](int first, int count) {
    require(bits(first, count) == 0, "tcgen05.reserved",
            "bits {} to {} of the instruction descriptor {:#010x} are reserved and not 0", first,
            first + count - 1, descriptor);
  };
  const bool scaled = has_block_scales(kind), packed = is_packed(kind);
  MmaInstruction i{};
  i.kind = kind;
  i.a = element_of(kind, bits(7, 3));
  i.b = element_of(kind, bits(10, packed ? 2 : 3));
  i.n = static_cast<int>(bits(17, 6)) << 3;
  i.negate_a = bits(13, 1) != 0, i.negate_b = bits(14, 1) != 0;
  i.a_mn_major = bits(15, 1) != 0, i.b_mn_major = bits(16, 1) != 0;
  i.sparse = bits(2, 1) != 0;
  reserved(6, 1);
  if (scaled) {
    i.d = Accumulator::f32;
    i.m = static_cast<int>(bits(27, 2)) << 7;
    i.scale = static_cast<Scale>(bits(23, 1));
    i.a_byte = static_cast<int>(bits(29, 2)), i.b_byte = static_cast<int>(bits(4, 2));
    i.k96 = packed && bits(31, 1) != 0;
    reserved(0, 2);
    reserved(3, 1);
    reserved(24, 3);
    if (packed) reserved(12, 1);
    if (!packed) reserved(31, 1);
    require(kind == mxf4nvf4 || i.scale == Scale::ue8m0, "tcgen05.type",
            "only kind::mxf4nvf4 has scales of ue4m3");
    require(!packed || i.k96 || (i.a_byte % 2 == 0 && i.b_byte % 2 == 0), "tcgen05.scale_id",
            "scale ids {} and {} of the 4-bit kinds are not 0 or 2", i.a_byte, i.b_byte);
    require(!i.k96 || !i.sparse, "tcgen05.shape", "K = 96 is dense");
  } else {
    const std::uint32_t d = bits(4, 2);
    i.m = static_cast<int>(bits(24, 5)) << 4;
    i.d = static_cast<Accumulator>(d);
    i.sparsity_selector = static_cast<int>(bits(0, 2));
    i.saturate = bits(3, 1) != 0;
    i.largest_shift = bits(30, 2) == 0 ? 0 : 4 << bits(30, 2);
    reserved(23, 1);
    reserved(29, 1);
    require(kind == i8 ? d == 2 : d == 1 || (d == 0 && kind != tf32), "tcgen05.type",
            "this kind of tcgen05.mma has no D of type {}", d);
    require(kind != f16 || d == 1 || (i.a == Element::f16 && i.b == Element::f16), "tcgen05.type",
            "a D of f16 needs A and B of f16");
    require(!i.saturate || kind == i8, "tcgen05.reserved", "only kind::i8 saturates");
    require(i.sparse || i.sparsity_selector == 0, "tcgen05.reserved",
            "a dense MMA has no sparsity selector");
  }
  i.k = i.k96 ? 96 : dense_k(kind) * (i.sparse ? 2 : 1);
  return i;
}

void check_shape(const MmaInstruction& i, int ctas, bool ws) {
  const bool scaled = has_block_scales(i.kind);
  const auto refuse = [&](const char* why) {
    throw Violation("tcgen05.shape",
                    fmt::format("M = {}, N = {} with {} CTA{}{}: {}", i.m, i.n, ctas,
                                ctas == 1 ? "" : "s", ws ? " and .ws" : "", why));
  };
  if (ws) {
    if (ctas != 1 || scaled) refuse(".ws is for one CTA and without block scales");
    if (i.m != 32 && i.m != 64 && i.m != 128) refuse("M is 32, 64 or 128");
    if (i.n != 64 && i.n != 128 && (i.n != 256 || i.sparse))
      refuse("N is 64 or 128, of a dense A also 256");
  } else {
    const int least = scaled ? 128 : 64 * ctas;
    const bool only_256 = ctas == 2 && scaled && i.sparse;
    if (i.m != (ctas == 1 ? 128 : 256) && (i.m != least || only_256))
      refuse("M is 64 or 128 for each CTA, with block scales 128 or, of two CTAs, 256");
    // kind::i8: 8, 16, 24, 32, then in steps of 16; of two CTAs in steps of 32.
    const int step = (i.kind == i8 && ctas == 2) ? 32 : ctas == 2 ? 16 : 8;
    if (i.n < step || i.n > 256 || i.n % step != 0) refuse("N is no multiple of its step");
    if (i.kind == i8 && i.n > 32 && i.n % 16 != 0) refuse("N beyond 32 is a multiple of 16");
    // Table 39 gives K = 96 to two CTAs with M = 256, and leaves one CTA out, for which CUTLASS has
    // M = 128 (SM103_MXF4_ULTRA_SS_VS).
    if (i.k96 && i.m != 128 * ctas) refuse("K = 96 needs 128 rows for each CTA");
    const bool small = i.kind == i8 || i.kind == f8f6f4 || i.kind == mxf8f6f4;
    if (small && i.b_mn_major && i.n % (16 * ctas) != 0)
      refuse("N of a transposed 8-bit B is a multiple of 16 for each CTA");
  }
  require(!is_packed(i.kind) || (!i.a_mn_major && !i.b_mn_major), "tcgen05.transpose",
          "the 4-bit kinds transpose nothing");
  require(i.kind != i8 || (!i.negate_a && !i.negate_b), "tcgen05.negate",
          "kind::i8 negates nothing");
}

int tensor_memory_bits(Kind kind) {
  return kind == tf32 ? 32 : kind == f16 ? 16 : is_packed(kind) ? 4 : 8;
}

ptx::ScaleVector scale_vector(const MmaInstruction& i, bool block16) {
  require(has_block_scales(i.kind), "tcgen05.scale", "this kind has no block scales");
  require(!block16 || i.kind == mxf4nvf4, "tcgen05.scale",
          "only kind::mxf4nvf4 has a scale for every 16 elements");
  require(block16 || i.scale == Scale::ue8m0, "tcgen05.scale",
          "scales of ue4m3 are one for every 16 elements");
  require(!block16 || i.k96 || (i.a_byte == 0 && i.b_byte == 0), "tcgen05.scale_id",
          "four scales of a row have the scale id 0");
  require(!block16 || (i.a_byte % 2 == 0 && i.b_byte % 2 == 0), "tcgen05.scale_id",
          "six scales of a row have the scale id 0 or 2");
  if (block16) return ptx::ScaleVector::x4;
  return i.kind == mxf8f6f4 ? ptx::ScaleVector::x1 : ptx::ScaleVector::x2;
}

std::bitset<256> zero_column_mask(std::uint64_t descriptor, int m, int n) {
  std::bitset<256> mask;
  if ((descriptor >> 39 & 1) == 0) return mask;
  const int ones = static_cast<int>(descriptor >> 40 & 0xff) + 1;
  const int zeros = static_cast<int>(descriptor >> 48 & 0xff) + 1;
  const int parts = m == 128 ? 1 : m == 64 ? 2 : 4, width = n / parts;
  for (int part = 0; part < parts; ++part) {
    const bool starts_with_ones = (descriptor >> (32 + part) & 1) != 0;
    int at = static_cast<int>(descriptor >> (8 * part) & 0xff) + (starts_with_ones ? zeros : 0);
    for (int column = 0; column < width; ++column, ++at)
      mask[static_cast<std::size_t>(part * width + column)] = at % (zeros + ones) >= zeros;
  }
  return mask;
}

void Collector::access(CollectorUse use, std::uint64_t operand, bool ashift) {
  require(!ashift || (use != CollectorUse::use && use != CollectorUse::fill), "tcgen05.collector",
          ".ashift goes with neither .collector::a::use nor fill");
  if (use == CollectorUse::use || use == CollectorUse::last_use) {
    require(filled_, "tcgen05.collector", "the collector buffer is used but nothing filled it");
    require(operand_ == operand, "tcgen05.collector",
            "the collector buffer holds operand {:#x}, the MMA names {:#x}", operand_, operand);
  }
  filled_ = use == CollectorUse::fill || use == CollectorUse::use;
  operand_ = operand;
}

}  // namespace assay::model
