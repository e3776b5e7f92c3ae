// SPDX-License-Identifier: Apache-2.0
// Somebody else's implementation of an operation, that ours is compared with.
#pragma once
#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "harness/callable.hpp"

namespace assay::kernels {

// A library on one problem and its rotating operand sets. To make one is to open it: its
// constructor throws Error, saying why not, where the library is missing or cannot do the problem.
class Baseline {
 public:
  virtual ~Baseline() = default;

  virtual std::string name() const = 0;  // "cublaslt"

  // How many candidates (algorithms, engines) it is asked for. Of several, the fastest takes part
  // as "cublaslt_best32" and the library's own first choice, which is what a program gets that does
  // not tune, as "cublaslt_first"; of one, it does as "cublaslt".
  virtual int asked() const = 0;

  // How many there are, at least one, the library's first choice first.
  virtual int candidates() const = 0;

  // Enqueues one call of a candidate on operand set `set`.
  virtual void run(int candidate, int set, cudaStream_t stream) const = 0;

  // Why its results are not those of the operation, though it does the same work: a flag then says
  // so, and its results are not checked. Empty: they must be right.
  virtual std::string differs() const { return ""; }
};

// Opens a baseline or throws what its constructor throws.
using OpenBaseline = Callable<std::unique_ptr<Baseline>()>;

// Nanoseconds of what the given function enqueues: of the GPU, which is kept busy before it, so
// that the CPU's time to launch does not hide which of two small kernels is the faster.
using LaunchTimer = Callable<double(const Callable<void(cudaStream_t)>&)>;
// Of so many `calls` without a pause, what one takes.
LaunchTimer event_timer(cudaStream_t stream, int calls = 1);

// The fastest candidate: all take turns on the rotating sets, once to warm up and then `rounds`
// times, and the least median wins. After three rounds those drop out that take a fifth longer than
// the fastest, and all but eight. `pause`, if there is one, comes before each round from then on,
// and those alone count: who is fastest under load need not be so after a rest.
int find_best(const Baseline& baseline, int sets, int rounds, const LaunchTimer& nanoseconds,
              const Callable<void()>& pause = {});

}  // namespace assay::kernels
