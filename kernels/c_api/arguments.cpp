// SPDX-License-Identifier: Apache-2.0
#include "kernels/c_api/arguments.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <limits>

#include "harness/cuda.hpp"
#include "harness/error.hpp"

namespace assay::kernels {

void require_pointers(const std::string& function,
                      std::initializer_list<PointerArgument> pointers) {
  for (const PointerArgument& p : pointers) {
    if (!p.value) throw Error(ExitCode::usage, fmt::format("{}: {} is null", function, p.name));
    if (reinterpret_cast<std::uintptr_t>(p.value) % p.alignment != 0)
      throw Error(ExitCode::usage, fmt::format("{}: {} must be aligned to {} bytes, {} is not",
                                               function, p.name, p.alignment, p.value));
  }
}

int require_size(const std::string& function, const char* name, std::int64_t size) {
  if (size > std::numeric_limits<int>::max() || size < std::numeric_limits<int>::min())
    throw Error(ExitCode::usage,
                fmt::format("{}: {} must be at most 2^31 - 1, not {}", function, name, size));
  return static_cast<int>(size);
}

void require_index(const std::string& function, const char* what, int index, std::size_t count) {
  if (index < 0 || static_cast<std::size_t>(index) >= count)
    throw Error(ExitCode::usage,
                fmt::format("{}: there are {} 0 to {}, not {}", function, what, count - 1, index));
}

std::string require_name(const std::string& function, const char* name, int value,
                         std::span<const std::string_view> names) {
  if (value >= 0 && static_cast<std::size_t>(value) < names.size() && !names[value].empty())
    return std::string(names[value]);
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty())
      known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", i, names[i]);
  throw Error(ExitCode::usage,
              fmt::format("{}: {} is {}, which is none of {}", function, name, value, known));
}

void require_here(const std::string& function, std::initializer_list<PointerArgument> pointers,
                  void* stream) {
  int current = 0, of_stream = 0;
  check(cudaGetDevice(&current));
  for (const PointerArgument& p : pointers) {
    if (!p.value) continue;
    cudaPointerAttributes found{};
    check(cudaPointerGetAttributes(&found, p.value));
    if (found.type != cudaMemoryTypeDevice && found.type != cudaMemoryTypeManaged)
      throw Error(ExitCode::usage, fmt::format("{}: {} is no memory of a GPU", function, p.name));
    if (found.type == cudaMemoryTypeDevice && found.device != current)
      throw Error(ExitCode::usage, fmt::format("{}: {} is memory of GPU {}, the current one is {}",
                                               function, p.name, found.device, current));
  }
  check(cudaStreamGetDevice(static_cast<cudaStream_t>(stream), &of_stream));
  if (of_stream != current)
    throw Error(ExitCode::usage, fmt::format("{}: the stream is of GPU {}, the current one is {}",
                                             function, of_stream, current));
}

}  // namespace assay::kernels
