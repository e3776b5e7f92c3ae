// SPDX-License-Identifier: Apache-2.0
// PTX ISA 9.0, "Tensorcore 5th Generation Matrix Multiply-Accumulate Operations: tcgen05.mma,
// tcgen05.mma.sp, tcgen05.mma.ws, Data path layout organization".
#include "probes/tensor_core/tcgen05_form.hpp"

#include <fmt/format.h>

#include <string_view>

#include "harness/limits.hpp"

namespace assay::tcgen05 {
namespace {

namespace umma = ptx::tcgen05;
using umma::Element;
using umma::Kind;

}  // namespace

bool Type::fp4() const { return code == Kind::mxf4 || code == Kind::mxf4nvf4; }

bool Type::whole_bytes() const {
  const auto narrow = [](Element e) {
    return e == Element::e3m2 || e == Element::e2m3 || e == Element::e2m1;
  };
  return fp4() || !narrow(a_code);
}

const std::vector<Type>& types() {
  static const std::vector<Type> all = {
      {"bf16", "bf16", "bf16", "f16", "", "bf16", 16, Kind::f16, Element::bf16, Element::bf16},
      {"f16", "f16", "f16", "f16", "", "f16", 16, Kind::f16, Element::f16, Element::f16},
      {"tf32", "tf32", "tf32", "tf32", "", "tf32", 8, Kind::tf32, Element::tf32, Element::tf32},
      {"e4m3", "e4m3", "e4m3", "f8f6f4", "", "e4m3", 32, Kind::f8f6f4, Element::e4m3,
       Element::e4m3},
      {"e5m2", "e5m2", "e5m2", "f8f6f4", "", "e5m2", 32, Kind::f8f6f4, Element::e5m2,
       Element::e5m2},
      {"e4m3_e5m2", "e4m3", "e5m2", "f8f6f4", "", "e4m3", 32, Kind::f8f6f4, Element::e4m3,
       Element::e5m2},
      {"e4m3_e2m1", "e4m3", "e2m1_b8", "f8f6f4", "", "e4m3", 32, Kind::f8f6f4, Element::e4m3,
       Element::e2m1},
      {"e3m2", "e3m2", "e3m2", "f8f6f4", "", "e3m2", 32, Kind::f8f6f4, Element::e3m2,
       Element::e3m2},
      {"e2m3", "e2m3", "e2m3", "f8f6f4", "", "e2m3", 32, Kind::f8f6f4, Element::e2m3,
       Element::e2m3},
      {"e2m1", "e2m1_b8", "e2m1_b8", "f8f6f4", "", "e2m1", 32, Kind::f8f6f4, Element::e2m1,
       Element::e2m1},
      {"s8", "s8", "s8", "i8", "", "s8", 32, Kind::i8, Element::s8, Element::s8},
      {"u8", "u8", "u8", "i8", "", "u8", 32, Kind::i8, Element::u8, Element::u8},
      {"mxf8", "e4m3", "e4m3", "mxf8f6f4.block_scale.block32", "ue8m0", "mxf8", 32, Kind::mxf8f6f4,
       Element::e4m3, Element::e4m3},
      {"mxf8f6f4_e5m2_e5m2", "e5m2", "e5m2", "mxf8f6f4.block_scale.block32", "ue8m0", "mxf8", 32,
       Kind::mxf8f6f4, Element::e5m2, Element::e5m2},
      {"mxf8f6f4_e4m3_e2m1", "e4m3", "e2m1_b8", "mxf8f6f4.block_scale.block32", "ue8m0", "mxf8", 32,
       Kind::mxf8f6f4, Element::e4m3, Element::e2m1},
      {"mxf8f6f4_e3m2_e3m2", "e3m2", "e3m2", "mxf8f6f4.block_scale.block32", "ue8m0", "mxf6", 32,
       Kind::mxf8f6f4, Element::e3m2, Element::e3m2},
      {"mxf8f6f4_e2m3_e2m3", "e2m3", "e2m3", "mxf8f6f4.block_scale.block32", "ue8m0", "mxf6", 32,
       Kind::mxf8f6f4, Element::e2m3, Element::e2m3},
      {"mxf8f6f4_e2m1_e2m1", "e2m1_b8", "e2m1_b8", "mxf8f6f4.block_scale.block32", "ue8m0", "mxf6",
       32, Kind::mxf8f6f4, Element::e2m1, Element::e2m1},
      {"mxf4", "e2m1", "e2m1", "mxf4.block_scale.block32", "ue8m0", "mxf4", 64, Kind::mxf4,
       Element::e2m1, Element::e2m1},
      {"mxf4nvf4_block32", "e2m1", "e2m1", "mxf4nvf4.block_scale.block32", "ue8m0", "mxf4", 64,
       Kind::mxf4nvf4, Element::e2m1, Element::e2m1},
      {"nvf4", "e2m1", "e2m1", "mxf4nvf4.block_scale.block16", "e4m3", "mxf4", 64, Kind::mxf4nvf4,
       Element::e2m1, Element::e2m1},
      {"nvf4_k96", "e2m1", "e2m1", "mxf4nvf4.block_scale.block16", "e4m3", "mxf4", 96,
       Kind::mxf4nvf4, Element::e2m1, Element::e2m1},
  };
  return all;
}

// Of one CTA, 128 rows and more take a lane each. Fewer rows leave half of the lanes idle (M = 64),
// or the columns are split over the lanes: .ws, and M = 128 of two CTAs.
int Form::columns() const {
  if (weight_stationary) return n * m / 128;
  return ctas == 2 && m == 128 ? n / 2 : n;
}

bool Form::in_use(int lane) const {
  return weight_stationary || ctas == 2 || m == 128 || lane % 32 < 16;
}

const char* Form::accumulator() const { return type->integer() ? "s32" : f16_sum ? "f16" : "f32"; }

std::string Form::name() const {
  return fmt::format("{}/m{}n{}/{}{}{}{}{}", type->name, m, n, sparse ? "sparse_" : "",
                     a_in_tensor_memory ? "ts" : "ss", ctas == 2 ? "/cta2" : "",
                     weight_stationary ? "/ws" : "", f16_sum ? "/acc_f16" : "");
}

std::string Form::ptx(const Operands& o) const {
  return fmt::format(
      "tcgen05.mma{}{}.cta_group::{}.kind::{} [{}], {}, {}, {}{}, {}{};",
      weight_stationary ? ".ws" : "", sparse ? ".sp" : "", ctas, type->kind, o.d,
      a_in_tensor_memory ? "[" + o.a + "]" : o.a, o.b, sparse ? "[" + o.metadata + "], " : "",
      o.descriptor, type->scaled() ? fmt::format("[{}], [{}], ", o.scale_a, o.scale_b) : "", o.add);
}

std::uint32_t Form::descriptor() const {
  const umma::Instruction what{.kind = type->code,
                               .a = type->a_code,
                               .b = type->b_code,
                               .m = m,
                               .n = n,
                               .sparse = sparse,
                               .d = type->integer() ? umma::Accumulator::s32
                                    : f16_sum       ? umma::Accumulator::f16
                                                    : umma::Accumulator::f32};
  if (!type->scaled()) return umma::instruction_descriptor(what);
  const bool powers_of_two = std::string_view(type->scale) == "ue8m0";
  return umma::instruction_descriptor(
      what,
      {.type = powers_of_two ? umma::Scale::ue8m0 : umma::Scale::ue4m3, .k96 = type->k == 96});
}

std::string Form::opcode(Target target) const {
  std::string opcode = type->fp4()                                                  ? "UTCOMMA"
                       : type->integer()                                            ? "UTCIMMA"
                       : type->code == Kind::f8f6f4 || type->code == Kind::mxf8f6f4 ? "UTCQMMA"
                                                                                    : "UTCHMMA";
  if (weight_stationary) opcode += ".WS";
  if (ctas == 2) opcode += ".2CTA";
  // The targets' names for scales of blocks of 16.
  if (type->fp4() && std::string_view(type->scale) == "e4m3")
    opcode += has(target, Feature::block16_suffix) ? ".BLOCK16" : ".4X";
  return opcode;
}

Limit Form::limit(Target target) const {
  return sparse ? limits::sparse_tensor(target, type->limit) : limits::tensor(target, type->limit);
}

// sm_103 has no integers, and K = 96 of its own.
std::vector<Target> Form::targets() const {
  if (type->integer()) return targets_with(Feature::tcgen05_integers);
  if (type->k == 96) return targets_with(Feature::tcgen05_k96);
  return targets_with(Feature::tcgen05);
}

}  // namespace assay::tcgen05
