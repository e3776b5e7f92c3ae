// SPDX-License-Identifier: Apache-2.0
// Dense forms of mma.sync without block scales.
#include "probes/tensor_core/mma_sync.hpp"

namespace assay::mma_sync {
namespace {

using Rows = std::vector<InstructionRow>;

void add(Rows& rows, const Form& form, Suite suite = Suite::full) {
  rows.push_back(row_of(form));
  rows.back().suite = suite;
}

void add_16_bit(Rows& rows) {
  add(rows, {"f16", "f16", "f32", 4, 8});
  for (const int k : {8, 16}) {
    const Suite suite = k == 16 ? Suite::quick : Suite::full;
    add(rows, {"f16", "f16", "f32", k}, suite);
    add(rows, {"f16", "f16", "f16", k});
    add(rows, {"bf16", "bf16", "f32", k}, suite);
  }
}

void add_wide(Rows& rows) {
  add(rows, {"tf32", "tf32", "f32", 4});
  add(rows, {"tf32", "tf32", "f32", 8}, Suite::quick);
  add(rows, {"f64", "f64", "f64", 4, 8}, Suite::quick);
  for (const int k : {4, 8, 16})
    add(rows, {"f64", "f64", "f64", k}, k == 16 ? Suite::quick : Suite::full);
}

// Operands of unlike signs in the largest shape alone.
void add_integers(Rows& rows, const std::string& s, const std::string& u, int k) {
  for (const auto& [a, b] : {std::pair(s, s), {u, u}, {s, u}, {u, s}})
    for (const Form& form : {Form{a, b, "s32", k, 8}, {a, b, "s32", k}, {a, b, "s32", 2 * k}}) {
      const bool largest = form.k > k;
      if (a != b && !largest) continue;
      add(rows, form, a == "s8" && b == "s8" && largest ? Suite::quick : Suite::full);
      if (s == "s4" && (a != b || !largest)) rows.back().targets = targets_with(Feature::mma_s4);
    }
}

void add_bits(Rows& rows) {
  for (const char* operation : {"and", "xor"})
    for (Form form :
         {Form{"b1", "b1", "s32", 128, 8}, {"b1", "b1", "s32", 128}, {"b1", "b1", "s32", 256}}) {
      form.operation = operation;
      add(rows, form);
      if (form.k < 256)
        rows.back().targets =
            targets_with(form.operation == "and" ? Feature::mma_b1_and : Feature::mma_b1_xor);
    }
}

void add_fp8(Rows& rows) {
  for (const std::string a : {"e4m3", "e5m2"})
    for (const std::string b : {"e4m3", "e5m2"})
      for (const int k : {16, 32})
        for (const std::string accumulator : {"f32", "f16"}) {
          const bool quick = a == "e4m3" && a == b && k == 32 && accumulator == "f32";
          add(rows, {a, b, accumulator, k}, quick ? Suite::quick : Suite::full);
        }
}

// Floats of 8, 6 and 4 bits in all pairs, each element in a byte.
void add_narrow(Rows& rows) {
  for (const std::string a : kNarrowFloats)
    for (const std::string b : kNarrowFloats)
      for (const std::string accumulator : {"f32", "f16"}) {
        Form form{a, b, accumulator, 32};
        form.kind = "f8f6f4";
        add(rows, form);
        if (a != b) rows.back().chains = 1;
      }
}

}  // namespace

void add_dense(Rows& rows) {
  add_16_bit(rows);
  add_wide(rows);
  add_integers(rows, "s8", "u8", 16);
  Form saturating{"s8", "s8", "s32", 32};
  saturating.saturate = true;
  add(rows, saturating);
  add_integers(rows, "s4", "u4", 32);
  add_bits(rows);
  add_fp8(rows);
  add_narrow(rows);
}

}  // namespace assay::mma_sync
