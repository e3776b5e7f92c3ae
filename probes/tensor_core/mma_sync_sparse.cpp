// SPDX-License-Identifier: Apache-2.0
// mma.sp: forms of mma.sync whose A holds only half of its elements, with metadata that say which.
// Timed with ordered metadata, since the other order is emulated for some types from sm_100 on.
#include "probes/tensor_core/mma_sync.hpp"

namespace assay::mma_sync {
namespace {

void add(Table& table, Form form, bool timed, int chains = 4) {
  form.sparse = true;
  (timed ? table.timed : table.listed).push_back(row_of(form));
  if (timed) table.timed.back().chains = chains;
  if (!form.kind.empty() || form.accumulator == "f16") return;
  form.ordered = false;
  table.listed.push_back(row_of(form));
}

void add_floats(Table& t) {
  for (const int k : {16, 32}) {
    add(t, {"f16", "f16", "f32", k}, true);
    add(t, {"f16", "f16", "f16", k}, true);
    add(t, {"bf16", "bf16", "f32", k}, true);
    add(t, {"tf32", "tf32", "f32", k / 2}, true);
  }
}

void add_integers(Table& t, const std::string& s, const std::string& u, int k) {
  for (const auto& [a, b] : {std::pair(s, s), {u, u}, {s, u}, {u, s}})
    for (const int depth : {k, 2 * k})
      add(t, {a, b, "s32", depth}, a == b && (depth > k || a == "s8"));
}

void add_narrow(Table& t) {
  for (const std::string a : kNarrowFloats)
    for (const std::string b : kNarrowFloats)
      for (const std::string accumulator : {"f32", "f16"}) {
        Form form{a, b, accumulator, 64};
        if (is_fp8(a) && is_fp8(b)) add(t, form, a == b);
        form.kind = "f8f6f4";
        add(t, form, a == b || accumulator == "f32", a == b ? 4 : 1);
      }
}

}  // namespace

void add_sparse(Table& table) {
  add_floats(table);
  add_integers(table, "s8", "u8", 32);
  add_integers(table, "s4", "u4", 64);
  add_narrow(table);
}

}  // namespace assay::mma_sync
