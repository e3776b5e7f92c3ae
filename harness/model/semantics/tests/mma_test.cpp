// SPDX-License-Identifier: Apache-2.0
// mma.sync as PTX text, run by the model and compared with plain loops. Elements are small whole
// numbers and scales small powers of two, so that every sum is exact in any order.
#include <gtest/gtest.h>

#include <random>

#include "harness/element.hpp"
#include "harness/model/semantics/tests/mma_kernel.hpp"

namespace assay::model {
namespace {

struct Type {
  std::string name;  // as element.hpp spells it
  int bits;          // of what holds an element
};

// One form of 16 rows. `groups` of a sparse row: `group` elements, of which half are stored.
struct Form {
  std::string opcode;
  Type a, b;
  std::string c = "f32";
  int k = 16;
  int group = 0;  // 0: dense
  int selector = 0;
  bool ordered = true;
  int scales = 0;  // of a row
  std::string scale = "ue8m0";
  int byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
};

class Matrices {
 public:
  Matrices(const Form& form, std::uint64_t seed) : f_(form), random_(seed), words_(32 * kWords) {
    a_.assign(static_cast<std::size_t>(16 * f_.k), 0);
    b_.resize(static_cast<std::size_t>(8 * f_.k));
    c_.resize(16 * 8);
    for (double& v : b_) v = number(f_.b.name);
    for (double& v : c_) v = static_cast<double>(random_() % 33) - 16;
    if (f_.group)
      fill_sparse();
    else
      for (int row = 0; row < 16; ++row)
        for (int k = 0; k < f_.k; ++k) put_a(row, k, k, number(f_.a.name));
    const int each = 32 / f_.b.bits;
    for (int lane = 0; lane < 32; ++lane) {
      for (int r = 0; r < f_.k / each / 4; ++r)
        for (int i = 0; i < each; ++i)
          put(lane, 4 + r, f_.b, i, b_[at(lane / 4, each * (4 * r + lane % 4) + i)]);
      for (int r = 0; r < 4; ++r)
        word(lane, 8 + r) = static_cast<std::uint32_t>(pack(f_.c, 32, c_[d_at(lane, r)]));
    }
    if (f_.scales) fill_scales();
  }

  const Words& words() const { return words_; }

  // What lane's register r of D should be.
  double expected(int lane, int r) const {
    const std::size_t to = d_at(lane, r);
    const int row = static_cast<int>(to) / 8, column = static_cast<int>(to) % 8;
    double sum = c_[to];
    for (int k = 0; k < f_.k; ++k) {
      double product = a_[at(row, k)] * b_[at(column, k)];
      if (f_.scales) {
        const int block = k / (f_.k / f_.scales);
        product *= scale_a_[static_cast<std::size_t>(row * f_.scales + block)] *
                   scale_b_[static_cast<std::size_t>(column * f_.scales + block)];
      }
      sum += product;
    }
    return sum;
  }

 private:
  std::size_t at(int row, int k) const { return static_cast<std::size_t>(row * f_.k + k); }
  static std::size_t d_at(int lane, int r) {
    return static_cast<std::size_t>((lane / 4 + 8 * (r / 2)) * 8 + 2 * (lane % 4) + r % 2);
  }
  std::uint32_t& word(int lane, int index) {
    return words_[static_cast<std::size_t>(lane * kWords + index)];
  }
  double number(const std::string& type) {
    return type[0] == 'u' ? static_cast<double>(random_() % 4)
                          : static_cast<double>(random_() % 7) - 3;
  }
  void put(int lane, int index, const Type& type, int element, double value) {
    const std::uint64_t mask = type.bits == 32 ? 0xffffffffu : (1u << type.bits) - 1;
    word(lane, index) |=
        static_cast<std::uint32_t>((pack(type.name, 32, value) & mask) << (type.bits * element));
  }
  // Element `stored` of a row's registers, which counts at `k`.
  void put_a(int row, int k, int stored, double value) {
    a_[at(row, k)] = value;
    const int each = 32 / f_.a.bits, quarter = stored / each;
    put(row % 8 * 4 + quarter % 4, row / 8 + 2 * (quarter / 4), f_.a, stored % each, value);
  }
  void fill_sparse() {
    const int groups = f_.k / f_.group, lanes = groups / 4;  // of a quad, that hold metadata
    for (int row = 0; row < 16; ++row)
      for (int g = 0; g < groups; ++g) {
        int first = static_cast<int>(random_() % 4), second = static_cast<int>(random_() % 3);
        if (second >= first) ++second;
        if (f_.ordered && first > second) std::swap(first, second);
        std::uint32_t four = static_cast<std::uint32_t>(first | second << 2);
        const int begin = g * f_.group, stored = begin / 2;
        if (f_.group == 2) {  // tf32: one of two, in halves of an element
          four = first % 2 ? 0b1110 : 0b0100;
          put_a(row, begin + first % 2, stored, number(f_.a.name));
        } else {
          const int unit = f_.group / 4;
          for (int i = 0; i < 2 * unit; ++i)
            put_a(row, begin + (i < unit ? first : second) * unit + i % unit, stored + i,
                  number(f_.a.name));
        }
        const int quad = row % 8 * 4, half = row / 8;
        if (lanes == 4)
          word(quad + half + g / 8 * 2, kMetadata) |= four << (g % 8 * 4);
        else if (lanes == 2 && f_.a.bits <= 8)
          word(quad + half + 2 * f_.selector, kMetadata) |= four << (g * 4);
        else
          word(quad + lanes * f_.selector + g / 4, kMetadata) |= four << (16 * half + g % 4 * 4);
      }
  }
  void fill_scales() {
    const auto draw = [&](std::vector<double>& scales, int rows) {
      scales.resize(static_cast<std::size_t>(rows * f_.scales));
      for (double& v : scales) v = static_cast<double>(1 << random_() % 3);
    };
    draw(scale_a_, 16);
    draw(scale_b_, 8);
    const auto byte = [&](double value) {
      return static_cast<std::uint32_t>(pack(f_.scale == "ue4m3" ? "e4m3" : f_.scale, 32, value)) &
             0xff;
    };
    for (int i = 0; i < f_.scales; ++i) {
      for (int row = 0; row < 16; ++row)
        word(row % 8 * 4 + 2 * f_.thread_a + row / 8, kScaleA) |=
            byte(scale_a_[static_cast<std::size_t>(row * f_.scales + i)]) << (8 * (f_.byte_a + i));
      for (int column = 0; column < 8; ++column)
        word(column * 4 + f_.thread_b, kScaleB) |=
            byte(scale_b_[static_cast<std::size_t>(column * f_.scales + i)])
            << (8 * (f_.byte_b + i));
    }
  }

  Form f_;
  std::mt19937_64 random_;
  Words words_;
  std::vector<double> a_, b_, c_, scale_a_, scale_b_;
};

std::string text_of(const Form& f, const std::string& target) {
  std::string operands;
  const auto id = [](int value) { return std::to_string(value); };
  if (f.group) operands += ", %x0, " + id(f.selector);
  if (f.scales)
    operands += ", {%x1}, {" + id(f.byte_a) + ", " + id(f.thread_a) + "}, {%x2}, {" + id(f.byte_b) +
                ", " + id(f.thread_b) + "}";
  const int stored = f.group ? f.k / 2 : f.k;
  return mma_kernel(target, f.opcode, 16 * stored * f.a.bits / 1024, 8 * f.k * f.b.bits / 1024, 4,
                    operands);
}

void compare(const Form& f, const std::string& target) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Matrices matrices(f, seed);
    Outcome outcome;
    const Words d = run(text_of(f, target), matrices.words(), outcome);
    ASSERT_TRUE(outcome.finished) << f.opcode;
    EXPECT_TRUE(outcome.findings.empty()) << f.opcode;
    for (int lane = 0; lane < 32; ++lane)
      for (int r = 0; r < 4; ++r)
        ASSERT_EQ(unpack(f.c, d[static_cast<std::size_t>(lane * 8 + r)]),
                  matrices.expected(lane, r))
            << f.opcode << " selector " << f.selector << " lane " << lane << " register " << r;
  }
}

TEST(Mma, SparseIsTheProductWithTheZerosPutBack) {
  const auto sparse = [](const char* shape, const char* types, bool ordered) {
    return std::string(ordered ? "mma.sp::ordered_metadata" : "mma.sp") + ".sync.aligned." + shape +
           ".row.col." + types;
  };
  for (const std::string target : {"sm_90a", "sm_120a"})
    for (const bool ordered : {false, true}) {
      const Type f16{"f16", 16}, bf16{"bf16", 16}, tf32{"tf32", 32}, e4m3{"e4m3", 8}, s8{"s8", 8},
          u8{"u8", 8};
      for (const int selector : {0, 1, 2, 3}) {
        compare({sparse("m16n8k16", "f32.f16.f16.f32", ordered), f16, f16, "f32", 16, 4, selector,
                 ordered},
                target);
        compare({sparse("m16n8k8", "f32.tf32.tf32.f32", ordered), tf32, tf32, "f32", 8, 2, selector,
                 ordered},
                target);
        if (selector > 1) continue;
        compare({sparse("m16n8k32", "f32.bf16.bf16.f32", ordered), bf16, bf16, "f32", 32, 4,
                 selector, ordered},
                target);
        compare({sparse("m16n8k16", "f32.tf32.tf32.f32", ordered), tf32, tf32, "f32", 16, 2,
                 selector, ordered},
                target);
        compare(
            {sparse("m16n8k32", "s32.s8.u8.s32", ordered), s8, u8, "s32", 32, 4, selector, ordered},
            target);
      }
      compare(
          {sparse("m16n8k64", "f32.e4m3.e4m3.f32", ordered), e4m3, e4m3, "f32", 64, 4, 0, ordered},
          target);
      compare({sparse("m16n8k64", "s32.s8.s8.s32", ordered), s8, s8, "s32", 64, 4, 0, ordered},
              target);
    }
}

TEST(Mma, MixesNarrowFloatsOnSm120) {
  const std::vector<Type> types = {
      {"e4m3", 8}, {"e5m2", 8}, {"e3m2", 8}, {"e2m3", 8}, {"e2m1_b8", 8}};
  for (const Type& a : types)
    for (const Type& b : types) {
      const std::string pair = a.name.substr(0, 4) + "." + b.name.substr(0, 4);
      compare({.opcode = "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32." + pair + ".f32",
               .a = a,
               .b = b,
               .k = 32},
              "sm_120a");
    }
}

TEST(Mma, TakesTheScalesThatItsSelectorsName) {
  const Type e4m3{"e4m3", 8}, e2m1{"e2m1", 4}, e2m1_b8{"e2m1_b8", 8};
  const std::string dense = "mma.sync.aligned.", sparse = "mma.sp::ordered_metadata.sync.aligned.",
                    mxf8 = ".row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
                    mxf4 = ".row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
                    nvf4 =
                        ".row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32."
                        "ue4m3";
  for (Form f : {Form{dense + "m16n8k32" + mxf8, e4m3, e2m1_b8, "f32", 32},
                 Form{sparse + "m16n8k64" + mxf8, e4m3, e2m1_b8, "f32", 64, 4},
                 Form{dense + "m16n8k64" + mxf4, e2m1, e2m1, "f32", 64},
                 Form{sparse + "m16n8k128" + mxf4, e2m1, e2m1, "f32", 128, 8},
                 Form{dense + "m16n8k64" + nvf4, e2m1, e2m1, "f32", 64},
                 Form{sparse + "m16n8k128" + nvf4, e2m1, e2m1, "f32", 128, 8}}) {
    f.scales = f.opcode.ends_with("ue4m3") ? 4 : f.a.bits == 4 ? 2 : 1;
    if (f.scales == 4) f.scale = "ue4m3";
    for (f.thread_a = 0; f.thread_a < 2; ++f.thread_a)
      for (f.thread_b = 0; f.thread_b < 4; ++f.thread_b)
        for (f.byte_a = 0; f.byte_a < 4; f.byte_a += f.scales) {
          f.byte_b = 4 - f.scales - f.byte_a;
          compare(f, "sm_120a");
        }
  }
}

// mma.m8n8k4 of f16: lanes 4p to 4p + 3 and 4p + 16 to 4p + 19 multiply for themselves.
TEST(Mma, MultipliesInFourQuadPairs) {
  for (const bool a_is_column : {false, true})
    for (const bool b_is_column : {false, true}) {
      std::mt19937_64 random(7);
      Words input(32 * kWords);
      std::vector<double> a(4 * 8 * 4), b(4 * 4 * 8), c(4 * 8 * 8);  // [pair][m][k], [k][n], [m][n]
      for (auto* all : {&a, &b, &c})
        for (double& v : *all) v = static_cast<double>(random() % 9) - 4;
      const auto d_of = [](int lane, int i) {
        const int row = (lane & 1) + (i & 2) + (lane >= 16 ? 4 : 0);
        const int column = (i & 4) + (lane & 2) + (i & 1);
        return static_cast<std::size_t>(lane % 16 / 4 * 64 + row * 8 + column);
      };
      for (int lane = 0; lane < 32; ++lane) {
        const int pair = lane % 16 / 4, high = lane >= 16 ? 4 : 0;
        for (int i = 0; i < 4; ++i) {
          const int row = a_is_column ? i + high : lane % 4 + high, ka = a_is_column ? lane % 4 : i;
          const int column = b_is_column ? lane % 4 + high : i + high,
                    kb = b_is_column ? i : lane % 4;
          const auto put = [&](int word, double value) {
            input[static_cast<std::size_t>(lane * kWords + word + i / 2)] |=
                static_cast<std::uint32_t>(pack("f16", 32, value) & 0xffff) << (16 * (i % 2));
          };
          put(0, a[static_cast<std::size_t>(pair * 32 + row * 4 + ka)]);
          put(4, b[static_cast<std::size_t>(pair * 32 + kb * 8 + column)]);
        }
        for (int i = 0; i < 8; ++i)
          input[static_cast<std::size_t>(lane * kWords + 8 + i)] =
              static_cast<std::uint32_t>(pack("f32", 32, c[d_of(lane, i)]));
      }
      Outcome outcome;
      const Words d =
          run(mma_kernel("sm_90a",
                         std::string("mma.sync.aligned.m8n8k4.") + (a_is_column ? "col." : "row.") +
                             (b_is_column ? "col" : "row") + ".f32.f16.f16.f32",
                         2, 2, 8, ""),
              input, outcome);
      ASSERT_TRUE(outcome.finished);
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 8; ++i) {
          const std::size_t at = d_of(lane, i), pair = at / 64, row = at % 64 / 8, column = at % 8;
          double sum = c[at];
          for (std::size_t k = 0; k < 4; ++k)
            sum += a[pair * 32 + row * 4 + k] * b[pair * 32 + k * 8 + column];
          ASSERT_EQ(unpack("f32", d[static_cast<std::size_t>(lane * 8 + i)]), sum)
              << "lane " << lane << " register " << i;
        }
    }
}

TEST(Mma, RefusesWhatTheManualDoes) {
  const std::string sparse =
                        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
                    narrow = "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e2m1.f32",
                    scaled =
                        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::"
                        "2X.f32.e2m1.e2m1.f32.ue8m0";
  EXPECT_EQ(refusal(mma_kernel("sm_90a", sparse, 4, 4, 4, ", %x0, 2")), "sparse.selector");
  // Four bits of 0 name the same element twice.
  EXPECT_EQ(refusal(mma_kernel("sm_90a", sparse, 4, 4, 4, ", %x0, 0")), "sparse.metadata");
  EXPECT_EQ(refusal(mma_kernel("sm_90a", sparse, 4, 4, 4, "")), "ptx.operand");
  for (const char* target : {"sm_120a", "sm_120f", "sm_121a"})
    EXPECT_EQ(refusal(mma_kernel(target, narrow, 4, 2, 4, ", %x0, 0")), "mma.registers") << target;
  EXPECT_EQ(refusal(mma_kernel("sm_120a", scaled, 4, 2, 4, ", {%x1}, {1, 0}, {%x2}, {0, 0}")),
            "mma.scale_selector");
  EXPECT_EQ(refusal(mma_kernel("sm_120a", scaled, 4, 2, 4, ", {%x1}, {0, 2}, {%x2}, {0, 0}")),
            "mma.scale_selector");
}

}  // namespace
}  // namespace assay::model
