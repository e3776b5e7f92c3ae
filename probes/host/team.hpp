// SPDX-License-Identifier: Apache-2.0
// All CPUs at once, and memory that gets out of the way of what is measured.
#pragma once
#include <cstddef>
#include <memory>

#include "harness/callable.hpp"

namespace assay {

// CPUs this process may run on.
int cpu_count();

// Runs work(i, n) on n = cpu_count() threads, thread i pinned to the i-th CPU, and returns the
// nanoseconds from when all were ready until the last was done. What work() throws comes through.
double on_all_cpus(const Callable<void(int i, int n)>& work);

// The same on the calling thread alone: nanoseconds that work() took.
double on_one_cpu(const Callable<void()>& work);

// Share i of n of `count` things: [first, last), in multiples of `granule` but for the end.
struct Share {
  std::size_t first, last;
};
Share share(std::size_t count, int i, int n, std::size_t granule);

// Fresh memory, aligned to 2 MiB and on huge pages where the system gives them; not touched yet, so
// that its pages come to lie near the CPU that first writes them. Throws Error(unfit).
struct Unmap {
  std::size_t bytes = 0;
  void operator()(void* memory) const;
};
using MappedMemory = std::unique_ptr<std::byte[], Unmap>;
MappedMemory map_memory(std::size_t bytes);

// Bytes of the last-level cache as the CPU states them (a virtual machine shows the whole host's),
// 32 MiB if it does not.
std::size_t last_level_cache_bytes();
// Bytes of memory that could be had without swapping.
std::size_t available_memory_bytes();
// Bytes to work on that are DRAM's: twice the last-level cache, at least 256 MiB and at most 1 GiB
// or a quarter of the memory that is available; a power of two.
std::size_t dram_footprint_bytes();

}  // namespace assay
