// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch: a grid that starts before the one it depends on has ended. sm_90
// and newer. PTX ISA 9.0, "griddepcontrol".
#pragma once

namespace assay::ptx {

// From this CTA's side, grids that depend programmatically on this one may start. They do once
// every CTA has said so or ended.
__device__ inline void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Blocks until the grids that this one depends on have ended and what they wrote is visible. Does
// nothing in a grid that was launched the ordinary way.
__device__ inline void wait_for_dependencies() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace assay::ptx
