// SPDX-License-Identifier: Apache-2.0
// What one access of a FarChain takes.
#pragma once
#include "probes/link/sm_copy.hpp"

namespace assay {

class State;

// Nanoseconds of one access, from walks of n and of 2n; fails the case if a walk ends elsewhere
// than it should. The chain is tied anew, by the current GPU, on a stream of it.
double far_latency_ns(State& s, const FarChain& chain, cudaStream_t stream);

}  // namespace assay
