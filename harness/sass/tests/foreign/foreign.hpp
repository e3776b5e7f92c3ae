// SPDX-License-Identifier: Apache-2.0
// Kernels as other projects write them, to hold the predictions of `assay sass` against the clock.
// They are no probes: each does the work that its name says, on data that lies where that work
// leaves it, and nobody made its loop the length or shape that is easy to predict.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/ptx/stopwatch.cuh"

namespace foreign {

// What a kernel reads: kChunk bytes of its own for each CTA, which stay in L1.
constexpr std::size_t kChunk = 16384;

struct Kernel {
  std::string name;       // of the function
  const void* function;   // to ask how many CTAs fit
  int threads;            // of a CTA
  int unrolled;           // rounds of the source in one iteration of the machine's loop
  bool whole_numbers;     // what it reads: random bits, not floats
  std::size_t out_bytes;  // written by each CTA
  std::function<void(int ctas, int rounds, const void* in, void* out, assay::StopwatchRecord*)>
      launch;
  // What the first thread leaves in out[0] after `rounds`; empty where that is no short sum.
  std::function<double(const void* in, int rounds)> expected;
  std::function<double(const void* out)> found;
};

template <class In, class Out>
using Function = void (*)(const In*, Out*, int, assay::StopwatchRecord*);

template <class Out>
double as_double(const Out& value) {
  return static_cast<double>(value);
}

// `out` is what each CTA writes, in elements.
template <class In, class Out>
Kernel kernel(const char* name, Function<In, Out> function, int threads, int unrolled, int out,
              std::function<double(const In*, int)> expected = nullptr) {
  Kernel made{.name = name,
              .function = reinterpret_cast<const void*>(function),
              .threads = threads,
              .unrolled = unrolled,
              .whole_numbers = !std::is_same_v<In, float>,
              .out_bytes = static_cast<std::size_t>(out) * sizeof(Out),
              .launch = {},
              .expected = {},
              .found = {}};
  made.launch = [=](int ctas, int rounds, const void* in, void* to,
                    assay::StopwatchRecord* records) {
    void* arguments[] = {&in, &to, &rounds, &records};
    (void)cudaLaunchKernel(made.function, dim3(static_cast<unsigned>(ctas)),
                           dim3(static_cast<unsigned>(threads)), arguments, 0, nullptr);
  };
  made.found = [](const void* to) { return as_double(*static_cast<const Out*>(to)); };
  if (expected)
    made.expected = [expected](const void* in, int rounds) {
      return expected(static_cast<const In*>(in), rounds);
    };
  return made;
}

std::vector<Kernel> scalar_kernels();  // registers, and what each thread reads for itself
std::vector<Kernel> row_kernels();     // a warp or CTA to a row: norms, softmax, quantizing
std::vector<Kernel> shared_kernels();  // tiles in shared memory
std::vector<Kernel> integer_kernels();

}  // namespace foreign
