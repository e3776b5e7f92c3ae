// SPDX-License-Identifier: Apache-2.0
// What is loaded of a tile that hangs over an operand's end.
//
// TMA fills the rows of a box that lie beyond the end with zeros, but so slowly that it bounds a
// step: on an H200 a product of one row took up to 1.8 times as long as one of all rows of the same
// tiles. So such rows are not loaded: a box of the last rows alone takes the place of the whole
// one, and a box without any row is left out. What the stage held there before is multiplied
// instead, and makes sums that are not written. Only a ring's first round is loaded whole, so that
// there is something.
#pragma once

namespace assay::kernels {

// Of `most` rows from `first` on, those before `end`.
__device__ inline int rows_within(int end, int first, int most) {
  return min(max(end - first, 0), most);
}

}  // namespace assay::kernels
