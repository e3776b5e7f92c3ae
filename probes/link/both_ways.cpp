// SPDX-License-Identifier: Apache-2.0
// Copies to the GPU and from it at the same time, between page-locked memory and the GPU's. A PCIe
// link carries both directions at once; this shows what a program gains that fetches its next input
// while it stores its last result.
#include <algorithm>
#include <vector>

#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/measure/device_kernels.hpp"
#include "harness/state.hpp"
#include "probes/link/near_gpu.hpp"
#include "probes/link/sm_copy.hpp"

namespace {

using assay::check;

constexpr std::size_t kBytes = 256 << 20;
constexpr int kCopies = 4;
constexpr std::uint64_t kHoldNs = 100'000;  // until all copies of both streams are enqueued

struct OneWay {
  std::byte *to, *from;
  assay::Stream stream = {};
  assay::Event begin = {}, end = {};
};

void run(assay::State& s) {
  const assay::NearDevice near(s.device().pci_bus_id);
  s.set_param("numa", near.moved() ? "local" : "unknown");
  const bool by_sms = s.text("by") == "sm", one_kernel = s.text("kernels") == "one";
  const assay::PinnedMemory source = assay::pinned_memory(kBytes);
  const assay::PinnedMemory target = assay::pinned_memory(kBytes);
  auto* const up = s.allocate<std::byte>(kBytes);
  auto* const down = s.allocate<std::byte>(kBytes);
  s.fill_random_bits(down, kBytes);
  check(cudaMemcpyAsync(source.get(), down, kBytes, cudaMemcpyDefault, s.stream()));
  check(cudaStreamSynchronize(s.stream()));

  OneWay h2d{.to = up, .from = source.get()}, d2h{.to = target.get(), .from = down};
  OneWay* const ways[] = {&h2d, &d2h};
  std::vector<double> h2d_rate, d2h_rate;
  const auto both_by_one = [&] {
    assay::delay(kHoldNs, h2d.stream);
    h2d.begin.record(h2d.stream);
    for (int i = 0; i < kCopies; ++i)
      assay::copy_both_ways_by_sms({h2d.to, h2d.from, kBytes}, {d2h.to, d2h.from, kBytes},
                                   s.device().sm_count, h2d.stream);
    h2d.end.record(h2d.stream);
    const double ns = assay::elapsed_ns(h2d.begin, h2d.end);
    for (auto* rate : {&h2d_rate, &d2h_rate}) rate->push_back(kCopies * double{kBytes} / ns);
    return ns;
  };
  const auto both = [&] {
    if (one_kernel) return both_by_one();
    for (OneWay* way : ways) {
      assay::delay(kHoldNs, way->stream);
      way->begin.record(way->stream);
      for (int i = 0; i < kCopies; ++i)
        if (by_sms)
          // Half of the SMs each, so that neither kernel waits for the other.
          assay::copy_by_sms(way->to, way->from, kBytes, std::max(s.device().sm_count / 8, 1),
                             way->stream);
        else
          check(cudaMemcpyAsync(way->to, way->from, kBytes, cudaMemcpyDefault, way->stream));
      way->end.record(way->stream);
    }
    const double up_ns = assay::elapsed_ns(h2d.begin, h2d.end);
    const double down_ns = assay::elapsed_ns(d2h.begin, d2h.end);
    h2d_rate.push_back(kCopies * double{kBytes} / up_ns);
    d2h_rate.push_back(kCopies * double{kBytes} / down_ns);
    return std::max(up_ns, down_ns);
  };
  const double one_way = assay::pcie_limit_gb_per_s(s.device().pci_bus_id);
  s.limit("GB/s", {one_way, "PCIe link"});
  both();
  s.require(assay::differing_bytes(up, down, kBytes, s.stream()) == 0 &&
                assay::differing_bytes(target.get(), down, kBytes, s.stream()) == 0,
            "a copy is not what was copied");
  h2d_rate.clear(), d2h_rate.clear();
  s.sample({.bytes = 2.0 * kCopies * kBytes, .limit = {2 * one_way, "PCIe link, both directions"}},
           both);
  s.add_metric("h2d_gb_per_s", "GB/s", assay::Better::higher, h2d_rate);
  s.add_metric("d2h_gb_per_s", "GB/s", assay::Better::higher, d2h_rate);
}

const assay::Registration registration{{
    .name = "link/both_ways",
    .question = "How fast do copies to the GPU and from it go at the same time?",
    .metrics =
        {{"h2d_gb_per_s",
          "Bandwidth of the copies to the GPU alone, while the others go the opposite way."},
         {"d2h_gb_per_s",
          "Bandwidth of the copies from the GPU alone, while the others go the opposite way."}},
    .cases = {{.name = "copy_engine", .params = {{"by", "copy_engine"}, {"kernels", "none"}}},
              {.name = "sm",
               .params = {{"by", "sm"}, {"kernels", "one each way"}},
               .suite = assay::Suite::full},
              {.name = "sm_one_kernel",
               .params = {{"by", "sm"}, {"kernels", "one"}},
               .suite = assay::Suite::full}},
    .pace = assay::Pace::link,
    .kernels =
        [](const assay::Case& c, assay::Target) {
          if (c.text("by") != "sm") return std::vector<assay::KernelUse>{};
          return c.text("kernels") == "one" ? assay::copy_both_ways_by_sms_use()
                                            : assay::copy_by_sms_use();
        },
    .run = run,
}};

}  // namespace
