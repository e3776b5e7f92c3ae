// SPDX-License-Identifier: Apache-2.0
#include "probes/link/far_latency.hpp"

#include "harness/cuda.hpp"
#include "harness/state.hpp"

namespace assay {

double far_latency_ns(State& s, const FarChain& chain, cudaStream_t stream) {
  constexpr std::int64_t kRounds = 32;
  const Event begin, end;
  const auto walk_ns = [&](std::int64_t rounds) {
    chain.tie(stream);
    check(cudaEventRecord(begin, stream));
    chain.walk(rounds, stream);
    check(cudaEventRecord(end, stream));
    const double ns = elapsed_ns(begin, end);
    s.require(download(chain.end, 1, stream)[0] == chain.expected_end(rounds),
              "a chain of far accesses did not end where its steps lead to");
    return ns;
  };
  const double once = walk_ns(kRounds);
  return (walk_ns(2 * kRounds) - once) / static_cast<double>(kRounds * kFarSteps);
}

}  // namespace assay
