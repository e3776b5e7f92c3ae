// SPDX-License-Identifier: Apache-2.0
// Copies of every size between the GPU and each kind of memory of the CPU. By the CPU's clock, from
// the call to the end of the copy: a copy from or to pageable memory is work of the CPU, too.

#include <chrono>
#include <cstring>

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/state.hpp"
#include "probes/link/host_memory.hpp"
#include "probes/link/near_gpu.hpp"
#include "probes/link/size_sweep.hpp"
#include "probes/link/sm_copy.hpp"

namespace {

using assay::check;
using assay::HostKind;
using assay::State;

constexpr std::size_t kHeadline = 256 << 20;  // bytes of the leading figure

HostKind kind_of(const State& s) {
  for (const HostKind kind : assay::kHostKinds)
    if (s.text("memory") == name(kind)) return kind;
  throw std::logic_error("no kind of memory is named " + s.text("memory"));
}

void prefetch(void* memory, std::size_t bytes, bool to_device, int device, cudaStream_t stream) {
  const cudaMemLocation where = to_device ? cudaMemLocation{cudaMemLocationTypeDevice, device}
                                          : cudaMemLocation{cudaMemLocationTypeHost, 0};
  check(cudaMemPrefetchAsync(memory, bytes, where, 0, stream));
}

// `host` moves as a whole number of pages, between its two places, and has to move back before it
// can move again. What it holds is checked where it arrives.
assay::SizedCopy prefetches(State& s, std::byte* host, const std::byte* pattern, bool to_device) {
  const int device = s.device().index;
  const cudaStream_t stream = s.stream();
  const auto wait = [stream] { check(cudaStreamSynchronize(stream)); };
  return {.start = [=](std::size_t n) { prefetch(host, n, to_device, device, stream); },
          .finish = wait,
          .undo =
              [=](std::size_t n) {
                prefetch(host, n, !to_device, device, stream);
                wait();
              },
          .check =
              [=, &s](std::size_t n) {
                s.require(assay::differing_bytes(host, pattern, n, stream) == 0,
                          "what was prefetched is not what was there before");
              }};
}

assay::SizedCopy copies(State& s, std::byte* host, std::byte* device, const std::byte* pattern,
                        bool to_device) {
  const cudaStream_t stream = s.stream();
  void* const to = to_device ? device : host;
  const void* const from = to_device ? host : device;
  return {
      .start =
          [=](std::size_t n) { check(cudaMemcpyAsync(to, from, n, cudaMemcpyDefault, stream)); },
      .finish = [=] { check(cudaStreamSynchronize(stream)); },
      .check =
          [=, &s](std::size_t n) {
            // What went down comes back up for the comparison.
            if (!to_device) check(cudaMemcpy(device, host, n, cudaMemcpyDefault));
            s.require(assay::differing_bytes(device, pattern, n, stream) == 0,
                      "a copy is not what was copied");
            if (to_device)
              check(cudaMemsetAsync(device, 0, n, stream));
            else
              std::memset(host, 0, n);
            check(cudaStreamSynchronize(stream));
          }};
}

void run(State& s) {
  const HostKind kind = kind_of(s);
  const bool to_device = s.text("direction") == "h2d";
  const assay::NearDevice near(s.device().pci_bus_id);
  s.set_param("numa", near.moved() ? "local" : "unknown");
  const assay::HostMemory host(s, kind, assay::kLargestCopy);
  auto* const pattern = s.allocate<std::byte>(assay::kLargestCopy);
  auto* const device = s.allocate<std::byte>(assay::kLargestCopy);
  s.fill_random_bits(pattern, assay::kLargestCopy);
  check(cudaMemcpyAsync(host.data(), pattern, assay::kLargestCopy, cudaMemcpyDefault, s.stream()));
  check(cudaMemcpyAsync(device, pattern, assay::kLargestCopy, cudaMemcpyDefault, s.stream()));
  check(cudaStreamSynchronize(s.stream()));

  const assay::SizedCopy copy = kind == HostKind::managed
                                    ? prefetches(s, host.data(), pattern, to_device)
                                    : copies(s, host.data(), device, pattern, to_device);
  s.set_param("bytes", static_cast<std::int64_t>(kHeadline));
  const assay::Limit limit = {assay::pcie_limit_gb_per_s(s.device().pci_bus_id), "PCIe link"};
  s.limit("GB/s", limit);
  s.sample({.bytes = double{kHeadline}, .limit = limit}, [&] {
    if (copy.undo) copy.undo(kHeadline);
    const auto begin = std::chrono::steady_clock::now();
    copy.start(kHeadline);
    copy.finish();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
        .count();
  });
  sweep_sizes(s, copy);
}

std::vector<assay::Case> cases(const char* direction) {
  std::vector<assay::Case> all;
  for (const HostKind kind : assay::kHostKinds)
    all.push_back({.name = name(kind),
                   .params = {{"direction", direction}, {"memory", name(kind)}},
                   .suite = kind == HostKind::pageable ? assay::Suite::quick : assay::Suite::full});
  return all;
}

const assay::Registration h2d{{
    .name = "link/h2d/sizes",
    .question = "How long does a copy to the GPU take, by its size and by the kind of memory it "
                "comes from?",
    .metrics = assay::size_sweep_metrics(),
    .cases = cases("h2d"),
    .pace = assay::Pace::link,
    .run = run,
}};
const assay::Registration d2h{{
    .name = "link/d2h/sizes",
    .question = "How long does a copy from the GPU take, by its size and by the kind of memory it "
                "goes to?",
    .metrics = assay::size_sweep_metrics(),
    .cases = cases("d2h"),
    .pace = assay::Pace::link,
    .run = run,
}};

}  // namespace
