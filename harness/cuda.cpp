// SPDX-License-Identifier: Apache-2.0
#include "harness/cuda.hpp"

#include <fmt/format.h>

#include "harness/error.hpp"

namespace assay {

void check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  throw Error(ExitCode::failed, fmt::format("{}:{}: {}: {}", where.file_name(), where.line(),
                                            cudaGetErrorName(status), cudaGetErrorString(status)));
}

double elapsed_ns(cudaEvent_t begin, cudaEvent_t end) {
  float milliseconds = 0;
  check(cudaEventSynchronize(end));
  check(cudaEventElapsedTime(&milliseconds, begin, end));
  return double{milliseconds} * 1e6;
}

}  // namespace assay
