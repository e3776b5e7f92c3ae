// SPDX-License-Identifier: Apache-2.0
// The device memory that a kernel's case works on.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/callable.hpp"
#include "harness/state.hpp"

namespace assay::kernels {

// One operand of an operation's call. An input has a `fill`, which makes the same values of the
// same seed; an output has none and is poisoned.
struct Operand {
  std::size_t bytes;
  Callable<void(void* data, std::uint64_t seed, cudaStream_t stream)> fill = {};
};

// Inputs: bf16 values uniform in [-1, 1); normal values of a type; f32 factors around 1; bytes.
Operand uniform_bf16(std::size_t count);
Operand normal(const std::string& type, std::size_t count);
Operand factors(std::size_t count);
Operand bytes(std::size_t count);

// How many sets of operands rotate, so that whoever's turn it is finds nothing of its set in L2:
// all the others together have twice its size.
int sets_beyond_l2(std::uint64_t l2_bytes, std::size_t set_bytes);

// The rotating sets, inputs filled from State::seed(), each its own values; outputs poisoned.
class OperandSets {
 public:
  OperandSets(State& state, std::vector<Operand> operands);

  int count() const { return static_cast<int>(sets_.size()); }
  // The pointers of a set, in the order in which the operands were given.
  std::span<void* const> operator[](int set) const { return sets_[static_cast<std::size_t>(set)]; }

  // Fills the outputs of a set with NaN, so that one nobody writes is seen.
  void poison_outputs(int set) const;

 private:
  cudaStream_t stream_;
  std::vector<Operand> operands_;
  std::vector<std::vector<void*>> sets_;
};

}  // namespace assay::kernels
