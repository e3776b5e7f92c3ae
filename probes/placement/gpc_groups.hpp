// SPDX-License-Identifier: Apache-2.0
// Which SMs are of one GPC, from where clusters ran: the CTAs of a cluster share a GPC ("guaranteed
// to be co-scheduled on a GPU Processing Cluster", CUDA C++ Programming Guide, "Thread Block
// Clusters"). Clusters that have an SM in common are therefore of the same GPC.
//
// What schedules clusters need not be a GPC of the die: the driver makes "virtual GPCs" of the TPCs
// that are left, some of them "singletons" of one TPC (NV2080_CTRL_GPU_SKYLINE_INFO of NVIDIA's
// open kernel modules, ctrl2080gpu.h). Clusters of more than a TPC's two SMs never run on those.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "probes/placement/spread.hpp"

namespace assay {

inline constexpr int kSmsOfTpc = 2;

class GpcGroups {
 public:
  explicit GpcGroups(std::size_t sms) : parent_(sms), seen_(sms) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  // Adds what a launch shows; SMs beyond the number given are left out.
  void add(std::span<const CtaPlace> places) {
    std::map<std::uint32_t, std::size_t> first_of;  // SM of each cluster's first CTA seen
    for (const CtaPlace& p : places) {
      if (p.sm >= parent_.size()) continue;
      seen_[p.sm] = true;
      const auto [cluster, is_new] = first_of.emplace(p.cluster, p.sm);
      if (!is_new) parent_[root(p.sm)] = root(cluster->second);
    }
  }

  // The group of each SM: those of more than a TPC counted from 0 by their lowest SM, then the lone
  // TPCs. -1: not seen.
  std::vector<int> of_sm() {
    std::map<std::size_t, int> members, number;
    for (std::size_t sm = 0; sm < parent_.size(); ++sm)
      if (seen_[sm]) ++members[root(sm)];
    for (const bool lone : {false, true})
      for (std::size_t sm = 0; sm < parent_.size(); ++sm)
        if (seen_[sm] && lone == (members[root(sm)] <= kSmsOfTpc))
          number.emplace(root(sm), static_cast<int>(number.size()));
    std::vector<int> groups(parent_.size(), -1);
    for (std::size_t sm = 0; sm < parent_.size(); ++sm)
      if (seen_[sm]) groups[sm] = number.at(root(sm));
    return groups;
  }

 private:
  std::size_t root(std::size_t sm) {
    while (parent_[sm] != sm) sm = parent_[sm] = parent_[parent_[sm]];
    return sm;
  }

  std::vector<std::size_t> parent_;
  std::vector<bool> seen_;
};

// SMs of each group; those not seen are left out.
inline std::vector<int> group_sizes(std::span<const int> of_sm) {
  std::vector<int> sizes;
  for (const int group : of_sm) {
    if (group < 0) continue;
    if (static_cast<std::size_t>(group) >= sizes.size())
      sizes.resize(static_cast<std::size_t>(group) + 1);
    ++sizes[static_cast<std::size_t>(group)];
  }
  return sizes;
}

// Those of more than a TPC.
inline std::vector<int> whole_gpcs(std::vector<int> sizes) {
  std::erase_if(sizes, [](int sms) { return sms <= kSmsOfTpc; });
  return sizes;
}

// Clusters of `size` CTAs that fit groups of these sizes, one CTA on an SM.
inline int clusters_that_fit(std::span<const int> sizes, int size) {
  int clusters = 0;
  for (const int sms : sizes) clusters += sms / size;
  return clusters;
}

// The smallest cluster of which another number than `most` (by size, from 1) fits groups of these
// sizes: they are not yet what they should be. 0: they explain all.
inline int unexplained_cluster(std::span<const int> sizes, std::span<const int> most) {
  for (std::size_t i = 0; i < most.size(); ++i) {
    const int size = static_cast<int>(i) + 1;
    if (most[i] != clusters_that_fit(sizes, size)) return size;
  }
  return 0;
}

}  // namespace assay
