// SPDX-License-Identifier: Apache-2.0
// A matrix product with its operands on the GPU, for tests: filled, poisoned, guarded, checked.
#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "harness/cuda.hpp"
#include "harness/element.hpp"
#include "kernels/frame/fill.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/reference.hpp"

namespace assay::kernels {

inline bool has_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

class GpuProblem {
 public:
  explicit GpuProblem(const GemmProblem& problem, std::uint64_t seed = 1)
      : problem_(problem),
        a_(bytes_of(problem.type, m() * k())),
        b_(bytes_of(problem.b_type(), n() * k())),
        d_(bytes_of(problem.d_type(), m() * n()) + 2 * kGuard) {
    fill_normal(problem.type, a_.data(), m() * k(), seed, stream_);
    fill_normal(problem.b_type(), b_.data(), n() * k(), seed + 1, stream_);
    operands_ = {d_.as<char>() + kGuard, a_.data(), b_.data()};
    if (problem.beta != 0) {
      c_ = Buffer(bytes_of(problem.d_type(), m() * n()));
      fill_normal(problem.d_type(), c_.data(), m() * n(), seed + 2, stream_);
      operands_.c = c_.data();
    }
    if (problem.bias) {
      bias_ = Buffer(bytes_of(problem.d_type(), n()));
      fill_normal(problem.d_type(), bias_.data(), n(), seed + 3, stream_);
      operands_.bias = bias_.data();
    }
    if (problem.scaling != Scaling::none) {
      scale_a_ = Buffer(m() * sizeof(float));
      scale_b_ = Buffer(n() * sizeof(float));
      fill_factors(scale_a_.data(), m(), seed + 4, stream_);
      fill_factors(scale_b_.data(), n(), seed + 5, stream_);
      operands_.scale_a = scale_a_.as<float>();
      operands_.scale_b = scale_b_.as<float>();
    }
  }

  const GemmOperands& operands() const { return operands_; }
  cudaStream_t stream() const { return stream_; }

  // Runs the plan on a poisoned D. What is wrong with the result, or around it; empty if nothing
  // is.
  std::string error_of(const Plan& plan) const {
    poison(d_.data(), d_.bytes(), stream_);
    plan.run(stream_);
    const GemmErrors errors = check_gemm(problem_, operands_, 1 << 18, 7, stream_);
    if (!errors.right()) return problem_.text() + " " + plan.variant + ": " + errors.describe();
    const auto clean = [&](const char* guard) {
      const auto bytes = download(guard, kGuard, stream_);
      return std::ranges::all_of(bytes, [](char c) { return c == '\xff'; });
    };
    const char* const begin = d_.as<char>();
    if (!clean(begin) || !clean(begin + d_.bytes() - kGuard))
      return problem_.text() + " " + plan.variant + ": wrote outside of D";
    return "";
  }

 private:
  static constexpr std::size_t kGuard = 1 << 16;
  static std::size_t bytes_of(const std::string& type, std::size_t count) {
    return count * static_cast<std::size_t>(element_bits(type)) / 8;
  }
  std::size_t m() const { return static_cast<std::size_t>(problem_.m); }
  std::size_t n() const { return static_cast<std::size_t>(problem_.n); }
  std::size_t k() const { return static_cast<std::size_t>(problem_.k); }

  GemmProblem problem_;
  Stream stream_;
  Buffer a_, b_, d_, c_, bias_, scale_a_, scale_b_;
  GemmOperands operands_;
};

}  // namespace assay::kernels
