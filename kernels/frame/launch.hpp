// SPDX-License-Identifier: Apache-2.0
// How kernels are launched that may begin while what the stream has before them still ends.
#pragma once
#include <cuda_runtime_api.h>

#include "harness/probe.hpp"

namespace assay::kernels {

struct LaunchShape {
  int ctas, threads;
  int shared_bytes;   // dynamic
  int cluster = 1;    // CTAs, where the kernel's code does not say it
  bool early = true;  // see below; sm_90 and newer
};

// Launches `kernel` on the current device. Early (programmatic dependent launch): where a kernel is
// before it on the stream, CTAs of this one begin when that one's have all let them
// (griddepcontrol.launch_dependents) or have ended, and not after what it wrote is visible: launch
// and set-up are hidden behind its end. So `kernel` must execute griddepcontrol.wait before it
// reads or writes memory, at every launch. Throws Error(failed) where the CUDA runtime refuses.
void launch_kernel(const void* kernel, const LaunchShape& shape, void** arguments,
                   cudaStream_t stream);

// What the machine code of such a kernel must have: griddepcontrol.wait.
inline SassRule waits_for_dependencies() {
  return {.opcode = "ACQBULK", .where = SassWhere::kernel};
}

}  // namespace assay::kernels
