// SPDX-License-Identifier: Apache-2.0
// A library without a GPU: it notes its calls, and a clock beside it says how long they took.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "harness/callable.hpp"
#include "kernels/baselines/baseline.hpp"

namespace assay::kernels {

struct Call {
  int candidate, set;
  bool operator==(const Call&) const = default;
};

class FakeBaseline : public Baseline {
 public:
  FakeBaseline(int asked, int candidates, std::vector<Call>* calls, std::string differs = {})
      : asked_(asked), candidates_(candidates), calls_(calls), differs_(std::move(differs)) {}

  std::string name() const override { return "fake"; }
  int asked() const override { return asked_; }
  int candidates() const override { return candidates_; }
  void run(int candidate, int set, cudaStream_t) const override {
    calls_->push_back({candidate, set});
  }
  std::string differs() const override { return differs_; }

 private:
  int asked_, candidates_;
  std::vector<Call>* calls_;
  std::string differs_;
};

// Candidate i takes times[i] nanoseconds.
inline LaunchTimer fake_clock(const std::vector<Call>& calls, std::vector<double> times) {
  return [&calls, times = std::move(times)](const Callable<void(cudaStream_t)>& enqueue) {
    enqueue(nullptr);
    return times.at(static_cast<std::size_t>(calls.back().candidate));
  };
}

}  // namespace assay::kernels
