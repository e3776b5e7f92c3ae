// SPDX-License-Identifier: Apache-2.0
// A workspace (workspace.hpp) in the host model.
#pragma once
#include <cstddef>

#include "harness/model_case/model_case.hpp"
#include "kernels/frame/workers/step_meeting.hpp"
#include "kernels/frame/workers/workspace.hpp"

namespace assay::kernels {

class ModelWorkspace {
 public:
  explicit ModelWorkspace(model::Gpu& gpu, std::size_t bytes = kFlagBytes);  // not fewer

  void* pointer() const;

  // The meetings of so many workers, every two steps, so that small shapes have some.
  StepMeeting meeting(int workers) const;

  // After a launch that ended: what is wrong if it did not leave all signals 0.
  void compare(ModelResult& result) const;

 private:
  model::Gpu& gpu_;
  model::Address at_;
};

}  // namespace assay::kernels
