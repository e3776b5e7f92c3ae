// SPDX-License-Identifier: Apache-2.0
// Dense forms of mma.sync without block scales.
#include "probes/tensor_core/mma_sync.hpp"

namespace assay::mma_sync {
namespace {

void add(std::vector<InstructionRow>& rows, const Form& form, Suite suite = Suite::full) {
  rows.push_back(row_of(form));
  rows.back().suite = suite;
}

void add_16_bit(Table& t) {
  add(t.timed, {"f16", "f16", "f32", 4, 8});
  add(t.listed, {"f16", "f16", "f16", 4, 8});
  for (const int k : {8, 16}) {
    const Suite suite = k == 16 ? Suite::quick : Suite::full;
    add(t.timed, {"f16", "f16", "f32", k}, suite);
    add(t.timed, {"f16", "f16", "f16", k});
    add(t.timed, {"bf16", "bf16", "f32", k}, suite);
  }
}

void add_wide(Table& t) {
  add(t.timed, {"tf32", "tf32", "f32", 4});
  add(t.timed, {"tf32", "tf32", "f32", 8}, Suite::quick);
  add(t.timed, {"f64", "f64", "f64", 4, 8}, Suite::quick);
  for (const int k : {4, 8, 16})
    add(t.timed, {"f64", "f64", "f64", k}, k == 16 ? Suite::quick : Suite::full);
}

// Every signedness in the largest shape is timed, and the smaller shapes of the signed one.
void add_integers(Table& t, const std::string& s, const std::string& u, int k) {
  for (const auto& [a, b] : {std::pair(s, s), {u, u}, {s, u}, {u, s}})
    for (const bool saturate : {false, true})
      for (Form form : {Form{a, b, "s32", k, 8}, {a, b, "s32", k}, {a, b, "s32", 2 * k}}) {
        form.saturate = saturate;
        const bool largest = form.k > k, plain_signed = a == s && b == s && s == "s8";
        const bool timed = (!saturate && (largest || plain_signed)) || (largest && plain_signed);
        const bool quick = plain_signed && largest && !saturate;
        add(timed ? t.timed : t.listed, form, quick ? Suite::quick : Suite::full);
      }
}

void add_bits(Table& t) {
  for (const char* operation : {"and", "xor"})
    for (Form form :
         {Form{"b1", "b1", "s32", 128, 8}, {"b1", "b1", "s32", 128}, {"b1", "b1", "s32", 256}}) {
      form.operation = operation;
      add(form.k == 256 || form.operation == "and" ? t.timed : t.listed, form);
    }
}

void add_fp8(Table& t) {
  for (const std::string a : {"e4m3", "e5m2"})
    for (const std::string b : {"e4m3", "e5m2"})
      for (const int k : {16, 32})
        for (const std::string accumulator : {"f32", "f16"}) {
          const bool plain = a == b && (k == 32 || a == "e4m3");
          const bool timed = plain || (k == 32 && accumulator == "f32");
          const bool quick = plain && a == "e4m3" && k == 32 && accumulator == "f32";
          add(timed ? t.timed : t.listed, {a, b, accumulator, k},
              quick ? Suite::quick : Suite::full);
        }
}

// Floats of 8, 6 and 4 bits in all pairs, each element in a byte.
void add_narrow(Table& t) {
  for (const std::string a : kNarrowFloats)
    for (const std::string b : kNarrowFloats)
      for (const std::string accumulator : {"f32", "f16"}) {
        Form form{a, b, accumulator, 32};
        form.kind = "f8f6f4";
        add(a == b || accumulator == "f32" ? t.timed : t.listed, form);
        if (a != b) t.timed.back().chains = 1;
      }
}

}  // namespace

void add_dense(Table& table) {
  add_16_bit(table);
  add_wide(table);
  add_integers(table, "s8", "u8", 16);
  add_integers(table, "s4", "u4", 32);
  add_bits(table);
  add_fp8(table);
  add_narrow(table);
}

}  // namespace assay::mma_sync
