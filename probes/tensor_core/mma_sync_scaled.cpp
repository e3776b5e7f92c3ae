// SPDX-License-Identifier: Apache-2.0
// Block-scaled forms of mma.sync, which only sm_120 has, dense and sparse. A block of a row of A or
// a column of B along k shares a scale: 32 elements of an mx type a power of two (ue8m0), 16 of
// nvf4 a ue4m3.
#include "probes/tensor_core/mma_sync.hpp"

namespace assay::mma_sync {
namespace {

void add(std::vector<InstructionRow>& rows, Form form, int chains, Suite suite = Suite::full) {
  rows.push_back(row_of(form));
  rows.back().chains = chains;
  rows.back().suite = suite;
  form.sparse = true;
  form.k *= 2;
  rows.push_back(row_of(form));
  rows.back().chains = chains;
}

void add_fp4(std::vector<InstructionRow>& rows, const char* type, const char* kind,
             const char* scale, int scales, Suite suite) {
  Form form{"e2m1", "e2m1", "f32", 64};
  form.type = type;
  form.kind = kind;
  form.scale = scale;
  form.scales = scales;
  add(rows, form, 4, suite);
}

}  // namespace

void add_scaled(std::vector<InstructionRow>& rows) {
  for (const std::string a : kNarrowFloats)
    for (const std::string b : kNarrowFloats) {
      Form form{a, b, "f32", 32};
      form.type = a == "e4m3" && b == "e4m3" ? "mxf8" : "mxf8f6f4_" + a + "_" + b;
      form.kind = "mxf8f6f4";
      form.scale = "ue8m0";
      form.scales = 1;
      const bool quick = form.type == "mxf8";
      add(rows, form, a == b ? 4 : 1, quick ? Suite::quick : Suite::full);
    }
  add_fp4(rows, "mxf4", "mxf4", "ue8m0", 2, Suite::quick);
  add_fp4(rows, "mxf4", "mxf4nvf4", "ue8m0", 2, Suite::full);
  add_fp4(rows, "nvf4", "mxf4nvf4", "ue4m3", 4, Suite::quick);
}

}  // namespace assay::mma_sync
