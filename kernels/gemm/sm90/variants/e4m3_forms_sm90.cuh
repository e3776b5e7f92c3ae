// SPDX-License-Identifier: Apache-2.0
// The forms of products of e4m3 by e4m3 that do everything; products that are only scaled have them
// again, without the rest of the machine code.
#pragma once

namespace assay::kernels {

// `Forms` is a FormsSm90 of e4m3.
template <class Forms>
void add_e4m3_sm90(Forms& nt) {
  nt.template add<128, 256, 2>();
  nt.template add_pingpong<128, 176, 2>();
  nt.template add_pingpong<128, 160, 2>();
  nt.template add_pingpong<128, 128, 2>();
  nt.template add_pingpong<64, 64, 2>();
  nt.template add_swapped<128, 192, 2>();
  nt.template add_swapped_pingpong<64, 32, 2>();
  nt.template add_swapped_pingpong<64, 64, 2>();
  nt.template add_swapped_pingpong<64, 96, 4>();
  nt.template add_swapped_pingpong<64, 128, 1, 2>();
  nt.template add_swapped_pingpong<128, 128, 2>();
  nt.template add_swapped_pingpong<128, 144, 1, 2>();
  nt.template add_swapped_pingpong<128, 160, 2>();
  nt.template add_swapped<128, 160>();
  // No product that is only scaled is fastest so.
  if constexpr (!Forms::kForPlain) {
    nt.template add_pingpong<64, 128, 2>();
    nt.template add_swapped<128, 88>();
    nt.template add_swapped_pingpong<64, 16>();
  }
}

}  // namespace assay::kernels
