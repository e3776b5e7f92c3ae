// SPDX-License-Identifier: Apache-2.0
// Which SMs are of one GPC, from where clusters ran: the CTAs of a cluster share a GPC ("guaranteed
// to be co-scheduled on a GPU Processing Cluster", CUDA C++ Programming Guide, "Thread Block
// Clusters"). Clusters that have an SM in common are therefore of the same GPC.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "probes/placement/spread.hpp"

namespace assay {

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

  // The group of each SM, counted from 0 by their lowest SM; -1: not seen.
  std::vector<int> of_sm() {
    std::map<std::size_t, int> number;
    std::vector<int> groups(parent_.size(), -1);
    for (std::size_t sm = 0; sm < parent_.size(); ++sm) {
      if (!seen_[sm]) continue;
      const auto next = static_cast<int>(number.size());
      groups[sm] = number.emplace(root(sm), next).first->second;
    }
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

// Clusters of `size` CTAs that fit groups of these sizes, one CTA on an SM.
inline int clusters_that_fit(std::span<const int> sizes, int size) {
  int clusters = 0;
  for (const int sms : sizes) clusters += sms / size;
  return clusters;
}

}  // namespace assay
