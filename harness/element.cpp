// SPDX-License-Identifier: Apache-2.0
#include "harness/element.hpp"

#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <bit>
#include <map>

#include "harness/callable.hpp"
#include "harness/error.hpp"

namespace assay {
namespace {

using Bits = std::uint64_t;

Bits f32_bits(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }
double f32_value(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
double half_value(unsigned short bits) {
  __half_raw raw;
  raw.x = bits;
  return __half2float(__half(raw));
}

// Round to nearest even at bit `at` of a float, whose lower bits are then cleared.
Bits f32_rounded(double value, int at) {
  const Bits bits = f32_bits(value);
  const Bits half = (Bits{1} << (at - 1)) - 1 + ((bits >> at) & 1);
  return (bits + half) >> at << at & 0xffffffffu;
}

Bits low(double value, int bits) {
  return static_cast<std::uint8_t>(static_cast<int>(value)) & ((1u << bits) - 1);
}

Bits fp8_bits(double value, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(value, __NV_SATFINITE, kind);
}
double fp8_value(Bits bits, __nv_fp8_interpretation_t kind) {
  return half_value(__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(bits), kind).x);
}
Bits fp6_bits(double value, __nv_fp6_interpretation_t kind) {
  return __nv_cvt_double_to_fp6(value, kind, cudaRoundNearest);
}
double fp6_value(Bits bits, __nv_fp6_interpretation_t kind) {
  return half_value(__nv_cvt_fp6_to_halfraw(static_cast<unsigned char>(bits), kind).x);
}
Bits e2m1_bits(double value) { return __nv_cvt_double_to_fp4(value, __NV_E2M1, cudaRoundNearest); }
double e2m1_value(Bits bits) {
  return half_value(__nv_cvt_fp4_to_halfraw(static_cast<unsigned char>(bits), __NV_E2M1).x);
}

double ue8m0_value(Bits bits) {
  return f32_value(Bits{__nv_cvt_e8m0_to_bf16raw(static_cast<unsigned char>(bits)).x} << 16);
}

struct Format {
  int bits;  // of the container
  Bits (*encode)(double);
  double (*decode)(Bits);
};

const Format& format_of(const std::string& type) {
  static const std::map<std::string, Format> formats = {
      {"f64",
       {64, [](double v) { return std::bit_cast<Bits>(v); },
        [](Bits b) { return std::bit_cast<double>(b); }}},
      {"f32", {32, f32_bits, f32_value}},
      // A float whose low 13 bits do not count.
      {"tf32", {32, [](double v) { return f32_rounded(v, 13); }, f32_value}},
      {"s32",
       {32, [](double v) { return Bits{static_cast<std::uint32_t>(static_cast<std::int64_t>(v))}; },
        [](Bits b) { return static_cast<double>(static_cast<std::int32_t>(b)); }}},
      {"u32",
       {32, [](double v) { return Bits{static_cast<std::uint32_t>(v)}; },
        [](Bits b) { return static_cast<double>(static_cast<std::uint32_t>(b)); }}},
      {"f16",
       {16, [](double v) { return Bits{__half_raw(__double2half(v)).x}; },
        [](Bits b) { return half_value(static_cast<unsigned short>(b)); }}},
      {"bf16",
       {16, [](double v) { return f32_rounded(v, 16) >> 16; },
        [](Bits b) { return f32_value(b << 16); }}},
      {"e4m3",
       {8, [](double v) { return fp8_bits(v, __NV_E4M3); },
        [](Bits b) { return fp8_value(b, __NV_E4M3); }}},
      {"e5m2",
       {8, [](double v) { return fp8_bits(v, __NV_E5M2); },
        [](Bits b) { return fp8_value(b, __NV_E5M2); }}},
      {"e3m2",
       {8, [](double v) { return fp6_bits(v, __NV_E3M2); },
        [](Bits b) { return fp6_value(b, __NV_E3M2); }}},
      {"e2m3",
       {8, [](double v) { return fp6_bits(v, __NV_E2M3); },
        [](Bits b) { return fp6_value(b, __NV_E2M3); }}},
      {"s8",
       {8, [](double v) { return low(v, 8); },
        [](Bits b) { return static_cast<double>(static_cast<std::int8_t>(b)); }}},
      {"u8",
       {8, [](double v) { return low(v, 8); }, [](Bits b) { return static_cast<double>(b); }}},
      {"s4",
       {4, [](double v) { return low(v, 4); },
        [](Bits b) { return static_cast<double>(static_cast<int>(b ^ 8) - 8); }}},
      {"u4",
       {4, [](double v) { return low(v, 4); }, [](Bits b) { return static_cast<double>(b); }}},
      {"b1",
       {1, [](double v) { return low(v, 1); }, [](Bits b) { return static_cast<double>(b); }}},
      {"ue8m0", {8, [](double v) { return Bits{ue8m0_bits(v, Ue8m0Rounding::rp)}; }, ue8m0_value}},
      {"e2m1", {4, e2m1_bits, e2m1_value}},
      {"e2m1_b8",
       {8, [](double v) { return e2m1_bits(v) << 2; }, [](Bits b) { return e2m1_value(b >> 2); }}}};
  const auto found = formats.find(type);
  if (found == formats.end()) throw Error(ExitCode::usage, "unknown element type '" + type + "'");
  return found->second;
}

Bits mask(int bits) { return bits == 64 ? ~Bits{0} : (Bits{1} << bits) - 1; }

}  // namespace

std::uint8_t ue8m0_bits(double value, Ue8m0Rounding rounding) {
  return __nv_cvt_double_to_e8m0(value, __NV_SATFINITE,
                                 rounding == Ue8m0Rounding::rz ? cudaRoundZero : cudaRoundPosInf);
}

int element_bits(const std::string& type) { return format_of(type).bits; }

std::uint64_t pack(const std::string& type, int bits, const Callable<double()>& next) {
  const Format& format = format_of(type);
  Bits packed = 0;
  for (int at = 0; at < bits; at += format.bits)
    packed |= (format.encode(next()) & mask(format.bits)) << at;
  return packed;
}

std::uint64_t pack(const std::string& type, int bits, double value) {
  return pack(type, bits, [value] { return value; });
}

bool is_integer(const std::string& type) {
  return type == "b1" || ((type[0] == 's' || type[0] == 'u') && type[1] != 'e');
}

double unpack(const std::string& type, std::uint64_t packed) {
  const Format& format = format_of(type);
  return format.decode(packed & mask(format.bits));
}

}  // namespace assay
