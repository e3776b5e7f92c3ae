// SPDX-License-Identifier: Apache-2.0
// Grids whose CTAs note where they are and stay for a while.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/state.hpp"
#include "probes/placement/spread.hpp"

namespace assay {

struct HoldShape {
  int ctas;
  int cluster = 1;                // CTAs of a cluster; 1: no clusters
  int residents = 1;              // CTAs that fit an SM, kept to by the shared memory they take
  std::uint32_t hold_ns = 8'000;  // much longer than a grid takes to start
};

// The kernel hold(), launched in such shapes.
class Holder {
 public:
  explicit Holder(State& s);

  // Clusters of this size that are resident at once with so many CTAs on an SM, as
  // cudaOccupancyMaxActiveClusters has it; 0 if this GPU has none. Without clusters (size 1): CTAs.
  int resident_clusters(int size, int residents) const;

  // Leaves the places of all CTAs at `places`. Of a grid of clusters, a whole number of them.
  void launch(const HoldShape& shape, CtaPlace* places, cudaStream_t stream) const;

  // Launches it and reads where it ran; fails the case if a CTA has not run.
  std::vector<CtaPlace> run(const HoldShape& shape);
  // Likewise several launches of one shape behind one another.
  std::vector<std::vector<CtaPlace>> run_together(const HoldShape& shape, int launches);

  CtaPlace* buffer() const { return places_; }
  std::vector<CtaPlace> read(const CtaPlace* places, int ctas) const;
  static constexpr std::size_t kMostPlaces = 1 << 16;

 private:
  std::size_t shared_bytes(int residents) const;

  State& s_;
  CtaPlace* places_;
};

// What the kernel's machine code must show.
std::vector<KernelUse> hold_kernels();

}  // namespace assay
