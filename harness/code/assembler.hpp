// SPDX-License-Identifier: Apache-2.0
// PTX text to cubin, for any target, with or without a GPU.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "harness/probe.hpp"
#include "harness/target.hpp"

namespace assay {

struct Assembled {
  std::vector<char> cubin = {};  // empty if the assembler rejected the PTX
  std::string log =
      {};  // the assembler's own words: why it rejected, or (not from the cache) warnings
  bool from_cache = false;
};

// Assembles `ptx` with nvJitLink (-O3) for `architecture`, spelled as nvcc does: "sm_100f". The
// cubin that comes back is the one to disassemble and the one to run. Results are kept on disk,
// named by the SHA-256 of everything they depend on (cache_path()). Thread-safe.
//
// Throws Error(failed) with the assembler's words if it rejects the PTX, Error(unfit) without
// nvJitLink or if the architecture is newer than it, Error(usage) if it knows no such architecture.
Assembled assemble(std::string_view ptx, std::string_view architecture);
inline Assembled assemble(std::string_view ptx, Target target) {
  return assemble(ptx, name(target));
}

// The cubin of a generated kernel, edited as its author asks: the one to check and the one to run.
std::vector<char> assemble(const KernelUse& use, Target target);

// The same, but PTX that is rejected comes back as an empty cubin and a log.
Assembled try_assemble(std::string_view ptx, std::string_view architecture);
inline Assembled try_assemble(std::string_view ptx, Target target) {
  return try_assemble(ptx, name(target));
}

// The same, neither from disk nor kept there.
Assembled try_assemble_anew(std::string_view ptx, std::string_view architecture);

// The same by ptxas, the toolkit's program, for what nvJitLink passes over: it takes no notice of
// .maxnreg. Without ptxas the log says so.
Assembled try_assemble_by_ptxas(std::string_view ptx, std::string_view architecture);

// The file of ptxas; empty if there is none.
std::string find_ptxas();

// What results depend on beside the PTX: the version of nvJitLink, patch level included. Throws
// Error(unfit) without it.
std::string assembler_identity();

}  // namespace assay
