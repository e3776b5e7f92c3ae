// SPDX-License-Identifier: Apache-2.0
// What every generated kernel has in common, as PTX text.
#pragma once
#include <string>

#include "harness/probe.hpp"

namespace assay {

// .entry (u64 records, u64 in, u64 out, u32 iterations, u32 zero), one StopwatchRecord per CTA.
// Registers at hand in every part: %in and %out (b64), %thread, %cta, %zero (b32; zero is 0, which
// the assembler cannot know), predicates %lead (thread 0) and %first (CTA 0).
struct PtxKernel {
  Target target;
  std::string entry;
  int threads;
  std::string declarations = {};  // registers and shared memory
  std::string setup = {};         // before the clock starts
  std::string loop = {};          // executed `iterations` times
  std::string finish = {};        // after the clock has stopped
  std::string globals = {};       // at module scope: dynamic shared memory
  int cluster = 1;                // CTAs of a cluster
};
std::string ptx_text(const PtxKernel& kernel);

// Pieces for PtxKernel::setup and ::finish.
//
// Copies the first `bytes` (a multiple of 4) of %in to shared memory at register %tile, by all
// threads, and lets the tensor cores see them; a barrier must follow.
std::string load_tile(int bytes, int threads);
// Warp 0 allocates columns of tensor memory, to be released in the end; after a barrier %tmem (b32)
// is their address. `slot` is a register with the shared address of a word for it. With two CTAs of
// a cluster (cta_group::2) both must do so, and neither may leave before the other.
struct TensorMemory {
  int columns = 512;
  int cta_group = 1;
  bool allocates_more = false;  // later, in the kernel's own text
};
std::string allocate_tensor_memory(const std::string& slot, const TensorMemory& memory = {});
std::string release_tensor_memory(const TensorMemory& memory = {});

// Every occurrence of `from` replaced.
std::string replace_all(std::string text, const std::string& from, const std::string& to);

}  // namespace assay
