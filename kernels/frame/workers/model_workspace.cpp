// SPDX-License-Identifier: Apache-2.0
#include "kernels/frame/workers/model_workspace.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace assay::kernels {

ModelWorkspace::ModelWorkspace(model::Gpu& gpu, std::size_t bytes)
    : gpu_(gpu), at_(gpu.allocate("workspace", bytes)) {
  gpu.write(at_, std::vector<std::uint8_t>(kFlagBytes));
}

void* ModelWorkspace::pointer() const { return std::bit_cast<void*>(at_); }

StepMeeting ModelWorkspace::meeting(int workers) const {
  return with_counter({.workers = workers, .every = 2}, pointer());
}

void ModelWorkspace::compare(ModelResult& result) const {
  const auto flags = gpu_.read<std::uint32_t>(at_, kFlagBytes / sizeof(std::uint32_t));
  for (std::size_t i = 0; i < flags.size() && result.wrong.empty(); ++i)
    if (flags[i] != 0) result.wrong = fmt::format("workspace: word {} is left {:#x}", i, flags[i]);
}

}  // namespace assay::kernels
