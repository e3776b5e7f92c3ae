// SPDX-License-Identifier: Apache-2.0
// Copies between page-locked memory of the CPU and the GPU's, by the copy engines, one direction at
// a time. Small copies go back to back, so that the figure for them is what a stream of such copies
// gets, the cost of starting each included.
#include <algorithm>
#include <cstring>

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/state.hpp"
#include "probes/link/near_gpu.hpp"

namespace {

constexpr std::int64_t kEnough = 64 << 20;  // bytes between two events

void run(assay::State& s) {
  const auto bytes = static_cast<std::size_t>(s.i64("bytes"));
  const bool to_device = s.text("direction") == "h2d";
  const assay::NearDevice near(s.device().pci_bus_id);
  s.set_param("numa", near.moved() ? "local" : "unknown");
  const assay::PinnedMemory source = assay::pinned_memory(bytes),
                            back = assay::pinned_memory(bytes);
  auto* const device = s.allocate<std::byte>(bytes);
  const auto copy = [&](void* to, const void* from, cudaStream_t stream) {
    assay::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  };

  // Random bits come down, go up again over cleared memory and come back down.
  s.fill_random_bits(device, bytes);
  copy(source.get(), device, s.stream());
  assay::check(cudaMemsetAsync(device, 0, bytes, s.stream()));
  copy(device, source.get(), s.stream());
  std::memset(back.get(), 0, bytes);
  copy(back.get(), device, s.stream());
  assay::check(cudaStreamSynchronize(s.stream()));
  s.require(std::memcmp(source.get(), back.get(), bytes) == 0,
            "what came back from the GPU is not what was sent");

  const auto copies = std::clamp<std::int64_t>(kEnough / s.i64("bytes"), 1, 256);
  s.set_param("copies", copies);
  s.time({.bytes = static_cast<double>(bytes) * static_cast<double>(copies),
          .limit = {assay::pcie_limit_gb_per_s(s.device().pci_bus_id), "PCIe link"}},
         [&](cudaStream_t stream) {
           for (std::int64_t i = 0; i < copies; ++i)
             to_device ? copy(device, source.get(), stream) : copy(back.get(), device, stream);
         });
  assay::check(cudaMemcpy(back.get(), device, bytes, cudaMemcpyDefault));
  s.require(std::memcmp(source.get(), back.get(), bytes) == 0, "the last copy went wrong");
}

std::vector<assay::Case> cases(const char* direction) {
  std::vector<assay::Case> all;
  for (std::int64_t bytes = 4 << 10; bytes <= 1 << 30; bytes *= 4) {
    const bool quick = bytes == 1 << 20 || bytes == 256 << 20;
    all.push_back({.name = std::to_string(bytes),
                   .params = {{"bytes", bytes}, {"direction", direction}},
                   .suite = quick ? assay::Suite::quick : assay::Suite::full});
  }
  return all;
}

const assay::Registration h2d{{
    .name = "link/h2d/pinned",
    .question = "How fast does page-locked memory go to the GPU?",
    .cases = cases("h2d"),
    .pace = assay::Pace::link,
    .run = run,
}};
const assay::Registration d2h{{
    .name = "link/d2h/pinned",
    .question = "How fast does the GPU's memory go to page-locked memory?",
    .cases = cases("d2h"),
    .pace = assay::Pace::link,
    .run = run,
}};

}  // namespace
