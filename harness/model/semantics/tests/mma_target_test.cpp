// SPDX-License-Identifier: Apache-2.0
// Which targets have which mma.sync. The refusals are those of ptxas 13.0.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/model/semantics/tests/mma_kernel.hpp"

namespace assay::model {
namespace {

// What ptxas 13.0 says of every pair of types, each sum, dense and sparse, for each of these
// targets. PTX ISA 9.0, "mma" and "mma.sp": Target ISA Notes.
TEST(Mma, HasTheKindsOfItsTarget) {
  const std::vector<std::string> none, all = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"},
                                       bytes = {"e4m3", "e5m2"};
  struct Row {
    const char* target;
    const std::vector<std::string>&dense, &sparse_f32, &sparse_f16;
    bool scaled;
  };
  const auto listed = [](const std::vector<std::string>& types, const std::string& type) {
    return std::ranges::find(types, type) != types.end();
  };
  for (const Row& row : {Row{"sm_80", none, none, none, false},
                         {"sm_90a", none, none, none, false},
                         {"sm_100", none, none, none, false},
                         {"sm_100a", bytes, bytes, none, false},
                         {"sm_100f", bytes, bytes, none, false},
                         {"sm_103a", bytes, bytes, none, false},
                         {"sm_110a", bytes, bytes, none, false},
                         {"sm_120", none, none, none, false},
                         {"sm_120a", all, all, all, true},
                         {"sm_120f", all, all, all, true},
                         {"sm_121a", all, all, all, true}}) {
    const auto taken = [&](const std::string& opcode, int b, int d, const char* operands) {
      const std::string rule = refusal(mma_kernel(row.target, opcode, 4, b, d, operands));
      return rule != "mma.target" && rule != "mma.form";
    };
    for (const std::string& a : all)
      for (const std::string& b : all)
        for (const std::string sum : {"f16", "f32"}) {
          const std::string types = "row.col.kind::f8f6f4." + sum + "." + a + "." + b + "." + sum;
          const int d = sum == "f16" ? 2 : 4;
          EXPECT_EQ(taken("mma.sync.aligned.m16n8k32." + types, 2, d, ""),
                    listed(row.dense, a) && listed(row.dense, b))
              << row.target << ' ' << types;
          const auto& sparse = sum == "f16" ? row.sparse_f16 : row.sparse_f32;
          EXPECT_EQ(
              taken("mma.sp::ordered_metadata.sync.aligned.m16n8k64." + types, 4, d, ", %x0, 0"),
              listed(sparse, a) && listed(sparse, b))
              << row.target << " sparse " << types;
        }
    for (const char* scaled :
         {"m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
          "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
          "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"})
      EXPECT_EQ(
          taken(std::string("mma.sync.aligned.") + scaled, 2, 4, ", {%x1}, {0, 0}, {%x2}, {0, 0}"),
          row.scaled)
          << row.target << ' ' << scaled;
  }
  for (const char* target : {"sm_80", "sm_89"})
    EXPECT_EQ(refusal(mma_kernel(target, "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 2, 1,
                                 4, "")),
              "mma.target");
}

}  // namespace
}  // namespace assay::model
