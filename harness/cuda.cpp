// SPDX-License-Identifier: Apache-2.0
#include "harness/cuda.hpp"

#include <fmt/format.h>

#include <string>

#include "harness/device.hpp"
#include "harness/error.hpp"

namespace assay {

void check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  if (const std::string why = why_unfit(status); !why.empty()) throw Error(ExitCode::unfit, why);
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
