// SPDX-License-Identifier: Apache-2.0
// Ways to do one thing that take turns, for sweeps over all forms of a kernel.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/callable.hpp"
#include "harness/measure/busy_timer.hpp"

namespace assay::kernels {

struct Entry {
  std::string name;
  Callable<void(int set)> run;
  std::vector<double> ns = {};
  bool out = false;  // wrong, or far behind

  // Of an even number of samples the lower one in the middle.
  double median() const {
    std::vector<double> values = ns;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
  }
};

// In random order, each on the next of `sets` inputs, until all together have run for so long. Each
// has run once just before, on other inputs: code that L2 does not hold would cost the larger
// kernels a microsecond or two, which who calls the same one again does not pay. `instead`, if it
// is there, runs just before in its place. Who is far behind the best leaves: by half after two
// rounds that count, a quarter after three, a tenth after five, a twentieth after nine. So the time
// goes to those between which a model has to choose, and they have 15 samples at least: of a
// hundred medians of few samples the least is one that noise made too low. Nobody leaves for one
// slow sample. With more than one of `calls`, a sample is the mean of so many without a pause.
// Before each sample the GPU has `rest`, in which the power limit forgets the one before.
inline void take_turns(std::vector<Entry>& entries, int sets, std::uint32_t seed,
                       double milliseconds, cudaStream_t stream, int calls = 1,
                       std::chrono::milliseconds rest = {}, const Callable<void()>& instead = {}) {
  constexpr int kLeast = 16, kMost = 61;  // rounds
  const auto behind = [](int round) {
    return round > 9 ? 1.05 : round > 5 ? 1.1 : round > 3 ? 1.25 : round > 2 ? 1.5 : 1e300;
  };
  BusyTimer timer;
  std::mt19937 random(seed);
  double spent = 0;
  for (int round = 0, set = 0; round < kLeast || (spent < milliseconds && round < kMost); ++round) {
    std::ranges::shuffle(entries, random);
    double best = 1e300;
    for (const Entry& entry : entries)
      if (!entry.ns.empty()) best = std::min(best, entry.median());
    for (Entry& entry : entries) {
      entry.out = entry.out || (!entry.ns.empty() && entry.median() > behind(round) * best);
      if (entry.out) continue;
      const int before = set;
      if (rest.count() > 0) std::this_thread::sleep_for(rest);
      const double ns = timer.nanoseconds(
          stream,
          [&] {
            for (int call = 0; call < calls; ++call) entry.run(set = (set + 1) % sets);
          },
          [&] { instead ? instead() : entry.run(before); });
      spent += ns * 1e-6;
      if (round > 0) entry.ns.push_back(ns / calls);  // the first warms up
    }
  }
}

}  // namespace assay::kernels
