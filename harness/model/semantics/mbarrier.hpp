// SPDX-License-Identifier: Apache-2.0
// The mbarrier object, as instructions and asynchronous operations change it.
// PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: mbarrier".
#pragma once
#include "harness/model/machine/run.hpp"

namespace assay::model {

// The barrier at a shared address of the cluster. Throws Violation if none was made there, or if
// `user` does not know of its making.
Mbarrier& mbarrier_at(Run& run, Cta& from, std::uint32_t address, const Knowledge* user,
                      Cta** owner = nullptr);

// `count` arrivals and `bytes` more transactions to expect; ends the phase if nothing is missing.
void mbarrier_arrive(Run& run, Mbarrier& barrier, std::uint32_t count, std::int64_t bytes);

// `bytes` of an operation of phase `phase` have come.
void mbarrier_complete(Run& run, Mbarrier& barrier, std::int64_t bytes, std::uint32_t phase);

// The epoch that an operation has which completes on the barrier's running phase.
inline Epoch mbarrier_epoch(const Mbarrier& b) { return {b.component, b.phase + 1}; }

// Refuses a barrier for asynchronous use whose making was not fenced.
void mbarrier_for_async(Run& run, const Mbarrier& barrier, const Knowledge& user);

}  // namespace assay::model
