// SPDX-License-Identifier: Apache-2.0
// What one GPU moves to and from another's memory, for every pair of them.
//
// As nvbandwidth counts (github.com/NVIDIA/nvbandwidth,
// device_to_device_memcpy_{write,read}_{ce,sm} and their bidirectional kin): 512 MiB a copy,
// several in a row between two events of the GPU that acts. In a write it is the source, in a read
// the destination. Both ways means that both GPUs of a pair act at once, each on what the other
// does not touch, and the sum of what the two get.
#include <algorithm>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/state.hpp"
#include "harness/statistics.hpp"
#include "probes/link/peers.hpp"
#include "probes/link/size_sweep.hpp"
#include "probes/link/sm_copy.hpp"

namespace {

using assay::check;
using assay::OnDevice;
using assay::Peer;
using assay::Peers;
using assay::State;

constexpr std::size_t kBytes = 512 << 20;
constexpr int kCopies = 8;
constexpr std::uint64_t kHoldNs = 100'000;  // until all copies are enqueued

struct Transfer {
  bool write, by_sms;
};

void enqueue(Transfer how, Peer& gpu, Peer& peer, std::size_t bytes) {
  void* const to = how.write ? peer.arrived.data() : gpu.arrived.data();
  const void* const from = how.write ? gpu.memory.data() : peer.memory.data();
  if (how.by_sms)
    assay::copy_by_sms(to, from, bytes, gpu.sm_count, *gpu.stream);
  else
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, *gpu.stream));
}

void start(Transfer how, Peer& gpu, Peer& peer) {
  const OnDevice here(gpu.device);
  assay::delay(kHoldNs, *gpu.stream);
  gpu.begin->record(*gpu.stream);
  for (int i = 0; i < kCopies; ++i) enqueue(how, gpu, peer, kBytes);
  gpu.end->record(*gpu.stream);
}

// GB/s since start(); waits for the end.
double rate(const Peer& gpu) {
  const OnDevice here(gpu.device);
  return kCopies * double{kBytes} / assay::elapsed_ns(*gpu.begin, *gpu.end);
}

double one_way(Transfer how, Peer& gpu, Peer& peer) {
  start(how, gpu, peer);
  return rate(gpu);
}

double both_ways(Transfer how, Peer& gpu, Peer& peer) {
  start(how, gpu, peer);
  start(how, peer, gpu);
  return rate(gpu) + rate(peer);
}

void require_arrived(State& s, Transfer how, Peer& gpu, Peer& peer) {
  Peer& source = how.write ? gpu : peer;
  Peer& target = how.write ? peer : gpu;
  const OnDevice here(target.device);
  s.require(assay::differing_bytes(target.arrived.data(), source.memory.data(), kBytes,
                                   *target.stream) == 0,
            "a copy between GPUs is not what was copied");
  check(cudaMemsetAsync(target.arrived.data(), 0, kBytes, *target.stream));
  check(cudaStreamSynchronize(*target.stream));
}

void run(State& s) {
  const Transfer how{.write = s.text("access") == "write", .by_sms = s.text("by") == "sm"};
  const bool both = s.text("ways") == "both";
  Peers peers(s, kBytes);
  const auto figure = both ? both_ways : one_way;
  s.sample({.bytes = (both ? 2.0 : 1.0) * kBytes},
           [&] { return (both ? 2.0 : 1.0) * kBytes / figure(how, peers[0], peers[1]); });
  std::vector<double> pairs;
  assay::Series matrix =
      peers.matrix("bandwidth_gb_per_s", "GB/s", false, [&](Peer& gpu, Peer& peer) {
        std::vector<double> samples;
        for (int i = 0; i < 3; ++i) samples.push_back(figure(how, gpu, peer));
        require_arrived(s, how, gpu, peer);
        if (both) require_arrived(s, how, peer, gpu);
        pairs.push_back(assay::median(samples));
        return pairs.back();
      });
  s.add_exact("slowest_pair_gb_per_s", "GB/s", assay::Better::higher,
              *std::ranges::min_element(pairs));
  s.add_series(std::move(matrix));
}

void run_sizes(State& s) {
  constexpr Transfer how{.write = true, .by_sms = false};
  Peers peers(s, assay::kLargestCopy);
  Peer &gpu = peers[0], &peer = peers[1];
  const auto wait = [&] { check(cudaStreamSynchronize(*gpu.stream)); };
  const OnDevice here(gpu.device);
  s.sample({.bytes = double{kBytes}}, [&] { return double{kBytes} / one_way(how, gpu, peer); });
  sweep_sizes(s, {.start = [&](std::size_t n) { enqueue(how, gpu, peer, n); },
                  .finish = wait,
                  .check =
                      [&](std::size_t n) {
                        s.require(assay::differing_bytes(peer.arrived.data(), gpu.memory.data(), n,
                                                         *gpu.stream) == 0,
                                  "a copy between GPUs is not what was copied");
                        check(cudaMemsetAsync(peer.arrived.data(), 0, n, *gpu.stream));
                        wait();
                      }});
}

std::vector<assay::Case> pairs() {
  std::vector<assay::Case> all;
  for (const char* ways : {"one", "both"})
    for (const char* access : {"write", "read"})
      for (const char* by : {"copy_engine", "sm"}) {
        const std::string one = std::string(access) + "/" + by;
        const bool is_both = std::string(ways) == "both";
        all.push_back({.name = is_both ? one + "/both_ways" : one,
                       .params = {{"access", access}, {"by", by}, {"ways", ways}},
                       .suite = is_both ? assay::Suite::full : assay::Suite::quick});
      }
  return all;
}

std::vector<assay::KernelUse> kernels(const assay::Case& c, assay::Target) {
  return c.text("by") == "sm" ? assay::copy_by_sms_use() : std::vector<assay::KernelUse>{};
}

const assay::Registration matrix{{
    .name = "link/peer",
    .question = "How fast does one GPU write to and read from another's memory, by copy engine "
                "and by SMs, for every pair?",
    .metrics = {{"bandwidth_gb_per_s",
                 "Bytes moved in a second; the figure is from the first GPU to the second, the "
                 "series has every pair."},
                {"slowest_pair_gb_per_s", "Bandwidth of the pair of GPUs that has the least."}},
    .cases = pairs(),
    .pace = assay::Pace::link,
    .kernels = kernels,
    .run = run,
}};

const assay::Registration sizes{{
    .name = "link/peer/sizes",
    .question = "How long does a copy to another GPU take, by its size?",
    .metrics = assay::size_sweep_metrics(),
    .cases = {{.name = "copy_engine", .suite = assay::Suite::full}},
    .pace = assay::Pace::link,
    .run = run_sizes,
}};

}  // namespace
