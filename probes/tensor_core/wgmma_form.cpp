// SPDX-License-Identifier: Apache-2.0
#include "probes/tensor_core/wgmma_form.hpp"

#include <fmt/format.h>

#include "harness/element.hpp"
#include "harness/limits.hpp"

namespace assay {
namespace {

constexpr int kStepBytes = 32;  // of a row of A that one instruction takes
// Of shared memory per clock and SM: CUDA C++ Best Practices Guide 13.0, "Shared Memory" (32 banks
// of four bytes).
constexpr double kSharedBytesPerClock = 128;

bool is_float(const std::string& element) {
  return element != "s8" && element != "u8" && element != "b1";
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

int WgmmaForm::k() const { return kStepBytes * 8 / element_bits(a) * (sparse ? 2 : 1); }

int WgmmaForm::steps() const { return kRowBytes / kStepBytes / (sparse ? 2 : 1); }

int WgmmaForm::registers() const { return kRows * n / kWarpgroup * element_bits(accumulator) / 32; }

Limit WgmmaForm::limit(Target target) const {
  return sparse ? limits::sparse_tensor(target, a) : limits::tensor(target, a);
}

double WgmmaForm::shared_memory_cycles() const {
  const int of_a = in_registers ? 0 : kRows * kStepBytes;
  const int of_b = n * kStepBytes * (sparse ? 2 : 1);
  return (of_a + of_b) / kSharedBytesPerClock;
}

std::string WgmmaForm::source() const {
  return std::string(sparse ? "sparse_" : "") + (in_registers ? "rs" : "ss");
}

std::string WgmmaForm::name() const {
  return fmt::format("{}/m64n{}/{}{}", a == b ? a : a + "_" + b, n, source(),
                     accumulator == "f16" ? "/acc_f16" : "");
}

Params WgmmaForm::params() const {
  return {{"a", a},
          {"b", b},
          {"accumulate", accumulator},
          {"n", std::int64_t{n}},
          {"k", std::int64_t{k()}},
          {"source", source()}};
}

WgmmaForm WgmmaForm::of(const Case& c) {
  const std::string& source = c.text("source");
  return {.a = c.text("a"),
          .b = c.text("b"),
          .accumulator = c.text("accumulate"),
          .n = static_cast<int>(c.i64("n")),
          .in_registers = source.ends_with("rs"),
          .sparse = source.starts_with("sparse")};
}

std::string WgmmaForm::ptx(const std::string& d, const std::string& from, const std::string& to,
                           const std::string& metadata) const {
  // After the predicate: A and B not negated; 16-bit operands in shared memory not transposed.
  std::string flags = is_float(a) ? ", 1, 1" : "";
  if (element_bits(a) == 16) flags += in_registers ? ", 0" : ", 0, 0";
  return fmt::format(
      "  wgmma.mma_async{}.sync.aligned.m64n{}k{}.{}.{}.{}{} {{{}}}, {}, {}, {}%add{};\n",
      sparse ? ".sp" : "", n, k(), accumulator, a, b, a == "b1" ? ".and.popc" : "", d, from, to,
      sparse ? metadata + ", 0, " : "", flags);
}

std::string WgmmaForm::opcode() const {
  const int bits = element_bits(a);
  const char* family = a == "b1" ? "BGMMA" : !is_float(a) ? "IGMMA" : bits == 8 ? "QGMMA" : "HGMMA";
  std::string types = is_float(a) ? "." + upper(accumulator) : "";
  if (bits == 8) types += "." + upper(a) + "." + upper(b);
  if (a == "bf16" || a == "tf32") types += "." + upper(a);
  if (a == "b1") types = ".AND.POPC";
  return fmt::format("{}{}.64x{}x{}{}", family, sparse ? ".SP" : "", n, k(), types);
}

}  // namespace assay
