// SPDX-License-Identifier: Apache-2.0
// Matrix products of groups: each group of rows of A has a B of its own, as a mixture of experts
// has it. How many rows a group has is known on the device alone.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/frame/path.hpp"

namespace assay::kernels {

enum class Grouping : std::uint8_t {
  // The rows of A are sorted by group; ends[g] is where group g's rows end, and group g + 1's
  // begin. Rows from the last end on are nobody's, and D's are not written.
  contiguous,
  // Each group has room for `rows` rows, of which the first counts[g] are used. Others of D are not
  // written.
  masked,
  // Weight gradients: D[g] = A^T B over the rows of group g, which `sizes` ends as in contiguous. D
  // of a group without rows is 0.
  gradient,
};

const char* name(Grouping grouping);

// D[row, n] = sum over k of A[row, k] * B[group of the row][n, k]. A is [rows, k], masked [groups,
// rows, k]; B [groups, n, k]; D bf16 like A with n for k; row-major without gaps. Of gradients, A
// is [rows, k], B [rows, n] and D [groups, k, n], bf16 alone. type: bf16, or e4m3_block128: e4m3
// with scales as kernels/gemm_block_scaled has them. Then scale_a is [ceil(k / 128)][rows, padded],
// masked one such for each group; scale_b one of a group's B after the other.
struct GroupedProblem {
  Grouping grouping;
  std::string type;
  int groups, rows, n, k;
  std::string text() const;  // "grouped_bf16_contiguous groups=8 rows=4096 n=64 k=64"
};

struct GroupedOperands {
  void* d;
  const void* a;
  const void* b;
  const int* sizes;  // ends or counts, one for each group, on the device
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
};

// What every path may rely on: sizes >= 1, rows of memory that start on 16 bytes, pointers on 16
// bytes (`sizes` on 4). Throws Error(usage) otherwise. What `sizes` holds is not looked at here:
// ends that decrease count as the end before, and what is beyond `rows` as `rows`.
void require_valid(const GroupedProblem& problem);
void require_valid(const GroupedProblem& problem, const GroupedOperands& operands);

using GroupedPaths = Paths<GroupedProblem, GroupedOperands>;
GroupedPaths& grouped_paths();

// By the path that suits the current device best. Throws Error(usage) for a problem that is not
// valid, Error(unfit) for one that no path can do there.
Plan plan_grouped(const GroupedProblem& problem, const GroupedOperands& operands);

}  // namespace assay::kernels
