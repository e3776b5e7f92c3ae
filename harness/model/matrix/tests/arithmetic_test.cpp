// SPDX-License-Identifier: Apache-2.0
#include "harness/model/matrix/arithmetic.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "harness/model/matrix/aligned_sum.hpp"
#include "harness/model/violation.hpp"

namespace assay::model::matrix {
namespace {

using numerics::Bits;

Word bits_of(Type type, double value) {
  return static_cast<Word>(numerics::encode(format_of(type), value));
}

struct Operands {
  std::vector<Word> a, b, c;
};

enum class Data { any_bits, similar, tiny, huge };

// `any_bits` has infinities, NaNs, subnormals and zeros of both signs.
Operands random_operands(const Arithmetic& x, Data data, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> fraction(-2, 2);
  std::uniform_int_distribution<int> near(-2, 2), rare(0, 15);
  const auto number = [&](Type type) -> Word {
    const auto& f = format_of(type);
    if (data == Data::any_bits) return static_cast<Word>(random() & (2 * f.sign_bit() - 1));
    if (rare(random) == 0) return rare(random) & 1 ? 0 : static_cast<Word>(f.sign_bit());
    const int half = type == x.c ? 1 : 2;
    const int exponent = data == Data::tiny   ? -126 / half
                         : data == Data::huge ? f.greatest_exponent() / half
                                              : 0;
    return bits_of(type, std::ldexp(fraction(random), exponent + near(random)));
  };
  Operands o;
  const auto fill = [&](std::vector<Word>& to, int count, Type type) {
    for (int i = 0; i < count; ++i) to.push_back(number(type));
  };
  fill(o.a, x.m * x.k, x.a);
  fill(o.b, x.n * x.k, x.b);
  fill(o.c, x.m * x.n, x.c);
  return o;
}

Word by_model(const Arithmetic& x, const Operands& o, std::size_t to) {
  const auto n = static_cast<std::size_t>(x.n), k = static_cast<std::size_t>(x.k);
  std::vector<Bits> a(o.a.begin() + static_cast<std::ptrdiff_t>(to / n * k),
                      o.a.begin() + static_cast<std::ptrdiff_t>((to / n + 1) * k));
  std::vector<Bits> b(o.b.begin() + static_cast<std::ptrdiff_t>(to % n * k),
                      o.b.begin() + static_cast<std::ptrdiff_t>((to % n + 1) * k));
  return static_cast<Word>(numerics::multiply_add(x.model, a, b, o.c.empty() ? 0 : o.c[to]));
}

struct Case {
  Unit unit;
  Type a, b, d;
  int m, n, k;
};
constexpr Case kHopper[] = {
    {Unit::wgmma, Type::bf16, Type::bf16, Type::f32, 64, 24, 16},
    {Unit::wgmma, Type::f16, Type::f16, Type::f32, 64, 8, 16},
    {Unit::wgmma, Type::f16, Type::f16, Type::f16, 64, 16, 16},
    {Unit::wgmma, Type::tf32, Type::tf32, Type::f32, 64, 8, 8},
    {Unit::wgmma, Type::e4m3, Type::e4m3, Type::f32, 64, 8, 32},
    {Unit::wgmma, Type::e4m3, Type::e5m2, Type::f32, 64, 8, 32},
    {Unit::wgmma, Type::e5m2, Type::e5m2, Type::f16, 64, 8, 32},
    {Unit::mma_sync, Type::bf16, Type::bf16, Type::f32, 16, 8, 8},
    {Unit::mma_sync, Type::e4m3, Type::e4m3, Type::f32, 16, 8, 32},
    {Unit::mma_sync, Type::e4m3, Type::e5m2, Type::f32, 16, 8, 16},
    {Unit::mma_sync, Type::e5m2, Type::e5m2, Type::f16, 16, 8, 32},
};

Arithmetic hopper(const Case& c) {
  return arithmetic_of({Machine::hopper, c.unit, c.a, c.b, c.d, c.d, c.m, c.n, c.k});
}

// Whichever way the sums of a form are computed, they are those of the model that the H200's were
// predicted with.
TEST(Arithmetic, IsTheMeasuredModelBitForBit) {
  for (const Case& c : kHopper) {
    const Arithmetic x = hopper(c);
    EXPECT_EQ(has_aligned_sums(x.model, x.k), c.unit == Unit::wgmma || c.a == Type::bf16);
    for (const Data data : {Data::any_bits, Data::similar, Data::tiny, Data::huge})
      for (const bool with_c : {true, false}) {
        Operands o = random_operands(x, data, 7);
        if (!with_c) o.c.clear();
        std::vector<Word> d(static_cast<std::size_t>(x.m * x.n));
        multiply(x, {o.a, o.b, o.c}, d);
        for (std::size_t to = 0; to < d.size(); ++to)
          ASSERT_EQ(d[to], by_model(x, o, to))
              << name(c.a) << " to " << name(c.d) << ", data " << static_cast<int>(data);
        if (!has_aligned_sums(x.model, x.k)) continue;
        std::vector<Word> baseline(d.size());
        aligned_sums(x.model, {x.m, x.n, x.k}, o.a, o.b, o.c, baseline, Vectors::baseline);
        EXPECT_EQ(baseline, d);
      }
  }
}

// Sums beyond 31 bits: sixteen of the greatest products of one sign and exponent, and C.
TEST(Arithmetic, HasRoomForTheGreatestSums) {
  for (const Type type : {Type::bf16, Type::f16}) {
    const Arithmetic x = hopper({Unit::wgmma, type, type, Type::f32, 64, 8, 16});
    Operands o;
    const double most = 2 - std::ldexp(1.0, -format_of(type).fraction_bits);
    o.a.assign(64 * 16, bits_of(type, most));
    o.b.assign(8 * 16, bits_of(type, -most));
    o.c.assign(64 * 8, bits_of(Type::f32, -(2 - 0x1p-23)));
    std::vector<Word> d(64 * 8);
    multiply(x, {o.a, o.b, o.c}, d);
    EXPECT_EQ(d[0], by_model(x, o, 0));
    EXPECT_NEAR(value_of(Type::f32, d[0]), -16 * most * most - 2, 1e-4);
  }
}

TEST(Arithmetic, CutsAsHopperDoes) {
  const Arithmetic x = hopper({Unit::wgmma, Type::bf16, Type::bf16, Type::f32, 64, 8, 16});
  EXPECT_EQ(x.certainty, Certainty::measured);
  Operands o;
  o.a.assign(64 * 16, 0);
  o.b.assign(8 * 16, bits_of(Type::bf16, 1));
  std::vector<Word> d(64 * 8);
  const auto sum = [&](double p, double q, double r) {
    o.a[0] = bits_of(Type::bf16, p);
    o.a[1] = bits_of(Type::bf16, q);
    o.a[2] = bits_of(Type::bf16, r);
    multiply(x, {o.a, o.b, {}}, d);
    return value_of(Type::f32, d[0]);
  };
  EXPECT_EQ(sum(1, -1, 0x1p-25), 0x1p-25);
  EXPECT_EQ(sum(1, -1, 0x1p-26), 0);
  EXPECT_EQ(sum(1, 0, 0x1p-23), 1 + 0x1p-23);
  EXPECT_EQ(sum(1, 0x1p-24, 0x1p-24), 1 + 0x1p-23);
  EXPECT_EQ(sum(-1, 0, -1.5 * 0x1p-23), -1 - 0x1p-23);  // cut, not rounded
  const Arithmetic fp8 = hopper({Unit::wgmma, Type::e4m3, Type::e4m3, Type::f32, 64, 8, 32});
  o.a.assign(64 * 32, 0);
  o.b.assign(8 * 32, bits_of(Type::e4m3, 1));
  o.c.assign(64 * 8, bits_of(Type::f32, 1 + 0x1p-14));
  multiply(fp8, {o.a, o.b, o.c}, d);
  EXPECT_EQ(value_of(Type::f32, d[0]), 1);  // even C alone keeps thirteen bits
}

TEST(Arithmetic, SpecialValues) {
  const Arithmetic x = hopper({Unit::wgmma, Type::bf16, Type::bf16, Type::f32, 64, 8, 16});
  Operands o;
  const auto d0 = [&](double a, double b, double c) {
    o.a.assign(64 * 16, 0);
    o.b.assign(8 * 16, 0);
    o.a[0] = bits_of(Type::bf16, a);
    o.b[0] = bits_of(Type::bf16, b);
    o.c.assign(64 * 8, bits_of(Type::f32, c));
    std::vector<Word> d(64 * 8);
    multiply(x, {o.a, o.b, o.c}, d);
    return d[0];
  };
  const double infinity = HUGE_VAL, nan = std::nan("");
  EXPECT_EQ(d0(infinity, 2, 0), 0x7f800000u);
  EXPECT_EQ(d0(infinity, -2, 0), 0xff800000u);
  EXPECT_EQ(d0(infinity, 0, 0), 0x7fffffffu);
  EXPECT_EQ(d0(1, 1, nan), 0x7fffffffu);
  EXPECT_EQ(d0(infinity, 1, -infinity), 0x7fffffffu);
  EXPECT_EQ(d0(-0.0, 1, -0.0), 0u);
  EXPECT_EQ(d0(1, 0, -0.0), 0u);
  EXPECT_EQ(d0(0x1p127, 2, 0), 0x7f800000u);
  EXPECT_EQ(d0(0x1p-100, 0x1p-49, 0), 1u);
  EXPECT_EQ(d0(0x1p-100, -0x1p-50, 0), 0x80000000u);  // too small for a subnormal
  EXPECT_EQ(d0(0x1p-130, 0x1p4, 0), 0x00800000u);     // a subnormal factor
}

TEST(Arithmetic, IntegersWrapOrSaturate) {
  Arithmetic x = arithmetic_of(
      {Machine::hopper, Unit::mma_sync, Type::s8, Type::u8, Type::s32, Type::s32, 8, 8, 16});
  const std::vector<Word> a(8 * 16, 0x80), b(8 * 16, 0xff), c(64, 0x80000000u);
  std::vector<Word> d(64);
  multiply(x, {a, b, c}, d);
  EXPECT_EQ(static_cast<std::int32_t>(d[0]),
            std::numeric_limits<std::int32_t>::max() - 128 * 255 * 16 + 1);
  x.saturate = true;
  multiply(x, {a, b, c}, d);
  EXPECT_EQ(d[0], 0x80000000u);
  const Arithmetic s4 = arithmetic_of(
      {Machine::hopper, Unit::mma_sync, Type::s4, Type::u4, Type::s32, Type::s32, 8, 8, 32});
  const std::vector<Word> eights(8 * 32, 8), fifteens(8 * 32, 15);
  multiply(s4, {eights, fifteens, {}}, d);
  EXPECT_EQ(static_cast<std::int32_t>(d[5]), -8 * 15 * 32);
}

TEST(Arithmetic, CountsBits) {
  Arithmetic x = arithmetic_of(
      {Machine::hopper, Unit::mma_sync, Type::b1, Type::b1, Type::s32, Type::s32, 8, 8, 128});
  std::vector<Word> a(8 * 128), b(8 * 128), c(64, 5), d(64);
  for (std::size_t i = 0; i < 128; ++i) {
    a[i] = i % 2 == 0;
    b[i] = i % 4 == 0;
  }
  multiply(x, {a, b, c}, d);
  EXPECT_EQ(d[0], 32u + 5);
  x.bit_operation = BitOperation::bit_and;
  multiply(x, {a, b, c}, d);
  EXPECT_EQ(d[0], 32u + 5);
  EXPECT_EQ(d[1], 5u);
}

TEST(Arithmetic, DoublesAreFusedInOrder) {
  const Arithmetic x = arithmetic_of(
      {Machine::hopper, Unit::mma_sync, Type::f64, Type::f64, Type::f64, Type::f64, 8, 8, 4});
  std::vector<std::uint64_t> a(32, 0), b(32, std::bit_cast<std::uint64_t>(1.0)), c(64, 0), d(64);
  a[0] = std::bit_cast<std::uint64_t>(0x1p60);
  a[1] = std::bit_cast<std::uint64_t>(1.0);
  a[2] = std::bit_cast<std::uint64_t>(-0x1p60);
  a[3] = std::bit_cast<std::uint64_t>(3.0);
  multiply_f64(x, a, b, c, d);
  EXPECT_EQ(std::bit_cast<double>(d[0]), 3.0);
}

TEST(Arithmetic, ScalesBlocks) {
  Arithmetic x = arithmetic_of({Machine::blackwell, Unit::mma_sync, Type::e2m1, Type::e2m1,
                                Type::f32, Type::f32, 16, 8, 64});
  EXPECT_EQ(x.certainty, Certainty::bounded);
  x.scale = Scale::ue4m3;
  x.block = 16;
  EXPECT_EQ(x.scales(), 4);
  std::vector<Word> a(16 * 64, bits_of(Type::e2m1, 1.5)), b(8 * 64, bits_of(Type::e2m1, -2));
  std::vector<Word> scale_a(16 * 4, bits_of(Type::e4m3, 1)), scale_b(8 * 4, bits_of(Type::e4m3, 1));
  scale_a[1] = bits_of(Type::e4m3, 0.5);
  scale_b[2] = bits_of(Type::e4m3, 8);
  std::vector<Word> d(16 * 8);
  multiply(x, {a, b, {}, scale_a, scale_b}, d);
  EXPECT_EQ(value_of(Type::f32, d[0]), -3 * 16 * (1 + 0.5 + 8 + 1));
  EXPECT_EQ(value_of(Type::f32, d[9]), -3 * 16 * 4);
  x.scale = Scale::ue8m0;
  x.block = 32;
  scale_a.assign(16 * 2, 127);
  scale_b.assign(8 * 2, 127);
  scale_a[1] = 130;
  scale_b[3] = 0xff;
  multiply(x, {a, b, {}, scale_a, scale_b}, d);
  EXPECT_EQ(value_of(Type::f32, d[0]), -3 * 32 * 9);
  EXPECT_EQ(d[1], 0x7fffffffu);
}

// What a chip computes that cuts at 25 or 13 bits lies within the bound of what is exact.
TEST(Arithmetic, BoundCoversWhatWasMeasuredElsewhere) {
  for (const Case& c : {kHopper[0], kHopper[1], kHopper[3], kHopper[4], kHopper[8]}) {
    const Arithmetic chip = hopper(c);
    Arithmetic exact = chip;
    exact.certainty = Certainty::bounded;
    for (const Data data : {Data::similar, Data::tiny}) {
      const Operands o = random_operands(chip, data, 3);
      std::vector<Word> found(static_cast<std::size_t>(c.m * c.n)), modelled(found.size());
      multiply(chip, {o.a, o.b, o.c}, found);
      multiply(exact, {o.a, o.b, o.c}, modelled);
      for (std::size_t to = 0; to < found.size(); ++to) {
        const double bound = error_bound(exact, {o.a, o.b, o.c}, static_cast<int>(to) / c.n,
                                         static_cast<int>(to) % c.n);
        EXPECT_LE(std::abs(value_of(c.d, found[to]) - value_of(c.d, modelled[to])), bound);
      }
    }
  }
}

TEST(Arithmetic, NegatesAndRefuses) {
  std::vector<Word> a{0x3f80, 0, 0x8000};
  negate(Type::bf16, a);
  EXPECT_EQ(a, (std::vector<Word>{0xbf80, 0x8000, 0}));
  EXPECT_THROW(arithmetic_of({Machine::hopper, Unit::wgmma, Type::bf16, Type::s8, Type::f32,
                              Type::f32, 64, 8, 16}),
               Violation);
  EXPECT_FALSE(find_type("f31"));
}

}  // namespace
}  // namespace assay::model::matrix
