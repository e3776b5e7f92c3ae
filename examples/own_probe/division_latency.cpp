// SPDX-License-Identifier: Apache-2.0
// Latency of division on the CPU: each divides by the result of the one before it.
#include <chrono>
#include <cmath>

#include "harness/state.hpp"

namespace {

constexpr int kSteps = 100'000;  // in one sample, about a millisecond

void run(assay::State& s) {
  volatile double one = 1;  // not known to the compiler
  double value = one;
  s.sample({.steps = kSteps}, [&] {
    const double numerator = one;
    const auto begin = std::chrono::steady_clock::now();
    for (int step = 0; step < kSteps; ++step) value = 1 + numerator / value;
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::nano>(end - begin).count();
  });
  s.require(std::abs(value - (1 + std::sqrt(5)) / 2) < 1e-12,
            "x <- 1 + 1 / x must end at its fixed point, the golden ratio");
}

const assay::Registration registration{{
    .name = "own/division",
    .question = "How long until the sum of 1 and a quotient can be divided by, on the CPU?",
    .targets = {assay::Target::host},
    .pace = assay::Pace::host,
    .run = run,
}};

}  // namespace
