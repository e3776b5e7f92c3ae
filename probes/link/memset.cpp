// SPDX-License-Identifier: Apache-2.0
// Device memory set to a value, as offloaded work often begins: what one call costs by its size,
// and from which size on it runs at the memory's bandwidth.
#include "harness/cuda.hpp"
#include "harness/device.hpp"
#include "harness/state.hpp"
#include "probes/link/size_sweep.hpp"

namespace {

using assay::check;

void run(assay::State& s) {
  auto* const memory = s.allocate<std::byte>(assay::kLargestCopy);
  const auto value = static_cast<int>(s.seed() & 0x7e) + 1;  // neither all zeros nor all ones
  const cudaStream_t stream = s.stream();
  s.set_param("bytes", assay::kLargestCopy);
  s.limit("GB/s", assay::limits::unknown("L2 takes what memory has not got yet"));
  s.time({.bytes = static_cast<double>(assay::kLargestCopy)},
         [&](cudaStream_t on) { check(cudaMemsetAsync(memory, value, assay::kLargestCopy, on)); });
  sweep_sizes(s, {.start = [=](std::size_t n) { check(cudaMemsetAsync(memory, value, n, stream)); },
                  .finish = [=] { check(cudaStreamSynchronize(stream)); },
                  .check =
                      [&](std::size_t n) {
                        for (const std::size_t at : {std::size_t{0}, n / 2, n - 1})
                          s.require(assay::download(memory + at, 1, stream)[0] ==
                                        static_cast<std::byte>(value),
                                    "memory does not hold what it was set to");
                      }});
}

const assay::Registration registration{{
    .name = "link/memset",
    .question = "How fast is memory of the GPU set to a value, and how long does a small piece "
                "take?",
    .metrics = assay::size_sweep_metrics(),
    .pace = assay::Pace::dram,
    .run = run,
}};

}  // namespace
