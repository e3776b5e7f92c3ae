// SPDX-License-Identifier: Apache-2.0
#include "harness/model/semantics/lanes.hpp"

namespace assay::model {

const Meanings& meanings() {
  static const Meanings all = [] {
    Meanings m;
    add_arithmetic(m);
    add_bitwise(m);
    add_comparisons(m);
    add_conversions(m);
    add_packed_integers(m);
    add_control(m);
    add_memory(m);
    add_atomics(m);
    add_warp(m);
    add_barriers(m);
    add_fences(m);
    add_mbarriers(m);
    add_copies(m);
    add_tensor_copies(m);
    add_clusters(m);
    add_matrix(m);
    add_wgmma(m);
    add_wmma(m);
    add_tcgen05(m);
    return m;
  }();
  return all;
}

}  // namespace assay::model
