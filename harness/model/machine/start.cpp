// SPDX-License-Identifier: Apache-2.0
// Clusters, CTAs and warps as they begin.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/model/machine/run.hpp"

namespace assay::model {
namespace {

std::size_t product(const std::array<int, 3>& v) {
  return static_cast<std::size_t>(v[0]) * static_cast<std::size_t>(v[1]) *
         static_cast<std::size_t>(v[2]);
}

}  // namespace

void Run::start_clusters() {
  const auto& c = shape_.cluster;
  const auto& g = shape_.grid;
  while (next_cluster_ < last_cluster_ && running_clusters_ < options_.resident_clusters) {
    const int number = static_cast<int>(next_cluster_++);
    const int per_x = g[0] / c[0], per_y = g[1] / c[1];
    const std::array<int, 3> first = {number % per_x * c[0], number / per_x % per_y * c[1],
                                      number / per_x / per_y * c[2]};
    clusters_.push_back(std::make_unique<Cluster>());
    Cluster& cluster = *clusters_.back();
    cluster.index = number;
    for (int z = 0; z < c[2]; ++z)
      for (int y = 0; y < c[1]; ++y)
        for (int x = 0; x < c[0]; ++x) {
          auto cta = std::make_unique<Cta>();
          cta->run = this;
          cta->cluster = &cluster;
          cta->rank = x + c[0] * (y + c[1] * z);
          cta->at = {first[0] + x, first[1] + y, first[2] + z};
          cta->index = cta->at[0] + g[0] * (cta->at[1] + g[1] * cta->at[2]);
          cluster.ctas.push_back(cta.get());
          start(*cta);
          ctas_[static_cast<std::size_t>(cta->index)] = std::move(cta);
        }
    ++running_clusters_;
  }
}

// Clusters that others may wait for, as at a barrier of the grid. False: all have begun. Whether a
// GPU has room for so many is not known here.
bool Run::start_more() {
  if (next_cluster_ >= last_cluster_) return false;
  options_.resident_clusters = 2 * std::max(running_clusters_, options_.resident_clusters);
  start_clusters();
  idle_steps_ = 0;
  return true;
}

void Run::start(Cta& cta) {
  const std::size_t bytes = kSharedBegin + program_.shared_bytes + shape_.dynamic_shared_bytes;
  // What shared memory holds before it is written is anything.
  std::array<std::uint8_t, 256> unwritten;
  for (std::size_t i = 0; i < unwritten.size(); ++i)
    unwritten[i] = static_cast<std::uint8_t>(0xA5 ^ i);
  cta.shared.resize(bytes);
  for (std::size_t i = 0; i < bytes; i += unwritten.size())
    std::copy_n(unwritten.begin(), std::min(unwritten.size(), bytes - i),
                cta.shared.begin() + static_cast<std::ptrdiff_t>(i));
  cta.shadow = std::make_unique<ByteShadow>(bytes);
  cta.thread_base = static_cast<Component>(cta.index * threads_per_cta_);
  cta.live_threads = threads_per_cta_;
  for (int first = 0; first < threads_per_cta_; first += 32) {
    auto warp = std::make_unique<Warp>();
    warp->run = this;
    warp->cta = &cta;
    warp->index = first / 32;
    const int lanes = std::min(32, threads_per_cta_ - first);
    warp->live = lanes == 32 ? kAllLanes : (Mask{1} << lanes) - 1;
    warp->groups.push_back({.mask = warp->live});
    warp->registers =
        std::make_unique_for_overwrite<Value[]>(static_cast<std::size_t>(program_.slots) * 32);
    // As in shared memory, anything: no number as a float.
    for (const int slot : program_.maybe_unwritten) std::fill_n(warp->reg(slot), 32, 0xffffdead);
    warp->priority = static_cast<int>(random(4));
    if (program_.has_wgmma) warp->written.assign(static_cast<std::size_t>(program_.slots), 0);
    for (const auto& [slot, value] : program_.constants) std::fill_n(warp->reg(slot), 32, value);
    special_registers(*warp);
    if (program_.local_bytes > 0)
      warp->local.assign(32, std::vector<std::uint8_t>(program_.local_bytes, 0xA5));
    warps_.push_back(warp.get());
    cta.warps.push_back(std::move(warp));
  }
}

void Run::special_registers(Warp& warp) {
  const Cta& cta = *warp.cta;
  const auto& s = shape_;
  for (const auto& [slot, name] : program_.special) {
    Value* to = warp.reg(slot);
    for (int lane = 0; lane < 32; ++lane) {
      const int t = warp.thread(lane);
      const std::array<int, 3> tid = {t % s.block[0], t / s.block[0] % s.block[1],
                                      t / s.block[0] / s.block[1]};
      const auto part = [&, &n = name](const std::array<int, 3>& v) {
        return static_cast<Value>(v[n.back() == 'x' ? 0 : n.back() == 'y' ? 1 : 2]);
      };
      std::array<int, 3> in_cluster{}, cluster{}, clusters{};
      for (std::size_t i = 0; i < 3; ++i) {
        in_cluster[i] = cta.at[i] % s.cluster[i];
        cluster[i] = cta.at[i] / s.cluster[i];
        clusters[i] = s.grid[i] / s.cluster[i];
      }
      Value value = 0;
      const auto colon = name.find(':');
      if (name.starts_with("@shared:"))
        value = (static_cast<Value>(cta.rank) << kRankShift) + kSharedBegin +
                std::stoull(name.substr(colon + 1));
      else if (name.starts_with("@parameter:"))
        value = parameters_ + std::stoull(name.substr(colon + 1));
      else if (name.starts_with("%tid."))
        value = part(tid);
      else if (name.starts_with("%ntid."))
        value = part(s.block);
      else if (name.starts_with("%ctaid."))
        value = part(cta.at);
      else if (name.starts_with("%nctaid."))
        value = part(s.grid);
      else if (name.starts_with("%clusterid."))
        value = part(cluster);
      else if (name.starts_with("%nclusterid."))
        value = part(clusters);
      else if (name.starts_with("%cluster_ctaid."))
        value = part(in_cluster);
      else if (name.starts_with("%cluster_nctaid."))
        value = part(s.cluster);
      else if (name == "%cluster_ctarank")
        value = static_cast<Value>(cta.rank);
      else if (name == "%cluster_nctarank")
        value = cta.cluster->ctas.empty() ? 1 : product(s.cluster);
      else if (name == "%is_explicit_cluster")
        value = product(s.cluster) > 1;
      else if (name == "%laneid")
        value = static_cast<Value>(lane);
      else if (name == "%warpid")
        value = static_cast<Value>(warp.index);
      else if (name == "%nwarpid")
        value = cta.warps.size();
      else if (name == "%lanemask_eq")
        value = Mask{1} << lane;
      else if (name == "%lanemask_lt")
        value = (Mask{1} << lane) - 1;
      else if (name == "%lanemask_le")
        value = static_cast<Mask>((Value{2} << lane) - 1);
      else if (name == "%lanemask_gt")
        value = static_cast<Mask>(~((Value{2} << lane) - 1));
      else if (name == "%lanemask_ge")
        value = static_cast<Mask>(~((Value{1} << lane) - 1));
      else if (name == "%smid")
        value = static_cast<Value>(cta.index % 132);
      else if (name == "%nsmid")
        value = 132;
      else if (name == "%envreg1")
        value = workspace_ >> 32;
      else if (name == "%envreg2")
        value = workspace_ & 0xffffffff;
      else if (name == "%dynamic_smem_size")
        value = s.dynamic_shared_bytes;
      else if (name == "%total_smem_size" || name == "%aggr_smem_size")
        value = program_.shared_bytes + s.dynamic_shared_bytes + kSharedBegin;
      to[lane] = value;
    }
  }
}

}  // namespace assay::model
