// SPDX-License-Identifier: Apache-2.0
// What a launch of the Hopper matrix product is told beside its tensor maps.
#pragma once
#include <cstdint>

#include "kernels/frame/workers/step_meeting.hpp"
#include "kernels/gemm/sm90/schedule_sm90.hpp"

namespace assay::kernels {

enum class OutputType : int { bf16, f16, f32 };

struct GemmArgumentsSm90 {
  // What loads and plain sums ask for stands together: the first read of each 64 bytes of a
  // kernel's parameters takes more than a hundred cycles.
  GemmSchedule schedule;
  int rows, columns;  // of R
  int p_read_once;    // not 0: by one tile of columns alone, so that L2 need not keep it
  int plain;          // not 0: sums are only rounded
  int half_operands;  // not 0: A and B are f16 where the kernel is one for 16-bit types
  OutputType type;    // of C, D and bias
  StepMeeting meeting;

  // What all others ask for, together for the same reason. R = alpha * tensor_scale_p *
  // tensor_scale_q * sums, then by row and column, + bias + beta * C, and all that activated. Null:
  // no such factor, no bias.
  float alpha, beta;
  int adds_c;                   // not 0: there is C
  int activation;               // as Activation counts
  const void* bias;             // of D's type, of columns of D: of rows of R if it is D's transpose
  const float* tensor_scale_p;  // one value on the device
  const float* tensor_scale_q;
  const float* row_scale;
  const float* column_scale;

  // One slot per CTA: what a share of a tile leaves for the tile's owner, and a flag per consumer
  // warpgroup that says that it is there. Flags are 0 before and after each launch.
  float* partials;
  std::uint32_t* flags;

  FirstStepsSm90 first;  // of `schedule`
};

}  // namespace assay::kernels
