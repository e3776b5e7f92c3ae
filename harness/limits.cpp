// SPDX-License-Identifier: Apache-2.0
#include "harness/limits.hpp"

#include <array>
#include <string>

namespace assay::limits {
namespace {

// sm_89, sm_90a, sm_100a, sm_103a, sm_120a. 0: not offered or not known.
using PerClock = std::array<double, 5>;

struct Row {
  std::string_view element;
  PerClock dense;
};

// NVIDIA H100 whitepaper (table 3), Ada and RTX Blackwell whitepapers, Blackwell datasheets, as
// collected in OpenXLA's cuda_core_info_table.cc. GeForce parts of sm_89 and sm_120 halve 16-bit
// and 8-bit floats with f32 accumulation: the figures here are the full chips', and those parts'
// with f16 accumulation.
constexpr PerClock k8Bit = {2048, 8192, 16384, 16384, 2048};
// No 8-bit container before Blackwell; there they run as 8-bit floats do unless block-scaled.
constexpr PerClock kNarrow = {0, 0, 16384, 16384, 2048};
constexpr PerClock kFp4 = {0, 0, 32768, 49152, 4096};
constexpr Row kTensor[] = {{"f64", {0, 256, 128, 0, 0}},
                           {"tf32", {512, 2048, 4096, 4096, 512}},
                           {"f16", {1024, 4096, 8192, 8192, 1024}},
                           {"bf16", {1024, 4096, 8192, 8192, 1024}},
                           {"e4m3", k8Bit},
                           {"e5m2", k8Bit},
                           {"s8", {2048, 8192, 16384, 512, 2048}},
                           {"u8", {2048, 8192, 16384, 512, 2048}},
                           {"s4", {4096, 0, 0, 0, 0}},
                           {"e3m2", kNarrow},
                           {"e2m3", kNarrow},
                           {"e2m1", kNarrow},
                           {"mxf8", kNarrow},
                           {"mxf6", kNarrow},
                           {"mxf4", kFp4},
                           {"nvf4", kFp4}};

constexpr const char* kTensorSource =
    "vendor whitepapers and datasheets: dense peak / (SMs x clock)";

// No datasheet states one for b1 after A100's, where it is eight times s8's (NVIDIA A100
// whitepaper, table 1). Hopper's wgmma has the same proportion in its shapes: k = 256 against 32.
constexpr double kB1PerS8 = 8;
constexpr const char* kB1Source = "8 x the s8 peak, as in the A100 whitepaper, table 1";

std::size_t column(Target target) { return static_cast<std::size_t>(target) - 1; }

double dense(Target target, std::string_view element) {
  if (target == Target::host) return 0;
  for (const Row& row : kTensor)
    if (row.element == element) return row.dense[column(target)];
  return 0;
}

// CUPTI 13.0's name, after "sm__ops_path_tensor_", of the operations of the fastest family of each
// target's chips; "" where it has none.
struct CounterRow {
  std::string_view elements;  // each between spaces
  std::array<const char*, 5> names;
};
constexpr CounterRow kCounterRows[] = {
    {" f64 ", {"", "src_fp64", "src_fp64", "", ""}},
    {" tf32 ",
     {"src_tf32_dst_fp32", "op_hgmma_src_tf32_dst_fp32", "op_utchmma_src_tf32_dst_fp32",
      "op_utchmma_src_tf32_dst_fp32", "op_hmma_src_tf32_dst_fp32"}},
    {" f16 ",
     {"src_fp16_dst_fp32", "op_hgmma_src_fp16", "op_utchmma_src_fp16_dst_fp32",
      "op_utchmma_src_fp16_dst_fp32", "op_hmma_src_fp16_dst_fp32"}},
    {" bf16 ",
     {"src_bf16_dst_fp32", "op_hgmma_src_bf16_dst_fp32", "op_utchmma_src_bf16_dst_fp32",
      "op_utchmma_src_bf16_dst_fp32", "op_hmma_src_bf16_dst_fp32"}},
    {" e4m3 e5m2 mxf8 ",
     {"src_fp8", "src_fp8", "op_utcqmma_src_fp4_fp6_fp8_dst_fp32", "op_utcqmma_src_fp8_dst_fp32",
      "src_fp8_dst_fp32"}},
    {" e3m2 e2m3 e2m1 mxf6 ",
     {"", "", "op_utcqmma_src_fp4_fp6_fp8_dst_fp32", "op_utcqmma_src_fp4_fp6_dst_fp32",
      "src_fp4_fp6_dst_fp32"}},
    {" mxf4 nvf4 ",
     {"", "", "op_utcomma_src_fp4_dst_fp32", "op_utcomma_src_fp4_dst_fp32", "src_fp4_dst_fp32"}},
    {" s8 u8 ",
     {"src_int8", "op_igmma_src_int8", "op_utcimma_src_int8", "op_imma_src_int8",
      "op_imma_src_int8"}},
    {" s4 ", {"src_int4", "", "", "", ""}},
    {" b1 ", {"", "op_bgmma_src_int1", "", "", ""}}};

std::string counter(Target target, std::string_view element, bool sparse) {
  const std::string listed = " " + std::string(element) + " ";
  for (const CounterRow& row : kCounterRows) {
    if (row.elements.find(listed) == std::string_view::npos) continue;
    const std::string name = row.names[column(target)];
    if (name.empty()) return {};
    const bool one_form = element == "f64" || element == "b1";
    const char* suffix = one_form ? "" : sparse ? "_sparsity_on" : "_sparsity_off";
    return "sm__ops_path_tensor_" + name + suffix;
  }
  return {};
}

}  // namespace

Limit tensor(Target target, std::string_view element) {
  const bool b1 = element == "b1" && target == Target::sm_90a;
  const double value = b1 ? kB1PerS8 * dense(target, "s8") : dense(target, element);
  if (value <= 0) return {};
  return {value, b1 ? kB1Source : kTensorSource, counter(target, element, false)};
}

Limit sparse_tensor(Target target, std::string_view element) {
  if (element == "f64" || element == "b1") return {};  // have no sparse form
  const bool fp4 = element == "mxf4" || element == "nvf4";
  // B300 datasheet: 18 PFLOP/s sparse against 13.5 dense.
  const double factor = target == Target::sm_103a && fp4 ? 4.0 / 3 : 2.0;
  const double value = factor * dense(target, element);
  if (value <= 0) return {};
  return {value, "vendor whitepapers and datasheets: sparse peak / (SMs x clock)",
          counter(target, element, true)};
}

Limit ffma() { return {256, "128 FP32 lanes per SM, CUDA C++ Best Practices Guide 13.0, 12.1.1"}; }

Limit special_function(Target target, std::string_view function) {
  const bool doubled = target == Target::sm_103a && function == "ex2";
  return {doubled ? 32.0 : 16.0,
          "special function results per clock and SM, CUDA C++ Best Practices Guide 13.0, 12.1.1"};
}

}  // namespace assay::limits
