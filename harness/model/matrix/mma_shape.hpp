// SPDX-License-Identifier: Apache-2.0
// Pieces of the modifiers of mma and wgmma.
#pragma once
#include <string_view>

namespace assay::model::matrix {

struct Shape {
  int m, n, k;
};

// "m16n8k16": whether a word looks like one, and what it says. Throws Violation("matrix.shape").
bool is_shape(std::string_view word);
Shape shape_of(std::string_view text);

// Whether `word` is in a list with spaces between.
bool lists(std::string_view list, std::string_view word);

}  // namespace assay::model::matrix
