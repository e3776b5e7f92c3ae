// SPDX-License-Identifier: Apache-2.0
// What multiply_tiles() asks of a Work after a tile's sum, where sums are always rounded as they
// are: a base of such a Work.
#pragma once

namespace assay::kernels {

struct PlainResultsSm90 {
  struct NoLines {};

  __device__ static constexpr bool plain() { return true; }
  __device__ static constexpr float factor() { return 1; }
  template <class Place>
  __device__ static NoLines lines(const Place&) {
    return {};
  }
  template <class Sums>
  __device__ static void scale(const Sums&, NoLines, float) {}
  template <class Sums>
  __device__ static void activate(const Sums&) {}
  __device__ static constexpr bool wide() { return false; }
};

}  // namespace assay::kernels
