// SPDX-License-Identifier: Apache-2.0
// Kernels that reach into page-locked memory of the CPU themselves, without a copy before: what
// data costs that is used once, and the latency of a dependent load over the link.

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/state.hpp"
#include "probes/link/far_latency.hpp"
#include "probes/link/near_gpu.hpp"
#include "probes/link/sm_copy.hpp"

namespace {

using assay::check;
using assay::FarAccess;

constexpr std::size_t kBytes = 256 << 20;

void run_copy(assay::State& s) {
  const assay::NearDevice near(s.device().pci_bus_id);
  s.set_param("numa", near.moved() ? "local" : "unknown");
  const bool reads = s.text("direction") == "h2d";
  const assay::PinnedMemory host = assay::pinned_memory(kBytes);
  auto* const pattern = s.allocate<std::byte>(kBytes);
  auto* const device = s.allocate<std::byte>(kBytes);
  s.fill_random_bits(pattern, kBytes);
  check(
      cudaMemcpyAsync(reads ? host.get() : device, pattern, kBytes, cudaMemcpyDefault, s.stream()));
  void* const to = reads ? device : host.get();
  s.time({.bytes = double{kBytes},
          .limit = {assay::pcie_limit_gb_per_s(s.device().pci_bus_id), "PCIe link"}},
         [&](cudaStream_t stream) {
           assay::copy_by_sms(to, reads ? host.get() : device, kBytes, s.device().sm_count, stream);
         });
  s.require(assay::differing_bytes(to, pattern, kBytes, s.stream()) == 0,
            "a copy is not what was copied");
}

// A ring that the GPU's caches would hold: were any of it cached there, it would show.
constexpr std::uint32_t kLines = 1 << 14;

void run_latency(assay::State& s) {
  const assay::NearDevice near(s.device().pci_bus_id);
  s.set_param("numa", near.moved() ? "local" : "unknown");
  const assay::PinnedMemory host = assay::pinned_memory(kLines * 128);
  const assay::FarChain chain{.access = FarAccess::load,
                              .memory = host.get(),
                              .lines = kLines,
                              .end = s.allocate<std::uint64_t>(1)};
  s.sample({.steps = 1}, [&] { return assay::far_latency_ns(s, chain, s.stream()); });
}

const assay::Registration copy{{
    .name = "link/zero_copy",
    .question = "How fast do kernels read and write page-locked memory of the CPU?",
    .cases = {{.name = "read", .params = {{"direction", "h2d"}}, .suite = assay::Suite::full},
              {.name = "write", .params = {{"direction", "d2h"}}, .suite = assay::Suite::full}},
    .pace = assay::Pace::link,
    .kernels = [](const assay::Case&, assay::Target) { return assay::copy_by_sms_use(); },
    .run = run_copy,
}};

const assay::Registration latency{{
    .name = "link/zero_copy/latency",
    .question =
        "How long does a dependent load of the GPU take that goes to the CPU's memory, from "
        "the SM that a single CTA lands on?",
    .pace = assay::Pace::link,
    .kernels = [](const assay::Case&,
                  assay::Target) { return assay::far_chain_use(FarAccess::load); },
    .run = run_latency,
}};

}  // namespace
