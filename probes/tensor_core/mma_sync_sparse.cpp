// SPDX-License-Identifier: Apache-2.0
// mma.sp: forms of mma.sync whose A holds only half of its elements, with metadata that say which.
// Metadata are ordered: without, some types are emulated from sm_100 on.
#include "probes/tensor_core/mma_sync.hpp"

namespace assay::mma_sync {
namespace {

using Rows = std::vector<InstructionRow>;

void add(Rows& rows, Form form) {
  form.sparse = true;
  rows.push_back(row_of(form));
}

void add_floats(Rows& rows) {
  for (const int k : {16, 32}) {
    add(rows, {"f16", "f16", "f32", k});
    add(rows, {"f16", "f16", "f16", k});
    add(rows, {"bf16", "bf16", "f32", k});
    add(rows, {"tf32", "tf32", "f32", k / 2});
  }
}

// Operands of unlike signs in the larger shape alone.
void add_integers(Rows& rows, const std::string& s, const std::string& u, int k) {
  for (const auto& [a, b] : {std::pair(s, s), {u, u}, {s, u}, {u, s}})
    for (const int depth : {k, 2 * k}) {
      if (a != b && depth == k) continue;
      add(rows, {a, b, "s32", depth});
      if (s == "s4" && (a != b || depth == k)) rows.back().targets = targets_with(Feature::mma_s4);
    }
}

void add_narrow(Rows& rows) {
  for (const std::string a : kNarrowFloats)
    for (const std::string b : kNarrowFloats)
      for (const std::string accumulator : {"f32", "f16"}) {
        Form form{a, b, accumulator, 64};
        if (is_fp8(a) && is_fp8(b)) add(rows, form);
        form.kind = "f8f6f4";
        add(rows, form);
        if (a != b) rows.back().chains = 1;
      }
}

}  // namespace

void add_sparse(Rows& rows) {
  add_floats(rows);
  add_integers(rows, "s8", "u8", 32);
  add_integers(rows, "s4", "u4", 64);
  add_narrow(rows);
}

}  // namespace assay::mma_sync
