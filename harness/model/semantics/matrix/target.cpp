// SPDX-License-Identifier: Apache-2.0
#include "harness/model/semantics/matrix/target.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace assay::model {
namespace {

// 103 of "sm_103a": code for any suffix means the same chip.
int capability(std::string_view target) {
  int number = 0;
  const auto* digits = target.data() + std::min(target.size(), target.find('_') + 1);
  std::from_chars(digits, target.data() + target.size(), number);
  return number;
}

int capability(const TargetRow& row) { return row.major * 10 + row.minor; }

}  // namespace

FeatureSet features_of(Decoder& d) {
  const int wanted = capability(d.target());
  FeatureSet features;
  for (const TargetRow& row : kTargetTable)
    if (&row == &kTargetTable[1] || capability(row) <= wanted) features = row.features;
  return features;
}

matrix::Machine machine_of(Decoder& d) {
  const FeatureSet features = features_of(d);
  if (features.contains(Feature::wgmma)) return matrix::Machine::hopper;
  return features.contains(Feature::mma_kinds) ? matrix::Machine::blackwell : matrix::Machine::ada;
}

}  // namespace assay::model
